import type { ApiError } from './api-error.ts';
import type { Rows } from './execution.ts';

/** What a statement gave: rows of a query, the number of rows that it changed, or neither. */
export interface Result {
  readonly rows?: Rows;
  readonly changed?: number;
}

/** A query job: a statement or a script. */
export interface Job {
  readonly id: string;
  readonly project: string;
  readonly query: string;
  readonly isDryRun: boolean;
  isDone: boolean;
  error: ApiError | undefined;
  /** Of a script that of its last query, DML or DDL statement. */
  result: Result;
  bytesProcessed: number;
  bytesBilled: number;
  sessionId: string | undefined;
  done: Promise<void>;
}
