import type { SandboxBehaviour } from './behaviour.ts';
import { textsOf } from './json.ts';
import type { ListQuery } from './list-query.ts';
import { Random } from './random.ts';
import type { FormsStore, StoredSubmission } from './store.ts';

const DAY_MS = 86_400_000;
const REMEMBERED_FILTERS = 8;

/** One page of a list, with the numbers of its envelope. */
export interface ListPage {
  readonly items: StoredSubmission[];
  readonly total: number;
  /** The page number to show. */
  readonly page: number;
  readonly totalPages: number;
}

/**
 * Lists of one store. An unfiltered page costs its own items only; a filter is one walk over the form, remembered
 * until the store changes.
 */
export class SubmissionLists {
  readonly #store: FormsStore;
  readonly #filtered = new Map<string, { version: number; items: Uint32Array }>();

  constructor(store: FormsStore) {
    this.#store = store;
  }

  /** The page that the query asks for, as the store is now. `requestNumber` seeds the order of ties. */
  page(query: ListQuery, behaviour: SandboxBehaviour, requestNumber: number): ListPage {
    const matching = this.#matching(query, behaviour);
    const honoured = behaviour.submissionsPage === 'honoured';
    const first = ((honoured ? query.page : 1) - 1) * query.limit;
    const last = Math.min(first + query.limit, matching.length);
    const window =
      behaviour.ties === 'shuffled' && query.order === 'time'
        ? this.#withShuffledTies(matching, first, last, query.descending, requestNumber)
        : Array.from({ length: Math.max(0, last - first) }, (_, offset) =>
            itemAt(matching, first + offset, query.descending),
          );
    return {
      items: window.map((index) => this.#store.at(index)),
      total: matching.length,
      page: behaviour.submissionsPage === 'ignored' ? 1 : query.page,
      totalPages: pagesOf(matching.length, query.limit, behaviour),
    };
  }

  /** Indexes of what matches, in ascending order. */
  #matching(query: ListQuery, behaviour: SandboxBehaviour): Uint32Array {
    const { formId, status, search, dateFromMs, dateToMs, order } = query;
    const all = this.#store.ordered(order, formId);
    if (
      status === undefined &&
      search.length === 0 &&
      dateFromMs === undefined &&
      dateToMs === undefined
    )
      return all;
    const { dateFrom, dateTo, dateGrain, dateStamp } = behaviour;
    const key = JSON.stringify([
      [formId, status, search, dateFromMs, dateToMs, order],
      [dateFrom, dateTo, dateGrain, dateStamp],
    ]);
    const known = this.#filtered.get(key);
    const { version } = this.#store;
    if (known?.version === version) return known.items;
    const items = all.filter((index) => this.#matches(index, query, behaviour));
    this.#remember(key, { version, items });
    return items;
  }

  #remember(key: string, entry: { version: number; items: Uint32Array }): void {
    this.#filtered.delete(key);
    this.#filtered.set(key, entry);
    for (const oldest of this.#filtered.keys()) {
      if (this.#filtered.size <= REMEMBERED_FILTERS) break;
      this.#filtered.delete(oldest);
    }
  }

  #matches(index: number, query: ListQuery, behaviour: SandboxBehaviour): boolean {
    const { status, dateFromMs, dateToMs, search } = query;
    if (status !== undefined && this.#store.statusAt(index) !== status) return false;
    if (dateFromMs !== undefined || dateToMs !== undefined) {
      const stamp = this.#store.stampAt(index, behaviour.dateStamp);
      if (!isWithin(stamp, dateFromMs, dateToMs, behaviour)) return false;
    }
    if (search.length === 0) return true;
    const texts = [...this.#store.at(index).data.values()].flatMap(textsOf);
    const lower = texts.map((text) => text.toLowerCase());
    return search.every((word) => lower.some((text) => text.includes(word)));
  }

  /** The places `first` to `last`, where each run of equal times is put in an order of this request's own. */
  #withShuffledTies(
    sorted: Uint32Array,
    first: number,
    last: number,
    descending: boolean,
    requestNumber: number,
  ): number[] {
    const timeAt = (place: number): number =>
      this.#store.stampAt(itemAt(sorted, place, descending), 'created');
    const window: number[] = [];
    for (let place = first; place < last;) {
      const time = timeAt(place);
      let [start, end] = [place, place + 1];
      while (start > 0 && timeAt(start - 1) === time) start--;
      while (end < sorted.length && timeAt(end) === time) end++;
      const run = Array.from({ length: end - start }, (_, offset) =>
        itemAt(sorted, start + offset, descending),
      );
      new Random('ties', this.#store.seed, requestNumber, time).shuffle(run);
      window.push(...run.slice(place - start, Math.min(end, last) - start));
      place = end;
    }
    return window;
  }
}

/** `totalPages` of a list. */
export function pagesOf(total: number, limit: number, behaviour: SandboxBehaviour): number {
  return total === 0 ? behaviour.emptyTotalPages : Math.ceil(total / limit);
}

function itemAt(ascending: Uint32Array, place: number, descending: boolean): number {
  return ascending[descending ? ascending.length - 1 - place : place] ?? 0;
}

function isWithin(
  stampMs: number,
  fromMs: number | undefined,
  toMs: number | undefined,
  { dateGrain, dateFrom, dateTo }: SandboxBehaviour,
): boolean {
  const cut = (ms: number): number => (dateGrain === 'day' ? Math.floor(ms / DAY_MS) : ms);
  const stamp = cut(stampMs);
  const afterFrom =
    fromMs === undefined || (dateFrom === 'inclusive' ? stamp >= cut(fromMs) : stamp > cut(fromMs));
  const beforeTo =
    toMs === undefined || (dateTo === 'inclusive' ? stamp <= cut(toMs) : stamp < cut(toMs));
  return afterFrom && beforeTo;
}
