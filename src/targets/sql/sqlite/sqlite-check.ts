import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from '../../../base/clock.ts';
import type { CheckFinding } from '../../../mirror/target.ts';
import { hasCatalogue } from '../catalogue-tables.ts';
import { failedFinding } from '../sql-errors.ts';
import { SqliteConnection } from './sqlite-connection.ts';
import { sqliteDialect } from './sqlite-dialect.ts';
import { explainSqliteError } from './sqlite-errors.ts';

/** Tries whether the file can be made, opened, written. Leaves nothing behind. */
export async function checkSqlite(path: string, clock: Clock): Promise<CheckFinding[]> {
  if (!existsSync(path)) return [checkFolder(path)];
  const findings: CheckFinding[] = [];
  try {
    await tryReading(path, clock, findings);
    await tryWriting(path, clock);
    findings.push({ ok: true, message: 'Tables can be made and written.' });
  } catch (error) {
    findings.push(failedFinding(error, explainSqliteError));
  }
  return findings;
}

async function tryReading(path: string, clock: Clock, findings: CheckFinding[]): Promise<void> {
  const connection = SqliteConnection.forReading(path, clock);
  try {
    const [row] = await connection.query(
      'SELECT sqlite_version() AS version, count(*) AS things FROM sqlite_schema',
    );
    findings.push({ ok: true, message: `The file opens (SQLite ${String(row?.['version'])}).` });
    const isOurs = await hasCatalogue(connection, sqliteDialect);
    const state = isOurs ? 'It holds a mirror already.' : 'It holds no mirror yet.';
    findings.push({ ok: true, message: state });
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

function checkFolder(path: string): CheckFinding {
  let folder = dirname(path);
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return { ok: true, message: `The file does not exist yet; it can be made in ${folder}.` };
  } catch (error) {
    return failedFinding(error, explainSqliteError);
  }
}
