import type { bigquery_v2 } from 'googleapis/build/src/apis/bigquery/v2.js';
import { damagedAnswer } from './bigquery-errors.ts';

/** An answer of either method that says how far a job is. */
export type Progress = bigquery_v2.Schema$QueryResponse &
  bigquery_v2.Schema$GetQueryResultsResponse;

/** A job, and where it runs. */
export interface JobReference {
  readonly jobId: string;
  readonly location: string | undefined;
}

/** The job that an answer speaks of. */
export function referenceOf({ jobReference }: Progress): JobReference {
  const jobId = jobReference?.jobId;
  if (!jobId) throw damagedAnswer(false);
  return { jobId, location: jobReference?.location ?? undefined };
}

/** A body that is cut short or comes from a gateway is not taken for an answer. */
export function checked(answer: unknown, writes: boolean): Progress {
  const isAnswer = typeof answer === 'object' && answer !== null && 'jobComplete' in answer;
  if (!isAnswer || typeof answer.jobComplete !== 'boolean') throw damagedAnswer(writes);
  return answer as Progress;
}

/** Rows that a DML statement changed; 0 of anything else. */
export function changedRows({ dmlStats, numDmlAffectedRows }: Progress): number {
  const { insertedRowCount, updatedRowCount, deletedRowCount } = dmlStats ?? {};
  const sum = [insertedRowCount, updatedRowCount, deletedRowCount].reduce<number>(
    (total, part) => total + (numberOf(part) ?? 0),
    0,
  );
  return numberOf(numDmlAffectedRows) ?? sum;
}

/** A number as REST writes it; undefined for none. */
export function numberOf(text: string | null | undefined): number | undefined {
  return typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
