import { type ErrorCode, isAbort, MirrorError, toMirrorError } from '../../base/errors.ts';
import type { CheckFinding } from '../../mirror/target.ts';

/** A driver's error in words for people. Never a value from a row, a password, or the driver's own text. */
export interface Explanation {
  readonly code: ErrorCode;
  /** What happened: half a sentence, without a full stop. */
  readonly what: string;
  /** What to do now: sentences. */
  readonly remedy: string;
  /** Overrides the code's own answer. */
  readonly retryable?: boolean;
}

/** Explains the errors of one driver; undefined for what that driver never throws. */
export type Explain = (error: unknown) => Explanation | undefined;

/** Any error as ours. `place`: the target, for the message. */
export function translateError(error: unknown, explain: Explain, place: string): MirrorError {
  if (error instanceof MirrorError || isAbort(error)) return toMirrorError(error);
  const explanation = explain(error);
  if (explanation === undefined) return toMirrorError(error);
  const { code, what, remedy, retryable } = explanation;
  return new MirrorError(code, `${place}: ${what}. ${remedy}`, {
    cause: error,
    ...(retryable === undefined ? {} : { retryable }),
  });
}

/** An error as a line of `check`. */
export function failedFinding(error: unknown, explain: Explain): CheckFinding {
  if (error instanceof MirrorError) return { ok: false, message: error.message };
  const explanation = explain(error);
  if (explanation === undefined) return { ok: false, message: toMirrorError(error).message };
  const { what, remedy } = explanation;
  return { ok: false, message: `${what.charAt(0).toUpperCase()}${what.slice(1)}.`, remedy };
}

/** The text in an error's `code`, as Node and PostgreSQL set it. */
export function textCodeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}
