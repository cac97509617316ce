import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A separate file system in memory, which can be filled up and made read-only. */
export interface SmallDisk {
  readonly folder: string;
  /** Uses every byte that is left. */
  fill(): void;
  /** Frees them again. */
  empty(): void;
  setReadOnly(isReadOnly: boolean): void;
  unmount(): void;
}

/** Mounts one; undefined if this user may not (or this system cannot). */
export function mountSmallDisk(megabytes: number): SmallDisk | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'forms-mirror-disk-'));
  const ballast = join(folder, 'ballast');
  const mount = (...args: string[]): void => {
    execFileSync('/bin/mount', [...args, folder], { stdio: 'ignore' });
  };
  try {
    mount('-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs');
  } catch {
    rmSync(folder, { recursive: true, force: true });
    return undefined;
  }
  return {
    folder,
    fill() {
      const descriptor = openSync(ballast, 'a');
      try {
        for (const chunk of [65_536, 4_096, 1]) writeAll(descriptor, Buffer.alloc(chunk));
      } finally {
        closeSync(descriptor);
      }
    },
    empty: () => rmSync(ballast, { force: true }),
    setReadOnly: (isReadOnly) => mount('-o', `remount,${isReadOnly ? 'ro' : 'rw'}`),
    unmount() {
      execFileSync('/bin/umount', ['--lazy', folder], { stdio: 'ignore' });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function writeAll(descriptor: number, chunk: Buffer): void {
  try {
    while (writeSync(descriptor, chunk) > 0);
  } catch (error) {
    if (!(error instanceof Error) || !/ENOSPC/.test(error.message)) throw error;
  }
}
