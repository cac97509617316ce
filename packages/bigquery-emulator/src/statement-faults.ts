import { ApiError } from './api-error.ts';
import { fullName, type Table } from './catalog.ts';
import type { Jobs } from './jobs.ts';
import type { TableLocks } from './transactions.ts';

/** Faults inside of jobs, for tests to set. */
export class StatementFaults {
  readonly #locks: TableLocks;
  #jobs: Jobs | undefined;
  #conflicts: { table: string; times: number }[] = [];
  #failures: { type: RegExp; error: ApiError; times: number }[] = [];

  constructor(locks: TableLocks) {
    this.#locks = locks;
  }

  /** The next `times` statements that change a table (its name without project and dataset) find that another did so first. */
  conflictOn(table: string, times = 1): void {
    this.#conflicts.push({ table, times });
  }

  /** The next `times` statements of a type, such as /MERGE/, fail with Google's reason and message. */
  failStatement(type: RegExp, error: ApiError, times = 1): void {
    this.#failures.push({ type, error, times });
  }

  /** A project without billing: from now on every DML statement is refused. */
  refuseDml(): void {
    const message =
      'Billing has not been enabled for this project. Enable billing at https://console.cloud.google.com/billing. DML queries are not allowed in the free tier. Set up a billing account to remove this restriction.';
    this.failStatement(
      /^(INSERT|UPDATE|DELETE|MERGE|TRUNCATE_TABLE)$/,
      new ApiError('billingNotEnabled', message),
      Infinity,
    );
  }

  /** The next `times` jobs say `jobComplete: false` in their first `polls` answers, done or not. */
  runLong(polls: number, times = 1): void {
    if (this.#jobs !== undefined) this.#jobs.polls = { times, pending: polls };
  }

  /** Forgets a job: asking for it is a 404. What it did stays done, and its request ID is forgotten too. */
  lose(jobId: string): void {
    this.#jobs?.lose(jobId);
  }

  /** Takes away what was set and has not happened yet. */
  clear(): void {
    this.#conflicts = [];
    this.#failures = [];
    this.runLong(0, 0);
  }

  over(jobs: Jobs): void {
    this.#jobs = jobs;
  }

  /** Called before each statement. */
  readonly before = (statementType: string, table: Table | undefined): void => {
    const failure = this.#failures.find(({ type, times }) => times > 0 && type.test(statementType));
    if (failure !== undefined) {
      failure.times--;
      throw failure.error;
    }
    if (table === undefined) return;
    const conflict = this.#conflicts.find(
      ({ table: name, times }) => times > 0 && fullName(table).endsWith(`.${name}`),
    );
    if (conflict === undefined) return;
    conflict.times--;
    this.#locks.touch(table);
  };
}
