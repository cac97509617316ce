import type { ProblemCode } from '../../base/catalogue.ts';
import { errorCode } from '../../base/error-code.ts';

/*
 * Errors of databases in words for people. Each dialect lists its codes; what they mean is here as far as several servers have it.
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

/** Why a row was refused: for a fault of its own, or by something that people added to the table. */
export interface Refusal {
  readonly reason: string;
  readonly isOfRow: boolean;
}

/** Rows that were written and are not there as written. */
export class Swallowed extends Error {
  constructor(table: string) {
    super(`a trigger of the table ${table} swallows or changes rows`);
  }
}

type Code = string | number;

/** Descriptions by the codes that they are for. */
export const byCode = (
  ...known: readonly (readonly [ErrorDescription, ...Code[]])[]
): ReadonlyMap<Code, ErrorDescription> =>
  new Map(known.flatMap(([description, ...codes]) => codes.map((code) => [code, description])));

const denied = (what: string, remedy: string): ErrorDescription => ({
  code: 'TARGET_DENIED',
  what,
  remedy,
});
const failed = (what: string, remedy: string): ErrorDescription => ({
  code: 'TARGET_FAILED',
  what,
  remedy,
});
const unreachable = (what: string, remedy: string): ErrorDescription => ({
  code: 'TARGET_UNREACHABLE',
  what,
  remedy,
});

/** For a full disk; `what` says whose. */
export const diskFull = (what: string): ErrorDescription => ({
  code: 'TARGET_FULL',
  what: `${what} is full`,
  remedy: 'Make room; the next run goes on where this one ended.',
});

/** For a statement that failed with a code that has no description of its own. */
export const refusedStatement = (product: string, code: string): ErrorDescription =>
  failed(
    `${product} refused a statement (${code})`,
    'If someone changed a mirrored table or its columns, undo that. Otherwise, please report it.',
  );

/** `also`: a sentence on what else the server may ask of a login. */
export const wrongLogin = (also: string): ErrorDescription =>
  denied(
    'the server refuses the user or the password',
    `Check both in the target URL; special characters must be percent-encoded (@ is %40, / is %2F). If they are right, ${also}.`,
  );

/** `grants`: the statement that an administrator runs. */
export const noRight = (grants: string): ErrorDescription =>
  denied('the user may not do this there', `Let an administrator run: ${grants}.`);

/** `checked`, `unchecked`: options of the target URL. */
export const badCertificate = (checked: string, unchecked: string): ErrorDescription =>
  denied(
    "the server's TLS certificate cannot be trusted",
    `Name the certificate of its authority with ?${checked}; ?${unchecked} goes on without a check, in a network of your own whose host ALLOW_PLAINTEXT names.`,
  );

/** `off`: the option of the target URL that turns TLS off. */
export const noTls = (off: string): ErrorDescription =>
  denied(
    'the server does not speak TLS, which the target URL asks for',
    `Turn TLS on at the server, or write ?${off} in a network of your own whose host ALLOW_PLAINTEXT names.`,
  );

export const unknownDatabase = (create: string): ErrorDescription =>
  denied(
    'there is no database of that name on the server',
    `Check its name in the target URL, or let an administrator run ${create}.`,
  );

/** A column of the mirror that people changed; `types`: those that it should have. */
export const typeChanged = (types: string): ErrorDescription =>
  failed(
    'a value does not fit a column of the mirror: the type of a column was changed',
    `Change it back (${types}, as mirror_fields says), or drop the column: the next run makes it again.`,
  );

/** `list`: where the server lists its transactions. */
export const lockedByOthers = (list: string): ErrorDescription =>
  failed(
    'another session has kept a mirrored table or row locked for 30 seconds',
    `Look for long or forgotten transactions in ${list}; the next run tries again.`,
  );

/** `raise`: how its limit is raised. */
export const tookTooLong = (raise: string): ErrorDescription =>
  failed('a statement took longer than the server allows, or was ended there', `Raise ${raise}.`);

/** A table or column that was there a moment ago. */
export const SCHEMA_CHANGED = failed(
  'a mirrored table or column was dropped or renamed while it was used',
  'The next run makes it again, or says what to do.',
);
export const NO_CONNECTION_LEFT = unreachable(
  'the server has no connection left',
  'Raise max_connections or run fewer workers.',
);
export const READ_ONLY = denied(
  'the server takes no writes: it is a replica or was set to read only',
  'Put the address of the primary into the target URL.',
);
export const DAMAGED: ErrorDescription = {
  ...failed('the server reports damaged data', 'An administrator has to look at the database.'),
  retryable: false,
};
/** A deadlock, or two transactions that cannot both have been first. */
export const IN_THE_WAY = failed(
  'the transaction got in the way of another one',
  'The next run tries again.',
);
export const UNREACHABLE = unreachable(
  'the connection to the server was lost',
  'Nothing of the last batch was stored unless it was complete; the next run goes on.',
);
export const NOT_ANSWERING = unreachable(
  'the server does not answer',
  'Check host and port, that the server runs, and that a firewall lets us through.',
);
const UNKNOWN_HOST = unreachable(
  'the host name is not known',
  'Check the spelling of the host in the target URL, and the DNS of this machine.',
);

/** Codes of the system for what happens to connections. */
const BY_SYSTEM_CODE = byCode(
  [NOT_ANSWERING, 'ECONNREFUSED', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOENT'],
  [UNKNOWN_HOST, 'ENOTFOUND', 'EAI_AGAIN'],
  [UNREACHABLE, 'ECONNRESET', 'EPIPE'],
);

/** An error of the network or of TLS before a server; undefined for another one. */
export function describeNetworkError(
  error: unknown,
  certificate: ErrorDescription,
): ErrorDescription | undefined {
  const code = errorCode(error) ?? '';
  return (
    BY_SYSTEM_CODE.get(code) ?? (/CERT|TLS|SSL|SIGNATURE/.test(code) ? certificate : undefined)
  );
}

/** Quotes the constraint, key or column that an error names, and nothing else of it. */
export const withNames = (code: Code, ...names: readonly unknown[]): string =>
  [code, ...names.filter((name) => typeof name === 'string' && NAME.test(name))].join(', ');

const NAME = /^[\w $.-]{1,80}$/;
