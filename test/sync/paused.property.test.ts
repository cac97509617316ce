import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { newPause } from '../../src/mirror/pauses.ts';
import { LookPlace, type Tick } from '../support/look-place.ts';
import { PROPERTY_MS, propertyRuns } from '../support/property.ts';

const FORMS = ['f0', 'f1', 'f2'];
const form = fc.constantFrom(...FORMS);
const place = fc.record({
  target: fc.constantFrom('a', 'b'),
  form: fc.option(form, { nil: null, freq: 4 }),
});

type Step =
  | { readonly what: 'submit' | 'status' | 'delete'; readonly form: string }
  | { readonly what: 'pause' | 'resume'; readonly target: string; readonly form: string | null }
  | { readonly what: 'tick' };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ what: fc.constantFrom('submit', 'status', 'delete'), form }),
    },
    {
      weight: 3,
      arbitrary: place.chain(({ target, form }) =>
        fc.record({
          what: fc.constantFrom('pause', 'resume'),
          target: fc.constant(target),
          form: fc.constant(form),
        }),
      ),
    },
    { weight: 4, arbitrary: fc.constant({ what: 'tick' as const }) },
  ) as fc.Arbitrary<Step>,
  { minLength: 4, maxLength: 18 },
);

/** What went wrong in a life with pauses: what is paused never changes, and in the end everything is there. */
async function live(list: readonly Step[], lists: 'whole' | 'none'): Promise<string[]> {
  const behaviour = lists === 'whole' ? {} : { workspaceList: 'refused' as const };
  const world = await LookPlace.open({ forms: FORMS.length, each: 3, behaviour });
  Object.assign(world.env, world.two());
  await world.settle();
  // Each tick comes a minute after the one before.
  let nowMs = systemClock.now();
  const tick = async (): Promise<Tick> => {
    nowMs += 60_000;
    await using app = world.process({}, { ...systemClock, now: () => nowMs });
    return await world.tickOf(app);
  };
  // Where the workspace has no list, statuses are counted in turn.
  const soon = lists === 'whole' ? 2 : 8;
  const wrong: string[] = [];
  const paused = new Set<string>();
  const key = (target: string, formId: string | null): string => `${target} ${formId ?? '*'}`;
  const isPaused = (target: string, formId: string): boolean =>
    paused.has(key(target, formId)) || paused.has(key(target, null));
  const snapshot = (): Map<string, string> =>
    new Map(
      ['a', 'b'].flatMap((target) =>
        FORMS.map((formId) => [key(target, formId), world.rows(target, formId)] as const),
      ),
    );
  for (const step of list) {
    const before = snapshot();
    switch (step.what) {
      case 'submit':
        world.submit(step.form);
        break;
      case 'status':
        if (world.oldest(step.form) !== '') world.store.setStatus(world.oldest(step.form), 'DONE');
        break;
      case 'delete':
        if (world.oldest(step.form) !== '') world.store.delete(world.oldest(step.form));
        break;
      case 'pause':
      case 'resume': {
        await using app = world.process();
        const target = await app.target(step.target);
        const pause = {
          formId: step.form,
          since: '2026-03-01T08:00:00.000Z',
          by: 'x',
          reason: null,
        };
        if (step.what === 'pause') await target.pause(newPause(pause));
        else await target.resume(step.form);
        if (step.what === 'pause') paused.add(key(step.target, step.form));
        else paused.delete(key(step.target, step.form));
        break;
      }
      case 'tick': {
        const { look, passes } = await tick();
        const tried = passes.filter(({ outcome }) => outcome === 'paused');
        for (const { target, form: of } of [...tried, ...look.settled]) {
          if (isPaused(target, of.id)) wrong.push(`${of.id} is looked at in ${target}`);
        }
      }
    }
    const after = snapshot();
    for (const target of ['a', 'b']) {
      for (const formId of FORMS.filter((each) => isPaused(target, each))) {
        const place = key(target, formId);
        if (after.get(place) !== before.get(place)) wrong.push(`${place} was written`);
      }
    }
  }
  // What is not paused is as the source is, whatever is (L12, L16).
  for (let n = 0; n < soon; n++) await tick();
  for (const target of ['a', 'b']) {
    const going = FORMS.filter((formId) => !isPaused(target, formId));
    wrong.push(...world.differences(target, going).map((each) => `${target} lacks ${each}`));
  }
  for (const target of ['a', 'b']) {
    await using app = world.process();
    const opened = await app.target(target);
    for (const formId of [null, ...FORMS]) await opened.resume(formId);
  }
  for (let n = 0; n < soon; n++) await tick();
  for (const target of ['a', 'b']) {
    wrong.push(...world.differences(target).map((each) => `${target} has lost ${each}`));
  }
  return wrong;
}

describe('L2, L12, L17: any pauses, between any changes and ticks', () => {
  it.each(['whole', 'none'] as const)(
    'nothing is written while they last, nothing is claimed, and nothing is lost (lists of the workspace: %s)',
    async (lists) => {
      await fc.assert(
        // Where forms are asked one by one, one that comes while another goes moves no count (L16).
        fc.asyncProperty(steps, async (list) => {
          const some = list.filter(({ what }) => lists === 'whole' || what !== 'delete');
          expect(await live(some, lists)).toEqual([]);
        }),
        propertyRuns(12),
      );
    },
    PROPERTY_MS,
  );
});
