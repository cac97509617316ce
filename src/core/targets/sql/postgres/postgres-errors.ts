import { errorCode } from '../../../../base/error-code.ts';
import { type ErrorCode, MirrorError } from '../../../../base/errors.ts';

interface Description {
  readonly code: ErrorCode;
  readonly text: string;
}

const WRONG_LOGIN: Description = {
  code: 'TARGET_DENIED',
  text: 'the server refuses the user or the password: check both in the target URL, where special characters must be percent-encoded (@ is %40, / is %2F)',
};
const NO_RIGHT: Description = {
  code: 'TARGET_DENIED',
  text: 'the user may not do this: let an administrator run GRANT USAGE, CREATE ON SCHEMA <schema> TO <user>',
};
const UNREACHABLE: Description = {
  code: 'TARGET_UNREACHABLE',
  text: 'the connection to the server was lost or cannot be made: check that it is up, and the host and port in the target URL',
};
const FULL: Description = {
  code: 'TARGET_FULL',
  text: "the server's disk is full: make room, and the next run goes on",
};
const CHANGED: Description = {
  code: 'TARGET_FAILED',
  text: 'a table or column was changed or dropped while it was used: the next run looks at what is there',
};

/** SQLSTATEs: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const BY_STATE: Readonly<Record<string, Description>> = {
  '28P01': WRONG_LOGIN,
  '28000': WRONG_LOGIN,
  '3D000': {
    code: 'TARGET_DENIED',
    text: 'there is no database of that name: check the target URL, or run CREATE DATABASE',
  },
  '3F000': NO_RIGHT,
  '42501': NO_RIGHT,
  '25006': {
    code: 'TARGET_DENIED',
    text: 'the server or this user only reads: name the primary server in the target URL',
  },
  '42P01': CHANGED,
  '42703': CHANGED,
  '42804': {
    code: 'TARGET_FAILED',
    text: 'the type of a mirrored column was changed: change it back, or drop the column to fill it again',
  },
  '53100': FULL,
  '53300': {
    code: 'TARGET_UNREACHABLE',
    text: 'the server has no connection left: raise max_connections or run fewer workers',
  },
  '55P03': {
    code: 'TARGET_FAILED',
    text: 'another session keeps a mirrored table locked: look for open transactions in pg_stat_activity',
  },
  '57014': {
    code: 'TARGET_FAILED',
    text: "a statement took longer than the server's statement_timeout allows: raise it for this user",
  },
  ECONNREFUSED: UNREACHABLE,
  ECONNRESET: UNREACHABLE,
  ENOTFOUND: UNREACHABLE,
  ETIMEDOUT: UNREACHABLE,
  EHOSTUNREACH: UNREACHABLE,
  EPIPE: UNREACHABLE,
};

const BY_CLASS: Readonly<Record<string, Description>> = {
  '08': UNREACHABLE,
  '57': UNREACHABLE,
  '40': { code: 'TARGET_FAILED', text: 'another session was in the way: the next run tries again' },
};

const BY_MESSAGE: readonly (readonly [RegExp, Description])[] = [
  [
    /timeout|connection terminated|connection error|client was closed|not queryable|connection ended/i,
    UNREACHABLE,
  ],
  [
    /does not support SSL/i,
    { code: 'TARGET_DENIED', text: 'the server does not speak TLS, which the target URL asks for' },
  ],
  [
    /password must be a string|no password/i,
    { ...WRONG_LOGIN, text: 'the server wants a password, and the target URL has none' },
  ],
];

/** An error of pg, PostgreSQL, the network or TLS in words for people; any other error as it is. Details can quote answers: none is kept. */
export function describePostgresError(error: unknown): unknown {
  if (error instanceof MirrorError || !(error instanceof Error)) return error;
  const found = descriptionOf(error);
  return found === undefined ? error : new MirrorError(found.code, `PostgreSQL: ${found.text}.`);
}

function descriptionOf(error: Error): Description | undefined {
  const code = errorCode(error) ?? '';
  const known = BY_STATE[code];
  if (known !== undefined) return known;
  if (/^[A-Z0-9]{5}$/.test(code))
    return (
      BY_CLASS[code.slice(0, 2)] ?? {
        code: 'TARGET_FAILED',
        text: `the server refused a statement (SQLSTATE ${withNames(error, code)})`,
      }
    );
  if (/CERT|TLS|SSL|SIGNATURE/.test(code))
    return {
      code: 'TARGET_DENIED',
      text: "the server's TLS certificate cannot be trusted: name its authority with ?sslmode=verify-full&sslrootcert=/path/ca.pem",
    };
  return BY_MESSAGE.find(([pattern]) => pattern.test(error.message))?.[1];
}

/** Data, constraints, limits, and what triggers raise: errors that one row can cause. */
const ROW_CLASSES = new Set(['22', '23', '44', '54', 'P0']);

/** Those that are the same whatever the table looks like. */
const FAULTS: Readonly<Record<string, string>> = {
  '22021': "the answers hold a character that the database's encoding lacks",
  '22P05': "the answers hold a character that the database's encoding lacks",
  '54000': 'the answers are too large for a row of the table',
};

/** Why a row was refused; undefined for an error that is not about a row. Names constraint and column, which are no answers. */
export function refusalOf(error: unknown): { reason: string; isOfRow: boolean } | undefined {
  if (error instanceof RangeError)
    return { reason: 'the answers are too large for one statement', isOfRow: true };
  const code = errorCode(error) ?? '';
  if (code === 'MIRROR_SWALLOWED') return { reason: (error as Error).message, isOfRow: false };
  if (!/^[A-Z0-9]{5}$/.test(code) || !ROW_CLASSES.has(code.slice(0, 2))) return undefined;
  const words = FAULTS[code];
  const { constraint } = error as { constraint?: unknown };
  if (words !== undefined && constraint === undefined)
    return { reason: `${words} (PostgreSQL ${code})`, isOfRow: true };
  return { reason: `PostgreSQL refuses the row (${withNames(error, code)})`, isOfRow: false };
}

function withNames(error: unknown, code: string): string {
  const { constraint, column } = error as { constraint?: unknown; column?: unknown };
  const isName = (value: unknown): value is string =>
    typeof value === 'string' && /^[\w $-]{1,63}$/.test(value);
  return [
    code,
    ...(isName(constraint) ? [`constraint ${constraint}`] : []),
    ...(isName(column) ? [`column ${column}`] : []),
  ].join(', ');
}
