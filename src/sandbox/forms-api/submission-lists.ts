import type { SandboxBehaviour } from './behaviour.ts';
import { dateRangeOf } from './column-filter.ts';
import { textsOf } from './json.ts';
import type { ListQuery } from './list-query.ts';
import { Random } from './random.ts';
import type { FormsStore, StoredSubmission } from './store.ts';

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
 * Lists of one store. A page that is filtered by nothing but form and creation costs its own items only; another filter
 * is one walk over the form, remembered until the store changes.
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
    if (formId === undefined && behaviour.workspaceList === 'empty') return new Uint32Array();
    const stamp = behaviour.dateStamp;
    const range = dateRangeOf(dateFromMs, dateToMs, behaviour);
    // JSON has no infinity; text has.
    const key = JSON.stringify([
      formId,
      status,
      search,
      order,
      stamp,
      `${range.lowMs} ${range.highMs}`,
    ]);
    const known = this.#filtered.get(key);
    const { version } = this.#store;
    if (known?.version === version) return known.items;
    let items = this.#store.select(this.#store.ordered(order, formId), order, {
      status,
      range,
      stamp,
    });
    if (search.length > 0) items = items.filter((index) => this.#answersHold(index, search));
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

  #answersHold(index: number, words: readonly string[]): boolean {
    const texts = [...this.#store.at(index).data.values()].flatMap(textsOf);
    const lower = texts.map((text) => text.toLowerCase());
    return words.every((word) => lower.some((text) => text.includes(word)));
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
      this.#store.createdAtMs(itemAt(sorted, place, descending));
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
