import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FaultRule } from '../../../../src/sandbox/faults.ts';
import { propertyRuns } from '../../../support/property.ts';
import { complaintsOf } from '../sheet-complaints.ts';
import { type PassPlan, SheetLife, SOURCE_CHANGES, type SourceChange } from '../sheet-life.ts';
import { ACTIONS, type Deed } from '../sheet-people.ts';

const BATCH = /:batchUpdate$/;
/** Faults that a pass survives, or may fail with; `after` is how many requests go well first. */
const FAULTS: readonly ((after: number) => FaultRule)[] = [
  (after) => ({ path: BATCH, status: 503, applied: true, after }),
  (after) => ({ path: BATCH, status: 500, after }),
  (after) => ({ path: BATCH, dropConnection: true, applied: true, after }),
  (after) => ({ path: BATCH, dropConnection: true, after }),
  (after) => ({ status: 429, after }),
  (after) => ({ method: 'GET', status: 503, times: 2, after }),
  (after) => ({ path: /values/, cutBodyAt: 40, after }),
];

type Step =
  | { readonly type: 'change'; readonly change: SourceChange }
  | { readonly type: 'deed'; readonly deed: Deed }
  | { readonly type: 'pass'; readonly plan: PassPlan };

const n = fc.nat(10_000);
const deed: fc.Arbitrary<Deed> = fc.record({ kind: fc.constantFrom(...ACTIONS), n });
const during = fc.array(fc.record({ at: fc.nat(9), deed }), { maxLength: 3 });
const fault = fc
  .tuple(fc.constantFrom(...FAULTS), fc.nat(4))
  .map(([rule, after]): FaultRule => rule(after));
const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .record({ kind: fc.constantFrom(...SOURCE_CHANGES), n })
      .map((change) => ({ type: 'change' as const, change })),
  },
  { weight: 5, arbitrary: deed.map((one) => ({ type: 'deed' as const, deed: one })) },
  {
    weight: 3,
    arbitrary: fc
      .record({
        during,
        fault: fc.option(fault, { nil: undefined, freq: 3 }),
        elsewhere: fc.boolean(),
      })
      .map((plan) => ({ type: 'pass' as const, plan })),
  },
  {
    // People rearranging the sheet in the very second before the process is killed is one too many.
    weight: 1,
    arbitrary: fc
      .record({ during: fc.constant([]), killAt: fc.nat(8), elsewhere: fc.boolean() })
      .map((plan) => ({ type: 'pass' as const, plan })),
  },
);

async function live(life: SheetLife, history: readonly Step[]): Promise<void> {
  for (const step of history) {
    if (step.type === 'change') life.change(step.change);
    else if (step.type === 'deed') life.people.do(step.deed);
    else await life.pass(step.plan);
  }
}

describe('a sheet that people live in', () => {
  it('L1 L4 L8 L9 L10: is right after a calm pass, whatever people did between and during passes', async () => {
    let [cases, deeds] = [0, 0];
    await fc.assert(
      fc.asyncProperty(
        fc.array(steps, { minLength: 3, maxLength: 30, size: 'max' }),
        async (history) => {
          const life = await SheetLife.begin();
          try {
            await live(life, history);
            // L4: nor is what is in the way tried for ever.
            expect(await life.restlessWrites()).toEqual([]);
            // What people keep from being written is not up to date until they let it be.
            life.people.layOpen();
            life.clock.advance(120_000);
            await life.pass();
            expect(complaintsOf(life)).toEqual([]);
            const [overview] = await (await life.place.openElsewhere()).overview();
            expect(overview?.losses ?? []).toEqual([]);
            const before = life.view.grid(life.view.sheetId ?? 0);
            await life.pass();
            // L4: a second pass over an unchanged source changes no cell.
            expect(life.view.grid(life.view.sheetId ?? 0)).toEqual(before);
            cases++;
            deeds += life.people.deeds;
          } finally {
            await life.place.dispose();
          }
        },
      ),
      propertyRuns(25),
    );
    console.info(`${cases} cases, ${deeds} things that people did`);
  }, 1_800_000);
});
