import { type Clock, systemClock } from '../../../base/clock.ts';
import { MirrorError } from '../../../base/errors.ts';
import type { Target } from '../../../mirror/target.ts';
import { SqlTarget } from '../sql-target.ts';
import { SqliteFile, SqliteMemory } from './sqlite-database.ts';

/**
 * A target in a SQLite file: `sqlite:<path>`, `sqlite://<path>` or `sqlite::memory:`. The file and its folders are made
 * by the first write. Throws SETTINGS when `url` names no file.
 */
export function openSqlite(name: string, url: string, clock: Clock = systemClock): Target {
  const path = sqlitePath(url);
  const database = path === ':memory:' ? new SqliteMemory(clock) : new SqliteFile(path, clock);
  return new SqlTarget(name, database, clock);
}

/** The path in a `sqlite:` URL. Throws SETTINGS when there is none. */
export function sqlitePath(url: string): string {
  const path = /^sqlite:(?:\/\/)?(.+)$/i.exec(url)?.[1]?.trim();
  if (path !== undefined && path !== '') return path;
  throw new MirrorError(
    'SETTINGS',
    'A SQLite target needs a file, for example sqlite:./data/mirror.sqlite.',
  );
}
