import type { CheckResult } from '../../../mirror/target.ts';
import type { SqlDialect } from '../dialect.ts';
import { checkServer } from '../server-check.ts';
import type { MysqlConnection } from './mysql-connection.ts';
import { backticked } from './mysql-literal.ts';
import { viewDefinition } from './mysql-view.ts';

/** The oldest versions with all that is used here: changes of tables that are whole or not made, collations, checks. */
const OLDEST_MARIADB = [10, 6, 0] as const;
const OLDEST_MYSQL = [8, 0, 19] as const;

/** Tries connection, version, rights. Leaves nothing behind. */
export const checkMysql = (
  open: () => Promise<MysqlConnection>,
  dialect: SqlDialect,
  signal: AbortSignal | undefined,
): Promise<CheckResult[]> =>
  checkServer(
    { open, dialect, server: async (one) => [await describeServer(one)], tryMaking },
    signal,
  );

async function describeServer(connection: MysqlConnection): Promise<CheckResult> {
  const { isMariaDb, version } = connection.server;
  const product = isMariaDb ? 'MariaDB' : 'MySQL';
  const oldest = isMariaDb ? OLDEST_MARIADB : OLDEST_MYSQL;
  const [shown = version] = /^[\d.]+/.exec(version) ?? [];
  const [major = 0, minor = 0, patch = 0] = shown.split('.').map(Number);
  if ((major - oldest[0] || minor - oldest[1] || patch - oldest[2]) < 0) {
    return {
      ok: false,
      message: `${product} ${shown} is too old.`,
      remedy: `Use version ${oldest.join('.')} or later.`,
    };
  }
  const [row] = await connection.query('SELECT current_user() AS name');
  return { ok: true, message: `${product} ${shown} answers; we are ${String(row?.['name'])}.` };
}

/** A table and a view of it, which are removed at once: a change of tables can't be taken back. */
async function tryMaking(connection: MysqlConnection): Promise<void> {
  const [table, view] = ['', '_labelled'].map((end) =>
    backticked(`mirror_check_${process.pid}${end}`),
  );
  const remove = async (): Promise<void> => {
    await connection.exec(`DROP VIEW IF EXISTS ${view}`);
    await connection.exec(`DROP TABLE IF EXISTS ${table}`);
  };
  try {
    await connection.exec(`CREATE TABLE ${table} (id varchar(10) PRIMARY KEY)`);
    await connection.exec(`ALTER TABLE ${table} ADD COLUMN answer longtext`);
    await connection.exec(`INSERT INTO ${table} VALUES ('x', 'y')`);
    await connection.exec(`CREATE OR REPLACE VIEW ${view} AS SELECT * FROM ${table}`);
    await viewDefinition(connection, `mirror_check_${process.pid}_labelled`);
  } finally {
    // The first error is the one that tells; without the right to remove it there is none to make it.
    await remove().catch(() => {});
  }
}
