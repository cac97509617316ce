import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { behaviours, FAULTS, someChanges } from '../laws/cases.ts';
import { settledBreaches } from '../laws/laws.ts';
import { PassWatch, WENT_ON } from '../laws/pass-claims.ts';
import type { SandboxBehaviour } from '../../src/sandbox/forms-api/behaviour.ts';
import { World } from '../laws/world.ts';
import { propertyRuns } from '../support/property.ts';

const FORM = 'form-0';

/** Bounds with which windows work, however the rest is read. */
const WORKING = { dateFilter: 'honoured', dateStamp: 'created', dateFrom: 'inclusive' } as const;
/** Bounds with which they seem to, until a status changes. */
const UPDATED = { ...WORKING, dateStamp: 'updated' } as const;

const pass = fc.record({
  kind: fc.constantFrom(
    'full' as const,
    'full' as const,
    'incremental' as const,
    'compare' as const,
  ),
  /** Of a comparison: a bit for each window. */
  which: fc.nat(255),
  crash: fc.option(
    fc.record({ afterWrites: fc.nat(25), applied: fc.boolean(), dies: fc.boolean() }),
    { nil: undefined, freq: 2 },
  ),
  fault: fc.option(fc.constantFrom(...FAULTS), { nil: undefined, freq: 4 }),
  after: fc.nat(20),
  /** What happens before it, and how much time goes by. */
  changes: fc.nat(6),
  waitMs: fc.constantFrom(0, 60_000, 3 * 86_400_000, 8 * 86_400_000),
});

const cases = fc.record({
  seed: fc.integer(),
  behaviour: behaviours,
  bounds: fc.constantFrom<Partial<SandboxBehaviour>>(WORKING, WORKING, UPDATED, {}),
  submissions: fc.integer({ min: 20, max: 90 }),
  spacingMs: fc.constantFrom(5 * 3_600_000, 86_400_000),
  windowSizes: fc.constantFrom({ aim: 8, most: 15 }, { aim: 20, most: 30 }, { aim: 3, most: 6 }),
  changes: someChanges,
  busy: fc.constantFrom(0, 0.02, 0.1),
  passes: fc.array(pass, { minLength: 1, maxLength: 6 }),
});

describe('passes over windows', () => {
  it('L1, L2, L5, L8: hold under every reading of the bounds, random changes, faults and crashes', async () => {
    const tally = { cases: 0, cut: 0, left: 0, passes: 0, proven: 0, compared: 0, crashes: 0 };
    const run = fc.asyncProperty(cases, async ({ bounds, passes, ...given }) => {
      const behaviour = { ...given.behaviour, ...bounds };
      const world = await World.start({ ...given, behaviour, forms: 1, elsewhere: 0 });
      try {
        for (const each of passes) {
          for (let n = 0; n < each.changes; n++) world.change();
          await world.wait(each.waitMs);
          if (each.fault !== undefined)
            world.sandbox.faults.add({ ...each.fault, after: each.after });
          const { kind, crash } = each;
          const watch = new PassWatch(world, FORM, 0);
          const chosen = (_: unknown, at: number): boolean => (each.which & (1 << (at % 8))) !== 0;
          const windows = world.views[0]!.windows(FORM).filter(chosen);
          const report = await world.meddled(() => world.pass(FORM, 0, kind, { crash, windows }));
          world.sandbox.faults.clear();
          tally.passes++;
          if (report?.kind === 'compare') {
            // Of what is elsewhere it says nothing.
            if (report.outcome === 'ok') tally.compared++;
          } else if (watch.judge(report, { crash, kind })) tally.proven++;
          const breaches = world.views[0]!.miscounts(FORM);
          expect([...world.breaches, ...breaches]).toEqual([]);
        }
        const windows = world.views[0]!.windows(FORM).length;
        if (windows > 1) tally.cut++;
        if (windows === 1) tally.left++;
        await settled(world);
      } finally {
        tally.cases++;
        tally.crashes += world.crashes;
        await world.stop();
      }
    });
    await fc.assert(run, propertyRuns(60));
    process.stdout.write(`windows: ${JSON.stringify(tally)}\n`);
    // Otherwise it says little of windows.
    expect(tally.cut).toBeGreaterThan(tally.cases / 8);
    expect(tally.left).toBeGreaterThan(0);
  }, 600_000);
});

/** With everything at rest: a full pass finds its proof, and another one changes nothing. */
async function settled(world: World): Promise<void> {
  world.meddler.showHidden();
  for (const target of [0, 1]) {
    const report = await world.pass(FORM, target, 'full', { acceptDeletes: true });
    expect(`${report?.outcome} ${report?.error}`).toBe('ok null');
    // One that goes on with a dead one's windows compares nothing in these, and says so.
    if (WENT_ON.test(report?.reason ?? '')) await world.pass(FORM, target, 'full');
  }
  expect([...world.breaches, ...settledBreaches(world, FORM)]).toEqual([]);
  const again = await world.pass(FORM, 0, 'full');
  expect(again).toMatchObject({ outcome: 'ok', inserted: 0, updated: 0, deleted: 0 });
}
