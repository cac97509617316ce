import { describe, expect, it } from 'vitest';
import { LookPlace, type Tick } from '../support/look-place.ts';

const visitedIn = (ticks: readonly Tick[]): string[] => ticks.flatMap(({ visited }) => visited);

describe('a newcomer of a form that is not mirrored, which the newest page shows', () => {
  it('L16, L17: does not make up for a deletion in one that is', async () => {
    const place = await LookPlace.open({ forms: 2, each: 30, env: { TARGET_FORMS: 'f0' } });
    await place.settle();
    place.store.delete(place.oldest('f0'));
    place.submit('f1');
    const ticks = [await place.tick(), await place.tick(), await place.tick()];
    expect(visitedIn(ticks)).toEqual(['f0 → default !']);
    expect(place.differences('default', ['f0'])).toEqual([]);
    expect(ticks.at(-1)?.requests).toBe(8);
  });

  it('L16, L17: nor for the status by which another mirrored form explains only the rest', async () => {
    const place = await LookPlace.open({ forms: 3, each: 40, env: { TARGET_FORMS: 'f0,f1' } });
    await place.settle();
    place.store.delete(place.oldest('f0'));
    place.store.insert({ formId: 'f1', data: {}, status: 'PAID', createdAt: Date.UTC(2024, 0, 1) });
    place.submit('f2');
    const ticks = [await place.tick(), await place.tick(), await place.tick()];
    expect(visitedIn(ticks).toSorted()).toEqual(['f0 → default !', 'f1 → default !']);
    expect(place.differences('default', ['f0', 'f1'])).toEqual([]);
  });

  it('L16: nor for the status that one lost, while one that is mirrored gets a newcomer, too', async () => {
    const place = await LookPlace.open({ forms: 3, each: 30, env: { TARGET_FORMS: 'f0,f1' } });
    await place.settle();
    place.store.setStatus(place.oldest('f0'), 'DONE');
    for (const form of ['f1', 'f2']) place.submit(form);
    await place.tick();
    expect(place.differences('default', ['f0', 'f1'])).toEqual([]);
  });

  it('L16: needs no search, however many come at each tick', async () => {
    const place = await LookPlace.open({
      forms: 8,
      each: 12,
      env: { TARGET_FORMS: 'f0,f1,f2,f3' },
    });
    await place.settle();
    for (let tick = 0; tick < 4; tick++) {
      for (const form of ['f5', 'f6', 'f6']) place.submit(form, tick % 2 === 0 ? 'NEW' : 'DONE');
      const { visited, requests } = await place.tick();
      expect([visited, requests]).toEqual([[], 8]);
    }
  });

  it('L16: that goes again is searched for, and no more than once', async () => {
    const place = await LookPlace.open({ forms: 4, each: 12, env: { TARGET_FORMS: 'f0,f1' } });
    await place.settle();
    // As many come there as go: nobody can tell it from a deletion in a form that is mirrored without asking those.
    place.store.delete(place.oldest('f2'));
    place.submit('f3');
    const ticks = [await place.tick(), await place.tick(), await place.tick(), await place.tick()];
    expect(visitedIn(ticks)).toEqual([]);
    expect(ticks.slice(2).map(({ requests }) => requests)).toEqual([8, 8]);
  });
});
