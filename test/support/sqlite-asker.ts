import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** Asks a database from outside, through no code under test, and at once: while the source is being asked. */
export interface Asker {
  all(sql: string, ...params: readonly string[]): Record<string, unknown>[];
  /** The tables and views that there are. */
  tables(): ReadonlySet<string>;
}

/** Asks a SQLite file, which may not be there yet. */
export function sqliteAsker(file: string): Asker {
  const all = (sql: string, ...params: readonly string[]): Record<string, unknown>[] => {
    if (!existsSync(file)) return [];
    using reader = new DatabaseSync(file, { readOnly: true });
    return reader.prepare(sql).all(...params);
  };
  return {
    all,
    tables: () =>
      new Set(
        all("select name from sqlite_master where type in ('table', 'view')").map(({ name }) =>
          String(name),
        ),
      ),
  };
}
