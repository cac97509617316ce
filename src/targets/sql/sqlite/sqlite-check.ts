import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from '../../../base/clock.ts';
import type { CheckResult } from '../../../mirror/target.ts';
import { catalogueResults } from '../catalogue-repair.ts';
import { failedResult } from '../sql-errors.ts';
import { SqliteConnection } from './sqlite-connection.ts';
import { sqliteDialect } from './sqlite-dialect.ts';
import { describeSqliteError } from './sqlite-errors.ts';

/** Tries whether the file can be made, opened, written. Leaves nothing behind. */
export async function checkSqlite(path: string, clock: Clock): Promise<CheckResult[]> {
  if (!existsSync(path)) return [checkFolder(path)];
  const results: CheckResult[] = [];
  try {
    await tryReading(path, clock, results);
    await tryWriting(path, clock);
    results.push({ ok: true, message: 'Tables can be made and written.' });
  } catch (error) {
    results.push(failedResult(error, describeSqliteError));
  }
  return results;
}

async function tryReading(path: string, clock: Clock, results: CheckResult[]): Promise<void> {
  const connection = SqliteConnection.forReading(path, clock);
  try {
    const [row] = await connection.query(
      'SELECT sqlite_version() AS version, count(*) AS things FROM sqlite_schema',
    );
    results.push({ ok: true, message: `The file opens (SQLite ${String(row?.['version'])}).` });
    results.push(...(await catalogueResults(connection, sqliteDialect)));
  } finally {
    await connection.close();
  }
}

/** A table in a transaction that is rolled back. */
async function tryWriting(path: string, clock: Clock): Promise<void> {
  const connection = SqliteConnection.forTrying(path, clock);
  const done = new Error('rolled back on purpose');
  const attempt = connection.transaction(async (tx) => {
    await tx.exec('CREATE TABLE mirror_check_of_rights (id TEXT)');
    throw done;
  });
  try {
    await attempt;
  } catch (error) {
    if (error !== done) throw error;
  } finally {
    await connection.close();
  }
}

function checkFolder(path: string): CheckResult {
  let folder = dirname(path);
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return { ok: true, message: `The file does not exist yet; it can be made in ${folder}.` };
  } catch (error) {
    return failedResult(error, describeSqliteError);
  }
}
