import { describe, expect, it } from 'vitest';
import { liveRandomly } from './random-lives.ts';
import { PROPERTY_MS } from '../support/property.ts';

describe('the laws, under random readings, changes, faults and crashes', () => {
  it(
    'L1–L10: hold during and afterwards',
    async () => {
      const totals = await liveRandomly(60);
      expect(totals.cases).toBeGreaterThan(0);
      process.stdout.write(`laws: ${JSON.stringify(totals)}\n`);
    },
    PROPERTY_MS,
  );
});
