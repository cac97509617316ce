import { describe, expect, it } from 'vitest';
import { liveRandomly } from './random-lives.ts';

describe('the laws, under random readings, changes, faults and crashes', () => {
  it('L1–L10: hold during and afterwards', async () => {
    const totals = await liveRandomly(60);
    expect(totals.cases).toBeGreaterThan(0);
    process.stdout.write(`laws: ${JSON.stringify(totals)}\n`);
  }, 600_000);
});
