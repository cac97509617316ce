import { resolve } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import {
  allocatedPerRow,
  MOST_ALLOCATED_KB,
  type RunCosts,
  runCosts,
} from '../bench/stages/memory.ts';

const CHECKOUT = resolve(import.meta.dirname, '../..');
const ROWS = [40_000, 120_000] as const;
const TIMES = ['first', 'unchanged'] as const;

/**
 * Limits on the heap, so that the measurement shows the program's own memory and not the garbage that the collector leaves
 * on a machine with much memory. `npm run bench -- --only memory` measures without them, over a million.
 */
const FLAGS = '--max-semi-space-size=2 --max-old-space-size=64';

let few: RunCosts;
let many: RunCosts;

beforeAll(async () => {
  few = await runCosts(CHECKOUT, ROWS[0], FLAGS);
  many = await runCosts(CHECKOUT, ROWS[1], FLAGS);
  process.stdout.write(`costs: ${JSON.stringify([few, many])}\n`);
}, 600_000);

it.each(TIMES)(
  'L14: the memory of a full run does not grow with the form: 120,000 submissions peak where 40,000 do (%s run)',
  (time) => {
    // Only 10 bytes per ID and some slack grow: 2 MB here.
    expect(many[time].peakMB / few[time].peakMB).toBeLessThan(1.15);
  },
);

it.each(TIMES)('a row allocates no more than before (%s run)', (time) => {
  const kb = allocatedPerRow([few, many], ROWS, time) / 1_000;
  expect(kb).toBeLessThan(MOST_ALLOCATED_KB[time]);
});
