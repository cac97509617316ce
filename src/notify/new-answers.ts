import { z } from 'zod';
import { type Clock, hasPassed } from '../base/clock.ts';
import { plural } from '../base/format.ts';
import type { Logger } from '../base/logger.ts';
import { type FormReport, type Report, isKnown } from '../health/report.ts';
import type { Due, Feed } from './channel.ts';
import { shortName } from './message.ts';

/** How many live rows of a form a target holds that were created within [fromMs, toMs), and when the newest of them was created. */
export type CountNewAnswers = (
  target: string,
  formId: string,
  range: { readonly fromMs: number; readonly toMs: number },
) => Promise<{ readonly count: number; readonly newestMs: number | null }>;

/** Of each form (`form <ID>`) the time of creation up to which answers were announced. */
export const cursorsSchema = z.record(z.string(), z.number());

/** See {@link NewAnswers}. */
export interface NewAnswersOptions {
  readonly count: CountNewAnswers;
  /** Changed here. */
  readonly cursors: z.infer<typeof cursorsSchema>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Answers of a form wait so long for others. */
const GROUP_MS = 3 * 60_000;
/** A form without submissions begins here: a source's clock may be behind ours. */
const SLACK_MS = 3_600_000;
/** The source's clock may be ahead by so much. A submission dated 2099 must not be announced forever, nor hide others. */
const AHEAD_MS = 2 * 60_000;

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
export class NewAnswers implements Feed {
  readonly #options: NewAnswersOptions;
  readonly #waiting = new Map<string, Waiting>();
  /** Each form at its latest count. */
  readonly #counted = new Map<string, string>();
  #copies: readonly FormReport[] = [];

  constructor(options: NewAnswersOptions) {
    this.#options = options;
  }

  look(report: Report): void {
    this.#copies = firstCopies(report);
  }

  /** Counts in the forms that have changed. */
  async due(): Promise<Due[]> {
    for (const copy of this.#copies) {
      const state = [copy.target, copy.lastRun?.endedAt, copy.rows].join('\n');
      if (this.#counted.get(copy.form.id) === state) continue;
      try {
        await this.#count(copy);
        this.#counted.set(copy.form.id, state);
      } catch (error) {
        this.#options.logger.debug({ err: error }, 'New answers cannot be counted.');
      }
    }
    const nowMs = this.#options.clock.now();
    return [...this.#waiting.values()]
      .filter(({ sinceMs }) => hasPassed(sinceMs, GROUP_MS, nowMs))
      .map((waiting) => this.#dueOf(waiting, nowMs));
  }

  async #count(form: FormReport): Promise<void> {
    const { count, cursors, clock } = this.#options;
    const { id } = form.form;
    const cursor = cursors[`form ${id}`];
    const nowMs = clock.now();
    const range = { fromMs: cursor === undefined ? 0 : cursor + 1, toMs: nowMs + AHEAD_MS };
    const found = await count(form.target, id, range);
    if (cursor === undefined) {
      const completeMs = Date.parse(form.claim.submissionsAsOf ?? '');
      cursors[`form ${id}`] = found.newestMs ?? completeMs - SLACK_MS;
    } else if (found.newestMs === null) this.#waiting.delete(id);
    else {
      const sinceMs = this.#waiting.get(id)?.sinceMs ?? nowMs;
      this.#waiting.set(id, { form, count: found.count, newestMs: found.newestMs, sinceMs });
    }
  }

  #dueOf({ form, count, newestMs }: Waiting, nowMs: number): Due {
    const { id, name } = form.form;
    const isTable = form.url === null && form.table !== null;
    return {
      key: `${id}\n${newestMs}`,
      message: {
        level: 'info',
        headline: `${plural(count, 'new answer')} to ${shortName(name)}`,
        body: isTable ? `The table is ${form.table}, in target ${form.target}.` : '',
        remedy: null,
        command: null,
        link: form.url === null ? null : { title: 'Answers', url: form.url },
        forms: [{ name, target: form.target }],
        atMs: nowMs,
      },
      taken: () => {
        // More may have come by now: the next look counts again.
        this.#waiting.delete(id);
        this.#counted.delete(id);
        this.#options.cursors[`form ${id}`] = newestMs;
      },
    };
  }
}

/** Of each form the first target that has claimed a complete copy of it, where that can be read. */
function firstCopies({ targets, forms }: Report): FormReport[] {
  const first = new Map<string, FormReport>();
  for (const { name } of targets.toReversed())
    for (const form of forms)
      if (form.target === name && form.claim.submissionsAsOf !== null)
        first.set(form.form.id, form);
  const known = new Set(targets.filter(isKnown).map(({ name }) => name));
  return [...first.values()].filter(({ target }) => known.has(target));
}
