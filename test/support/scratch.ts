import { mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const IN_MEMORY = '/dev/shm';

/** Space that is left free for other tests and programs: containers that offer 64 MB keep them. */
const RESERVE_MB = 512;

/**
 * A fresh folder for test data: in memory if there is enough, because thousands of cases sync to disk, otherwise in the
 * system's folder for temporary files. `needsMB`: the maximum that the test writes.
 */
export function scratchFolder(name: string, needsMB = 32): string {
  const prefix = `forms-mirror-${name}-`;
  if (freeMB(IN_MEMORY) >= needsMB + RESERVE_MB) {
    try {
      return mkdtempSync(join(IN_MEMORY, prefix));
    } catch {
      // Not writable for us: on disk, then.
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
