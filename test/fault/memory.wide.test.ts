import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { runPeaks } from '../bench/stages/memory.ts';

const CHECKOUT = resolve(import.meta.dirname, '../..');

/**
 * Limits on the heap, so that the measurement shows the program's own memory and not the garbage that the collector leaves
 * on a machine with much memory. `npm run bench -- --only memory` measures without them, over a million.
 */
const FLAGS = '--max-semi-space-size=2 --max-old-space-size=64';

it('L14: the memory of a full run does not grow with the form: 60,000 submissions peak where 15,000 do', async () => {
  const few = await runPeaks(CHECKOUT, 15_000, FLAGS);
  const many = await runPeaks(CHECKOUT, 60_000, FLAGS);
  process.stdout.write(`memory: ${JSON.stringify([few, many])}\n`);
  // Only 10 bytes per ID and some slack grow: 2 MB here.
  expect(many.firstMB / few.firstMB).toBeLessThan(1.15);
  expect(many.unchangedMB / few.unchangedMB).toBeLessThan(1.15);
}, 600_000);
