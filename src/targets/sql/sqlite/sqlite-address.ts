import { TargetUrlError } from '../../target-url-error.ts';

/** The path in `sqlite:<path>` or `sqlite://<path>`; `:memory:` for a database in memory. Throws {@link TargetUrlError}. */
export function parseSqliteUrl(url: string): string {
  const path = /^sqlite:(?:\/\/)?(.+)$/i.exec(url.trim())?.[1];
  if (path !== undefined && !path.includes('\0')) return path;
  throw new TargetUrlError('names no file', 'sqlite:./data/mirror.sqlite');
}
