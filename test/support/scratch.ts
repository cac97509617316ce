import { mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const IN_MEMORY = '/dev/shm';

/** Left free there for other tests and programs: a container that offers 64 MB keeps them. */
const RESERVE_MB = 512;

/**
 * A fresh folder for test data: in memory where there is plenty of it, as thousands of cases sync to disk, else in the
 * system's folder for temporary files. `needsMB`: how much the test writes at most.
 */
export function scratchFolder(name: string, needsMB = 32): string {
  const prefix = `forms-mirror-${name}-`;
  if (freeMB(IN_MEMORY) >= needsMB + RESERVE_MB) {
    try {
      return mkdtempSync(join(IN_MEMORY, prefix));
    } catch {
      // Not ours to write to: on disk, then.
    }
  }
  return mkdtempSync(join(tmpdir(), prefix));
}

function freeMB(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return (bavail * bsize) / 1_048_576;
  } catch {
    return 0;
  }
}
