import type { SubmissionItem } from '../forms/client.ts';
import type { OpenForm } from '../mirror/port.ts';
import type { Counts } from './counts.ts';
import { createdMsOf } from './profile.ts';

/** Notes what a reading shows that came or changed after the counts were asked, before it is stored. */
export class SinceCounts {
  /** By status, newcomers that the counts cannot have: they came after them. */
  readonly late = new Map<string, number>();
  /** A stored submission may be newer than the counts: it changed, or it came while they were asked for. */
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
