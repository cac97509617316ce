import { errorCode } from '../../../base/error-code.ts';
import {
  BY_SYSTEM_CODE,
  DAMAGED,
  diskFull,
  type ErrorDescription,
  IN_THE_WAY,
  NOT_ANSWERING,
  READ_ONLY,
  refusedStatement,
  SCHEMA_CHANGED,
  UNREACHABLE,
} from '../sql-errors.ts';

const WRONG_LOGIN: ErrorDescription = {
  code: 'TARGET_DENIED',
  what: 'the server refuses the user or the password',
  remedy:
    'Check both in the target URL; special characters must be percent-encoded (@ is %40, / is %2F). If they are right, pg_hba.conf has to let this host in, perhaps only with TLS (sslmode=require).',
};
const NO_RIGHT: ErrorDescription = {
  code: 'TARGET_DENIED',
  what: 'the user may not do this there',
  remedy:
    'Let an administrator run: GRANT USAGE, CREATE ON SCHEMA <schema> TO <user>; or name a schema of its own with ?schema=… and GRANT CREATE ON DATABASE. Tables that exist must belong to this user.',
};
const BAD_CERTIFICATE: ErrorDescription = {
  code: 'TARGET_DENIED',
  what: "the server's TLS certificate cannot be trusted",
  remedy:
    'Name the certificate of its authority with ?sslmode=verify-full&sslrootcert=/path/ca.pem; ?sslmode=no-verify goes on without a check, in a network of your own whose host ALLOW_PLAINTEXT names.',
};
const TYPE_CHANGED: ErrorDescription = {
  code: 'TARGET_FAILED',
  what: 'the type of a mirrored column was changed',
  remedy:
    'Change it back (text or numeric, as mirror_fields says), or drop the column: the next run creates it again.',
};

/** SQLSTATEs: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const BY_SQLSTATE: Readonly<Record<string, ErrorDescription>> = {
  '28P01': WRONG_LOGIN,
  '28000': WRONG_LOGIN,
  '3D000': {
    code: 'TARGET_DENIED',
    what: 'there is no database of that name on the server',
    remedy: 'Check its name in the target URL, or let an administrator run CREATE DATABASE.',
  },
  '3F000': NO_RIGHT,
  '42501': NO_RIGHT,
  '25006': READ_ONLY,
  '42P01': SCHEMA_CHANGED,
  '42703': SCHEMA_CHANGED,
  '42804': TYPE_CHANGED,
  '42883': TYPE_CHANGED,
  '53100': diskFull("the server's disk"),
  '53300': {
    code: 'TARGET_UNREACHABLE',
    what: 'the server has no connection left',
    remedy: 'Raise max_connections or run fewer workers.',
  },
  '55P03': {
    code: 'TARGET_FAILED',
    what: 'another session has kept a mirrored table locked for 30 seconds',
    remedy:
      'Look for long or forgotten transactions in pg_stat_activity; the next run tries again.',
  },
  '57014': {
    code: 'TARGET_FAILED',
    what: "a statement took longer than the server's statement_timeout allows",
    remedy: 'Raise it for this user: ALTER ROLE <user> SET statement_timeout = 0.',
  },
  '25P03': UNREACHABLE,
  '57P03': { ...NOT_ANSWERING, what: 'the server is starting up or shutting down' },
  XX001: DAMAGED,
};

const BY_CLASS: Readonly<Record<string, ErrorDescription>> = {
  '08': UNREACHABLE,
  '57': UNREACHABLE,
  '40': IN_THE_WAY,
};

/** Errors of the driver that have no code, by their wording, which is matched and never quoted. */
const BY_MESSAGE: readonly (readonly [RegExp, ErrorDescription])[] = [
  [/timeout expired|connect timeout|timeout exceeded when trying to connect/i, NOT_ANSWERING],
  [/connection terminated due to connection timeout/i, NOT_ANSWERING],
  [
    /connection terminated|connection error|client was closed|not queryable|read timeout|rolled back instead/i,
    UNREACHABLE,
  ],
  [
    /does not support SSL/i,
    {
      code: 'TARGET_DENIED',
      what: 'the server does not speak TLS, which the target URL asks for',
      remedy:
        'Turn TLS on at the server, or write ?sslmode=disable in a network of your own whose host ALLOW_PLAINTEXT names.',
    },
  ],
  [
    /password must be a string|no password/i,
    { ...WRONG_LOGIN, what: 'the server wants a password, and the target URL has none' },
  ],
];

/** Errors of pg, of PostgreSQL, of the network and of TLS. */
export function describePostgresError(error: unknown): ErrorDescription | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = errorCode(error) ?? '';
  const known = BY_SQLSTATE[code] ?? BY_SYSTEM_CODE[code];
  if (known !== undefined) return known;
  if (/^[A-Z0-9]{5}$/.test(code))
    return (
      BY_CLASS[code.slice(0, 2)] ??
      refusedStatement('PostgreSQL', `SQLSTATE ${withNames(error, code)}`)
    );
  if (/CERT|TLS|SSL|SIGNATURE/.test(code)) return BAD_CERTIFICATE;
  return BY_MESSAGE.find(([pattern]) => pattern.test(error.message))?.[1];
}

/** Data, constraints, limits, and what triggers raise: errors that one row can cause. */
const ROW_CLASSES = new Set(['22', '23', '44', '54', 'P0']);

/** Those that are the same for any table. */
const FAULTS: Readonly<Record<string, string>> = {
  '22021': "the answers hold a character that the database's encoding lacks",
  '22P05': "the answers hold a character that the database's encoding lacks",
  '54000': 'the answers are too large for a row of the table',
};

/** Why a row was refused; undefined for an error that is not about a row. Names the constraint and column, never an answer. */
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
