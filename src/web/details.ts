import { type Clock, withinTime } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { FormReport, TargetReport } from '../health/report.ts';
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
  readonly logger: Logger;
}

/** A target that is slower leaves its part of the page empty. */
const LIMIT_MS = 3_000;

interface Known {
  readonly details: Promise<FormDetails>;
  readonly atMs: number;
  /** The newest run that the report knew of. */
  readonly lastRun: string | null;
}

/**
 * Asks targets for the details of forms. A page that stays open asks every ten seconds: where reading uses a quota that runs
 * need, an answer serves for a while, or until another run has ended.
 */
export class DetailsReader {
  readonly #options: DetailsOptions;
  readonly #known = new Map<string, Known>();

  constructor(options: DetailsOptions) {
    this.#options = options;
  }

  /** Null where the target does not answer in time. Never rejects. */
  async of(form: FormReport, target: TargetReport | undefined): Promise<FormDetails | null> {
    const { clock, logger, read } = this.#options;
    const key = JSON.stringify([form.target, form.form.id]);
    const atMs = clock.now();
    const lastRun = form.lastRun?.endedAt ?? null;
    const restMs = overviewRestMs(target?.kind ?? '');
    let known = this.#known.get(key);
    if (known === undefined || atMs - known.atMs >= restMs || known.lastRun !== lastRun) {
      known = { details: read(form.target, form.form.id), atMs, lastRun };
      if (restMs > 0) this.#known.set(key, known);
    }
    try {
      return (await withinTime(known.details, LIMIT_MS, clock)) ?? null;
    } catch (error) {
      if (this.#known.get(key) === known) this.#known.delete(key);
      logger.debug({ err: error }, 'The details of a form cannot be read.');
      return null;
    }
  }
}
