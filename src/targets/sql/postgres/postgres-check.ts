import type { CheckResult } from '../../../mirror/target.ts';
import type { SqlDialect } from '../dialect.ts';
import { checkServer } from '../server-check.ts';
import { numberOf, textOf } from '../sql-session.ts';
import type { SqlConnection } from '../sql-session.ts';

/** The oldest PostgreSQL with all the syntax that is used here (MATERIALIZED); 15 and later are tested. */
const OLDEST_VERSION = 120_000;

/** Tries connection, version, encoding, rights. Leaves nothing behind. */
export const checkPostgres = (
  open: () => Promise<SqlConnection>,
  dialect: SqlDialect,
  signal: AbortSignal | undefined,
): Promise<CheckResult[]> =>
  checkServer(
    { open, dialect, server: describeServer, tryMaking: (one) => tryMaking(one, dialect) },
    signal,
  );

async function describeServer(connection: SqlConnection): Promise<CheckResult[]> {
  const [row = {}] = await connection.query(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num') AS number,
       current_setting('server_encoding') AS encoding, current_user AS "user"`,
  );
  const version = textOf(row, 'version');
  const results: CheckResult[] = [];
  results.push(
    numberOf(row, 'number') >= OLDEST_VERSION
      ? { ok: true, message: `PostgreSQL ${version} answers; we are ${textOf(row, 'user')}.` }
      : {
          ok: false,
          message: `PostgreSQL ${version} is too old.`,
          remedy: 'Use version 12 or later.',
        },
  );
  const encoding = textOf(row, 'encoding');
  if (encoding !== 'UTF8') {
    results.push({
      ok: false,
      message: `The database is encoded in ${encoding}, which can't hold every answer.`,
      remedy: "Make one with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0.",
    });
  }
  return results;
}

/** A table in a transaction that is rolled back. */
async function tryMaking(connection: SqlConnection, dialect: SqlDialect): Promise<void> {
  const done = new Error('rolled back on purpose');
  const attempt = connection.transaction(async (tx) => {
    await dialect.lockCatalogue(tx);
    const table = dialect.relation(`mirror_check_${process.pid}`);
    await tx.exec(`CREATE TABLE ${table} (id text PRIMARY KEY); INSERT INTO ${table} VALUES ('x')`);
    throw done;
  });
  await attempt.catch((error: unknown) => {
    if (error !== done) throw error;
  });
}
