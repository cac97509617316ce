import { closeSync, mkdirSync, openSync } from 'node:fs';

/** The rights of a folder and of a file that only their owner may use. */
export const PRIVATE_FOLDER = 0o700;
export const PRIVATE_FILE = 0o600;

/**
 * Makes an empty file that only its owner can read; leaves an existing one, and errors, to the next opener. It never opens a file
 * that exists: closing it would drop the locks that this process holds on it through other handles (POSIX).
 */
export function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, 'ax', PRIVATE_FILE));
  } catch {
    // It exists, or cannot be created: the code that opens it reports that.
  }
}

/** Makes a folder and its missing parents, for their owner only; does nothing when it exists. Throws the system's error. */
export function makeFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: PRIVATE_FOLDER });
}
