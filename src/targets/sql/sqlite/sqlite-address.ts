import { MirrorError } from '../../../base/errors.ts';

/** The path in `sqlite:<path>` or `sqlite://<path>`; `:memory:` for a database in memory. Throws SETTINGS when there is none. */
export function parseSqliteUrl(url: string): string {
  const path = /^sqlite:(?:\/\/)?(.+)$/i.exec(url.trim())?.[1];
  if (path !== undefined && !path.includes('\0')) return path;
  throw new MirrorError(
    'SETTINGS',
    'The SQLite target URL names no file. Example: sqlite:./data/mirror.sqlite.',
  );
}
