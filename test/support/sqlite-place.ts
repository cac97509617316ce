import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openSqlite } from '../../src/targets/sql/sqlite/open-sqlite.ts';
import type { SqlPlace } from '../contract/sql-target.ts';

/** A SQLite file in a folder of its own. */
export async function sqlitePlace(): Promise<SqlPlace> {
  const folder = mkdtempSync(join(tmpdir(), 'forms-mirror-sqlite-'));
  const path = join(folder, 'data', 'mirror.sqlite');
  return {
    product: 'SQLite',
    url: `sqlite:${path}`,
    open: async (name = 'default') => openSqlite(name, `sqlite:${path}`),
    usurp: async (formId) => {
      using database = new DatabaseSync(path, { timeout: 5_000 });
      database.prepare('UPDATE mirror_locks SET epoch = epoch + 1 WHERE form_id = ?').run(formId);
    },
    async query(sql) {
      using database = new DatabaseSync(path, { timeout: 5_000 });
      const statement = database.prepare(sql);
      statement.setReadBigInts(true);
      return statement.all();
    },
    relation: (table) => `"${table}"`,
    dispose: async () => rmSync(folder, { recursive: true, force: true }),
  };
}
