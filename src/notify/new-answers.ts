import { z } from 'zod';
import { type Clock, hasPassed } from '../base/clock.ts';
import { plural } from '../base/format.ts';
import type { FormReport, Report } from '../health/report.ts';
import type { Due, Feed } from './channel.ts';
import { shortName } from './message.ts';

/** How long answers of a form wait for others. */
const GROUP_MS = 3 * 60_000;

const keptSchema = z.record(z.string(), z.number());

/**
 * Announces new answers: their number, never their text. They are the rows that a copy has in addition to those announced, whether
 * marked deleted or not. So a submission that is deleted or restored is not announced, nor is a first copy. A crash between a
 * delivery and its record repeats one message.
 */
export class NewAnswers implements Feed {
  /** For each first copy of a form, the rows that were announced. */
  readonly kept: z.infer<typeof keptSchema>;
  readonly #clock: Clock;
  /** When the first of the rows to announce was found. */
  readonly #sinceMs = new Map<string, number>();

  /** `kept`: from an earlier process. */
  constructor(kept: unknown, clock: Clock) {
    this.kept = keptSchema.safeParse(kept).data ?? {};
    this.#clock = clock;
  }

  due(report: Report): Due[] {
    const nowMs = this.#clock.now();
    return firstCopies(report).flatMap((copy) => {
      const key = `${copy.target}\n${copy.form.id}`;
      const rows = (copy.rows ?? 0) + (copy.deletedRows ?? 0);
      // Fewer after an erasure.
      const announced = Math.min(this.kept[key] ?? rows, rows);
      this.kept[key] = announced;
      if (rows === announced) {
        this.#sinceMs.delete(key);
        return [];
      }
      const sinceMs = this.#sinceMs.get(key) ?? nowMs;
      this.#sinceMs.set(key, sinceMs);
      if (!hasPassed(sinceMs, GROUP_MS, nowMs)) return [];
      const taken = (): void => void (this.kept[key] = rows);
      return { content: messageOf(copy, rows - announced), taken };
    });
  }
}

function messageOf({ form, target, url, table }: FormReport, count: number): Due['content'] {
  const isTable = url === null && table !== null;
  return {
    level: 'info',
    headline: `${plural(count, 'new answer')} to ${shortName(form.name)}`,
    body: isTable ? [`The table is ${table}, in target ${target}.`] : [],
    link: url === null ? null : { title: 'Answers', url },
  };
}

/** For each form, its copy in the first target, if it is claimed to be complete and could be read. */
function firstCopies({ targets, forms }: Report): FormReport[] {
  const readable = new Set(targets.filter((one) => one.isReadable).map(({ name }) => name));
  const copies = [...Map.groupBy(forms, ({ form }) => form.id).values()];
  return copies
    .flatMap(([first]) => first ?? [])
    .filter(({ target, claim }) => readable.has(target) && claim.submissionsAsOf !== null);
}
