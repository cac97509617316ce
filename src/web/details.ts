import type { Clock } from '../base/clock.ts';
import { MirrorError } from '../base/errors.ts';
import { Reading } from '../health/reading.ts';
import type { FormReport } from '../health/report.ts';
import type { Entry, Run } from '../mirror/port.ts';
import { overviewRestMs } from '../targets/target-kinds.ts';

/** What a target keeps of one form, for the form's own page: names, counts and times, no answer. */
export interface FormDetails {
  /** The newest first. */
  readonly runs: readonly Run[];
  /** Submissions that could not be stored unchanged: how many, and some of them. */
  readonly rejected: { readonly total: number; readonly entries: readonly Entry[] };
}

/** See {@link DetailsReader}. */
export interface DetailsOptions {
  /** Asks a target. May be slow or reject. */
  readonly read: (target: string, formId: string) => Promise<FormDetails>;
  readonly clock: Clock;
}

/** A target that is slower leaves its part of the page empty. */
const LIMIT_MS = 3_000;

/**
 * Asks targets for the details of forms. A page that stays open asks every ten seconds: where reading uses a quota that runs
 * need, an answer serves for a while, or until another run has ended.
 */
export class DetailsReader {
  readonly #options: DetailsOptions;
  readonly #readings = new Map<string, Reading<FormDetails>>();
  /** The newest run of each form that the report knew of. */
  readonly #lastRuns = new Map<string, string | null>();

  constructor(options: DetailsOptions) {
    this.#options = options;
  }

  /** Null where the target does not answer in time. Never rejects. */
  async of(
    { form: { id }, target, lastRun }: FormReport,
    kind: string,
  ): Promise<FormDetails | null> {
    const { clock, read } = this.#options;
    const key = JSON.stringify([target, id]);
    const reading =
      this.#readings.get(key) ??
      new Reading({
        read: () => read(target, id),
        clock,
        limitMs: LIMIT_MS,
        tooSlow: () => new MirrorError('TARGET_UNREACHABLE', `Target ${target} is slow.`),
        restMs: () => overviewRestMs(kind),
      });
    this.#readings.set(key, reading);
    const endedAt = lastRun?.endedAt ?? null;
    if (this.#lastRuns.get(key) !== endedAt) reading.expire(true);
    this.#lastRuns.set(key, endedAt);
    await reading.refresh(0);
    return reading.trouble === null ? reading.value : null;
  }
}
