import type { ApiError } from './api-error.ts';
import type { DdlResult } from './ddl.ts';
import type { DmlCounts, Rows } from './execution.ts';
import type { Raw } from './json-object.ts';

/** A query job: a statement, or a script with a child for each of its statements. */
export interface Job {
  readonly id: string;
  readonly project: string;
  readonly location: string;
  readonly parent: Job | undefined;
  readonly query: string;
  /** `configuration` as it was asked for. */
  readonly configuration: Raw;
  readonly createdMs: number;
  readonly children: Job[];
  state: 'PENDING' | 'RUNNING' | 'DONE';
  endedMs: number | undefined;
  error: ApiError | undefined;
  statementType: string;
  rows: Rows | undefined;
  dml: DmlCounts | undefined;
  ddl: DdlResult | undefined;
  bytesProcessed: number;
  bytesBilled: number;
  /** Names of the tables that it read or changed. */
  referenced: readonly string[];
  readonly isDryRun: boolean;
  sessionId: string | undefined;
  transactionId: string | undefined;
  cancelled: boolean;
  /** Answers that are still to say that it runs. */
  pendingPolls: number;
  done: Promise<void>;
}

/** A job that has not begun. */
export function newJob(
  given: Pick<
    Job,
    'id' | 'project' | 'location' | 'parent' | 'query' | 'configuration' | 'createdMs' | 'isDryRun'
  >,
): Job {
  return {
    ...given,
    children: [],
    state: 'PENDING',
    endedMs: undefined,
    error: undefined,
    statementType: '',
    rows: undefined,
    dml: undefined,
    ddl: undefined,
    bytesProcessed: 0,
    bytesBilled: 0,
    referenced: [],
    sessionId: undefined,
    transactionId: undefined,
    cancelled: false,
    pendingPolls: 0,
    done: Promise.resolve(),
  };
}

/** Whose rows a job answers with: a script's are those of its last query, DML or DDL statement. */
export function resultOf(job: Job): Job {
  return (
    job.children.findLast(
      ({ statementType, error }) => error === undefined && HAS_RESULT.test(statementType),
    ) ?? job
  );
}

const HAS_RESULT = /^(SELECT|INSERT|UPDATE|DELETE|MERGE|TRUNCATE_TABLE|CREATE_|ALTER_|DROP_)/;
