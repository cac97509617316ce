import { expect, it } from 'vitest';
import { PROPERTY_MS } from '../support/property.ts';
import { bigQueryLawPlace, bigQueryThread } from './law-places.ts';
import { liveRandomly } from './random-lives.ts';

it(
  'L1–L10 over BigQuery: hold during and after random readings, changes, faults and crashes',
  async () => {
    const standIn = await bigQueryThread();
    try {
      const totals = await liveRandomly(2, () => bigQueryLawPlace(standIn), { busyLives: true });
      expect(totals.cases).toBeGreaterThan(0);
      process.stdout.write(`laws: ${JSON.stringify(totals)}\n`);
    } finally {
      await standIn.end();
    }
  },
  PROPERTY_MS,
);
