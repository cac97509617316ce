import type { ProblemCode } from '../../base/catalogue.ts';
import { isAbort, MirrorError } from '../../base/errors.ts';

/*
 * Errors of databases in words for people: those that every server has, under any code of its product, and those of the network
 * before it.
 */

/** An error in words for people. Never a value from a row, a password, or the driver's own text. */
export interface ErrorDescription {
  readonly code: ProblemCode;
  /** What happened: half a sentence, without a full stop. */
  readonly what: string;
  /** What to do now: sentences. */
  readonly remedy: string;
  /** Overrides the code's own answer. */
  readonly retryable?: boolean;
}

/** The error for people: with our description if there is one, otherwise unchanged. */
export function asDescribed(error: unknown, description: ErrorDescription | undefined): unknown {
  if (description === undefined || error instanceof MirrorError || isAbort(error)) return error;
  const { code, what, remedy, retryable } = description;
  return new MirrorError(code, `${what}. ${remedy}`, {
    cause: error,
    ...(retryable === undefined ? {} : { retryable }),
  });
}

/** For a full disk; `what` says whose. */
export const diskFull = (what: string): ErrorDescription => ({
  code: 'TARGET_FULL',
  what: `${what} is full`,
  remedy: 'Make room; the next run goes on where this one ended.',
});

/** For a table or column that was there a moment ago. */
export const SCHEMA_CHANGED: ErrorDescription = {
  code: 'TARGET_FAILED',
  what: 'a mirrored table or column was dropped or renamed while it was used',
  remedy: 'The next run makes it again, or says what to do.',
};

/** For a statement that failed with a code that has no description of its own. */
export const refusedStatement = (product: string, code: string): ErrorDescription => ({
  code: 'TARGET_FAILED',
  what: `${product} refused a statement (${code})`,
  remedy:
    'If someone changed a mirrored table or its columns, undo that. Otherwise, please report it.',
});

/** A connection that was lost. */
export const UNREACHABLE: ErrorDescription = {
  code: 'TARGET_UNREACHABLE',
  what: 'the connection to the server was lost',
  remedy: 'Nothing of the last batch was stored unless it was complete; the next run goes on.',
};

/** A server that no connection reaches. */
export const NOT_ANSWERING: ErrorDescription = {
  code: 'TARGET_UNREACHABLE',
  what: 'the server does not answer',
  remedy: 'Check host and port, that the server runs, and that a firewall lets us through.',
};

/** A host name that DNS does not know. */
export const UNKNOWN_HOST: ErrorDescription = {
  code: 'TARGET_UNREACHABLE',
  what: 'the host name is not known',
  remedy: 'Check the spelling of the host in the target URL, and the DNS of this machine.',
};

/** A server that takes no writes. */
export const READ_ONLY: ErrorDescription = {
  code: 'TARGET_DENIED',
  what: 'the server takes no writes: it is a replica or was set to read only',
  remedy: 'Put the address of the primary into the target URL.',
};

/** Data that the server cannot read. */
export const DAMAGED: ErrorDescription = {
  code: 'TARGET_FAILED',
  what: 'the server reports damaged data',
  remedy: 'An administrator has to look at the database.',
  retryable: false,
};

/** A deadlock, or two transactions that cannot both have been first. */
export const IN_THE_WAY: ErrorDescription = {
  code: 'TARGET_FAILED',
  what: 'the transaction got in the way of another one',
  remedy: 'The next run tries again.',
};

/** Codes of the system for what happens to connections. */
export const BY_SYSTEM_CODE: Readonly<Record<string, ErrorDescription>> = {
  ECONNREFUSED: NOT_ANSWERING,
  ETIMEDOUT: NOT_ANSWERING,
  EHOSTUNREACH: NOT_ANSWERING,
  ENETUNREACH: NOT_ANSWERING,
  ENOENT: NOT_ANSWERING,
  ENOTFOUND: UNKNOWN_HOST,
  EAI_AGAIN: UNKNOWN_HOST,
  ECONNRESET: UNREACHABLE,
  EPIPE: UNREACHABLE,
};
