import { existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Makes a folder and the missing ones above it; none when it is there. Throws the system's error. One by one, because
 * `mkdir` with `recursive` never returns where the system answers ENOENT for a new folder in an existing one (/proc).
 */
export function makeFolder(path: string): void {
  const missing: string[] = [];
  for (let folder = resolve(path); !existsSync(folder); folder = dirname(folder)) {
    missing.unshift(folder);
  }
  for (const folder of missing) makeOne(folder);
}

function makeOne(folder: string): void {
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!existsSync(folder)) throw error;
  }
}
