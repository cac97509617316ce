import type { bigquery_v2 } from 'googleapis/build/src/apis/bigquery/v2.js';
import { JOB_WAIT_MS } from './bigquery-calls.ts';
import type { RunOptions } from './bigquery-jobs.ts';
import { type JobParameter, queryParameters } from './bigquery-values.ts';

/** Jobs of ours take seconds. Less than the 15 minutes for which a request ID makes a repetition harmless. */
export const JOB_LIMIT_MS = 10 * 60_000;

/** A request over its repetitions. */
export interface Request {
  readonly sql: string;
  readonly parameters: Readonly<Record<string, JobParameter>>;
  readonly mutates: readonly string[];
  readonly signal: AbortSignal | undefined;
  readonly onBilled?: RunOptions['onBilled'];
  /** Most rows of a page of the result; as many as fit into 10 MB when absent. */
  readonly pageRows?: number;
  id: string;
  /** How many bytes it may be billed. One with the ID, as a repetition has to be the same in all that counts; not yet known: null. */
  allowance: number | undefined | null;
  /** BigQuery has said that there is a job. */
  isRunning: boolean;
}

/** What `jobs.query` is asked for a request. */
export const queryBody = (
  { sql, parameters, mutates, id, pageRows, allowance }: Request,
  {
    project,
    dataset,
    location,
  }: {
    readonly project: string;
    readonly dataset: string;
    readonly location: string | undefined;
  },
): bigquery_v2.Schema$QueryRequest => ({
  query: sql,
  useLegacySql: false,
  parameterMode: 'NAMED',
  queryParameters: queryParameters(parameters),
  ...(pageRows !== undefined && { maxResults: pageRows }),
  defaultDataset: { projectId: project, datasetId: dataset },
  ...(location !== undefined && { location }),
  ...(typeof allowance === 'number' && { maximumBytesBilled: String(allowance) }),
  ...(mutates.length > 0 && { requestId: id }),
  timeoutMs: JOB_WAIT_MS,
  jobTimeoutMs: String(JOB_LIMIT_MS),
  formatOptions: { useInt64Timestamp: true },
  labels: { app: 'forms-mirror' },
});
