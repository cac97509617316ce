import { errorCode } from '../../../base/errors.ts';
import { withNames, wordsFor } from '../errors.ts';

/** Texts of driver errors that have no code, and codes for them. They are matched and never quoted. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/timeout expired|connect timeout|timeout exceeded|due to connection timeout/i, 'ETIMEDOUT'],
  [
    /connection terminated|connection error|client was closed|not queryable|read timeout|rolled back instead/i,
    'ECONNRESET',
  ],
  [/does not support SSL/i, 'no TLS'],
  [/password must be a string|no password/i, 'no password'],
];
/** SQLSTATEs, and classes of them: https://www.postgresql.org/docs/current/errcodes-appendix.html */
export const describePostgresError = wordsFor({
  read(error) {
    const code = errorCode(error) ?? WORDS.find(([words]) => words.test(error.message))?.[1];
    if (code === undefined || !/^[A-Z0-9]{5}$/.test(code)) return { codes: [code] };
    const { constraint, column } = error as { constraint?: string; column?: string };
    const named = withNames(
      code,
      ...(constraint === undefined ? [] : [`constraint ${constraint}`]),
      ...(column === undefined ? [] : [`column ${column}`]),
    );
    return {
      // A row that a constraint refuses is not at fault itself, whatever the code.
      codes: [constraint === undefined ? code : undefined, code.slice(0, 2)],
      statement: `PostgreSQL refused a statement (SQLSTATE ${named})`,
    };
  },
  codes: {
    login: ['28P01', '28000', 'no password'],
    noDatabase: ['3D000'],
    right: ['3F000', '42501'],
    readOnly: ['25006'],
    changed: ['42P01', '42703', '42804', '42883'],
    full: ['53100'],
    locked: ['55P03'],
    ended: ['57014', '40'],
    lost: ['08', '57', '25P03', '53300'],
    // For texts of the driver.
    noTls: ['no TLS'],
  },
  remedies: {
    login:
      'Check both in the target URL; special characters must be percent-encoded (@ is %40, / is %2F). If they are right, pg_hba.conf has to let this host in, perhaps only with TLS (sslmode=require).',
    noDatabase: 'Check its name in the target URL, or let an administrator run CREATE DATABASE.',
    right:
      'Let an administrator run: GRANT USAGE, CREATE ON SCHEMA <schema> TO <user>; or name a schema of its own with ?schema=… and GRANT CREATE ON DATABASE <database> TO <user>. Also GRANT TEMPORARY ON DATABASE <database> TO <user>. Tables that exist must belong to this user.',
    certificate:
      'Name the certificate of its authority with ?sslmode=verify-full&sslrootcert=/path/ca.pem. On a network that only you use, list the host in ALLOW_PLAINTEXT and write ?sslmode=no-verify, which does not check it.',
    noTls:
      'Turn on TLS at the server. On a network that only you use, list the host in ALLOW_PLAINTEXT and write ?sslmode=disable.',
    locked:
      'Look for long or forgotten transactions in pg_stat_activity; the next run tries again.',
  },
  faults: {
    '22021': "the answers hold a character that the database's encoding lacks (PostgreSQL 22021)",
    '22P05': "the answers hold a character that the database's encoding lacks (PostgreSQL 22P05)",
    '54000': 'the answers are too large for a row of the table (PostgreSQL 54000)',
  },
});
