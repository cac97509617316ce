import type { ErrorDescription } from './sql-errors.ts';

/* Errors that every database server has, whatever code its product gives them, and those of the network before it. */

/** A connection that was lost. */
export const UNREACHABLE: ErrorDescription = {
  code: 'TARGET_UNREACHABLE',
  what: 'the connection to the server was lost',
  remedy: 'Nothing of the last batch was stored unless it was complete; the next pass goes on.',
};

/** A server that no connection reaches. */
export const NOT_ANSWERING: ErrorDescription = {
  code: 'TARGET_UNREACHABLE',
  what: 'the server does not answer',
  remedy: 'Check host and port, that the server runs, and that a firewall lets us through.',
};

/** A host that nobody knows. */
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
  remedy: 'The next pass tries again.',
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
