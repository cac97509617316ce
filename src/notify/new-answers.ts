import { z } from 'zod';
import { type Clock, hasPassed } from '../base/clock.ts';
import { plural } from '../base/format.ts';
import type { FormReport, Report } from '../health/report.ts';
import type { Due, Feed } from './channel.ts';
import { shortName } from './message.ts';

/** How many live rows of a form in a target were created within [fromMs, toMs), and when the newest of them was created. */
export type CountNewAnswers = (
  target: string,
  formId: string,
  range: { readonly fromMs: number; readonly toMs: number },
) => Promise<{ readonly count: number; readonly newestMs: number | null }>;

/** How long answers of a form wait for others. */
const GROUP_MS = 3 * 60_000;
/** A form without submissions begins here, because a source's clock may be behind ours. */
const SLACK_MS = 3_600_000;
/** How far the source's clock may be ahead. A submission dated 2099 must not be announced forever, nor hide others. */
const AHEAD_MS = 2 * 60_000;

/** Answers of a form that were not announced yet. */
interface Found {
  /** The copy in which they were counted. A copy that has changed is counted again. */
  readonly copy: string;
  readonly count: number;
  /** When the newest of them was created; null if there are none. */
  readonly newestMs: number | null;
  /** When the first of them was found. */
  readonly sinceMs: number;
}
const NOTHING: Found = { copy: '', count: 0, newestMs: null, sinceMs: 0 };

const keptSchema = z.record(z.string(), z.number());

/**
 * Announces new answers: their number, never their text. A form begins with its first claim, at its newest submission. So a first
 * copy is not announced, nor are submissions that are restored, filled again, or imported with an earlier date.
 *
 * Limits: a crash between a delivery and its record repeats one message, and a submission that appears after a newer one was
 * announced is not announced.
 */
export class NewAnswers implements Feed {
  /** For each form (`form <ID>`), the creation time up to which answers were announced. */
  readonly kept: z.infer<typeof keptSchema>;
  readonly #counter: CountNewAnswers;
  readonly #clock: Clock;
  readonly #found = new Map<string, Found>();

  /** `kept`: from an earlier process. */
  constructor(kept: unknown, counter: CountNewAnswers, clock: Clock) {
    this.kept = keptSchema.safeParse(kept).data ?? {};
    [this.#counter, this.#clock] = [counter, clock];
  }

  async due(report: Report): Promise<Due[]> {
    const due: Due[] = [];
    for (const copy of firstCopies(report)) {
      // If a target cannot count them, the report has the problem.
      const { count, newestMs, sinceMs } = await this.#count(copy).catch(() => NOTHING);
      if (newestMs !== null && hasPassed(sinceMs, GROUP_MS, this.#clock.now()))
        due.push(this.#dueOf(copy, count, newestMs));
    }
    return due;
  }

  /** Counts in a copy that has changed. */
  async #count({ form: { id }, target, lastRun, rows, claim }: FormReport): Promise<Found> {
    const copy = [target, lastRun?.endedAt, rows].join('\n');
    const before = this.#found.get(id) ?? NOTHING;
    if (before.copy === copy) return before;
    const nowMs = this.#clock.now();
    const announcedMs = this.kept[`form ${id}`];
    const fromMs = announcedMs === undefined ? 0 : announcedMs + 1;
    const counted = await this.#counter(target, id, { fromMs, toMs: nowMs + AHEAD_MS });
    const isFirst = announcedMs === undefined;
    const beginMs = Date.parse(claim.submissionsAsOf ?? '') - SLACK_MS;
    if (isFirst) this.kept[`form ${id}`] = counted.newestMs ?? beginMs;
    const sinceMs = before.newestMs === null ? nowMs : before.sinceMs;
    const found = isFirst ? { ...NOTHING, copy } : { ...counted, copy, sinceMs };
    this.#found.set(id, found);
    return found;
  }

  #dueOf({ form, target, url, table }: FormReport, count: number, newestMs: number): Due {
    const isTable = url === null && table !== null;
    return {
      content: {
        level: 'info',
        headline: `${plural(count, 'new answer')} to ${shortName(form.name)}`,
        body: isTable ? [`The table is ${table}, in target ${target}.`] : [],
        link: url === null ? null : { title: 'Answers', url },
        atMs: this.#clock.now(),
      },
      taken: () => {
        this.kept[`form ${form.id}`] = newestMs;
        // More may have come by now, so they are counted again.
        this.#found.delete(form.id);
      },
    };
  }
}

/** For each form, the first copy that is claimed to be complete and whose target can be read. */
function firstCopies({ targets, forms }: Report): FormReport[] {
  const known = new Set(targets.flatMap(({ name, isReadable }) => (isReadable ? name : [])));
  const claimed = forms.filter(({ claim }) => claim.submissionsAsOf !== null);
  const copies = Map.groupBy(claimed, ({ form }) => form.id);
  return [...copies.values()].flatMap(([first]) => (first && known.has(first.target) ? first : []));
}
