import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { openSqlite } from '../../src/targets/sql/sqlite/sqlite-database.ts';
import { propertyRuns } from '../support/property.ts';
import { newTally, SoakLife, soakCases } from './soak-case.ts';

describe('what a pass claims when it ends ok', () => {
  it('L2, L17: is true at that moment, under dense changes, on SQLite', async () => {
    const tally = newTally();
    const run = fc.asyncProperty(soakCases, async (given) => {
      await using target = openSqlite('soak', ':memory:');
      const life = new SoakLife(given);
      await life.run(target, tally);
      expect(life.breaches).toEqual([]);
    });
    await fc.assert(run, propertyRuns(200));
    process.stdout.write(`claims: ${JSON.stringify(tally)}\n`);
    // Most passes must find their proof in spite of the changes, and most claims be judged, or this says little.
    // Lists that nothing can prove are among them: those with counted doubles that have but one end.
    expect(tally.ok / tally.passes).toBeGreaterThan(0.5);
    expect(tally.beyondSight / tally.ok).toBeLessThan(0.6);
  });

  it('L2: a proof that only counts distinct submissions is caught within 500 cases', async () => {
    const cases = fc.sample(soakCases, { numRuns: 500, seed: 8 });
    let caught = 0;
    for (const [number, given] of cases.entries()) {
      await using target = openSqlite('soak', ':memory:');
      const life = new SoakLife(given, { weak: true });
      await life.run(target, newTally());
      if (!life.breaches.some((breach) => breach.endsWith('is missing'))) continue;
      caught = number + 1;
      break;
    }
    expect(caught).toBeGreaterThan(0);
  });
});
