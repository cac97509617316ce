import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../../../base/clock.ts';
import type { DaySpending } from './bigquery-spending.ts';
import type { BigQueryTables } from './bigquery-tables.ts';
import { changeRecord, DAY_RECORD, readRecord } from './kept-record.ts';

const DAY = z.object({
  day: z.iso.date(),
  bytesBilled: z.number().nonnegative(),
  statements: z.number().nonnegative(),
  /** Names the addition that made it what it is. */
  by: z.string(),
});
type Day = z.infer<typeof DAY>;

/** How often a process at work says what it was billed, and learns what others were; Google takes five changes of a view in ten seconds. */
const EVERY_MS = 15_000;
/** How far other clocks may be ahead: Google itself takes no signature of five minutes. A day that begins later is a mistake. */
const AHEAD_MS = 3_600_000;

/**
 * What was billed on a day, by all processes: kept in the dataset where a setting limits it, so that neither several workers nor restarts
 * nor commands take more. Keeping it bills nothing.
 */
export class DaySum {
  readonly #tables: Pick<BigQueryTables, 'table' | 'changeView'>;
  readonly #spending: DaySpending;
  readonly #clock: Clock;
  #settledMs = Number.NEGATIVE_INFINITY;
  #underWay: Promise<void> | undefined;

  constructor(
    tables: Pick<BigQueryTables, 'table' | 'changeView'>,
    spending: DaySpending,
    clock: Clock,
  ) {
    this.#tables = tables;
    this.#spending = spending;
    this.#clock = clock;
  }

  /** Tells and learns, unless that was done a moment ago: before each job. Never rejects: what can't be kept counts in this process alone. */
  async settle(): Promise<void> {
    if (this.#spending.maxBytes === undefined) return;
    const sinceMs = this.#clock.now() - this.#settledMs;
    // Less than none where the clock was set back.
    if (sinceMs >= 0 && sinceMs < EVERY_MS) return;
    await this.#now();
  }

  /** Tells what is left to tell: at the end of a process. Never rejects. */
  async close(): Promise<void> {
    if (this.#spending.maxBytes === undefined) return;
    await this.#underWay;
    if (this.#spending.unsaved().statements > 0) await this.#now();
  }

  #now(): Promise<void> {
    this.#underWay ??= this.#exchange()
      // An account that may only read, a dataset that is not there yet.
      .catch(() => undefined)
      .finally(() => {
        this.#settledMs = this.#clock.now();
        this.#underWay = undefined;
      });
    return this.#underWay;
  }

  async #exchange(): Promise<void> {
    const spending = this.#spending;
    const part = spending.unsaved();
    if (part.statements === 0) {
      const held = dayFrom(await readRecord(this.#tables, DAY_RECORD));
      if (held !== undefined) spending.seen(held);
      return;
    }
    const by = randomUUID();
    let said: Day | undefined;
    let isSaved = false;
    await changeRecord(this.#tables, DAY_RECORD, (text) => {
      const held = dayFrom(text);
      // Of a day that others have begun already: what is of the one before counts no more.
      isSaved = held === undefined || held.day <= part.day || held.day > this.#newestDay();
      said = !isSaved || held?.by === by ? held : { ...spending.withSaved(held, part), by };
      return said === held ? undefined : JSON.stringify(said);
    });
    if (isSaved) spending.saved(part);
    if (said !== undefined) spending.seen(said);
  }

  /** The last day that any clock may say now. */
  #newestDay(): string {
    return new Date(this.#clock.now() + AHEAD_MS).toISOString().slice(0, 10);
  }
}

function dayFrom(text: string | null): Day | undefined {
  if (text === null) return undefined;
  try {
    return DAY.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
