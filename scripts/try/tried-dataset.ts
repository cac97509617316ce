import type { BigQueryCalls } from '../../src/targets/sql/bigquery/bigquery-calls.ts';
import { BigQueryError } from '../../src/targets/sql/bigquery/bigquery-errors.ts';
import type { BigQueryJobs } from '../../src/targets/sql/bigquery/bigquery-jobs.ts';

/** A dataset in which tables are made for the points. */
export interface TriedDataset {
  readonly jobs: BigQueryJobs;
  /** The same, with each mutating request under this one request ID. */
  readonly withId: (id: string) => BigQueryJobs;
  /** For single calls that the program itself does not make. */
  readonly calls: Pick<BigQueryCalls, 'once' | 'repeated'>;
  /** What the names of all tables begin with. */
  readonly prefix: string;
  /** What was refused and tried again since the point began. */
  readonly waitedOut: BigQueryError[];
}

/** What BigQuery refused; undefined when it did not. Rejects when it could not be asked. */
export async function failureOf(work: Promise<unknown>): Promise<BigQueryError | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (error instanceof BigQueryError && error.code !== 'TARGET_UNREACHABLE') return error;
    throw error;
  }
}
