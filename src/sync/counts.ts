import { sumOf } from '../mirror/form-state.ts';
import type { OpenForm } from '../mirror/port.ts';
import { STATUSES, type SubmissionItem } from '../mirror/types.ts';
import { createdMsOf } from './profile.ts';
import { type ListQuery, type Source } from '../forms/source.ts';
import { knownOf } from './target.ts';

/** The number of submissions at the source in each documented status. Numbers only, because a job contains them. */
export interface Counts {
  /** Our clock just before they were asked for (milliseconds). */
  readonly askedAtMs: number;
  /**
   * The time on the source's clock, in whole seconds: the counts include every submission created before it. Null if the source
   * gives no time.
   */
  readonly beganMs: number | null;
  /** Null if the source ignores `status`. */
  readonly statuses: Readonly<Record<string, number>> | null;
}

/** Asks for the six counts at the same time. Null statuses if the source refuses one. */
export async function askCounts(
  source: Source,
  query: Omit<ListQuery, 'status'>,
  nowMs: number,
): Promise<Counts> {
  const answers = await Promise.all(STATUSES.map((status) => source.count({ ...query, status })));
  const known = answers.filter((answer) => answer !== null);
  if (known.length < STATUSES.length) return uncounted(nowMs);
  const times = known.flatMap(({ serverMs }) => serverMs ?? []);
  return {
    askedAtMs: nowMs,
    beganMs: times.length === STATUSES.length ? Math.min(...times) : null,
    statuses: Object.fromEntries(STATUSES.map((status, at) => [status, known[at]?.total ?? 0])),
  };
}

/** For a source that ignores `status`. */
export const uncounted = (nowMs: number): Counts => ({
  askedAtMs: nowMs,
  beganMs: null,
  statuses: null,
});

/** Whether the source ignores `status`: each count is then the total, so that they add up to far more than `total`. */
export function areIgnored({ statuses }: Counts, total: number): boolean {
  if (statuses === null) return true;
  const counts = Object.values(statuses);
  return Math.min(...counts) > 0 && sumOf(counts) >= 2 * total;
}

/** Notes the statuses of submissions that may have come or changed after the counts, as a reading shows them, before they are stored. */
export class SinceCounts {
  readonly changed = new Set<string>();
  readonly #form: OpenForm;
  readonly #counts: Counts;
  readonly #seen = new Set<string>();

  constructor(form: OpenForm, counts: Counts) {
    [this.#form, this.#counts] = [form, counts];
  }

  async look(items: readonly SubmissionItem[]): Promise<void> {
    const fresh = items.filter(({ key }) => !this.#seen.has(key));
    for (const { key } of fresh) this.#seen.add(key);
    const ids = fresh.flatMap(({ submission }) => submission?.id ?? []);
    if (ids.length === 0) return;
    const { stored, forgotten } = await knownOf(this.#form, ids);
    for (const item of fresh) {
      const { submission } = item;
      if (submission === null || forgotten.has(submission.id)) continue;
      const status = stored.get(submission.id);
      // A submission created earlier is in the counts.
      const isEarly = (createdMsOf(item) ?? Infinity) < (this.#counts.beganMs ?? -Infinity);
      if (status === undefined ? isEarly : status === submission.status) continue;
      this.changed.add(submission.status);
      if (status !== undefined) this.changed.add(status);
    }
  }
}
