import type { Clock } from '../../../base/clock.ts';
import { count } from '../../../base/format.ts';
import type { Costs, TargetCosts } from '../../../mirror/costs.ts';
import { BigQueryError } from './bigquery-errors.ts';
import type { BigQueryJobs } from './bigquery-jobs.ts';

/** What jobs were billed. */
export interface Spent {
  readonly bytesBilled: number;
  readonly statements: number;
}

/** What was billed on a day. */
export interface DaySpent extends Spent {
  /** In UTC: `2026-11-23`. */
  readonly day: string;
}

/** What BigQuery bills at least for each table that a statement reads or changes. */
export const LEAST_BILLED_BYTES = 10 * 1024 * 1024;

const NOTHING: Spent = { bytesBilled: 0, statements: 0 };

/**
 * What the jobs of this process were billed, and, with what the dataset says of other processes, what is left of a day. The
 * day's sum lives in the dataset: day-sum.ts adds {@link unsaved} to it and tells with {@link seen} what it says.
 */
export class DaySpending {
  readonly #clock: Clock;
  readonly #maxBytes: number | undefined;
  #total: Spent = NOTHING;
  /** Of today: what the dataset said last, and what it does not know of yet. */
  #saved: DaySpent;
  #unsaved: DaySpent;

  /** `maxBytes`: most bytes billed a day; undefined: any. */
  constructor(clock: Clock, maxBytes?: number) {
    this.#clock = clock;
    this.#maxBytes = maxBytes;
    this.#saved = this.#unsaved = { day: this.#today(), ...NOTHING };
  }

  /** All that this process was billed. */
  get total(): Spent {
    return this.#total;
  }

  /** What was billed today, by all processes as far as it is known here. */
  get today(): DaySpent {
    this.#turn();
    return plus(this.#saved, this.#unsaved);
  }

  /** Most bytes billed a day; undefined: any. */
  get maxBytes(): number | undefined {
    return this.#maxBytes;
  }

  /** What this process was billed today and the dataset does not know of. */
  unsaved(): DaySpent {
    this.#turn();
    return this.#unsaved;
  }

  /** It was added there. Also after midnight: then there is nothing left to take it from. */
  saved(part: DaySpent): void {
    this.#turn();
    if (part.day !== this.#unsaved.day) return;
    this.#saved = plus(this.#saved, part);
    this.#unsaved = {
      day: part.day,
      bytesBilled: Math.max(0, this.#unsaved.bytesBilled - part.bytesBilled),
      statements: Math.max(0, this.#unsaved.statements - part.statements),
    };
  }

  /** What the dataset is to say with this part, where it said `held`: no less than it said once, should people have removed it. */
  withSaved(held: DaySpent | undefined, part: DaySpent): DaySpent {
    this.#turn();
    const known = [held, this.#saved].filter((one) => one?.day === part.day);
    const most = (of: keyof Spent): number => Math.max(0, ...known.map((one) => one?.[of] ?? 0));
    const before = { bytesBilled: most('bytesBilled'), statements: most('statements') };
    return plus({ day: part.day, ...before }, part);
  }

  /** What the dataset says. What it says of another day, or said before a sum that is known here, counts for nothing. */
  seen(spent: DaySpent): void {
    this.#turn();
    if (spent.day !== this.#saved.day) return;
    if (spent.bytesBilled >= this.#saved.bytesBilled) this.#saved = spent;
  }

  /** Counts a job. */
  add(spent: Spent): void {
    this.#turn();
    this.#total = plus(this.#total, spent);
    this.#unsaved = plus(this.#unsaved, spent);
  }

  /** How many bytes a job may be billed; undefined: any. Throws when they would not do for the smallest one. */
  allowance(): number | undefined {
    if (this.#maxBytes === undefined) return undefined;
    const left = this.#maxBytes - this.today.bytesBilled;
    if (left < LEAST_BILLED_BYTES) throw this.reached();
    return left;
  }

  /** The limit is reached. */
  reached(): BigQueryError {
    const next = new Date(this.#clock.now());
    next.setUTCHours(24, 0, 0, 0);
    const most = this.#maxBytes === undefined ? '' : ` of ${count(this.#maxBytes)}`;
    return new BigQueryError('budget', 'TARGET_BUDGET', [
      `BIGQUERY_MAX_BYTES_PER_DAY is reached: ${count(this.today.bytesBilled)} bytes${most} were billed today, and the next job may need more than is left.`,
      `It goes on at ${next.toISOString().slice(0, 16).replace('T', ' ')} UTC, with nothing lost; raise the setting to go on before.`,
    ]);
  }

  /**
   * A job was refused that might be billed `allowed` bytes, and would be billed `needed`, where that is known. One that the limit of
   * a whole day would not do for can't ever run.
   */
  refused(allowed: number | undefined, needed: number | undefined): BigQueryError {
    const most = this.#maxBytes;
    if (most === undefined || Math.max(allowed ?? 0, (needed ?? 0) - 1) < most)
      return this.reached();
    const bytes = needed === undefined ? 'more bytes' : `${count(needed)} bytes`;
    return new BigQueryError('final', 'TARGET_BUDGET_TOO_SMALL', [
      `A job would be billed ${bytes}, and BIGQUERY_MAX_BYTES_PER_DAY allows ${count(most)} a day: the job can't run, neither today nor on another day.`,
      needed === undefined
        ? 'Raise the setting, several times over: a pass takes several jobs.'
        : 'Raise the setting well beyond that: a pass takes several jobs.',
    ]);
  }

  #today(): string {
    return new Date(this.#clock.now()).toISOString().slice(0, 10);
  }

  /** Begins a new day. What was billed before midnight and not saved is left out of both days' sums. */
  #turn(): void {
    const day = this.#today();
    if (day === this.#saved.day) return;
    this.#saved = this.#unsaved = { day, ...NOTHING };
  }
}

const plus = <T extends Spent>(a: T, b: Spent): T => ({
  ...a,
  bytesBilled: a.bytesBilled + b.bytesBilled,
  statements: a.statements + b.statements,
});

/** The costs of a dataset as a target tells of them. */
export function costsOf(spending: DaySpending): TargetCosts {
  const { total, today, maxBytes } = spending;
  if (maxBytes === undefined) return { ...costs(total), today: null, maxBytesPerDay: null };
  const { day } = today;
  return { ...costs(total), today: { day, ...costs(today) }, maxBytesPerDay: maxBytes };
}

const costs = ({ bytesBilled, statements }: Spent): Costs => ({
  billedBytes: bytesBilled,
  statements,
});

/** Jobs that are counted apart, besides being counted with all others. */
export interface CountedRun {
  readonly run: BigQueryJobs['run'];
  readonly open: BigQueryJobs['open'];
  /** What they were billed so far. */
  spent(): Costs;
}

/** Counts the jobs that are run through it: those of a writer, say. */
export function countedRun(jobs: Pick<BigQueryJobs, 'run' | 'open'>): CountedRun {
  let sum: Spent = NOTHING;
  const onBilled = (spent: Spent): void => {
    sum = plus(sum, spent);
  };
  return {
    run: (sql, parameters, how) => jobs.run(sql, parameters, { ...how, onBilled }),
    open: (sql, parameters, how) => jobs.open(sql, parameters, { ...how, onBilled }),
    spent: () => costs(sum),
  };
}
