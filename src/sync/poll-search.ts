import { accounted, sumOf } from '../mirror/form-state.ts';
import type { Count, Grain, OpenForm, Store, StoredForm } from '../mirror/port.ts';
import type { Counts } from './counts.ts';
import type { Difference, Workspace } from './poll-difference.ts';
import type { Rest } from './poll-records.ts';
import { MOST_HALVINGS } from './narrow.ts';
import { createdMsOf, dated, type Profile, stepOf } from './profile.ts';
import { cutOf } from './read-range.ts';
import { type Page, PAGE, type Source } from './source.ts';
import type { Span } from './work.ts';

/** Asks the forms that a poll does not speak for, each by itself. */
export async function askRest(
  source: Source,
  formIds: readonly string[],
  { counts, newest }: Workspace,
  byStatus: boolean,
): Promise<Rest> {
  const statuses: Record<string, number> = {};
  let total = 0;
  for (const formId of formIds) {
    total += (await source.count({ formId }))?.total ?? 0;
    if (!byStatus) continue;
    for (const status of counts.statuses?.keys() ?? []) {
      const answer = await source.count({ formId, status });
      statuses[status] = (statuses[status] ?? 0) + (answer?.total ?? 0);
    }
  }
  return { formIds: [...formIds], total, topMs: topOf(newest, formIds), statuses };
}

/** When the newest submission of these forms was created that a page shows; null where it shows none. */
export function topOf({ items }: Page, formIds: readonly string[]): number | null {
  const times = items.flatMap((item) =>
    formIds.includes(item.submission?.formId ?? '') ? (createdMsOf(item) ?? []) : [],
  );
  return times.length === 0 ? null : Math.max(...times);
}

/** Asks each form for the statuses that differ, or for its total where none does: those that have another number than is known. */
export async function askEach(
  source: Source,
  spokenFor: readonly StoredForm[],
  difference: Difference,
): Promise<Set<string>> {
  const found = new Set<string>();
  const statuses = difference.statuses;
  for (const { state } of spokenFor) {
    const { formId } = state;
    const stored = accounted(state.tally);
    for (const status of statuses.length > 0 ? statuses : [undefined]) {
      const answer = await source.count({ formId, ...(status !== undefined && { status }) });
      const known = status === undefined ? sumOf(stored.values()) : (stored.get(status) ?? 0);
      if (answer === null || answer.total === known) continue;
      found.add(formId);
      break;
    }
  }
  return found;
}

/**
 * Finds the forms that differ by date over the whole workspace, comparing sums over all forms, until a page names them. Null where
 * the source cannot be asked by date, or where that takes more requests than to ask each form.
 */
export async function searchWorkspace(
  source: Source,
  store: Store,
  spokenFor: readonly StoredForm[],
  profile: Profile,
  difference: Difference,
  counts: Counts,
): Promise<Set<string> | null> {
  const statuses = difference.statuses;
  const most = spokenFor.length * Math.max(1, statuses.length);
  if (stepOf(profile) === null || statuses.length === 0 || most <= 2) return null;
  await using stack = new AsyncDisposableStack();
  const forms: OpenForm[] = [];
  for (const { state } of spokenFor) {
    const form = await store.open({ id: state.formId }, 'read');
    if (form !== null) forms.push(stack.use(form));
  }
  const search = new Search(source, forms, profile, source.requests + most);
  for (const status of statuses) {
    const count = counts.statuses?.get(status) ?? 0;
    await search.narrow({ status, fromMs: null, toMs: null }, count, 0);
    if (search.isTooLong) return null;
  }
  return search.found;
}

class Search {
  readonly found = new Set<string>();
  readonly #source: Source;
  readonly #forms: readonly OpenForm[];
  readonly #profile: Profile;
  readonly #mostRequests: number;

  constructor(source: Source, forms: readonly OpenForm[], profile: Profile, mostRequests: number) {
    [this.#source, this.#forms, this.#profile] = [source, forms, profile];
    this.#mostRequests = mostRequests;
  }

  get isTooLong(): boolean {
    return this.#source.requests > this.#mostRequests;
  }

  /** `count`: how many the workspace has within the span. */
  async narrow(span: Span, count: number, halved: number): Promise<void> {
    const stored = await this.#counts(span, 'all');
    const known = sumOf(stored.map((each) => each.count));
    if (known === count || this.isTooLong) return;
    const cutMs =
      Math.max(count, known) <= PAGE || halved >= MOST_HALVINGS
        ? null
        : await cutOf((within, grain) => this.#counts(within, grain), this.#profile, span);
    if (cutMs === null) return this.#readSpan(span);
    const left = await this.#source.count({
      ...(span.status !== undefined && { status: span.status }),
      ...dated(this.#profile, span.fromMs, cutMs),
    });
    if (left === null) return;
    await this.narrow({ ...span, toMs: cutMs }, left.total, halved + 1);
    await this.narrow({ ...span, fromMs: cutMs }, Math.max(0, count - left.total), halved + 1);
  }

  async #counts(span: Span, grain: Grain): Promise<Count[]> {
    const counts: Count[] = [];
    for (const form of this.#forms) counts.push(...(await form.counts(span, grain)));
    return counts;
  }

  /** Reads all that the workspace shows of a span, and names the forms that have something else stored. */
  async #readSpan(span: Span): Promise<void> {
    const shown = new Map<string, Set<string>>();
    const query = {
      ...(span.status !== undefined && { status: span.status }),
      ...dated(this.#profile, span.fromMs, span.toMs),
    };
    for await (const { items } of this.#source.pages(query, undefined, 1)) {
      if (this.isTooLong) return;
      for (const { key, submission } of items) {
        const formId = submission?.formId ?? '';
        shown.set(formId, (shown.get(formId) ?? new Set()).add(key));
      }
    }
    for (const form of this.#forms) {
      const { formId } = form.state;
      const here = shown.get(formId) ?? new Set<string>();
      const stored = new Set<string>();
      for await (const rows of form.rows(span)) for (const { id } of rows) stored.add(id);
      if (stored.symmetricDifference(here).size > 0) this.found.add(formId);
    }
  }
}
