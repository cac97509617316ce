import { describe, expect, it } from 'vitest';
import { LookPlace } from '../support/look-place.ts';

describe('a look', () => {
  it('L16: costs eight requests where nothing has changed, whatever the number of forms', async () => {
    const place = await LookPlace.open({ forms: 40, each: 3 });
    await place.tick();
    // Once, one more for each form: whether the workspace has other submissions.
    expect((await place.tick()).requests).toBe(48);
    const quiet = await place.tick();
    expect([quiet.requests, quiet.visited, quiet.look.settled.length]).toEqual([8, [], 40]);
    expect(quiet.look.settled[0]).toMatchObject({ kind: 'incremental', outcome: 'ok', total: 3 });
  });

  it('L16: costs eight for two targets, too', async () => {
    const place = await LookPlace.open();
    await place.settle(place.two());
    expect(await place.tick(place.two())).toMatchObject({ requests: 8, visited: [] });
  });

  it('L16: has a form visited that got a submission, and no other', async () => {
    const place = await LookPlace.open();
    await place.settle();
    place.submit('f3');
    const tick = await place.tick();
    expect([tick.visited, tick.look.requests]).toEqual([['f3 → default'], 7]);
    expect(place.differences()).toEqual([]);
    expect((await place.tick()).visited).toEqual([]);
  });

  it('L16: finds a changed status, a deletion and an import of whatever age', async () => {
    const place = await LookPlace.open({ each: 30 });
    await place.settle();
    place.store.setStatus(place.oldest('f1'), 'PAID');
    place.store.delete(place.oldest('f2'));
    place.store.insert({ formId: 'f5', data: {}, createdAt: Date.UTC(2024, 0, 1) });
    const tick = await place.tick();
    expect(tick.visited).toEqual(['f1 → default !', 'f2 → default !', 'f5 → default !']);
    expect(place.differences()).toEqual([]);
    expect(await place.tick()).toMatchObject({ visited: [], requests: 8 });
  });

  it('L16: reads the list on where that is cheaper than asking form by form, and counts again', async () => {
    const place = await LookPlace.open({ forms: 30, each: 2, behaviour: { maxLimit: 10 } });
    await place.settle();
    for (let n = 0; n < 30; n++) place.submit(`f${n}`);
    const newcomers = await place.tick();
    // The newest page and six counts, twice, and two more pages.
    expect([newcomers.visited.length, newcomers.look.requests]).toEqual([30, 16]);
    expect(newcomers.visited.filter((visit) => visit.endsWith('!'))).toEqual([]);
    expect(place.differences()).toEqual([]);
    for (let n = 0; n < 30; n++) place.store.setStatus(place.store.ids(`f${n}`)[2]!, 'PAID');
    place.store.delete(place.oldest('f7'));
    const statuses = await place.tick();
    // What is left is searched: where one was deleted.
    expect(statuses.visited.length).toBe(30);
    expect(statuses.look.requests).toBeLessThan(16 + 30);
    expect(place.differences()).toEqual([]);
    expect((await place.tick()).requests).toBe(8);
  });

  it('L16: finds what is on a page that was read on, and on none that a plain pass would read', async () => {
    const place = await LookPlace.open({ forms: 2, each: 30, behaviour: { maxLimit: 10 } });
    for (let n = 2; n < 30; n++) place.addForm(`f${n}`);
    await place.settle();
    for (const form of ['f0', 'f1']) {
      for (const id of place.store.ids(form).slice(0, 26)) place.store.setStatus(id, 'DONE');
    }
    const tick = await place.tick();
    expect(tick.visited).toEqual(['f0 → default !', 'f1 → default !']);
    expect(place.differences()).toEqual([]);
  });

  it('L16: takes what came while the list was read on for no explanation', async () => {
    const place = await LookPlace.open({ forms: 30, each: 2, behaviour: { maxLimit: 10 } });
    await place.settle();
    for (let n = 1; n < 30; n++) place.submit(`f${n}`);
    let isMoved = false;
    place.onRequest = ({ query }) => {
      if (query.get('page') !== '3' || isMoved) return;
      isMoved = true;
      // As many as before of each status: but in another form.
      place.store.delete(place.oldest('f0'));
      place.submit('f29');
    };
    await place.tick();
    place.onRequest = () => {};
    expect(isMoved).toBe(true);
    await place.tick();
    expect(place.differences()).toEqual([]);
  });

  it('L16: finds a deletion that a newcomer elsewhere makes up for', async () => {
    const place = await LookPlace.open();
    await place.settle();
    place.store.delete(place.oldest('f2'));
    place.submit('f4');
    await place.tick();
    expect(place.differences()).toEqual([]);
  });

  it('after a restart knows what there is to do from the targets alone, each in a state of its own', async () => {
    const place = await LookPlace.open({ each: 30 });
    const env = place.two();
    await place.settle(env);
    // A person syncs one of them by hand.
    place.store.setStatus(place.oldest('f1'), 'PAID');
    place.submit('f2');
    expect((await place.tick(env, ['a'])).visited).toEqual(['f1 → a !', 'f2 → a']);
    expect((await place.tick(env)).visited).toEqual(['f1 → b !', 'f2 → b']);
    expect([place.differences('a'), place.differences('b')]).toEqual([[], []]);
    expect(await place.tick(env)).toMatchObject({ visited: [], requests: 8 });
  });

  it('of some forms is not disturbed by the others', async () => {
    const place = await LookPlace.open({ each: 30 });
    const env = { TARGET_FORMS: 'f0,f1' };
    await place.settle(env);
    place.submit('f4');
    place.store.delete(place.oldest('f5'));
    place.store.setStatus(place.oldest('f3'), 'DONE');
    // Searched for, and then each form is asked for all it has.
    expect((await place.tick(env)).visited).toEqual([]);
    expect((await place.tick(env)).visited).toEqual([]);
    expect(await place.tick(env)).toMatchObject({ visited: [], requests: 8 });
    place.store.setStatus(place.oldest('f1'), 'PAID');
    expect((await place.tick(env)).visited).toEqual(['f1 → default !']);
    expect(place.differences('default', ['f0', 'f1'])).toEqual([]);
  });

  it('L16: takes no submission of other forms for new twice, though it is dated after any clock', async () => {
    const place = await LookPlace.open({ each: 30 });
    const env = { TARGET_FORMS: 'f0,f1' };
    await place.settle(env);
    place.store.insert({ formId: 'f4', data: {}, createdAt: Date.UTC(2090, 0, 1) });
    expect(await place.tick(env)).toMatchObject({ visited: [], requests: 8 });
    place.store.insert({ formId: 'f1', data: {}, createdAt: Date.UTC(2024, 0, 1) });
    expect((await place.tick(env)).visited).toEqual(['f1 → default !']);
    expect(place.differences('default', ['f0', 'f1'])).toEqual([]);
    expect(await place.tick(env)).toMatchObject({ visited: [], requests: 8 });
  });

  it('L16: takes none for new that came while other forms were searched', async () => {
    const place = await LookPlace.open({ each: 30 });
    const env = { TARGET_FORMS: 'f0,f1' };
    await place.settle(env);
    place.store.delete(place.oldest('f4'));
    let asked = 0;
    place.onRequest = () => {
      // The list of forms and the counts come before the newest page.
      if (++asked !== 8) return;
      place.submit('f5');
      place.store.delete(place.oldest('f4'));
    };
    await place.tick(env);
    place.onRequest = () => {};
    place.store.insert({ formId: 'f1', data: {}, createdAt: Date.UTC(2024, 0, 1) });
    await place.tick(env);
    await place.tick(env);
    expect(place.differences('default', ['f0', 'f1'])).toEqual([]);
  });

  it('does not take a form that comes back for one that leaves TARGET_FORMS', async () => {
    const place = await LookPlace.open({ each: 30 });
    await place.settle({ TARGET_FORMS: 'f0,f1' });
    await place.settle({ TARGET_FORMS: 'f0,f2' });
    // The workspace counts what it did, but f1 has one more, and f2, which is not mirrored any more, one fewer.
    place.store.insert({ formId: 'f1', data: {}, createdAt: Date.UTC(2024, 0, 1) });
    place.store.delete(place.oldest('f2'));
    expect((await place.tick({ TARGET_FORMS: 'f0,f1' })).visited).toEqual(['f1 → default !']);
  });

  it('L8: a form that is gone is found gone once; what the workspace still counts of it disturbs nothing', async () => {
    const place = await LookPlace.open({ each: 30 });
    await place.settle();
    place.store.deleteForm('f2');
    const gone = await place.tick();
    expect(gone.passes.map(({ form, outcome }) => [form.id, outcome])).toEqual([['f2', 'gone']]);
    await place.tick();
    expect(await place.tick()).toMatchObject({ visited: [], requests: 8 });
    place.store.setStatus(place.oldest('f1'), 'PAID');
    expect((await place.tick()).visited).toEqual(['f1 → default !']);
    place.store.restoreForm('f2');
    expect((await place.tick()).visited).toEqual(['f2 → default']);
  });

  it('a new form is visited at once', async () => {
    const place = await LookPlace.open();
    await place.settle();
    place.addForm('f9');
    place.submit('f9');
    expect((await place.tick()).visited).toEqual(['f9 → default']);
    expect(place.differences()).toEqual([]);
    await place.tick();
    expect(await place.tick()).toMatchObject({ visited: [], requests: 8 });
  });

  it('L9: a relabelled field, and a new one, have their form visited', async () => {
    const place = await LookPlace.open();
    await place.settle();
    place.store.relabelField('f1', 'field_1_f1', 'Your name');
    place.store.addField('f2', { label: 'Phone' });
    expect((await place.tick()).visited).toEqual(['f1 → default', 'f2 → default']);
    expect((await place.tick()).visited).toEqual([]);
  });

  it('rows that people removed have their form visited', async () => {
    const place = await LookPlace.open();
    await place.settle();
    place.sql(`DELETE FROM "f3" WHERE id = '${place.oldest('f3')}'`);
    place.sql('DROP TABLE "f4"');
    expect((await place.tick()).visited).toEqual(['f3 → default', 'f4 → default']);
    expect(place.differences()).toEqual([]);
  });

  it('L11: other picks have every form visited', async () => {
    const place = await LookPlace.open({ forms: 2 });
    await place.settle();
    expect((await place.tick({ TARGET_FIELDS: 'field_1_f0,field_1_f1' })).visited).toEqual([
      'f0 → default',
      'f1 → default',
    ]);
  });

  describe('and marking', () => {
    const marking = { MARK_STATUS: 'DONE' };

    it('L7: follows what it marked itself, without another visit', async () => {
      const place = await LookPlace.open({ each: 3 });
      expect((await place.tick(marking)).marked).toHaveLength(6);
      expect(place.differences()).toEqual([]);
      await place.tick(marking);
      expect(await place.tick(marking)).toMatchObject({ requests: 8, visited: [], marked: [] });
    });

    it('L7: comes to rows that wait, though nothing has changed, and to no others', async () => {
      const place = await LookPlace.open({ each: 3 });
      place.store.setStatus(place.oldest('f1'), 'PAID');
      for (const id of place.store.ids('f2')) place.store.setStatus(id, 'PAID');
      await place.settle();
      const tick = await place.tick(marking);
      expect([tick.visited, tick.marked]).toEqual([[], ['f0', 'f1', 'f3', 'f4', 'f5']]);
      expect(place.differences()).toEqual([]);
      expect((await place.tick(marking)).marked).toEqual([]);
    });

    it('L7: leaves alone what was refused lately', async () => {
      const refused = new Set<string>();
      const place = await LookPlace.open({
        forms: 2,
        each: 3,
        behaviour: { refuseTransition: ({ id }) => (refused.has(id) ? 409 : undefined) },
      });
      refused.add(place.oldest('f0'));
      await place.tick(marking);
      await place.tick(marking);
      const tick = await place.tick(marking);
      expect([tick.visited, tick.marked, tick.requests]).toEqual([[], [], 8]);
    });
  });

  it('L16: costs eight of a workspace with a long list of forms, and shows a change there when its page has its turn', async () => {
    const behaviour = { formsPageSize: 10 };
    const place = await LookPlace.open({ forms: 30, each: 1, behaviour });
    await place.settle();
    await using app = place.process();
    // The first one reads all pages.
    expect((await place.tickOf(app)).requests).toBe(10);
    expect((await place.tickOf(app)).requests).toBe(8);
    place.store.relabelField('f29', 'field_1_f29', 'Your name');
    const ticks = [await place.tickOf(app), await place.tickOf(app)];
    expect(ticks.map(({ visited }) => visited)).toEqual([[], ['f29 → default']]);
    place.addForm('f30');
    place.submit('f30');
    expect((await place.tickOf(app)).visited).toEqual(['f30 → default']);
    await place.tickOf(app);
    expect((await place.tickOf(app)).requests).toBe(8);
  });

  describe('of a workspace without submissions', () => {
    it('L16: costs eight, whatever the number of forms, and sees the first submission at once', async () => {
      const place = await LookPlace.open({ forms: 20, each: 0 });
      await place.settle();
      await using app = place.process();
      const ticks = [await place.tickOf(app), await place.tickOf(app)];
      expect(ticks.map(({ requests }) => requests)).toEqual([8, 8]);
      place.submit('f19');
      expect((await place.tickOf(app)).visited).toEqual(['f19 → default']);
    });

    it('L16: finds the first one in turn where its list never shows any', async () => {
      const behaviour = { workspaceList: 'empty' } as const;
      const place = await LookPlace.open({ forms: 20, each: 0, behaviour });
      await place.settle();
      await using app = place.process();
      place.submit('f19');
      const visited: string[][] = [];
      for (let n = 0; n < 4; n++) visited.push([...(await place.tickOf(app)).visited]);
      expect(visited.flat()).toEqual(['f19 → default !']);
    });

    it('L16: asks all forms where a person waits, but not where it had some', async () => {
      const place = await LookPlace.open({ forms: 20, each: 0 });
      await place.settle();
      await using app = place.process();
      const { signal } = new AbortController();
      const asked = async (): Promise<number> => {
        const { forms } = await app.plan(signal, { waitForTargets: true });
        return (await app.look(forms, signal, { isByHand: true })).requests;
      };
      expect(await asked()).toBe(21);
      const id = place.submit('f3');
      await place.settle();
      place.store.delete(id);
      await place.settle();
      expect(await asked()).toBe(7);
    });
  });

  describe('of a workspace whose list does not work', () => {
    const behaviour = { workspaceStatus: 'ignored', maxLimit: 10 } as const;

    it('L16: asks each form for its newest page, and in turn for its statuses', async () => {
      const place = await LookPlace.open({ forms: 12, each: 30, behaviour });
      await place.settle();
      await place.settle();
      // The list of forms, what the workspace says, a page of ten forms, and seven counts of two.
      expect(await place.tick()).toMatchObject({ visited: [], requests: 1 + 7 + 10 + 14 });
      place.store.setStatus(place.store.ids('f1')[29]!, 'PAID');
      place.store.delete(place.oldest('f2'));
      place.submit('f3');
      place.store.setStatus(place.oldest('f4'), 'PAID');
      const visited = ['f1 → default', 'f2 → default !', 'f3 → default'];
      const seen = [...(await place.tick()).visited];
      expect(seen).toEqual(expect.arrayContaining(visited));
      for (let n = 1; n < 6; n++) seen.push(...(await place.tick()).visited);
      expect(seen.toSorted()).toEqual([...visited, 'f4 → default !']);
      expect(place.differences()).toEqual([]);
    });

    it('L17: says of which forms it did not count statuses', async () => {
      const place = await LookPlace.open({ forms: 12, each: 30, behaviour });
      await place.settle();
      await place.settle();
      const { look } = await place.tick();
      const uncounted = look.settled.filter(({ isUncounted }) => isUncounted === true);
      expect([look.settled.length, uncounted.length]).toEqual([12, 10]);
    });

    it('L16: takes a page that shows a whole form for its counts', async () => {
      const place = await LookPlace.open({ forms: 12, each: 9, behaviour });
      await place.settle();
      await place.settle();
      expect(await place.tick()).toMatchObject({ visited: [], requests: 1 + 7 + 12 });
      place.store.setStatus(place.oldest('f7'), 'PAID');
      const { visited, look } = await place.tick();
      expect(visited).toEqual(['f7 → default !']);
      expect(look.settled.some(({ isUncounted }) => isUncounted)).toBe(false);
    });

    it.each([
      [{ workspaceList: 'refused' }],
      [{ workspaceList: 'empty' }],
      [{ workspaceStatus: 'ignored' }],
      [{ workspaceStatus: 'refused' }],
    ] as const)('L3: asks each form for its own counts: %j', async (behaviour) => {
      const place = await LookPlace.open({ behaviour });
      await place.settle();
      place.store.setStatus(place.oldest('f1'), 'PAID');
      place.store.delete(place.oldest('f2'));
      place.submit('f3');
      expect((await place.tick()).visited).toHaveLength(3);
      expect(place.differences()).toEqual([]);
      expect((await place.tick()).visited).toEqual([]);
    });

    it('L12: visits every form where it fails as a whole, and says no more than the passes', async () => {
      const place = await LookPlace.open({ forms: 3 });
      await place.settle();
      place.sandbox.faults.add({ path: '/submissions', status: 400, times: 1_000 });
      const tick = await place.tick();
      expect(tick.passes.map(({ outcome }) => outcome)).toEqual(['failed', 'failed', 'failed']);
    });
  });
});
