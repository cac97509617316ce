import type { ApiError } from './api-error.ts';
import type { Rows } from './execution.ts';

/** The result of a statement: rows of a query, the number of changed rows, or neither. */
export interface Result {
  readonly rows?: Rows;
  readonly changed?: number;
}

/** A query job: a statement or a script. */
export interface Job {
  readonly id: string;
  readonly project: string;
  readonly query: string;
  isDone: boolean;
  error: ApiError | undefined;
  /** For a script, the result of its last query, DML or DDL statement. */
  result: Result;
  bytesBilled: number;
  sessionId: string | undefined;
  done: Promise<void>;
}
