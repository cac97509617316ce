import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FaultRule } from '../../../src/sandbox/faults.ts';
import { propertyRuns } from '../../support/property.ts';
import { ACTIONS, SheetLife, SOURCE_CHANGES } from './sheet-life.ts';

const BATCH = /:batchUpdate$/;
const FAULTS: readonly FaultRule[] = [
  { path: BATCH, status: 503, applied: true },
  { path: BATCH, status: 500 },
  { path: BATCH, dropConnection: true, applied: true },
  { path: BATCH, dropConnection: true },
  { status: 429 },
  { method: 'GET', status: 503, times: 2 },
  { path: /values/, cutBodyAt: 40 },
];

const n = fc.nat(10_000);
const deed = fc.record({ kind: fc.constantFrom(...ACTIONS), n });
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('change' as const),
      change: fc.record({ kind: fc.constantFrom(...SOURCE_CHANGES), n }),
    }),
  },
  { weight: 5, arbitrary: fc.record({ type: fc.constant('deed' as const), deed }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('pass' as const),
      during: fc.array(fc.record({ at: fc.nat(9), deed }), { maxLength: 3 }),
      fault: fc.option(
        fc
          .record({ rule: fc.constantFrom(...FAULTS), after: fc.nat(4) })
          .map(({ rule, after }) => ({ ...rule, after })),
        { nil: undefined, freq: 3 },
      ),
      elsewhere: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('pass' as const),
      during: fc.constant([]),
      killAt: fc.nat(8),
      elsewhere: fc.boolean(),
    }),
  },
);

describe('a sheet that people live in', () => {
  it('L1 L4 L8 L9 L10: is right after a calm pass, whatever people did between and during passes', async () => {
    let [cases, deeds] = [0, 0];
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 3, maxLength: 30, size: 'max' }),
        async (steps) => {
          const life = await SheetLife.begin();
          try {
            for (let count = 0; count < 4; count++) life.change({ kind: 'add', n: count });
            await life.pass();
            for (const one of steps) {
              if (one.type === 'change') life.change(one.change);
              else if (one.type === 'deed') life.do(one.deed);
              else await life.pass(one);
            }
            life.clock.advance(120_000);
            await life.pass();
            expect(life.complaints()).toEqual([]);
            const sheetId = life.sheetId ?? 0;
            const before = life.grid(sheetId);
            await life.pass();
            // L4: a second pass over an unchanged source changes no cell.
            expect(life.grid(sheetId)).toEqual(before);
            cases++;
            deeds += life.deeds;
          } finally {
            await life.place.dispose();
          }
        },
      ),
      propertyRuns(60),
    );
    console.info(`${cases} cases, ${deeds} things that people did`);
  }, 600_000);
});
