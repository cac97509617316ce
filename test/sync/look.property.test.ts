import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  minusCounts,
  NO_COUNTS,
  plusCounts,
  type StatusCounts,
} from '../../src/mirror/status-counts.ts';
import { STATUSES } from '../../src/mirror/types.ts';
import { askable } from '../../src/sync/look-counts.ts';
import { propertyRuns } from '../support/property.ts';
import { CountedWorld } from './look-world.ts';

const FORMS = ['a', 'b', 'c', 'd', 'e'];
const statuses = fc.constantFrom(...STATUSES.slice(0, 3), 'seventh');
const forms = fc.constantFrom(...FORMS);

type Step =
  | { readonly what: 'change'; readonly form: string; readonly status: string; readonly by: number }
  | { readonly what: 'foreign'; readonly status: string; readonly by: number }
  | { readonly what: 'elsewhere'; readonly status: string }
  | { readonly what: 'unsettle'; readonly form: string }
  | { readonly what: 'silence'; readonly form: string }
  | { readonly what: 'lists'; readonly lists: 'whole' | 'none' }
  | { readonly what: 'tick' };

const by = fc.integer({ min: -3, max: 3 });
const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      what: fc.constant('change' as const),
      form: forms,
      status: statuses,
      by,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ what: fc.constant('foreign' as const), status: statuses, by }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ what: fc.constant('elsewhere' as const), status: statuses }),
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('unsettle' as const), form: forms }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('silence' as const), form: forms }) },
  {
    weight: 1,
    arbitrary: fc.record({
      what: fc.constant('lists' as const),
      lists: fc.constantFrom('whole' as const, 'none' as const),
    }),
  },
  { weight: 3, arbitrary: fc.constant({ what: 'tick' as const }) },
);

/** Without what others do that no page shows: that may undo what a form does. */
const shownSteps = steps.filter(({ what }) => what !== 'foreign');
/** Without newcomers elsewhere: of one that comes during a look it is not certain that it was not counted. */
const ownSteps = shownSteps.filter(({ what }) => what !== 'elsewhere');

function take(world: CountedWorld, step: Exclude<Step, { what: 'tick' }>): void {
  switch (step.what) {
    case 'change':
      return world.change(step.form, step.status, step.by);
    case 'foreign': {
      const before = world.foreign.get(step.status) ?? 0;
      const now = Math.max(0, before + step.by);
      world.foreign = plusCounts(world.foreign, new Map([[step.status, now - before]]));
      return undefined;
    }
    case 'elsewhere':
      return world.submitElsewhere(step.status);
    case 'unsettle':
      return void world.unsettled.add(step.form);
    case 'silence':
      return void world.silent.add(step.form);
    case 'lists':
      world.lists = step.lists;
  }
}

/** By how much more the source has of the forms than is accounted for. */
function unseen(world: CountedWorld): StatusCounts {
  return FORMS.reduce(
    (sum: StatusCounts, id) =>
      plusCounts(sum, minusCounts(world.countsOf(id), world.accounted.get(id) ?? NO_COUNTS)),
    NO_COUNTS,
  );
}

describe('looks, whatever happens', () => {
  it('L16: two of them after the last change, nothing differs but what undoes itself in every count', async () => {
    const run = fc.asyncProperty(
      fc.array(shownSteps, { maxLength: 40 }),
      // One of them: two in a look may undo each other, which no count tells.
      fc.array(fc.tuple(fc.nat(30), ownSteps), { maxLength: 1 }),
      fc.dictionary(statuses, fc.nat(4)),
      async (given, meanwhile, foreign) => {
        const world = new CountedWorld();
        world.foreign = plusCounts(NO_COUNTS, new Map(Object.entries(foreign)));
        for (const id of FORMS) world.form(id, { NEW: 3, DONE: 2 });
        for (const step of given) {
          if (step.what !== 'tick') {
            take(world, step);
            continue;
          }
          let answers = 0;
          // Also between two answers of a look.
          world.meddle = () => {
            answers++;
            for (const [at, other] of meanwhile) {
              if (at === answers && other.what !== 'tick') take(world, other);
            }
          };
          await world.tick();
          world.meddle = () => {};
        }
        world.silent.clear();
        world.unsettled.clear();
        await world.tick();
        await world.tick();
        // What differs still is undone by another form, in every count; and nobody else is taken to have what a form lacks.
        const differing = world.lists === 'none' ? world.differing() : [...unseen(world)];
        expect(differing).toEqual([]);
      },
    );
    await fc.assert(run, propertyRuns(10_000));
  });

  it('L16: newcomers elsewhere that the newest page shows neither hide a change, nor cost a search', async () => {
    const some = fc.record({
      elsewhere: fc.array(statuses, { minLength: 1, maxLength: 3 }),
      lost: fc.option(fc.record({ form: forms, at: fc.nat(2) }), { nil: undefined }),
    });
    const run = fc.asyncProperty(fc.array(some, { minLength: 1, maxLength: 8 }), async (ticks) => {
      const world = new CountedWorld();
      for (const id of FORMS) {
        world.form(id, Object.fromEntries(STATUSES.slice(0, 3).map((status) => [status, 20])));
      }
      world.form(FORMS[0]!, { NEW: 20, DONE: 20, seventh: 20 });
      await world.tick();
      await world.tick();
      for (const { elsewhere, lost } of ticks) {
        for (const status of elsewhere) world.submitElsewhere(status);
        // With the status of one that came elsewhere: no count moves.
        if (lost !== undefined) world.change(lost.form, elsewhere[lost.at % elsewhere.length]!, -1);
        const differing = world.differing();
        const verdict = await world.tick();
        expect([...verdict.visits.keys()]).toEqual(differing);
        expect(world.differing()).toEqual([]);
        expect(world.asked === 0).toBe(differing.length === 0);
        expect(world.others).toEqual(askable(world.foreign));
      }
    });
    await fc.assert(run, propertyRuns(1_000));
  });

  it('L16: a quiet look asks nothing more, whatever came before', async () => {
    const run = fc.asyncProperty(fc.array(steps, { maxLength: 30 }), async (given) => {
      const world = new CountedWorld();
      for (const id of FORMS) world.form(id, { NEW: 3, DONE: 2 });
      for (const step of given) await (step.what === 'tick' ? world.tick() : take(world, step));
      world.silent.clear();
      world.unsettled.clear();
      world.lists = 'whole';
      for (let n = 0; n < 3; n++) await world.tick();
      const quiet = await world.tick();
      expect([[...quiet.visits.keys()], quiet.by, world.asked]).toEqual([[], 'workspace', 0]);
    });
    await fc.assert(run, propertyRuns(400));
  });
});
