import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import type { FaultRule } from '../../src/sandbox/faults.ts';
import { FORM, SyncPlace } from '../support/sync-place.ts';

/** A 2xx that does as it was told and says nothing of it. */
const SILENT = { patchReply: { status: 200, body: 'none' } } as const;
/** A 2xx that changes nothing, and says nothing either. */
const DEAF: FaultRule = {
  method: 'PATCH',
  status: 200,
  body: '',
  times: Number.POSITIVE_INFINITY,
};

/** From here on the source answers these PATCHes (counted from 0) with the submission in the wanted status, and changes nothing. */
const liesAbout = (place: SyncPlace, isLie: (patch: number, id: string) => boolean): void => {
  let patch = 0;
  place.onRequest = ({ method, path }) => {
    const id = /^\/submissions\/(.+)\/status$/.exec(path)?.[1];
    if (method !== 'PATCH' || id === undefined || !isLie(patch++, id)) return;
    const body = JSON.stringify({ ...place.store.get(id), status: 'DONE' });
    place.sandbox.faults.add({ method, path, status: 200, body });
  };
};

const openSynced = async (
  submissions: number,
  behaviour: NonNullable<Parameters<typeof SyncPlace.open>[0]>['behaviour'] = SILENT,
): Promise<SyncPlace> => {
  const place = await SyncPlace.open({ submissions, behaviour });
  expect((await place.pass('full')).outcome).toBe('ok');
  return place;
};

const withStatus = (place: SyncPlace, status: string): string[] =>
  [...place.view().rows(FORM).values()]
    .flatMap((row) => (row.status === status ? [row.id] : []))
    .toSorted();

const patches = (place: SyncPlace): number => place.requests('PATCH', /^\/submissions\//);
const gets = (place: SyncPlace): number => place.requests('GET', /^\/submissions\/./);

/** How many status changes the target remembers. */
const remembered = (place: SyncPlace): number => {
  const database = new DatabaseSync(place.file(), { readOnly: true });
  try {
    const row = database.prepare('SELECT count(*) AS n FROM mirror_refusals').get();
    return Number(row?.['n']);
  } finally {
    database.close();
  }
};

/** Thirty submissions of which five did not take their status, unnoticed, and whose rows a full pass set right. */
const openBetrayed = async (): Promise<SyncPlace> => {
  const place = await openSynced(30, {});
  liesAbout(place, (patch) => patch >= 20 && patch < 25);
  expect(await place.mark()).toMatchObject({ marked: 30 });
  expect(await place.pass('full')).toMatchObject({ outcome: 'ok', updated: 5 });
  expect(withStatus(place, 'NEW')).toHaveLength(5);
  return place;
};

describe('L7, L17: a 2xx to a PATCH that changes nothing', () => {
  it('at a source that never changes anything: noticed in the first run, of which nothing is called marked', async () => {
    const place = await openSynced(100);
    place.sandbox.faults.add(DEAF);
    for (let run = 0; run < 2; run++) {
      const before = patches(place);
      const report = await place.tryMark();
      expect(report).toMatchObject({ outcome: 'failed', marked: 0, adopted: 0, failed: 0 });
      expect(report.refused).toBeGreaterThanOrEqual(10);
      expect(report.failure?.message).toMatch(
        /^Marking stopped: \d+ submissions .* answers 200 to PATCH \/submissions\/\S+\/status but leaves the status at NEW\.$/,
      );
      expect(patches(place) - before).toBeLessThanOrEqual(20);
      expect(withStatus(place, 'NEW')).toHaveLength(100);
    }
    place.sandbox.faults.clear();
    expect(await place.mark()).toMatchObject({ outcome: 'done', marked: 100, remembered: 0 });
  });

  it('for single submissions: told, left alone for a day, and never called marked again', async () => {
    const place = await openBetrayed();
    place.sandbox.faults.add(DEAF);
    const report = await place.tryMark();
    expect(report).toMatchObject({ outcome: 'failed', marked: 0, refused: 5, failed: 0 });
    expect(report.unmarked.map(({ submissionId }) => submissionId).toSorted()).toEqual(
      withStatus(place, 'NEW'),
    );
    expect(report.unmarked[0]?.reason).toContain('answers 200 to PATCH');
    const before = patches(place);
    for (let run = 0; run < 3; run++) {
      await place.pass('full');
      expect(await place.mark()).toMatchObject({ outcome: 'done', marked: 0, remembered: 5 });
    }
    expect(patches(place)).toBe(before);
    await place.clock.sleep(25 * 3_600_000);
    expect(await place.tryMark()).toMatchObject({ marked: 0, refused: 5 });
    await place.clock.sleep(25 * 3_600_000);
    place.sandbox.faults.clear();
    expect(await place.mark()).toMatchObject({ marked: 5, refused: 0, remembered: 0 });
    expect(withStatus(place, 'DONE')).toHaveLength(30);
    await place.clock.sleep(1);
    await place.pass('full');
    expect(remembered(place)).toBe(0);
  });

  it('for a few beside others that go through: the others are marked, the run is partial', async () => {
    const place = await openBetrayed();
    for (const id of withStatus(place, 'NEW')) {
      place.sandbox.faults.add({ ...DEAF, path: `/submissions/${id}` });
    }
    place.submitMany(20);
    await place.pass('full');
    expect(await place.tryMark()).toMatchObject({ outcome: 'partial', marked: 20, refused: 5 });
    expect(withStatus(place, 'NEW')).toHaveLength(5);
    expect(await place.mark()).toMatchObject({ outcome: 'done', marked: 0, remembered: 5 });
  });

  it('that was made good meanwhile: marked by the next run', async () => {
    const place = await openBetrayed();
    expect(await place.mark()).toMatchObject({ outcome: 'done', marked: 5, refused: 0 });
    expect(await place.pass('full')).toMatchObject({ updated: 0 });
  });

  it.each([true, false])(
    'is not what a person did who set it back; a pass between: %s',
    async (passBetween) => {
      const place = await openSynced(3);
      expect(await place.mark()).toMatchObject({ marked: 3 });
      if (passBetween) await place.pass('full');
      const [first] = place.store.ids(FORM);
      for (let again = 0; again < 3; again++) {
        place.store.setStatus(first!, 'NEW');
        await place.pass('full');
        expect(await place.mark()).toMatchObject({ outcome: 'done', marked: 1, refused: 0 });
        expect(place.store.get(first!)?.status).toBe('DONE');
      }
    },
  );

  it("is not a colleague's status, set just after: that one wins", async () => {
    const place = await openBetrayed();
    const [first] = withStatus(place, 'NEW');
    place.sandbox.faults.add({ ...DEAF, path: `/submissions/${first}` });
    place.onRequest = ({ method, path }) => {
      if (method === 'PATCH' && path.includes(first!)) place.store.setStatus(first!, 'PAID');
    };
    expect(await place.mark()).toMatchObject({ marked: 4, adopted: 1, refused: 0 });
    expect(withStatus(place, 'PAID')).toEqual([first]);
  });
});

describe('L7, L17: a 2xx that shows the submission in the wanted status, and changes nothing', () => {
  it('from the first: noticed in the first run, and in each; nothing is called marked', async () => {
    const place = await openSynced(60, {});
    liesAbout(place, () => true);
    for (let run = 0; run < 3; run++) {
      const before = patches(place);
      const report = await place.tryMark();
      expect(report).toMatchObject({ outcome: 'failed', marked: 0, adopted: 0, failed: 0 });
      expect(report.failure?.message).toContain('but leaves the status at NEW.');
      expect(patches(place) - before).toBeLessThanOrEqual(20);
      expect(withStatus(place, 'NEW')).toHaveLength(60);
      await place.pass('full');
    }
    place.onRequest = () => {};
    place.sandbox.faults.clear();
    expect(await place.mark()).toMatchObject({ outcome: 'done', marked: 60, remembered: 0 });
  });

  it('now and then: remembered through each full pass that finds it, and called marked once', async () => {
    const place = await openSynced(30, {});
    liesAbout(place, (patch) => patch >= 22);
    expect(await place.mark()).toMatchObject({ marked: 30 });
    for (let pass = 0; pass < 3; pass++) {
      await place.clock.sleep(1);
      expect(await place.pass('full')).toMatchObject({
        outcome: 'ok',
        updated: pass === 0 ? 8 : 0,
      });
    }
    expect([withStatus(place, 'NEW').length, remembered(place)]).toEqual([8, 8]);
    liesAbout(place, () => true);
    expect(await place.tryMark()).toMatchObject({ outcome: 'failed', marked: 0, refused: 8 });
    const before = patches(place);
    for (let run = 0; run < 3; run++) {
      await place.pass('full');
      expect(await place.mark()).toMatchObject({ outcome: 'done', marked: 0, remembered: 8 });
    }
    expect(patches(place)).toBe(before);
  });

  it.each(['withheld by the brake', 'not told by the source'])(
    'of one that a full pass did not see, as it is %s: remembered on',
    async (why) => {
      const place = await openSynced(60, {});
      liesAbout(place, (patch) => patch >= 20);
      expect(await place.mark()).toMatchObject({ marked: 60 });
      const betrayed = place.store.ids(FORM).filter((id) => place.store.get(id)?.status === 'NEW');
      const isWithheld = why === 'withheld by the brake';
      const hidden = isWithheld ? betrayed : betrayed.slice(0, 5);
      for (const id of hidden) {
        place.store.delete(id);
        if (isWithheld) continue;
        const asked = { method: 'GET', path: new RegExp(`^/submissions/${id}$`) };
        place.sandbox.faults.add({ ...asked, status: 403, times: Number.POSITIVE_INFINITY });
      }
      await place.clock.sleep(1);
      const seen = await place.pass('full');
      expect(seen).toMatchObject(isWithheld ? { withheld: 40 } : { outcome: 'ok', rejected: 5 });
      for (const id of hidden) place.store.restore(id);
      place.onRequest = () => {};
      place.sandbox.faults.clear();
      await place.clock.sleep(1);
      expect(await place.pass('full')).toMatchObject({ outcome: 'ok' });
      expect(remembered(place)).toBe(40);
      liesAbout(place, () => true);
      const report = await place.tryMark();
      expect(report).toMatchObject({ marked: 0 });
      expect(report.refused).toBeGreaterThanOrEqual(10);
    },
  );
});

describe('L4, L17: a source whose list shows another status than the submission itself', () => {
  it('is told; the row stays as the list has it, and no pass writes it again', async () => {
    const place = await openSynced(40, {});
    place.onRequest = ({ method, path }) => {
      const id = /^\/submissions\/(.+)\/status$/.exec(path)?.[1];
      if (method !== 'PATCH' || id === undefined) return;
      const body = JSON.stringify({ ...place.store.get(id), status: 'DONE' });
      const lie = { status: 200, body, times: Number.POSITIVE_INFINITY };
      place.sandbox.faults.add({ method, path, ...lie });
      place.sandbox.faults.add({ method: 'GET', path: `/submissions/${id}`, ...lie });
    };
    expect(await place.mark()).toMatchObject({ marked: 40 });
    await place.clock.sleep(1);
    expect(await place.pass('full')).toMatchObject({ outcome: 'ok', updated: 40 });
    expect(remembered(place)).toBe(40);
    const report = await place.tryMark();
    expect(report).toMatchObject({ outcome: 'failed', marked: 0, refused: 40 });
    expect(report.failure?.message).toMatch(
      /its list shows submission \S+ with the status NEW, and GET \/submissions\/\S+ with DONE/,
    );
    for (let run = 0; run < 3; run++) {
      await place.clock.sleep(1);
      expect(await place.pass('full')).toMatchObject({ outcome: 'ok', updated: 0 });
      expect(await place.mark()).toMatchObject({ outcome: 'done', adopted: 0, remembered: 40 });
    }
    expect(withStatus(place, 'NEW')).toHaveLength(40);
  });

  it('is no matter once both show the same: what was marked late is adopted', async () => {
    const place = await openBetrayed();
    for (const id of withStatus(place, 'NEW')) place.store.setStatus(id, 'DONE');
    expect(await place.mark()).toMatchObject({ outcome: 'done', adopted: 5, refused: 0 });
    expect(withStatus(place, 'DONE')).toHaveLength(30);
  });
});

describe('what it costs to know', () => {
  it.each([
    ['a few requests a process, where the answer shows the submission', {}, 64],
    ['one more request for each, where the answer says nothing', SILENT, 124],
  ])('%s', async (_, behaviour, most) => {
    const place = await openSynced(60, behaviour);
    expect(await place.mark()).toMatchObject({ marked: 60 });
    expect(patches(place)).toBe(60);
    expect(gets(place)).toBeLessThanOrEqual(most);
    // Remembered until a pass has seen it.
    expect(remembered(place)).toBeGreaterThanOrEqual(56);
    await place.pass('incremental');
    expect(remembered(place)).toBeGreaterThanOrEqual(56);
    await place.clock.sleep(1);
    await place.pass('full');
    expect(remembered(place)).toBe(0);
  });
});
