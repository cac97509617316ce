import { sumOf } from '../mirror/form-state.ts';
import type { Store, StoredForm } from '../mirror/port.ts';
import { createdMsOf } from './profile.ts';
import type { Counts } from './counts.ts';
import type { Page } from './source.ts';

/** What the workspace said, asked as a whole. */
export interface Workspace {
  readonly counts: Counts;
  readonly newest: Page;
}

/** The submissions of the workspace beyond the known ones, by status and in all. */
export class Difference {
  #total: number;
  readonly #statuses: Map<string, number> | null;

  /** `statuses`: null where they cannot be counted. */
  constructor(total: number, statuses: ReadonlyMap<string, number> | null) {
    this.#total = total;
    this.#statuses = statuses === null ? null : new Map(statuses);
  }

  /** These are known. `total`: their sum. */
  takeOff(counts: ReadonlyMap<string, number>, total = sumOf(counts.values())): void {
    this.#add(counts, -1, total);
  }

  putBack(counts: ReadonlyMap<string, number>, total = sumOf(counts.values())): void {
    this.#add(counts, 1, total);
  }

  get isNone(): boolean {
    return this.#total === 0 && this.statuses.length === 0;
  }

  /** The statuses that differ; none where only the total does, or where they cannot be counted. */
  get statuses(): string[] {
    return [...(this.#statuses ?? [])].flatMap(([status, n]) => (n === 0 ? [] : [status]));
  }

  /** The difference as the record of forms that a poll does not cover. */
  asRest(): { total: number; statuses: Record<string, number> } {
    return { total: this.#total, statuses: Object.fromEntries(this.#statuses ?? []) };
  }

  /** A status that the source was not asked for is in the total only. */
  #add(counts: ReadonlyMap<string, number>, sign: number, total: number): void {
    this.#total += sign * total;
    for (const [status, n] of counts) {
      const before = this.#statuses?.get(status);
      if (before !== undefined) this.#statuses?.set(status, before + sign * n);
    }
  }
}

/**
 * What the newest page shows explains newcomers and recent changes: takes them off the difference. The forms that they belong
 * to; all of them for a newcomer that does not name its form.
 */
export async function explainNewest(
  store: Store,
  spokenFor: readonly StoredForm[],
  { counts, newest }: Workspace,
  difference: Difference,
): Promise<Set<string>> {
  const formIds = spokenFor.map(({ state }) => state.formId);
  const items = new Map(newest.items.map((item) => [item.key, item]));
  const named = Map.groupBy(items.keys(), (key) => items.get(key)?.submission?.formId ?? '');
  // Where items do not name their forms, each form is asked whether it has them.
  const nameless = new Set(named.get('') ?? []);
  const found = new Set<string>();
  for (const formId of formIds) {
    const ids = [...(named.get(formId) ?? []), ...nameless];
    if (ids.length === 0) continue;
    const form = await store.open({ id: formId }, 'read');
    if (form === null) continue;
    await using closing = form;
    const stored = new Map<string, string>();
    for await (const rows of closing.rows({ ids }))
      for (const { id, status } of rows) stored.set(id, status);
    const { forgotten } = closing.state.tally;
    const kept = forgotten > 0 ? await closing.forgotten(ids) : new Map<string, string>();
    for (const id of ids) {
      const before = stored.get(id);
      const isNameless = nameless.has(id);
      if (before !== undefined || kept.has(id)) nameless.delete(id);
      const status = items.get(id)?.submission?.status;
      if (kept.has(id) || status === undefined || before === status) continue;
      if (before === undefined && isNameless) continue;
      found.add(formId);
      if (before !== undefined) difference.putBack(new Map([[before, 1]]));
      difference.takeOff(
        new Map([[before === undefined ? countedAs(items.get(id), counts) : status, 1]]),
      );
    }
  }
  return nameless.size > 0 ? new Set(formIds) : found;
}

/** The status in whose count a newcomer is; '' for one that came after the counts, and is only in the total. */
function countedAs(item: Page['items'][number] | undefined, { endedMs }: Counts): string {
  const ms = item === undefined ? null : createdMsOf(item);
  return ms !== null && endedMs !== null && ms >= endedMs ? '' : (item?.submission?.status ?? '');
}
