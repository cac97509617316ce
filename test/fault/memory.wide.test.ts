import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Child } from '../support/child.ts';
import { measureRuns } from '../support/run-memory.ts';
import { scratchFolder } from '../support/scratch.ts';

/**
 * Bounds on the heap, so that the measurement shows the program's own memory and not the garbage that the collector leaves
 * lying about on a machine with much memory. `npm run bench -- --only memory` measures without them, over a million.
 */
const flags = '--max-semi-space-size=2 --max-old-space-size=64';

describe('the memory of a full run', { timeout: 600_000 }, () => {
  it('L14: does not grow with the form: 60,000 submissions peak where 15,000 do', async () => {
    const few = await measureRuns(15_000, { flags });
    const many = await measureRuns(60_000, { flags });
    process.stdout.write(`memory: ${JSON.stringify([few, many])}\n`);
    // 10 bytes an ID and some slack are the only thing that grows: 2 MB here.
    expect(many.firstMB / few.firstMB).toBeLessThan(1.15);
    expect(many.againMB / few.againMB).toBeLessThan(1.15);
  });
});

const PROBE = join(import.meta.dirname, '../support/probed-process.ts');
const STORE = join(import.meta.dirname, '../queue/store-child.ts');

describe('the memory of the embedded queue', { timeout: 120_000 }, () => {
  it('is some 600 MB while its store is made, and less than half of that from then on', async ({
    onTestFinished,
  }) => {
    const folder = scratchFolder('store', 128);
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const measure = async (): Promise<{ peakMB: number; restMB: number }> => {
      const child = new Child(STORE, [folder], { NODE_OPTIONS: `--import=${PROBE}` });
      expect(await child.ended).toMatchObject({ code: 0 });
      const read = (text: string): number => Number(/(?:peak|rest)-mb: (\d+)/.exec(text)?.[1]);
      return { peakMB: read(child.stderr), restMB: read(child.stdout) };
    };
    const made = await measure();
    const opened = await measure();
    process.stdout.write(`memory of the embedded queue: ${JSON.stringify({ made, opened })}\n`);
    expect(made.peakMB).toBeLessThan(750);
    expect(made.restMB).toBeLessThan(300);
    expect(opened.peakMB).toBeLessThan(300);
  });
});
