import { errorCode } from '../../../base/error-code.ts';
import {
  badCertificate,
  byCode,
  DAMAGED,
  describeNetworkError,
  diskFull,
  type ErrorDescription,
  IN_THE_WAY,
  lockedByOthers,
  NO_CONNECTION_LEFT,
  noRight,
  NOT_ANSWERING,
  noTls,
  READ_ONLY,
  type Refusal,
  refusedStatement,
  SCHEMA_CHANGED,
  tookTooLong,
  typeChanged,
  unknownDatabase,
  UNREACHABLE,
  withNames,
  wrongLogin,
} from '../errors.ts';

const WRONG_LOGIN = wrongLogin(
  'pg_hba.conf has to let this host in, perhaps only with TLS (sslmode=require)',
);

/** SQLSTATEs, and classes of them: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const BY_SQLSTATE = byCode(
  [WRONG_LOGIN, '28P01', '28000'],
  [unknownDatabase('CREATE DATABASE'), '3D000'],
  [
    noRight(
      'GRANT USAGE, CREATE ON SCHEMA <schema> TO <user>; or name a schema of its own with ?schema=… and GRANT CREATE ON DATABASE. Tables that exist must belong to this user',
    ),
    '3F000',
    '42501',
  ],
  [READ_ONLY, '25006'],
  [SCHEMA_CHANGED, '42P01', '42703'],
  [typeChanged('text or numeric'), '42804', '42883'],
  [diskFull("the server's disk"), '53100'],
  [NO_CONNECTION_LEFT, '53300'],
  [lockedByOthers('pg_stat_activity'), '55P03'],
  [
    tookTooLong('statement_timeout for this user: ALTER ROLE <user> SET statement_timeout = 0'),
    '57014',
  ],
  [UNREACHABLE, '08', '57', '25P03'],
  [{ ...NOT_ANSWERING, what: 'the server is starting up or shutting down' }, '57P03'],
  [IN_THE_WAY, '40'],
  [DAMAGED, 'XX001'],
);

/** Errors of the driver that have no code, by their wording, which is matched and never quoted. */
const BY_MESSAGE: readonly (readonly [RegExp, ErrorDescription])[] = [
  [/timeout expired|connect timeout|timeout exceeded|due to connection timeout/i, NOT_ANSWERING],
  [
    /connection terminated|connection error|client was closed|not queryable|read timeout|rolled back instead/i,
    UNREACHABLE,
  ],
  [/does not support SSL/i, noTls('sslmode=disable')],
  [
    /password must be a string|no password/i,
    { ...WRONG_LOGIN, what: 'the server wants a password, and the target URL has none' },
  ],
];

const BAD_CERTIFICATE = badCertificate(
  'sslmode=verify-full&sslrootcert=/path/ca.pem',
  'sslmode=no-verify',
);

const isSqlstate = (code: string): boolean => /^[A-Z0-9]{5}$/.test(code);

/** Errors of pg, of PostgreSQL, of the network and of TLS. */
export function describePostgresError(error: unknown): ErrorDescription | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = errorCode(error) ?? '';
  return (
    BY_SQLSTATE.get(code) ??
    describeNetworkError(error, BAD_CERTIFICATE) ??
    (isSqlstate(code)
      ? (BY_SQLSTATE.get(code.slice(0, 2)) ??
        refusedStatement('PostgreSQL', `SQLSTATE ${named(error, code)}`))
      : BY_MESSAGE.find(([pattern]) => pattern.test(error.message))?.[1])
  );
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
export function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof RangeError)
    return { reason: 'the answers are too large for one statement', isOfRow: true };
  const code = errorCode(error) ?? '';
  if (!isSqlstate(code) || !ROW_CLASSES.has(code.slice(0, 2))) return undefined;
  const words = FAULTS[code];
  const { constraint } = error as { constraint?: unknown };
  if (words !== undefined && constraint === undefined)
    return { reason: `${words} (PostgreSQL ${code})`, isOfRow: true };
  return { reason: `PostgreSQL refuses the row (${named(error, code)})`, isOfRow: false };
}

function named(error: unknown, code: string): string {
  const { constraint, column } = error as { constraint?: string; column?: string };
  const about = [
    ...(constraint === undefined ? [] : [`constraint ${constraint}`]),
    ...(column === undefined ? [] : [`column ${column}`]),
  ];
  return withNames(code, ...about);
}
