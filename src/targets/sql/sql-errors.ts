import { type ErrorCode, isAbort, MirrorError, toMirrorError } from '../../base/errors.ts';
import type { CheckResult } from '../../mirror/target.ts';
import { describeRefused, RefusedRows } from './refused-rows.ts';
import { describeSwallowed, SwallowedWrites } from './swallowed-writes.ts';

/** A driver's error, described for people. Never a value from a row, a password, or the driver's own text. */
export interface ErrorDescription {
  readonly code: ErrorCode;
  /** What happened: half a sentence, without a full stop. */
  readonly what: string;
  /** What to do now: sentences. */
  readonly remedy: string;
  /** Overrides the code's own answer. */
  readonly retryable?: boolean;
}

/** Describes the errors of one driver; undefined for what that driver never throws. */
export type DescribeError = (error: unknown) => ErrorDescription | undefined;

/** Any error as a MirrorError. `place`: the target, for the message. */
export function translateError(
  error: unknown,
  describe: DescribeError,
  place: string,
): MirrorError {
  if (error instanceof MirrorError || isAbort(error)) return toMirrorError(error);
  if (error instanceof SwallowedWrites) return describeSwallowed(error, place);
  if (error instanceof RefusedRows) return describeRefused(error, place);
  const description = describe(error);
  if (description === undefined) return toMirrorError(error);
  const { code, what, remedy, retryable } = description;
  return new MirrorError(code, `${place}: ${what}. ${remedy}`, {
    cause: error,
    ...(retryable === undefined ? {} : { retryable }),
  });
}

/** An error as a line of `check`. */
export function failedResult(error: unknown, describe: DescribeError): CheckResult {
  if (error instanceof MirrorError) return { ok: false, message: error.message };
  const description = describe(error);
  if (description === undefined) return { ok: false, message: toMirrorError(error).message };
  const { what, remedy } = description;
  return { ok: false, message: `${what.charAt(0).toUpperCase()}${what.slice(1)}.`, remedy };
}

/** For a full disk; `what` says whose. */
export const diskFull = (what: string): ErrorDescription => ({
  code: 'TARGET_FULL',
  what: `${what} is full`,
  remedy: 'Make room; the next pass goes on where this one ended.',
});

/** For a table or column that was there a moment ago. */
export const SCHEMA_CHANGED: ErrorDescription = {
  code: 'TARGET_FAILED',
  what: 'a table or column of the mirror was dropped or renamed meanwhile',
  remedy: 'The next pass creates it again, or says what to do.',
};

/** For a statement that failed with a code that has no description of its own. */
export const refusedStatement = (product: string, code: string): ErrorDescription => ({
  code: 'TARGET_FAILED',
  what: `${product} refused a statement (${code})`,
  remedy: 'If someone changed a mirrored table or its columns, undo that; else please report it.',
});
