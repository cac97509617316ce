import { type Clock, systemClock } from '../../../base/clock.ts';
import type { Target } from '../../../mirror/target.ts';
import { SqlTarget } from '../sql-target.ts';
import { parseSqliteUrl } from './sqlite-address.ts';
import { SqliteFile, SqliteMemory } from './sqlite-database.ts';

/**
 * A target in a SQLite file: `sqlite:<path>`, `sqlite://<path>` or `sqlite::memory:`. The file and its folders are made
 * by the first write. Throws SETTINGS when `url` names no file.
 */
export function openSqlite(name: string, url: string, clock: Clock = systemClock): Target {
  const path = parseSqliteUrl(url);
  const database = path === ':memory:' ? new SqliteMemory(clock) : new SqliteFile(path, clock);
  return new SqlTarget(name, database, clock);
}
