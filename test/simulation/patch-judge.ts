import type { ApiLog } from './api.ts';
import type { CopiedRow } from './copy.ts';

type Reading = ReturnType<ApiLog['read']['get']>;

/**
 * Judges each PATCH when it reaches the source, by the knowledge of its process and the content of the targets (L7).
 */
export class PatchJudge {
  /** The last reading of a process before its last PATCH: each PATCH needs its own reading. */
  readonly #used = new WeakMap<object, Map<string, Reading>>();

  /** The fault. `rows`: of the submission, by target. */
  faults(
    process: object,
    id: string,
    read: Reading,
    rows: ReadonlyMap<string, CopiedRow | undefined>,
    isPaused: boolean,
  ): string[] {
    const used = this.#used.get(process) ?? new Map<string, Reading>();
    this.#used.set(process, used);
    const isSpent = read !== undefined && used.get(id) === read;
    used.set(id, read);
    const faults = isPaused ? [`PATCH of ${id}, whose form is paused`] : [];
    if (read === undefined || !read.byId || isSpent)
      faults.push(`PATCH of ${id}, which was not read by its ID just before`);
    else if (read.status !== 'NEW') faults.push(`PATCH of ${id}, which was read as ${read.status}`);
    for (const [target, row] of rows) {
      if (row === undefined || row.isDeleted)
        faults.push(`PATCH of ${id} before it was stored in ${target}`);
    }
    return faults;
  }
}
