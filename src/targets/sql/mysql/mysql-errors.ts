import { errorCode } from '../../../base/error-code.ts';
import {
  BY_SYSTEM_CODE,
  DAMAGED,
  diskFull,
  type ErrorDescription,
  IN_THE_WAY,
  READ_ONLY,
  refusedStatement,
  SCHEMA_CHANGED,
  UNREACHABLE,
} from '../sql-errors.ts';

/**
 * An error of the server or the driver without its text, which quotes answers, and without the statement, which holds them
 * (L11).
 */
export class MysqlError extends Error {
  /** The server's number; undefined for errors of the driver. */
  readonly errno: number | undefined;
  readonly code: string | undefined;
  /** The key, constraint or column that it names. */
  readonly about: string | undefined;

  constructor(error: {
    errno?: number | undefined;
    code?: string | undefined;
    about?: string | undefined;
  }) {
    super(`the database refused (${error.code ?? error.errno ?? 'without a code'})`);
    [this.errno, this.code, this.about] = [error.errno, error.code, error.about];
  }
}

/** A row that no statement to this server has room for. */
export class RowTooLarge extends Error {}

/** What a name may look like to be shown. */
const ABOUT =
  /(?:for key|for column|CONSTRAINT|constraint|[Cc]olumn|Field) [`'"](?:[\w$ .-]{1,130}[`'"]\.[`'"])*([\w$ .-]{1,64})[`'"]/;

/** Words of the driver that say what its code does not. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [
    /closed state|server closed the connection|Connection lost|connection is closed/i,
    'PROTOCOL_CONNECTION_LOST',
  ],
  [/unknown plugin|authentication plugin|AuthSwitch/i, 'UNKNOWN_AUTH_PLUGIN'],
  [/does not support secure connection/i, 'HANDSHAKE_NO_SSL_SUPPORT'],
];

/** An error of mysql2 as one that may be kept and shown. */
export function safeError(error: unknown): MysqlError {
  if (!(error instanceof Error)) return new MysqlError({});
  const { errno, sqlState } = error as { errno?: unknown; sqlState?: unknown };
  if (typeof errno === 'number' && errno > 0 && sqlState !== undefined)
    return new MysqlError({ errno, code: errorCode(error), about: ABOUT.exec(error.message)?.[1] });
  const code = WORDS.find(([words]) => words.test(error.message))?.[1];
  return new MysqlError({ code: code ?? errorCode(error) });
}

const WRONG_LOGIN: ErrorDescription = {
  code: 'TARGET_DENIED',
  what: 'the server refuses the user or the password',
  remedy:
    "Check both in the target URL; special characters must be percent-encoded (@ is %40, / is %2F). If they are right, the account must be one for this host: CREATE USER '<user>'@'%'.",
};
const NO_RIGHT: ErrorDescription = {
  code: 'TARGET_DENIED',
  what: 'the user may not do this there',
  remedy:
    'Let an administrator run: GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, DROP, INDEX, CREATE TEMPORARY TABLES, CREATE VIEW, SHOW VIEW ON <database>.* TO <user>.',
};
const UNKNOWN_DATABASE: ErrorDescription = {
  code: 'TARGET_DENIED',
  what: 'there is no database of that name on the server',
  remedy:
    'Check its name in the target URL, or let an administrator run CREATE DATABASE <name> CHARACTER SET utf8mb4.',
};
const NO_CONNECTION_LEFT: ErrorDescription = {
  code: 'TARGET_UNREACHABLE',
  what: 'the server has no connection left',
  remedy: 'Raise max_connections (or max_user_connections) or run fewer workers.',
};
const NOT_LET_IN: ErrorDescription = {
  code: 'TARGET_DENIED',
  what: 'the server lets this host in no more',
  remedy:
    "It may have blocked it after failed attempts (mysqladmin flush-hosts), or have no account for it: CREATE USER '<user>'@'%'.",
};
const BAD_CERTIFICATE: ErrorDescription = {
  code: 'TARGET_DENIED',
  what: "the server's TLS certificate cannot be trusted",
  remedy:
    'Name the certificate of its authority with ?ssl-mode=VERIFY_IDENTITY&ssl-ca=/path/ca.pem; ?ssl-mode=REQUIRED goes on without a check, in a network of your own whose host ALLOW_PLAINTEXT names.',
};
const NO_TLS: ErrorDescription = {
  code: 'TARGET_DENIED',
  what: 'the server does not speak TLS, which the target URL asks for',
  remedy:
    'Turn TLS on at the server, or write ?ssl-mode=DISABLED in a network of your own whose host ALLOW_PLAINTEXT names.',
};
const LOCKED: ErrorDescription = {
  code: 'TARGET_FAILED',
  what: 'another session has kept a mirrored table or row locked for 30 seconds',
  remedy: 'Look for long or forgotten transactions in SHOW PROCESSLIST; the next run tries again.',
};
const TOO_LONG: ErrorDescription = {
  code: 'TARGET_FAILED',
  what: 'a statement took longer than the server allows, or was ended there',
  remedy: 'Raise max_statement_time (MariaDB) or max_execution_time (MySQL) for this user.',
};
const TYPE_CHANGED: ErrorDescription = {
  code: 'TARGET_FAILED',
  what: 'a value does not fit a column of the mirror: the type of a column was changed, or an ID of a form or field has more than 500 characters',
  remedy:
    'Change the column back (longtext or double, as mirror_fields says), or drop it: the next run creates it again.',
};

/** https://mariadb.com/kb/en/mariadb-error-codes/, https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html */
const BY_NUMBER: Readonly<Record<number, ErrorDescription>> = {
  1021: diskFull("the server's disk"),
  1034: DAMAGED,
  1040: NO_CONNECTION_LEFT,
  1044: NO_RIGHT,
  1045: WRONG_LOGIN,
  1049: UNKNOWN_DATABASE,
  1053: UNREACHABLE,
  1054: SCHEMA_CHANGED,
  1114: diskFull("the server's disk, or a table,"),
  1129: NOT_LET_IN,
  1130: NOT_LET_IN,
  1142: NO_RIGHT,
  1143: NO_RIGHT,
  1146: SCHEMA_CHANGED,
  1153: {
    code: 'TARGET_FAILED',
    what: 'a statement was larger than the server takes (max_allowed_packet)',
    remedy: 'Raise max_allowed_packet at the server.',
  },
  1194: DAMAGED,
  1195: DAMAGED,
  1203: NO_CONNECTION_LEFT,
  1205: LOCKED,
  1213: IN_THE_WAY,
  1226: NO_CONNECTION_LEFT,
  1227: NO_RIGHT,
  1267: TYPE_CHANGED,
  1290: READ_ONLY,
  1292: TYPE_CHANGED,
  1317: TOO_LONG,
  1356: SCHEMA_CHANGED,
  1366: TYPE_CHANGED,
  1370: NO_RIGHT,
  1406: TYPE_CHANGED,
  1412: SCHEMA_CHANGED,
  1418: NO_RIGHT,
  1665: {
    code: 'TARGET_FAILED',
    what: 'the server writes its binary log in a format that does not go with READ COMMITTED',
    remedy: 'Set binlog_format to ROW or MIXED there.',
    retryable: false,
  },
  1698: WRONG_LOGIN,
  1792: READ_ONLY,
  1820: {
    ...WRONG_LOGIN,
    what: 'the password of the user has expired',
    remedy: 'Let an administrator set a new one (ALTER USER … IDENTIFIED BY …).',
  },
  1836: READ_ONLY,
  1862: { ...WRONG_LOGIN, what: 'the password of the user has expired' },
  1927: UNREACHABLE,
  1969: TOO_LONG,
  3024: TOO_LONG,
  3118: { ...WRONG_LOGIN, what: 'the account of the user is locked' },
  3159: NO_TLS,
  4031: UNREACHABLE,
};

const BY_CODE: Readonly<Record<string, ErrorDescription>> = {
  ...BY_SYSTEM_CODE,
  PROTOCOL_CONNECTION_LOST: UNREACHABLE,
  PROTOCOL_SEQUENCE_TIMEOUT: UNREACHABLE,
  HANDSHAKE_NO_SSL_SUPPORT: NO_TLS,
  HANDSHAKE_SSL_ERROR: BAD_CERTIFICATE,
  UNKNOWN_AUTH_PLUGIN: {
    ...WRONG_LOGIN,
    what: 'the server wants a way of logging in that this program does not know',
    remedy:
      'Give the user one of mysql_native_password, caching_sha2_password or sha256_password (ALTER USER … IDENTIFIED VIA or WITH …).',
  },
};

/** Errors of mysql2, of the server, of the network and of TLS. */
export function describeMysqlError(error: unknown): ErrorDescription | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error instanceof RowTooLarge) return BY_NUMBER[1153];
  if (error instanceof MysqlError && error.errno !== undefined)
    return BY_NUMBER[error.errno] ?? refusedStatement('The server', withNames(error));
  const code = errorCode(error) ?? '';
  if (BY_CODE[code] !== undefined) return BY_CODE[code];
  if (/CERT|TLS|SSL|SIGNATURE/.test(code)) return BAD_CERTIFICATE;
  return error instanceof MysqlError
    ? refusedStatement('The server', code || 'no code')
    : undefined;
}

/** Data, keys, constraints, limits, and what triggers raise: errors that one row can cause. */
const ROW_ERRORS = new Set([
  1048, 1062, 1118, 1264, 1265, 1292, 1364, 1366, 1406, 1411, 1452, 1526, 1586, 1644, 1690, 1748,
  3140, 3819, 4025, 4078,
]);

/** Independent of the columns of the table. */
const ROW_SIZE = 1118;

/** Why a row was refused; undefined for an error that is not about a row. Names the key, constraint or column, never an answer. */
export function refusalOf(error: unknown): { reason: string; isOfRow: boolean } | undefined {
  if (error instanceof RowTooLarge) {
    const reason = 'the answers are too large for one statement (max_allowed_packet of the server)';
    return { reason, isOfRow: true };
  }
  if (errorCode(error) === 'MIRROR_SWALLOWED')
    return { reason: (error as Error).message, isOfRow: false };
  if (!(error instanceof MysqlError) || !ROW_ERRORS.has(error.errno ?? 0)) return undefined;
  if (error.errno === ROW_SIZE)
    return { reason: `the answers are too large for a row (MySQL ${ROW_SIZE})`, isOfRow: true };
  return { reason: `MySQL refuses the row (${withNames(error)})`, isOfRow: false };
}

/** `1062, contact.only_one` */
const withNames = ({ errno, code, about }: MysqlError): string =>
  [errno ?? code ?? 'no code', ...(about === undefined ? [] : [about])].join(', ');
