import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../support/property.ts';
import { STATUSES } from '../../src/mirror/types.ts';
import { FORM, SyncPlace, type SyncPlaceOptions } from '../support/sync-place.ts';

// A count that fell, or that newcomers more than made up for, tells that submissions were deleted.

const MINUTE = 60_000;

/** A day after all the others one more was submitted: how far back new ones may be is told by the first page. */
const openSynced = async (
  submissions: number,
  behaviour: SyncPlaceOptions['behaviour'] = {},
): Promise<SyncPlace> => {
  const place = await SyncPlace.open({ submissions: Math.max(0, submissions - 1), behaviour });
  place.wait(24 * 60 * MINUTE);
  if (submissions > 0) place.submit();
  expect((await place.pass('full')).outcome).toBe('ok');
  return place;
};

/** Deletes so many of the oldest submissions. */
const remove = (place: SyncPlace, count: number): void => {
  for (const id of place.store.ids(FORM).slice(0, count)) place.store.delete(id);
};

describe('an incremental pass that sees that submissions were deleted', () => {
  it('L16, L17: reads a small form in full at the next tick, and says why', async () => {
    const place = await openSynced(950);
    remove(place, 3);
    await place.clock.sleep(MINUTE);
    const report = await place.pass('incremental');
    expect(report).toMatchObject({ kind: 'full', outcome: 'ok', deleted: 3, absent: 0 });
    expect(report.reason).toContain('the source has 3 submissions fewer than are stored here');
    expect(place.liveIds()).toEqual(place.sourceIds());
  });

  it('L16: finds them in a larger one by its counts, by hours where one day has more than a page', async () => {
    const place = await openSynced(1_950);
    remove(place, 3);
    const report = await place.pass('incremental');
    const settled = { kind: 'incremental', outcome: 'ok', deleted: 3, absent: 0, reason: null };
    expect(report).toMatchObject(settled);
    expect(report.requests).toBeLessThan(30);
    expect(place.liveIds()).toEqual(place.sourceIds());
  });

  it('L8, L17: knows of one that was deleted after the first full pass had met it', async () => {
    const behaviour = { maxLimit: 10, sort: 'ignored', baseOrder: 'id' } as const;
    const place = await SyncPlace.open({ submissions: 60, behaviour });
    let lists = 0;
    place.onRequest = ({ path }) => {
      if (path === '/submissions' && ++lists === 4) remove(place, 1);
    };
    expect(await place.pass('full')).toMatchObject({ outcome: 'ok', inserted: 60, absent: 1 });
    await place.clock.sleep(MINUTE);
    expect(await place.pass('incremental')).toMatchObject({ outcome: 'ok', deleted: 1, absent: 0 });
    expect(place.liveIds()).toEqual(place.sourceIds());
  });

  it('L17: where as many are new as were deleted, too', async () => {
    const place = await openSynced(450);
    remove(place, 1);
    place.submit();
    await place.clock.sleep(MINUTE);
    const report = await place.pass('incremental');
    expect(report).toMatchObject({ kind: 'full', deleted: 1, inserted: 1, absent: 0 });
    expect(report.reason).toContain('the source has 1 submission fewer than are stored here');
  });

  it('L17: marks what is absent from a list that it has read whole anyway, at any time', async () => {
    const place = await openSynced(60);
    remove(place, 2);
    const report = await place.pass('incremental');
    expect(report).toMatchObject({ kind: 'full', outcome: 'ok', deleted: 2, absent: 0 });
    expect(place.liveIds()).toEqual(place.sourceIds());
  });

  it('L3, L17: where no status can be counted, remembers them likewise', async () => {
    const place = await openSynced(2_250);
    for (const status of STATUSES) {
      place.sandbox.faults.add({ query: { status }, status: 400, times: Infinity });
    }
    remove(place, 2);
    const known = { kind: 'incremental', outcome: 'ok', deleted: 0, absent: 2 };
    expect(await place.pass('incremental')).toMatchObject(known);
    expect(await place.pass('incremental')).toMatchObject(known);
    await place.clock.sleep(1.5 * MINUTE);
    const settled = { kind: 'full', outcome: 'ok', deleted: 2, absent: 0 };
    expect(await place.pass('incremental')).toMatchObject(settled);
    expect(place.liveIds()).toEqual(place.sourceIds());
  });

  it('L17: where its counts can not be narrowed, remembers them until the form may be read in full', async () => {
    const place = await openSynced(2_250, { dateFilter: 'ignored' });
    remove(place, 2);
    const known = { kind: 'incremental', outcome: 'ok', deleted: 0, reason: null };
    expect(await place.pass('incremental')).toMatchObject({ ...known, absent: 2 });
    remove(place, 1);
    place.submit();
    expect(await place.pass('incremental')).toMatchObject({ ...known, absent: 3, inserted: 1 });
    const waiting = await place.pass('incremental');
    expect(waiting).toMatchObject({ ...known, absent: 3 });
    expect(waiting.requests).toBeLessThan(15);
    await place.clock.sleep(1.5 * MINUTE);
    const settled = { kind: 'full', outcome: 'ok', deleted: 3, absent: 0 };
    expect(await place.pass('incremental')).toMatchObject(settled);
    const quiet = { ...known, absent: 0, requests: 2 };
    expect(await place.pass('incremental')).toMatchObject(quiet);
  });

  it('L16: leaves a large form without usable bounds to its scheduled full pass', async () => {
    const place = await openSynced(4_100, { dateFilter: 'refused' });
    remove(place, 1);
    const waits = { kind: 'incremental', absent: 1 };
    expect(await place.pass('incremental')).toMatchObject(waits);
    expect(await place.pass('full')).toMatchObject({ deleted: 1, absent: 0 });
  });

  it('L14: does not try a full pass that fails at each tick', async () => {
    const place = await openSynced(2_250, { dateFilter: 'ignored' });
    remove(place, 1);
    await place.clock.sleep(2 * MINUTE);
    let lists = 0;
    place.onRequest = ({ path }) => {
      if (path !== '/submissions' || ++lists !== 20) return;
      place.sandbox.faults.add({ path: '/submissions', status: 403, times: 1 });
    };
    const tried = { kind: 'full', outcome: 'failed', code: 'FORMS_REFUSED' };
    expect(await place.pass('incremental')).toMatchObject(tried);
    place.sandbox.faults.clear();
    expect(await place.pass('incremental')).toMatchObject({ kind: 'incremental', absent: 1 });
    await place.clock.sleep(2 * MINUTE);
    expect(await place.pass('incremental')).toMatchObject({ kind: 'full', deleted: 1, absent: 0 });
  });

  it('L17: counts what came and went between two tries of one pass', async () => {
    const place = await openSynced(450);
    place.submitMany(150);
    let newest = '';
    let lists = 0;
    place.onRequest = ({ path }) => {
      if (path !== '/submissions') return;
      lists++;
      if (lists === 1) newest = place.submit();
      if (lists === 2) place.store.delete(newest);
    };
    const report = await place.pass('incremental');
    const settled = { kind: 'incremental', outcome: 'ok', inserted: 151, deleted: 1, absent: 0 };
    expect(report).toMatchObject(settled);
    expect(place.liveIds()).not.toContain(newest);
  });
});

describe('after deletions were withheld', () => {
  it('L17: no incremental pass ends well, and none reads everything again for the same ones', async () => {
    const place = await openSynced(450);
    remove(place, 300);
    await place.clock.sleep(MINUTE);
    const first = await place.pass('incremental');
    expect(first).toMatchObject({ kind: 'full', outcome: 'withheld', withheld: 300 });
    await place.clock.sleep(MINUTE);
    const next = await place.pass('incremental');
    const same = { kind: 'incremental', outcome: 'withheld', withheld: 300, absent: 0 };
    expect(next).toMatchObject({ ...same, requests: 2 });
    expect(next.error).toMatch(/300 rows .* sync --full --accept-deletes/);
    remove(place, 5);
    await place.clock.sleep(MINUTE);
    const more = { kind: 'full', outcome: 'withheld', withheld: 305 };
    expect(await place.pass('incremental')).toMatchObject(more);
    const released = await place.pass('full', { acceptDeletes: true });
    expect(released).toMatchObject({ outcome: 'ok', deleted: 305, withheld: 0 });
    expect(await place.pass('incremental')).toMatchObject({ outcome: 'ok', withheld: 0 });
  });

  it('L17: an empty list above 250 rows is never well', async () => {
    const place = await openSynced(250);
    remove(place, 250);
    for (let tick = 0; tick < 3; tick++) {
      await place.clock.sleep(MINUTE);
      const report = await place.pass('incremental');
      expect(report).toMatchObject({ outcome: 'withheld', withheld: 250, total: 0 });
    }
  });

  it('L17: those that come back at the source end it by themselves', async () => {
    const place = await openSynced(450);
    const ids = place.store.ids(FORM).slice(0, 300);
    for (const id of ids) place.store.delete(id);
    expect((await place.pass('full')).outcome).toBe('withheld');
    for (const id of ids) place.store.restore(id);
    expect(await place.pass('incremental')).toMatchObject({ outcome: 'ok', withheld: 0 });
    expect(place.liveIds()).toEqual(place.sourceIds());
  });
});

describe('under random changes', () => {
  const change = fc.constantFrom('submit', 'import', 'delete', 'restore', 'wait', 'full');
  const ticks = fc.array(fc.array(change, { maxLength: 12 }), { minLength: 1, maxLength: 6 });

  it('L17: a pass that ends ok with nothing absent holds as many live rows as the source counts', async () => {
    let claimed = 0;
    const run = fc.asyncProperty(fc.integer({ min: 0, max: 320 }), ticks, async (rows, each) => {
      const place = await openSynced(rows);
      const deleted: string[] = [];
      for (const changes of each) {
        for (const [at, what] of changes.entries()) {
          const ids = place.store.ids(FORM);
          const id = ids[(at * 7_919) % Math.max(1, ids.length)];
          if (what === 'submit') place.submit();
          else if (what === 'import') place.submit({ createdAt: Date.UTC(2025, 1, 1) + at });
          else if (what === 'wait') await place.clock.sleep(20_000);
          else if (what === 'full') await place.pass('full', { acceptDeletes: true });
          else if (what === 'delete' && id !== undefined) {
            place.store.delete(id);
            deleted.push(id);
          } else if (what === 'restore') {
            const back = deleted.pop();
            if (back !== undefined) place.store.restore(back);
          }
        }
        const report = await place.pass('incremental');
        const live = place.liveIds().length;
        const counted = place.sourceIds().length;
        expect(live - report.absent - report.withheld).toBe(counted);
        if (report.outcome === 'ok' && report.absent === 0) claimed++;
      }
    });
    await fc.assert(run, propertyRuns(30));
    expect(claimed).toBeGreaterThan(10);
  }, 300_000);
});
