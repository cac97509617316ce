import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A fresh folder for test data; in memory where the system has such a place, as thousands of cases sync to disk. */
export function scratchFolder(name: string): string {
  const shared = '/dev/shm';
  return mkdtempSync(join(existsSync(shared) ? shared : tmpdir(), `forms-mirror-${name}-`));
}
