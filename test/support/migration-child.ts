import { systemClock } from '../../src/base/clock.ts';
import { migrate } from '../../src/targets/sql/catalogue-version.ts';
import { parsePostgresUrl } from '../../src/targets/sql/postgres/postgres-address.ts';
import { PostgresDatabase } from '../../src/targets/sql/postgres/postgres-database.ts';
import { postgresDriver } from '../../src/targets/sql/postgres/postgres-driver.ts';
import type { SqlConnection } from '../../src/targets/sql/sql-session.ts';
import type { SqlDatabase } from '../../src/targets/sql/sql-target.ts';
import { parseSqliteUrl } from '../../src/targets/sql/sqlite/sqlite-address.ts';
import { SqliteFile } from '../../src/targets/sql/sqlite/sqlite-database.ts';

// A process that migrates a catalogue and stops in the middle of the last step, to be killed there:
// node test/support/migration-child.ts <url>
// It says `in the middle` when the step's statements have run and its version is yet to be written.

const url = process.argv[2] ?? '';

function databaseAt(target: string): SqlDatabase {
  if (target.startsWith('sqlite:')) return new SqliteFile(parseSqliteUrl(target), systemClock);
  const address = parsePostgresUrl(target);
  return new PostgresDatabase(address, postgresDriver(address.connectionString), systemClock);
}

const database = databaseAt(url);
const lock = await database.lockForm('frm_child', { waitMs: 0 });
if (lock === undefined) throw new Error('the form is locked');
const { connection } = lock;

const stopping: SqlConnection = {
  query: (sql, params) => connection.query(sql, params),
  queryArrays: (sql, params) => connection.queryArrays(sql, params),
  exec: (sql) => connection.exec(sql),
  close: () => connection.close(),
  transaction: (work) =>
    connection.transaction((tx) =>
      work({
        queryArrays: (sql, params) => tx.queryArrays(sql, params),
        exec: (sql) => tx.exec(sql),
        query: async (sql, params) => {
          if (!/^\s*INSERT/.test(sql)) return tx.query(sql, params);
          process.stdout.write('in the middle\n');
          // A timer keeps the process alive.
          return new Promise(() => setInterval(() => {}, 60_000));
        },
      }),
    ),
};
await migrate(stopping, database.dialect);
