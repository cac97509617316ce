import { type Clock, withinTime } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { HealthSource } from '../health/facts.ts';
import type { FormReport, TargetReport } from '../health/report.ts';
import { overviewRestMs } from '../targets/target-kinds.ts';
import type { FormHistory } from './form-page.ts';

/** What {@link FormHistories} works with. */
export interface HistoriesOptions {
  readonly source: HealthSource;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** On a form's page, of each target. */
const SHOWN_PASSES = 60;
const SHOWN_REJECTIONS = 200;
/** A target that is slow leaves its part of the page empty. */
const LIMIT_MS = 3_000;
/** Forms that are remembered. */
const MOST_KNOWN = 100;

interface Known {
  readonly history: FormHistory;
  readonly atMs: number;
  /** The newest pass that the report knew of. */
  readonly lastPass: string | null;
}

/**
 * What targets record of single forms. Where reading takes of a quota that passes need, an answer serves for a while, or until
 * another pass has ended: a page that stays open asks every ten seconds.
 */
export class FormHistories {
  readonly #options: HistoriesOptions;
  readonly #known = new Map<string, Known>();

  constructor(options: HistoriesOptions) {
    this.#options = options;
  }

  /** What a target records of a form; null for what it does not return in time. Never rejects. */
  async of(form: FormReport, target: TargetReport | undefined): Promise<FormHistory> {
    const key = JSON.stringify([form.target, form.form.id]);
    const now = this.#options.clock.now();
    const known = this.#known.get(key);
    const kind = target?.kind ?? null;
    const restMs = kind === null ? 0 : overviewRestMs(kind);
    const lastPass = form.lastPass?.endedAt ?? null;
    if (known !== undefined && now - known.atMs < restMs && known.lastPass === lastPass) {
      return known.history;
    }
    const history = await this.#read(form);
    const isWhole =
      history.passes !== null && history.rejections !== null && history.details !== null;
    this.#known.delete(key);
    if (restMs > 0 && isWhole) this.#known.set(key, { history, atMs: now, lastPass });
    const [oldest] = this.#known.keys();
    if (this.#known.size > MOST_KNOWN && oldest !== undefined) this.#known.delete(oldest);
    return history;
  }

  async #read({ target, form }: FormReport): Promise<FormHistory> {
    const { source } = this.#options;
    const [passes, rejections, details] = await Promise.all([
      this.#inTime(source.passes(target, form.id, SHOWN_PASSES)),
      this.#inTime(source.rejections(target, form.id, SHOWN_REJECTIONS)),
      this.#inTime(source.details(target, form.id)),
    ]);
    return { target, passes, rejections, details };
  }

  async #inTime<T>(work: Promise<T>): Promise<T | null> {
    const { clock, logger } = this.#options;
    try {
      return (await withinTime(work, LIMIT_MS, clock)) ?? null;
    } catch (error) {
      logger.debug({ err: error }, 'The history of a form cannot be read.');
      return null;
    }
  }
}
