import type { Clock } from '../base/clock.ts';
import { pausedError, pauseOf } from '../mirror/pauses.ts';
import type { Copy } from '../mirror/copy.ts';
import type { FormIdentity } from '../mirror/types.ts';

/** How often a target is asked in the middle of work; of one whose calls are metered, less often. */
const ASK_EVERY_MS = 5_000;
const ASK_METERED_EVERY_MS = 60_000;

/** Throws PAUSED where people have a form left alone in a target. */
export async function refusePaused(
  target: Copy,
  { id, slug }: Pick<FormIdentity, 'id' | 'slug'>,
): Promise<void> {
  const pause = pauseOf(await target.pauses(), id);
  if (pause !== null) throw pausedError(pause, slug, target.name);
}

/** Notices in the middle of long work that people have paused a form in a target. */
export class PauseWatch {
  readonly #target: Copy;
  readonly #clock: Clock;
  #askedMs: number;

  /** `sinceMs`: when it was last known not to be paused. */
  constructor(target: Copy, clock: Clock, sinceMs: number) {
    this.#target = target;
    this.#clock = clock;
    this.#askedMs = sinceMs;
  }

  /** Throws PAUSED; asks the target now and then. To be called before each part of the work. */
  async check(form: Pick<FormIdentity, 'id' | 'slug'>): Promise<void> {
    const everyMs = this.#target.isMetered === true ? ASK_METERED_EVERY_MS : ASK_EVERY_MS;
    const nowMs = this.#clock.now();
    if (nowMs - this.#askedMs < everyMs) return;
    this.#askedMs = nowMs;
    await refusePaused(this.#target, form);
  }
}
