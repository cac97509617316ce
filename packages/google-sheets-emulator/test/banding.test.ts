import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench, refusal } from './support/client.ts';
import { range } from './support/ranges.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.start();
});
afterEach(() => bench.emulator.stop());

describe('alternating colours', () => {
  it('need two colours, for rows or columns', async () => {
    for (const bandedRange of [
      { range: range(0, 3, 0, 2) },
      { range: range(0, 3, 0, 2), rowProperties: { firstBandColor: { red: 1 } } },
    ]) {
      expect((await refusal(bench.batch({ addBanding: { bandedRange } }))).code).toBe(400);
    }
  });
});
