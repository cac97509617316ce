import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Child } from '../../support/child.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { CannedSource, FORM_ID } from '../source/canned-source.ts';

/** How long after its first requests a process counts as idle. */
const REST_AFTER_MS = 8_000;
const SUBMISSIONS = 1_000;

/** The cost of `start` with the embedded queue. */
export interface QueueCosts {
  /** From the start of the process to its first request, in ms. */
  readonly firstRequestMs: number;
  /** Resident memory at its peak, and some seconds later; megabytes. */
  readonly peakMB: number;
  readonly restMB: number;
}

/** Starts the program twice with one data directory, which the first start creates. Only Linux shows the memory. */
export async function queueCosts(
  checkout: string,
): Promise<{ fresh: QueueCosts; again: QueueCosts }> {
  const folder = scratchFolder('queue', 256);
  await using source = await CannedSource.start(SUBMISSIONS);
  const once = async (): Promise<QueueCosts> => {
    await source.setLatency(0);
    const env = {
      ...source.env,
      TARGET_FORMS: FORM_ID,
      TARGET_FIELDS: '*',
      TARGET_URL: `sqlite:${join(folder, 'copy.sqlite')}`,
      DATA_DIR: folder,
      PORT: '0',
    };
    const beganMs = Date.now();
    const child = new Child(join(checkout, 'bin/forms-mirror.js'), ['start'], env, folder);
    try {
      await pause(REST_AFTER_MS);
      const firstAtMs = await source.setLatency(0);
      const memory = memoryOf(child.pid);
      if (firstAtMs === null) throw new Error(`it asked nothing: ${child.stderr}`);
      return { firstRequestMs: firstAtMs - beganMs, ...memory };
    } finally {
      await child.end('SIGTERM');
    }
  };
  try {
    return { fresh: await once(), again: await once() };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function memoryOf(pid: number): { peakMB: number; restMB: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mb = (name: string): number =>
    Math.round(Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1_024);
  return { peakMB: mb('VmHWM'), restMB: mb('VmRSS') };
}
