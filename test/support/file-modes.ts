import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Everything below a folder, and the folder itself. */
export function pathsBelow(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return [folder, ...names.map((name) => join(folder, name))];
}

/** The paths with rights for anybody but their owner, with these rights. */
export function loosePaths(paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
    const mode = (lstatSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o777;
    return (mode & 0o077) === 0 ? [] : [`${path} ${mode.toString(8)}`];
  });
}
