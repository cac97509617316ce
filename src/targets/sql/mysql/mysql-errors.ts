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

const WRONG_LOGIN = wrongLogin(
  "the account must be one for this host (CREATE USER '<user>'@'%'), neither locked nor with an expired password",
);
const NO_TLS = noTls('ssl-mode=DISABLED');
const BAD_CERTIFICATE = badCertificate(
  'ssl-mode=VERIFY_IDENTITY&ssl-ca=/path/ca.pem',
  'ssl-mode=REQUIRED',
);
const PACKET_TOO_LARGE: ErrorDescription = {
  code: 'TARGET_FAILED',
  what: 'a statement was larger than the server takes (max_allowed_packet)',
  remedy: 'Raise max_allowed_packet at the server.',
};
const UNKNOWN_PLUGIN: ErrorDescription = {
  ...WRONG_LOGIN,
  what: 'the server wants a way of logging in that this program does not know',
  remedy:
    'Give the user one of mysql_native_password, caching_sha2_password or sha256_password (ALTER USER … IDENTIFIED VIA or WITH …).',
};

/** https://mariadb.com/kb/en/mariadb-error-codes/, https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html */
const BY_NUMBER = byCode(
  [WRONG_LOGIN, 1045, 1129, 1130, 1698, 1820, 1862, 3118],
  [unknownDatabase('CREATE DATABASE <name> CHARACTER SET utf8mb4'), 1049],
  [
    noRight(
      'GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, DROP, INDEX, CREATE TEMPORARY TABLES, CREATE VIEW, SHOW VIEW ON <database>.* TO <user>',
    ),
    ...[1044, 1142, 1143, 1227, 1370, 1418],
  ],
  [READ_ONLY, 1290, 1792, 1836],
  [SCHEMA_CHANGED, 1054, 1146, 1356, 1412],
  // Of an ID of a form or field that has more than 500 characters, too.
  [typeChanged('longtext or double'), 1267, 1292, 1366, 1406],
  [diskFull("the server's disk, or a table,"), 1021, 1114],
  [NO_CONNECTION_LEFT, 1040, 1203, 1226],
  [lockedByOthers('SHOW PROCESSLIST'), 1205],
  [
    tookTooLong('max_statement_time (MariaDB) or max_execution_time (MySQL) for this user'),
    ...[1317, 1969, 3024],
  ],
  [UNREACHABLE, 1053, 1927, 4031, 'PROTOCOL_CONNECTION_LOST', 'PROTOCOL_SEQUENCE_TIMEOUT'],
  [IN_THE_WAY, 1213],
  [DAMAGED, 1034, 1194, 1195],
  [PACKET_TOO_LARGE, 1153],
  [NO_TLS, 3159, 'HANDSHAKE_NO_SSL_SUPPORT'],
  [BAD_CERTIFICATE, 'HANDSHAKE_SSL_ERROR'],
  [UNKNOWN_PLUGIN, 'UNKNOWN_AUTH_PLUGIN'],
);

/** Errors of mysql2, of the server, of the network and of TLS. */
export function describeMysqlError(error: unknown): ErrorDescription | undefined {
  if (error instanceof RowTooLarge) return PACKET_TOO_LARGE;
  if (!(error instanceof MysqlError)) return describeNetworkError(error, BAD_CERTIFICATE);
  return (
    BY_NUMBER.get(error.errno ?? error.code ?? '') ??
    (error.errno === undefined ? describeNetworkError(error, BAD_CERTIFICATE) : undefined) ??
    refusedStatement('The server', nameOf(error))
  );
}

/** Data, keys, constraints, limits, and what triggers raise: errors that one row can cause. */
const ROW_ERRORS = new Set([
  1048, 1062, 1118, 1264, 1265, 1292, 1364, 1366, 1406, 1411, 1452, 1526, 1586, 1644, 1690, 1748,
  3140, 3819, 4025, 4078,
]);

/** Independent of the columns of the table. */
const ROW_SIZE = 1118;

/** Why a row was refused; undefined for an error that is not about a row. Names the key, constraint or column, never an answer. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof RowTooLarge) {
    const reason = 'the answers are too large for one statement (max_allowed_packet of the server)';
    return { reason, isOfRow: true };
  }
  if (!(error instanceof MysqlError) || !ROW_ERRORS.has(error.errno ?? 0)) return undefined;
  if (error.errno === ROW_SIZE)
    return { reason: `the answers are too large for a row (MySQL ${ROW_SIZE})`, isOfRow: true };
  return { reason: `MySQL refuses the row (${nameOf(error)})`, isOfRow: false };
}

/** `1062, contact.only_one` */
const nameOf = ({ errno, code, about }: MysqlError): string =>
  withNames(errno ?? code ?? 'no code', about);
