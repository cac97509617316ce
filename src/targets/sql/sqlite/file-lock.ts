import { DatabaseSync } from 'node:sqlite';
import { isBusy } from './sqlite-errors.ts';

/** Locks a file until the result is called or the process ends, even by kill -9. Null if another process has it. Throws SQLite's errors. */
export function lockFile(path: string): (() => void) | null {
  const lock = new DatabaseSync(path);
  try {
    // A journal on disk, though empty, would be synced when the lock is released.
    lock.exec(
      'PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE',
    );
  } catch (error) {
    lock.close();
    if (isBusy(error)) return null;
    throw error;
  }
  return () => lock.close();
}
