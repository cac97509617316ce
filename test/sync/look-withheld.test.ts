import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { LookPlace, type Tick } from '../support/look-place.ts';

const [EACH, DELETED] = [40, 30];

describe('a look over a form whose deletions the brake withholds', () => {
  let place: LookPlace;
  beforeEach(async () => {
    place = await LookPlace.open({ forms: 4, each: EACH });
    await place.settle();
    for (const id of place.store.ids('f2').slice(0, DELETED)) place.store.delete(id);
    await place.settle();
  });
  const ofHeld = ({ look }: Tick) => look.settled.find(({ form }) => form.id === 'f2');
  const release = async (): Promise<void> => {
    await using app = place.process();
    const job = { formId: 'f2', target: 'default', kind: 'full' } as const;
    await app.pass(job, new AbortController().signal, { acceptDeletes: true });
  };

  it('L16: costs no more than any other, and says what the last pass said', async () => {
    for (let n = 0; n < 2; n++) {
      const tick = await place.tick();
      expect([tick.visited, tick.requests]).toEqual([[], 8]);
      expect(ofHeld(tick)).toMatchObject({
        outcome: 'withheld',
        withheld: DELETED,
        code: 'DELETES_WITHHELD',
        error: expect.stringContaining(`${DELETED} rows of form "Form f2" (f2) are absent`),
        isUncounted: true,
      });
    }
  });

  it.each<[string, () => unknown]>([
    ['a newcomer', () => place.submit('f2')],
    ['a changed status', () => place.store.setStatus(place.oldest('f2'), 'PAID')],
    ['one more deletion', () => place.store.delete(place.oldest('f2'))],
    [
      'an import of old dates',
      () => place.store.insert({ formId: 'f2', data: {}, createdAt: Date.UTC(2024, 0, 1) }),
    ],
  ])('L16: has it visited for %s, and is quiet again by the next but one', async (_, change) => {
    change();
    const tick = await place.tick();
    expect(tick.visited.map((visit) => visit.slice(0, 2))).toEqual(['f2']);
    expect(missing()).toEqual([]);
    await place.tick();
    expect(await place.tick()).toMatchObject({ visited: [], requests: 8 });
  });

  /** What is at the source, and not here or not so. */
  const missing = (): string[] => {
    const there = new Set(place.store.ids('f2').map((id) => `f2 ${id}`));
    return place.differences('default', ['f2']).filter((name) => there.has(name));
  };

  it('L16: sees what changes elsewhere', async () => {
    place.submit('f1');
    place.store.setStatus(place.oldest('f3'), 'PAID');
    expect((await place.tick()).visited).toEqual(['f1 → default', 'f3 → default !']);
    expect(place.differences('default', ['f0', 'f1', 'f3'])).toEqual([]);
  });

  it('L8: knows when a person has let the deletions through', async () => {
    await release();
    expect(place.differences()).toEqual([]);
    const tick = await place.tick();
    expect([tick.visited, tick.requests]).toEqual([[], 8]);
    expect(ofHeld(tick)).toMatchObject({ outcome: 'ok', withheld: 0 });
  });

  it('L16: has it visited for as long as no pass has looked since the source was asked', async () => {
    place.submit('f2');
    {
      // A worker that dies before its passes.
      await using app = place.process();
      const { signal } = new AbortController();
      const look = await app.look((await app.plan(signal)).forms, signal);
      expect(look.forms.filter(({ visits }) => visits.length > 0)).toHaveLength(1);
    }
    expect((await place.tick()).visited).toEqual(['f2 → default']);
    expect(missing()).toEqual([]);
  });

  it('has it visited when its rows, or the settings, are not as they were', async () => {
    place.sql("UPDATE f2 SET status = 'PAID' WHERE id = (SELECT max(id) FROM f2)");
    expect((await place.tick()).visited).toEqual(['f2 → default']);
    await place.settle();
    expect((await place.tick()).visited).toEqual([]);
    const hashed = {
      TARGET_HASH_FIELDS: 'f2:field_1_f2',
      HASH_KEY: randomBytes(32).toString('base64'),
    };
    expect((await place.tick(hashed)).visited).toEqual(['f2 → default']);
  });
});
