import { errorCode } from '../../../../base/error-code.ts';
import { type ErrorCode, MirrorError } from '../../../../base/errors.ts';

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

interface Description {
  readonly code: ErrorCode;
  readonly text: string;
}

const WRONG_LOGIN: Description = {
  code: 'TARGET_DENIED',
  text: "the server refuses the user or the password: check both in the target URL, where special characters must be percent-encoded (@ is %40, / is %2F), and that the account is one for this host (CREATE USER '<user>'@'%')",
};
const NO_RIGHT: Description = {
  code: 'TARGET_DENIED',
  text: 'the user may not do this: let an administrator run GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, DROP, INDEX, CREATE TEMPORARY TABLES, CREATE VIEW, SHOW VIEW ON <database>.* TO <user>',
};
const UNREACHABLE: Description = {
  code: 'TARGET_UNREACHABLE',
  text: 'the connection to the server was lost or cannot be made: check that it is up, and the host and port in the target URL',
};
const NO_CONNECTION_LEFT: Description = {
  code: 'TARGET_UNREACHABLE',
  text: 'the server has no connection left: raise max_connections (or max_user_connections) or run fewer workers',
};
const NOT_LET_IN: Description = {
  code: 'TARGET_DENIED',
  text: "the server lets this host in no more: it has blocked it after failed attempts (mysqladmin flush-hosts), or has no account for it (CREATE USER '<user>'@'%')",
};
const BAD_CERTIFICATE: Description = {
  code: 'TARGET_DENIED',
  text: "the server's TLS certificate cannot be trusted: name its authority with ?ssl-mode=VERIFY_IDENTITY&ssl-ca=/path/ca.pem",
};
const NO_TLS: Description = {
  code: 'TARGET_DENIED',
  text: 'the server does not speak TLS, which the target URL asks for',
};
const READ_ONLY: Description = {
  code: 'TARGET_DENIED',
  text: 'the server or this user only reads: name the primary server in the target URL',
};
const FULL: Description = {
  code: 'TARGET_FULL',
  text: "the server's disk is full: make room, and the next run goes on",
};
const CHANGED: Description = {
  code: 'TARGET_FAILED',
  text: 'a table or column was changed or dropped while it was used: the next run looks at what is there',
};
const TYPE_CHANGED: Description = {
  code: 'TARGET_FAILED',
  text: 'the type of a mirrored column was changed: change it back, or drop the column to fill it again',
};
const DAMAGED: Description = {
  code: 'TARGET_FAILED',
  text: 'the server reports damaged data: let an administrator look at the database',
};
const TOO_LONG: Description = {
  code: 'TARGET_FAILED',
  text: 'a statement took longer than the server allows: raise max_statement_time (MariaDB) or max_execution_time (MySQL) for this user',
};
const TOO_LARGE: Description = {
  code: 'TARGET_FAILED',
  text: 'a statement was larger than the server takes: raise max_allowed_packet there',
};

/** https://mariadb.com/kb/en/mariadb-error-codes/, https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html */
const BY_NUMBER: Readonly<Record<number, Description>> = {
  1021: FULL,
  1034: DAMAGED,
  1040: NO_CONNECTION_LEFT,
  1044: NO_RIGHT,
  1045: WRONG_LOGIN,
  1049: {
    code: 'TARGET_DENIED',
    text: 'there is no database of that name: check the target URL, or run CREATE DATABASE <name> CHARACTER SET utf8mb4',
  },
  1053: UNREACHABLE,
  1054: CHANGED,
  1114: FULL,
  1129: NOT_LET_IN,
  1130: NOT_LET_IN,
  1142: NO_RIGHT,
  1143: NO_RIGHT,
  1146: CHANGED,
  1153: TOO_LARGE,
  1194: DAMAGED,
  1195: DAMAGED,
  1203: NO_CONNECTION_LEFT,
  1205: {
    code: 'TARGET_FAILED',
    text: 'another session keeps a mirrored table or row locked: look for open transactions in SHOW PROCESSLIST',
  },
  1213: { code: 'TARGET_FAILED', text: 'another session was in the way: the next run tries again' },
  1226: NO_CONNECTION_LEFT,
  1227: NO_RIGHT,
  1267: TYPE_CHANGED,
  1290: READ_ONLY,
  1292: TYPE_CHANGED,
  1317: TOO_LONG,
  1356: CHANGED,
  1366: TYPE_CHANGED,
  1370: NO_RIGHT,
  1406: TYPE_CHANGED,
  1412: CHANGED,
  1418: NO_RIGHT,
  1665: {
    code: 'TARGET_FAILED',
    text: 'the server writes its binary log in a format that does not go with READ COMMITTED: set binlog_format to ROW or MIXED there',
  },
  1698: WRONG_LOGIN,
  1792: READ_ONLY,
  1820: {
    code: 'TARGET_DENIED',
    text: 'the password of the user has expired: set it anew (ALTER USER)',
  },
  1836: READ_ONLY,
  1862: {
    code: 'TARGET_DENIED',
    text: 'the password of the user has expired: set it anew (ALTER USER)',
  },
  1927: UNREACHABLE,
  1969: TOO_LONG,
  3024: TOO_LONG,
  3118: {
    code: 'TARGET_DENIED',
    text: 'the account of the user is locked: unlock it (ALTER USER)',
  },
  3159: NO_TLS,
  4031: UNREACHABLE,
};

const BY_CODE: Readonly<Record<string, Description>> = {
  ECONNREFUSED: UNREACHABLE,
  ECONNRESET: UNREACHABLE,
  ENOENT: UNREACHABLE,
  ENOTFOUND: UNREACHABLE,
  EAI_AGAIN: UNREACHABLE,
  ETIMEDOUT: UNREACHABLE,
  EHOSTUNREACH: UNREACHABLE,
  ENETUNREACH: UNREACHABLE,
  EPIPE: UNREACHABLE,
  PROTOCOL_CONNECTION_LOST: UNREACHABLE,
  PROTOCOL_SEQUENCE_TIMEOUT: UNREACHABLE,
  HANDSHAKE_NO_SSL_SUPPORT: NO_TLS,
  HANDSHAKE_SSL_ERROR: BAD_CERTIFICATE,
  UNKNOWN_AUTH_PLUGIN: {
    code: 'TARGET_DENIED',
    text: 'the server wants a way of logging in that is not supported here: give the user one of mysql_native_password, caching_sha2_password or sha256_password (ALTER USER)',
  },
};

/** An error of MySQL or MariaDB, the driver, the network or TLS in words for people; any other error as it is. */
export function describeMysqlError(error: unknown): unknown {
  if (error instanceof RowTooLarge) return asProblem(TOO_LARGE);
  if (!(error instanceof MysqlError)) return error;
  const { errno, code = '' } = error;
  const known = errno === undefined ? BY_CODE[code] : BY_NUMBER[errno];
  if (known !== undefined) return asProblem(known);
  if (errno === undefined && /CERT|TLS|SSL|SIGNATURE/.test(code)) return asProblem(BAD_CERTIFICATE);
  const text = `the server refused a statement (${withNames(error)})`;
  return asProblem({ code: 'TARGET_FAILED', text });
}

const asProblem = ({ code, text }: Description): MirrorError =>
  new MirrorError(code, `MySQL: ${text}.`);

/** Data, keys, constraints, limits, and what triggers raise: errors that one row can cause. */
const ROW_ERRORS = new Set([
  1048, 1062, 1118, 1264, 1265, 1292, 1364, 1366, 1406, 1411, 1452, 1526, 1586, 1644, 1690, 1748,
  3140, 3819, 4025, 4078,
]);

/** The one that is the same whatever the table looks like. */
const ROW_SIZE = 1118;

/** Why a row was refused; undefined for an error that is not about a row. Names key, constraint or column, which are no answers. */
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
