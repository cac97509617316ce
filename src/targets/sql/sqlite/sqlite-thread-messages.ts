import { errorCode } from '../../../base/error-code.ts';
import type { SqlValue } from '../sql-session.ts';
import type { FlatRows, StorePlan } from './sqlite-store.ts';

/** What the thread of a database is told to do: a method of `SqliteEngine`. */
export type ThreadRequest =
  | {
      readonly what: 'all';
      readonly sql: string;
      readonly params: readonly SqlValue[];
      readonly asArrays: boolean;
    }
  | { readonly what: 'exec'; readonly sql: string }
  | { readonly what: 'send'; readonly sql: string; readonly params: readonly SqlValue[] }
  | { readonly what: 'store'; readonly plan: StorePlan; readonly rows: FlatRows }
  | { readonly what: 'rollBack' | 'close' };

/** One for each request but `send`, in order. */
export type ThreadAnswer = { readonly value: unknown } | { readonly error: PlainError };

/** An error with what tells SQLite's from others; the copy that a message makes of an Error has lost it. */
interface PlainError {
  readonly message: string;
  readonly code: string | undefined;
  /** SQLite's own number. */
  readonly errcode: unknown;
}

/** An error as it can be sent. */
export function plainError(error: unknown): PlainError {
  const { message, errcode } =
    error instanceof Error
      ? (error as Error & { readonly errcode?: unknown })
      : { message: String(error), errcode: undefined };
  return { message, code: errorCode(error), errcode };
}

/** The error that was sent. */
export const errorFrom = ({ message, ...told }: PlainError): Error =>
  Object.assign(new Error(message), told);
