import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { MirrorError } from '../../base/errors.ts';
import { createPrivate, makeFolder } from '../../base/private-files.ts';

/** Held until released or the process ends, however it ends. */
export interface StoreLock {
  release(): void;
}

/**
 * Makes this process the only user of the embedded queue in `dataDir`. PGlite itself lets two processes open one
 * directory, each losing the other's rows. A SQLite lock is released by kill -9 too, and no file with a process
 * number has to be trusted. Throws QUEUE_BUSY, or SETTINGS when the directory cannot be written.
 */
export function lockStore(dataDir: string): StoreLock {
  const database = open(dataDir);
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (!isLocked(error)) throw unwritable(dataDir, error);
    throw new MirrorError(
      'QUEUE_BUSY',
      `Another forms-mirror is running with the data directory ${dataDir}: stop it, give this one another DATA_DIR, or set QUEUE_URL so that several can share a queue.`,
      { cause: error },
    );
  }
  return { release: () => database.close() };
}

function open(dataDir: string): DatabaseSync {
  try {
    makeFolder(dataDir);
    const path = join(dataDir, 'queue.lock');
    createPrivate(path);
    return new DatabaseSync(path, { timeout: 0 });
  } catch (error) {
    throw unwritable(dataDir, error);
  }
}

function unwritable(dataDir: string, cause: unknown): MirrorError {
  return new MirrorError(
    'SETTINGS',
    `DATA_DIR ${dataDir} cannot be written: the embedded queue keeps its files there. Make it writable, choose another, or set QUEUE_URL.`,
    { cause },
  );
}

/** SQLITE_BUSY (5) and its extended codes. */
function isLocked(error: unknown): boolean {
  const code = error instanceof Error ? (error as { errcode?: unknown }).errcode : undefined;
  return typeof code === 'number' && (code & 0xff) === 5;
}
