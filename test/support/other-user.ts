import { spawnSync } from 'node:child_process';
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The user ID of `nobody`, on every system. */
const NOBODY = 65_534;

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

/** The paths that another user of the machine can read or write; only root can become one, so undefined for others. */
export function reachedByOthers(paths: readonly string[]): string[] | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const script = 'for f; do if [ -r "$f" ] || [ -w "$f" ]; then echo "$f"; fi; done';
  const { stdout, status } = spawnSync('/bin/sh', ['-c', script, 'sh', ...paths], {
    encoding: 'utf8',
    uid: NOBODY,
    gid: NOBODY,
    cwd: '/',
  });
  if (status !== 0) throw new Error(`the other user's shell ended with ${status}`);
  return stdout.split('\n').filter((line) => line !== '');
}
