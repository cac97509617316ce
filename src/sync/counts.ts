import type { SubmissionItem } from '../forms/client.ts';
import { sumOf } from '../mirror/form-state.ts';
import type { OpenForm } from '../mirror/port.ts';
import { STATUSES } from '../mirror/types.ts';
import { createdMsOf } from './profile.ts';
import type { ListQuery, Source } from './source.ts';

const SECOND_MS = 1_000;

/** The number of submissions at the source in each documented status. Numbers only, because a job contains them. */
export interface Counts {
  /** Our clock just before they were asked for (milliseconds). */
  readonly askedAtMs: number;
  /**
   * The time on the source's clock, in whole seconds: the counts include every submission created before. Null if
   * the source gives no time.
   */
  readonly beganMs: number | null;
  /** They include no submission created from then on. Null where the source gives no time. */
  readonly endedMs: number | null;
  /** Null where the source does not look at `status`. */
  readonly statuses: Readonly<Record<string, number>> | null;
}

/** Asks for the six counts, side by side. Null statuses where the source refuses one. */
export async function askCounts(
  source: Source,
  query: Omit<ListQuery, 'status'>,
  nowMs: number,
): Promise<Counts> {
  const answers = await Promise.all(STATUSES.map((status) => source.count({ ...query, status })));
  const known = answers.filter((answer) => answer !== null);
  if (known.length < STATUSES.length) return uncounted(nowMs);
  const times = known.flatMap(({ serverMs }) => serverMs ?? []);
  const isTimed = times.length === STATUSES.length;
  return {
    askedAtMs: nowMs,
    beganMs: isTimed ? Math.min(...times) : null,
    endedMs: isTimed ? Math.max(...times) + SECOND_MS : null,
    statuses: Object.fromEntries(STATUSES.map((status, at) => [status, known[at]?.total ?? 0])),
  };
}

/** For a source that does not look at `status`. */
export const uncounted = (nowMs: number): Counts => ({
  askedAtMs: nowMs,
  beganMs: null,
  endedMs: null,
  statuses: null,
});

/** Whether the source ignores `status`: each count is then the total, so that they add up to far more than `total`. */
export function areIgnored({ statuses }: Counts, total: number): boolean {
  if (statuses === null) return true;
  const counts = Object.values(statuses);
  return Math.min(...counts) > 0 && sumOf(counts) >= 2 * total;
}

/** Notes submissions in a reading that came or changed after the counts, before they are stored. */
export class SinceCounts {
  /** By status, newcomers that the counts cannot have: they came after them. */
  readonly late = new Map<string, number>();
  /** A stored submission may be newer than the counts: it changed or arrived while they were asked for. */
  hasChanged = false;
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
    const form = this.#form;
    const stored = new Map<string, string>();
    for await (const rows of form.rows({ ids }))
      for (const row of rows) stored.set(row.id, row.status);
    const forgotten = form.state.tally.forgotten > 0 ? await form.forgotten(ids) : new Map();
    for (const item of fresh) {
      const { submission } = item;
      if (submission === null || forgotten.has(submission.id)) continue;
      const status = stored.get(submission.id);
      if (status === submission.status) continue;
      if (status === undefined) this.#noteNewcomer(submission.status, createdMsOf(item));
      else this.hasChanged = true;
    }
  }

  #noteNewcomer(status: string, createdMs: number | null): void {
    const { beganMs, endedMs } = this.#counts;
    if (createdMs !== null && beganMs !== null && createdMs < beganMs) return;
    if (createdMs !== null && endedMs !== null && createdMs >= endedMs)
      this.late.set(status, (this.late.get(status) ?? 0) + 1);
    // The counts may have it or not: the next round asks again.
    else this.hasChanged = true;
  }
}
