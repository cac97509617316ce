import { z } from 'zod';
import { type Clock, isAhead } from '../base/clock.ts';
import { plural } from '../base/format.ts';
import type { Logger } from '../base/logger.ts';
import { type FormReport, type Report, isKnown } from '../health/report.ts';
import type { Due } from './channel.ts';
import { hasPassed } from './incidents.ts';
import { shortName } from './message.ts';

/** How many live rows of a form a target holds that were created after `afterMs`, and when the newest of them was created. */
export type CountNewAnswers = (
  target: string,
  formId: string,
  afterMs: number,
) => Promise<{ readonly count: number; readonly newestMs: number | null }>;

/** Of each form (`form <ID>`) the time of creation up to which answers were announced. */
export const cursorsSchema = z.record(z.string(), z.number());

/** See {@link NewAnswers}. */
export interface NewAnswersOptions {
  readonly count: CountNewAnswers;
  /** Changed here. */
  readonly cursors: z.infer<typeof cursorsSchema>;
  /** Called when they have changed. */
  readonly onTaken: () => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Answers of a form wait so long for others. */
const GROUP_MS = 3 * 60_000;
/** A form without submissions begins here: a source's clock may be behind ours. */
const SLACK_MS = 3_600_000;

interface Waiting {
  readonly form: FormReport;
  readonly count: number;
  readonly newestMs: number;
  readonly sinceMs: number;
}

/**
 * Announces new answers: their number, never their text. A form begins with its first claim, at its newest submission, so a
 * first copy is not announced, nor are submissions that are restored, filled again, or imported with an earlier date.
 *
 * Limits: a crash between a delivery and the writing of the cursor repeats one message, and a submission that
 * appears after a newer one was announced is not announced.
 */
export class NewAnswers {
  readonly #options: NewAnswersOptions;
  readonly #waiting = new Map<string, Waiting>();
  /** Each form at its latest count. */
  readonly #counted = new Map<string, string>();
  #counting: Promise<void> | undefined;

  constructor(options: NewAnswersOptions) {
    this.#options = options;
  }

  /** Counts in the forms that have changed. Never rejects. */
  look(report: Report): Promise<void> {
    this.#counting ??= this.#countAll(report).finally(() => (this.#counting = undefined));
    return this.#counting;
  }

  /** The messages that are due. */
  due(): Due[] {
    const nowMs = this.#options.clock.now();
    return [...this.#waiting]
      .filter(([, { sinceMs }]) => hasPassed(sinceMs, GROUP_MS, nowMs))
      .map(([id, waiting]) => this.#dueOf(id, waiting, nowMs));
  }

  #dueOf(id: string, { form, count, newestMs }: Waiting, nowMs: number): Due {
    const { name } = form.form;
    const isTable = form.url === null && form.table !== null;
    return {
      key: `${id}\n${newestMs}`,
      message: {
        level: 'info',
        code: 'NEW_ANSWERS',
        headline: `${plural(count, 'new answer')} to ${shortName(name)}`,
        body: isTable ? `The table is ${form.table}, in target ${form.target}.` : '',
        remedy: null,
        command: null,
        link: form.url === null ? null : { title: 'Answers', url: form.url },
        form: { id, name },
        target: form.target,
        forms: [],
        atMs: nowMs,
      },
      taken: () => {
        // More may have come by now: the next look counts again.
        this.#waiting.delete(id);
        this.#counted.delete(id);
        this.#options.cursors[`form ${id}`] = newestMs;
        this.#options.onTaken();
      },
    };
  }

  async #countAll(report: Report): Promise<void> {
    for (const form of firstCopies(report)) {
      const state = [form.target, form.lastRun?.endedAt, form.rows].join('\n');
      if (this.#counted.get(form.form.id) === state) continue;
      try {
        if (await this.#countOne(form)) this.#counted.set(form.form.id, state);
      } catch (error) {
        this.#options.logger.debug({ err: error }, 'New answers cannot be counted.');
      }
    }
  }

  /** False where an announcement arrived while it counted: its number is of before. */
  async #countOne(form: FormReport): Promise<boolean> {
    const { count, cursors, onTaken, clock } = this.#options;
    const { id } = form.form;
    const key = `form ${id}`;
    const cursor = cursors[key];
    const completeMs = Date.parse(form.claim.submissionsAsOf ?? '');
    const found = await count(form.target, id, cursor ?? 0);
    const nowMs = clock.now();
    // A submission dated 2099 must not be reported forever, nor hide others.
    const isFuture = found.newestMs !== null && isAhead(found.newestMs, nowMs);
    const newestMs = isFuture ? completeMs : found.newestMs;
    const future = isFuture ? (await count(form.target, id, nowMs)).count : 0;
    if (cursors[key] !== cursor) return false;
    if (cursor === undefined) {
      cursors[key] = newestMs ?? completeMs - SLACK_MS;
      onTaken();
      return true;
    }
    const fresh = found.count - future;
    const sinceMs = this.#waiting.get(id)?.sinceMs ?? nowMs;
    if (fresh > 0 && newestMs !== null)
      this.#waiting.set(id, { form, count: fresh, newestMs, sinceMs });
    else this.#waiting.delete(id);
    return true;
  }
}

/** Of each form the first target that has claimed a complete copy of it, where that can be read. */
function firstCopies({ targets, forms }: Report): FormReport[] {
  const known = new Set(targets.filter(isKnown).map(({ name }) => name));
  const order = new Map(targets.map(({ name }, at) => [name, at]));
  const claimed = forms
    .filter(({ claim }) => claim.submissionsAsOf !== null)
    .toSorted((a, b) => (order.get(a.target) ?? 0) - (order.get(b.target) ?? 0));
  const first = Map.groupBy(claimed, ({ form }) => form.id);
  return [...first.values()].flatMap(([form]) =>
    form !== undefined && known.has(form.target) ? [form] : [],
  );
}
