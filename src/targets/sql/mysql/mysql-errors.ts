import { errorCode } from '../../../base/errors.ts';
import { withNames, wordsFor } from '../errors.ts';

/** Names that may be shown. The last one counts: an answer, which may contain the same words, comes before it. */
const ABOUT =
  /(?:for key|for column|CONSTRAINT|constraint|[Cc]olumn|Field) [`'"](?:[\w$ .-]{1,130}[`'"]\.[`'"])*([\w$ .-]{1,64})[`'"]/g;
/** The text of a person's trigger, which may quote anything. */
const SIGNAL = 1644;

/** Texts of the driver that say more than its code. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [
    /closed state|server closed the connection|Connection lost|connection is closed/i,
    'PROTOCOL_CONNECTION_LOST',
  ],
  [/unknown plugin|authentication plugin|AuthSwitch/i, 'UNKNOWN_AUTH_PLUGIN'],
  [/does not support secure connection/i, 'HANDSHAKE_NO_SSL_SUPPORT'],
];

/** The server's error number; undefined for a driver error, after which the connection cannot be used. */
export function serverErrno(error: unknown): number | undefined {
  const { errno, sqlState } = error as { errno?: unknown; sqlState?: unknown };
  return typeof errno === 'number' && errno > 0 && sqlState !== undefined ? errno : undefined;
}

/** https://mariadb.com/kb/en/mariadb-error-codes/, https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html */
export const describeMysqlError = wordsFor({
  read(error) {
    const errno = serverErrno(error);
    if (errno === undefined) {
      const code = WORDS.find(([words]) => words.test(error.message))?.[1];
      return { codes: [code ?? errorCode(error)] };
    }
    // The key, constraint or column in the message. The rest of its text quotes answers (L11).
    const last = [...error.message.matchAll(ABOUT)].at(-1)?.[1];
    const named = withNames(errno, errno === SIGNAL ? undefined : last);
    return {
      codes: [errno],
      statement: `The server refused a statement (${named})`,
    };
  },
  codes: {
    login: [1045, 1129, 1130, 1698, 1820, 1862, 3118, 'UNKNOWN_AUTH_PLUGIN'],
    noDatabase: [1049],
    right: [1044, 1142, 1143, 1227, 1370, 1418],
    readOnly: [1290, 1792, 1836],
    // Also for a form or field ID of more than 500 characters.
    changed: [1054, 1146, 1267, 1292, 1356, 1366, 1406, 1412],
    full: [1021, 1114],
    locked: [1205],
    ended: [1213, 1317, 1969, 3024],
    lost: [
      1040,
      1053,
      1203,
      1226,
      1927,
      4031,
      'PROTOCOL_CONNECTION_LOST',
      'PROTOCOL_SEQUENCE_TIMEOUT',
    ],
    noTls: [3159, 'HANDSHAKE_NO_SSL_SUPPORT'],
  },
  remedies: {
    login:
      "Check both in the target URL; special characters must be percent-encoded (@ is %40, / is %2F). If they are right, the account must be one for this host (CREATE USER '<user>'@'%') with mysql_native_password, caching_sha2_password or sha256_password, neither locked nor with an expired password.",
    noDatabase:
      'Check its name in the target URL, or let an administrator run CREATE DATABASE <name> CHARACTER SET utf8mb4.',
    right:
      'Let an administrator run: GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, DROP, INDEX, CREATE TEMPORARY TABLES, CREATE VIEW, SHOW VIEW ON <database>.* TO <user>.',
    certificate:
      'Name the certificate of its authority with ?ssl-mode=VERIFY_IDENTITY&ssl-ca=/path/ca.pem. On a network that only you use, list the host in ALLOW_PLAINTEXT and write ?ssl-mode=REQUIRED, which does not check it.',
    noTls:
      'Turn on TLS at the server. On a network that only you use, list the host in ALLOW_PLAINTEXT and write ?ssl-mode=DISABLED.',
    locked:
      'Look for long or forgotten transactions in SHOW PROCESSLIST; the next run tries again.',
  },
  own: [
    [
      [1153],
      'TARGET_FAILED',
      'a statement was larger than the server takes (max_allowed_packet)',
      'Raise max_allowed_packet at the server.',
    ],
  ],
  faults: {
    1118: 'the answers are too large for a row (MySQL 1118)',
  },
});
