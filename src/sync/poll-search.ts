import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../base/clock.ts';
import { accounted, type FormState, sumOf } from '../mirror/form-state.ts';
import type { Count, ReadForm, Store, StoredForm } from '../mirror/port.ts';
import { askCounts, type Counts } from './counts.ts';
import { narrow } from './narrow.ts';
import {
  createdMsOf,
  type Profile,
  queryOf,
  stepOf,
  type Span,
  timesOf,
  WHOLE,
} from './profile.ts';
import { REST, type Rest } from './records.ts';
import { type Page, type Source } from '../forms/source.ts';
import { idsOf } from './target.ts';

/** The workspace's numbers and newest submissions, requested as a whole. */
export class Workspace {
  /** Our clock just before it was asked (milliseconds). */
  readonly askedAtMs: number;
  /** Null if they cannot be counted. */
  readonly statuses: Counts | null;
  /** The newest submissions, as far as one response shows them. */
  readonly first: Page;
  readonly #list: AsyncGenerator<Page>;
  readonly #pages: Promise<Page>[] = [];
  readonly #seen = new Set<string>();
  /** How many submissions were shown again on a further page, and the total that the last page named. */
  #repeated = 0;
  #total: number;

  private constructor(askedAtMs: number, statuses: Counts | null, first: Page, source: Source) {
    [this.askedAtMs, this.statuses, this.first] = [askedAtMs, statuses, first];
    this.#list = source.pages({}, first, 1);
    this.#total = first.total;
  }

  /** Counts first: a submission that arrives in between can only add to the stored ones. */
  static async ask(source: Source, clock: Clock): Promise<Workspace> {
    const askedAtMs = clock.now();
    const statuses = await askCounts(source, {});
    return new Workspace(askedAtMs, statuses, await source.page({}), source);
  }

  /** A page of the newest submissions, from 0, without those of the pages before. Each is requested once, in its turn. */
  page(nth: number): Promise<Page> {
    return (this.#pages[nth] ??= this.#next());
  }

  /** The pages that were read, as one. Its total is as of the first response. */
  async newest(): Promise<Page> {
    const pages = await Promise.all(this.#pages);
    const { isLast } = pages.at(-1) ?? this.first;
    return { ...this.first, items: pages.flatMap(({ items }) => items), isLast };
  }

  /**
   * False if a deletion may have moved a submission from a page that was not read yet to one that was. A newcomer moves one to the
   * next page, where it is shown again.
   */
  get isGapless(): boolean {
    return this.#repeated === this.#total - this.first.total;
  }

  async #next(): Promise<Page> {
    const { value: page } = (await this.#list.next()) as IteratorYieldResult<Page>;
    // Each once, also if one page shows it twice.
    const byKey = new Map(page.items.map((item) => [item.key, item]));
    const items = [...byKey.values()].filter(({ key }) => !this.#seen.has(key));
    for (const { key } of items) this.#seen.add(key);
    this.#repeated += page.items.length - items.length;
    this.#total = page.total;
    return { ...page, items };
  }
}

/** The workspace's submissions beyond the known ones, by status and in all. */
export class WorkspaceDifference {
  /** Nothing can be concluded: another process stored rows while they were read, or there may be more newcomers than were read. */
  isUnsure = false;
  /** How many of the newest submissions are new. */
  newcomers = 0;
  #total: number;
  readonly #statuses: Map<string, number>;

  /** `statuses`: null if they cannot be counted. */
  constructor(total: number, statuses: Counts | null) {
    this.#total = total;
    this.#statuses = new Map(Object.entries(statuses ?? {}));
  }

  /** Subtracts known submissions. A status that the source was not asked for is in the total only. */
  takeOff(counts: Iterable<readonly [status: string, count: number]>): void {
    for (const [status, count] of counts) {
      this.#total -= count;
      const before = this.#statuses.get(status);
      if (before !== undefined) this.#statuses.set(status, before - count);
    }
  }

  get isNone(): boolean {
    return !this.isUnsure && this.#total === 0 && this.statuses.length === 0;
  }

  /** The statuses that differ; none if only the total differs or if they cannot be counted. */
  get statuses(): string[] {
    return [...this.#statuses].flatMap(([status, n]) => (n === 0 ? [] : [status]));
  }

  /** By status; under '' in all others. */
  get counts(): Rest['counts'] {
    return {
      ...Object.fromEntries(this.#statuses),
      '': this.#total - sumOf(this.#statuses.values()),
    };
  }
}

/**
 * Subtracts from the difference what the newest submissions explain: new ones and recent changes. Returns the forms that they
 * belong to.
 */
export async function explainNewest(
  store: Store,
  settled: readonly StoredForm[],
  { items }: Page,
  difference: WorkspaceDifference,
): Promise<Set<string>> {
  const read: FormState[] = [];
  const byForm = Map.groupBy(items, ({ submission }) => submission?.formId);
  const found = new Set<string>();
  for (const { state } of settled) {
    const { formId } = state;
    const shown = byForm.get(formId) ?? [];
    await using form = shown.length === 0 ? null : await store.read(formId);
    if (form === null) continue;
    read.push(state);
    const ids = shown.map(({ key }) => key);
    const stored = new Map<string, string>();
    for await (const rows of form.rows({ ids }))
      for (const { id, status } of rows) stored.set(id, status);
    const forgotten = await form.forgotten(ids);
    for (const { key, submission } of shown) {
      const before = stored.get(key);
      if (submission === null || forgotten.has(key) || before === submission.status) continue;
      found.add(formId);
      if (before === undefined) difference.newcomers++;
      else difference.takeOff([[before, -1]]);
      difference.takeOff([[submission.status, 1]]);
    }
  }
  // A row that was stored since the forms were counted is in no tally and would not count as new, so it could hide a deletion.
  const now = new Map((await store.states()).map(({ state }) => [state.formId, state.tally]));
  for (const { formId, tally } of read) {
    if (isDeepStrictEqual(now.get(formId), tally)) continue;
    difference.isUnsure = true;
    found.add(formId);
  }
  return found;
}

/** The recorded numbers of these forms of the workspace; null if nothing is known of them. Zero for no forms. */
export async function readRest(store: Store, formIds: readonly string[]): Promise<Rest | null> {
  const rest = await REST.read(store);
  if (rest !== null && new Set(rest.formIds).symmetricDifference(new Set(formIds)).size === 0)
    return rest;
  return formIds.length === 0 ? { formIds, topMs: null, counts: {} } : null;
}

/** The statuses of a rest's submissions that came since it was recorded, as far as the newest submissions show them. */
export const newIn = ({ items }: Page, { formIds, topMs }: Rest): string[] =>
  items.flatMap((item) =>
    formIds.includes(item.submission?.formId ?? '') &&
    (createdMsOf(item) ?? -Infinity) > (topMs ?? -Infinity)
      ? (item.submission?.status ?? [])
      : [],
  );

/**
 * No submission of these forms was created after this time, according to the newest ones. Null if those are all that exist, and
 * none is of these forms.
 */
export function topOf(page: Page, formIds: readonly string[]): number | null {
  const own = page.items.filter(({ submission }) => formIds.includes(submission?.formId ?? ''));
  const top = Math.max(...timesOf({ items: own }));
  if (Number.isFinite(top)) return top;
  const bottom = Math.min(...timesOf(page));
  return page.isLast || !Number.isFinite(bottom) ? null : bottom;
}

/** Asks each form for its number of submissions in `statuses` (null: in all). Returns the forms whose number differs from the known one. */
export async function askEach(
  source: Source,
  settled: readonly StoredForm[],
  statuses: readonly (string | null)[],
): Promise<Set<string>> {
  const found = new Set<string>();
  for (const { state } of settled) {
    const { formId } = state;
    const stored = accounted(state.tally);
    for (const status of statuses) {
      const count = await source.count({ formId, ...(status !== null && { status }) });
      const known = status === null ? sumOf(stored.values()) : (stored.get(status) ?? 0);
      if (count === null || count === known) continue;
      found.add(formId);
      break;
    }
  }
  return found;
}

/**
 * Finds the forms that differ by date over the whole workspace, comparing sums over all forms, until a page names them. Null if the
 * source cannot be asked by date, or if asking each form takes fewer requests.
 */
export async function searchWorkspace(
  source: Source,
  store: Store,
  settled: readonly StoredForm[],
  profile: Profile,
  difference: WorkspaceDifference,
  statuses: Counts | null,
): Promise<Set<string> | null> {
  const most = settled.length * Math.max(1, difference.statuses.length);
  if (stepOf(profile) === null || difference.statuses.length === 0 || most <= 2) return null;
  const mostRequests = source.requests + most;
  const isTooLong = (): boolean => source.requests > mostRequests;
  const found = new Set<string>();
  await using stack = new AsyncDisposableStack();
  const forms: ReadForm[] = [];
  for (const { state } of settled) {
    const form = await store.read(state.formId);
    if (form !== null) forms.push(stack.use(form));
  }
  /** Reads everything that the workspace shows of a span, and names the forms whose stored rows differ. */
  const read = async (span: Span): Promise<void> => {
    const shown = new Map<string, Set<string>>();
    if (isTooLong()) return;
    for await (const { items } of source.pages(queryOf(profile, span), undefined, 1)) {
      if (isTooLong()) return;
      for (const { key, submission } of items) {
        const formId = submission?.formId ?? '';
        shown.set(formId, (shown.get(formId) ?? new Set()).add(key));
      }
    }
    for (const form of forms) {
      const { formId } = form.state;
      const stored = await idsOf(form.rows(span));
      if (stored.symmetricDifference(shown.get(formId) ?? new Set()).size > 0) found.add(formId);
    }
  };
  const place = {
    profile,
    async counts(...query: Parameters<ReadForm['counts']>) {
      const counts: Count[] = [];
      for (const form of forms) counts.push(...(await form.counts(...query)));
      return counts;
    },
    ask: async (span: Span) => (isTooLong() ? null : source.count(queryOf(profile, span))),
    read,
  };
  for (const status of difference.statuses)
    await narrow(place, { ...WHOLE, status }, statuses?.[status] ?? 0);
  return isTooLong() ? null : found;
}
