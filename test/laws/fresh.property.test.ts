import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PROPERTY_MS, propertyRuns } from '../support/property.ts';
import { freshCases, liveFresh, startFresh } from './fresh-case.ts';
import { newFreshTally } from './freshness.ts';

describe('what a look sees', () => {
  it(
    'L16: is in every target two ticks after the source came to rest, by looks alone',
    async () => {
      const totals = { cases: 0, ticks: 0, ...newFreshTally() };
      const run = fc.asyncProperty(freshCases, async (given) => {
        const world = await startFresh(given);
        totals.cases++;
        try {
          await liveFresh(world, given, totals);
          expect(world.breaches).toEqual([]);
        } finally {
          await world.stop();
        }
      });
      await fc.assert(run, propertyRuns(40));
      process.stdout.write(`fresh: ${JSON.stringify(totals)}\n`);
    },
    PROPERTY_MS,
  );
});
