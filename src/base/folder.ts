import { existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { PRIVATE_FOLDER } from './private-files.ts';

/**
 * Makes a folder and its missing parents, for their owner alone; does nothing when it exists. Throws the system's error. One by one, because
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
    mkdirSync(folder, PRIVATE_FOLDER);
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!existsSync(folder)) throw error;
  }
}
