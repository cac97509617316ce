import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openSqlite } from '../../src/targets/sql/sqlite/sqlite-database.ts';
import { sqlDamage, type SqlPlace } from '../contract/sql-target.ts';

/** A SQLite file in a folder of its own: not there yet. */
export async function sqlitePlace(): Promise<SqlPlace> {
  const folder = mkdtempSync(join(tmpdir(), 'forms-mirror-sqlite-'));
  const path = join(folder, 'data', 'mirror.sqlite');
  const query: SqlPlace['query'] = async (sql) => {
    using database = new DatabaseSync(path, { timeout: 5_000 });
    const statement = database.prepare(sql);
    statement.setReadBigInts(true);
    return statement.all();
  };
  const relation = (table: string): string => `"${table}"`;
  const usurp = async (holder: string): Promise<void> => {
    using database = new DatabaseSync(path, { timeout: 5_000 });
    database.prepare('UPDATE mirror_locks SET epoch = epoch + 1 WHERE form_id = ?').run(holder);
  };
  return {
    product: 'SQLite',
    url: `sqlite:${path}`,
    open: async (name = 'default', clock, history) => openSqlite(name, path, clock, history),
    usurp,
    usurpMarking: (formId) => usurp(`marking of ${formId}`),
    damage: sqlDamage({ query, relation }),
    query,
    relation,
    dispose: async () => rmSync(folder, { recursive: true, force: true }),
  };
}
