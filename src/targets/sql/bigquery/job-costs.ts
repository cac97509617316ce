import type { bigquery_v2 } from 'googleapis/build/src/apis/bigquery/v2.js';
import { type JobReference, numberOf, type Progress, referenceOf } from './bigquery-answers.ts';
import type { BigQueryCalls } from './bigquery-calls.ts';
import { BigQueryError, type BigQueryFault } from './bigquery-errors.ts';
import { LEAST_BILLED_BYTES, type Spent } from './bigquery-spending.ts';

/*
 * A statement that fails is not billed, but a script that fails is: for those of its statements that had ended. The answer that says
 * so names no job, so it is looked for among the newest ones, which bills nothing.
 */

/** A job that failed, as it was sent. */
export interface SentJob {
  readonly sql: string;
  /** Where its answer named it. */
  readonly reference: JobReference | undefined;
  /** When it was sent. */
  readonly sentMs: number;
}

const NOTHING: Spent = { bytesBilled: 0, statements: 0 };
/** With these a job has ended. After others its fate is unknown, and the same request is sent again. */
const ENDED: ReadonlySet<BigQueryFault> = new Set([
  'failed',
  'conflict',
  'refused',
  'absent',
  'budget',
]);
/** Clocks differ, and a request waits its turn. */
const SKEW_MS = 300_000;
const NEWEST = 50;
/** What an answer has to have of a job, without its parameters. */
const PARTS = 'statistics(numChildJobs,query/totalBytesBilled)';
const LISTED = `jobs(jobReference/jobId,errorResult/reason,configuration/query/query,${PARTS})`;

/** Finds what jobs were billed. */
export class JobCosts {
  readonly #calls: BigQueryCalls;
  /** IDs of those that were found: another try of the same script is another job. */
  readonly #found = new Set<string>();

  constructor(calls: BigQueryCalls) {
    this.#calls = calls;
  }

  /** Of a job that took effect. Only of a script, and of one that was waited for, it has to be asked. Never rejects. */
  async ofEnded(first: Progress, done: Progress): Promise<Spent> {
    const said = numberOf(done.totalBytesBilled);
    const isScript = done.statementType === 'SCRIPT';
    if (said !== undefined && !isScript) return { bytesBilled: said, statements: 1 };
    const least = Math.max(LEAST_BILLED_BYTES, numberOf(done.totalBytesProcessed) ?? 0);
    const bytesBilled = said ?? least;
    if (!first.jobReference?.jobId) return { bytesBilled, statements: 1 };
    // The job has taken effect: what it cost is no reason to fail.
    const told = await this.#ofJob(referenceOf(first)).catch(() => undefined);
    return { bytesBilled, statements: 1, ...told };
  }

  /**
   * Of a job that ended with an error. Where BigQuery does not tell, as listing jobs takes a right of its own, the least that all
   * statements of the script may have been billed. Never rejects.
   */
  async ofFailed(error: unknown, { sql, reference, sentMs }: SentJob): Promise<Spent> {
    const statements = sql.split(';').filter((part) => part.trim() !== '').length;
    if (statements < 2) return NOTHING;
    if (!(error instanceof BigQueryError) || !ENDED.has(error.fault)) return NOTHING;
    const least = { bytesBilled: statements * LEAST_BILLED_BYTES, statements };
    try {
      const asked = reference === undefined ? this.#newest(sql, sentMs) : this.#ofJob(reference);
      return { ...least, ...(await asked) };
    } catch {
      return least;
    }
  }

  /** Of a job that is known. */
  async #ofJob({ jobId, location }: JobReference): Promise<Partial<Spent>> {
    const { project: projectId } = this.#calls.options;
    const where = { projectId, jobId, ...(location !== undefined && { location }) };
    const { statistics } = await this.#calls.repeated((client, options) =>
      client.jobs.get({ ...where, fields: PARTS }, options),
    );
    return spentOf(statistics);
  }

  /** Of the newest job with these words that failed and was not asked for. */
  async #newest(sql: string, sentMs: number): Promise<Partial<Spent>> {
    const { project: projectId } = this.#calls.options;
    const { jobs } = await this.#calls.once((client, options) =>
      client.jobs.list(
        {
          projectId,
          projection: 'full',
          maxResults: NEWEST,
          minCreationTime: String(sentMs - SKEW_MS),
          fields: LISTED,
        },
        options,
      ),
    );
    const found = jobs?.find(({ jobReference, errorResult, configuration }) => {
      const isNew = !this.#found.has(jobReference?.jobId ?? '');
      return isNew && errorResult?.reason && configuration?.query?.query === sql;
    });
    this.#found.add(found?.jobReference?.jobId ?? '');
    return spentOf(found?.statistics);
  }
}

/** What statistics of a job tell. */
function spentOf(statistics: bigquery_v2.Schema$JobStatistics | undefined): Partial<Spent> {
  const bytesBilled = numberOf(statistics?.query?.totalBytesBilled);
  const statements = numberOf(statistics?.numChildJobs);
  return {
    ...(bytesBilled !== undefined && { bytesBilled }),
    ...(statements !== undefined && { statements }),
  };
}
