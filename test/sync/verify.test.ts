import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { STATUSES } from '../../src/mirror/types.ts';
import { FORM, SyncPlace } from '../support/sync-place.ts';

const MINUTE = 60_000;
const intervals = { incrementalMs: MINUTE, fullMs: 2 * MINUTE };
/** By then the longest wait that these intervals explain is over, and a few requests. */
const BOUND_MS = 5 * MINUTE;

/** Damages a copy behind the mirror's back. */
function damage(place: SyncPlace, sql: string): void {
  using database = new DatabaseSync(place.file());
  database.exec(sql);
}

/** Between any two looks people submit, change statuses and delete, and a worker runs its passes when they are due. */
function workAndTraffic(place: SyncPlace, untouched: readonly string[] = []): { passes: number } {
  const done = { passes: 0 };
  let [step, nextMs] = [0, place.clock.now() + MINUTE];
  place.onPause = async () => {
    step++;
    place.submitMany(3, { createdAt: place.clock.now() });
    const ids = place.store.ids(FORM).filter((id) => !untouched.includes(id));
    place.store.setStatus(ids[(step * 37) % ids.length]!, step % 2 === 0 ? 'PAID' : 'IN_PROGRESS');
    if (step % 3 === 0) place.store.delete(ids[(step * 53) % ids.length]!);
    if (place.clock.now() < nextMs) return;
    nextMs += MINUTE;
    await place.pass(++done.passes % 2 === 0 ? 'full' : 'incremental');
  };
  return done;
}

/** A form that a worker has kept up to date until half a minute ago. */
async function keptPlace(submissions: number): Promise<SyncPlace> {
  const place = await SyncPlace.open({ submissions });
  await place.pass('full');
  await place.clock.sleep(MINUTE);
  await place.pass('incremental');
  await place.clock.sleep(MINUTE / 2);
  return place;
}

/** A busy form: since its last pass submissions came, changed and went; and while it is read more do. */
async function busyPlace(): Promise<SyncPlace> {
  const place = await keptPlace(350);
  const ids = place.store.ids(FORM);
  for (const id of ids.slice(20, 45)) place.store.setStatus(id, 'DONE');
  for (const id of ids.slice(60, 64)) place.store.delete(id);
  place.submitMany(12, { createdAt: place.clock.now() - 5_000 });
  let requests = 0;
  place.onRequest = ({ path }) => {
    if (path !== '/submissions' || ++requests > 5) return;
    place.submit({ createdAt: place.clock.now() });
    place.store.setStatus(ids[100 + requests]!, 'PAID');
  };
  return place;
}

describe('verify beside a worker, under dense traffic', () => {
  it('what a pass brings over meanwhile is no difference', async () => {
    const place = await busyPlace();
    const done = workAndTraffic(place);
    const began = place.clock.now();
    const report = await place.verify({ intervals });
    expect(report).toMatchObject({ missing: { count: 0 }, extra: { count: 0 } });
    expect(report).toMatchObject({ differing: { count: 0 }, undecided: { count: 0 } });
    expect(['same', 'lagging']).toContain(report.outcome);
    expect(done.passes).toBeGreaterThan(0);
    expect(place.clock.now() - began).toBeLessThan(BOUND_MS);
  });

  it('finds the real differences among it, and only those', async () => {
    const place = await busyPlace();
    const [wrong, lost] = place.store.ids(FORM).slice(200, 202);
    // What the worker's passes don't mend: as if they had a defect.
    const spoil = (): void => {
      damage(place, `UPDATE contact SET status = 'ODD' WHERE id = '${wrong}'`);
      damage(place, `DELETE FROM contact WHERE id = '${lost}'`);
    };
    spoil();
    workAndTraffic(place, [wrong!, lost!]);
    const traffic = place.onPause;
    place.onPause = async (ms) => {
      await traffic(ms);
      spoil();
    };
    const report = await place.verify({ intervals });
    expect(report.outcome).toBe('different');
    expect(report.missing.ids).toEqual([lost]);
    expect(report.differing).toMatchObject({ ids: [wrong], columns: { status: 1 } });
    expect(report.extra.count).toBe(0);
  });

  it('a source that changes a submission again and again makes it lag, not a difference', async () => {
    const place = await keptPlace(20);
    const [restless] = place.store.ids(FORM);
    let turn = 0;
    const turnOver = (): void => {
      place.store.setStatus(restless!, STATUSES[++turn % 5]!);
    };
    turnOver();
    place.onPause = turnOver;
    const began = place.clock.now();
    const report = await place.verify({ intervals, waitMs: 9 * MINUTE });
    expect([report.outcome, report.lagging.ids]).toEqual(['lagging', [restless]]);
    expect(place.clock.now() - began).toBeLessThan(10 * MINUTE);
  });
});

describe('verify of a table that nobody syncs', () => {
  it('ends in bounded time and says what differs', async () => {
    const place = await keptPlace(120);
    const ids = place.store.ids(FORM);
    place.store.setStatus(ids[3]!, 'DONE');
    place.store.delete(ids[4]!);
    const lost = place.submit({ createdAt: place.clock.now() });
    const began = place.clock.now();
    const waits: number[] = [];
    const report = await place.verify({ intervals, onWait: (differing) => waits.push(differing) });
    expect(report).toMatchObject({
      outcome: 'different',
      missing: { ids: [lost] },
      extra: { ids: [ids[4]] },
      differing: { ids: [ids[3]], columns: { status: 1 } },
      lagging: { count: 0 },
    });
    expect(place.clock.now() - began).toBeLessThan(BOUND_MS);
    expect(waits[0]).toBe(3);
    // The list, the form, the look for what is extra, and one last look at each.
    expect(report.requests).toBeLessThan(12);
  });

  it('does not wait where only one pass is known, which may have been a person’s', async () => {
    const place = await SyncPlace.open({ submissions: 20 });
    await place.pass('full');
    const began = place.clock.now();
    place.store.setStatus(place.store.ids(FORM)[0]!, 'DONE');
    expect((await place.verify({ intervals })).outcome).toBe('different');
    expect(place.clock.now()).toBe(began);
  });

  it('does not wait where the last pass is long ago', async () => {
    const place = await keptPlace(20);
    await place.clock.sleep(3 * 3_600_000);
    const lost = place.submit({ createdAt: place.clock.now() });
    const began = place.clock.now();
    const report = await place.verify({ intervals });
    expect([report.outcome, report.missing.ids]).toEqual(['different', [lost]]);
    expect(place.clock.now()).toBe(began);
  });

  it('does not wait when not asked to, and tells what is new from what differs', async () => {
    const place = await keptPlace(20);
    const fresh = place.submit({ createdAt: place.clock.now() });
    const began = place.clock.now();
    const lagging = await place.verify({ intervals, waitMs: 0 });
    expect([lagging.outcome, lagging.lagging.ids]).toEqual(['lagging', [fresh]]);
    place.store.setStatus(place.store.ids(FORM)[0]!, 'DONE');
    const different = await place.verify({ intervals, waitMs: 0 });
    expect(different).toMatchObject({ outcome: 'different', lagging: { count: 1 } });
    expect(place.clock.now()).toBe(began);
  });

  it('does not wait for a table that is all wrong', async () => {
    const place = await keptPlace(1_200);
    damage(place, `UPDATE contact SET status = 'ODD'`);
    const began = place.clock.now();
    const report = await place.verify({ intervals });
    expect([report.outcome, report.differing.count]).toEqual(['different', 1_200]);
    expect(place.clock.now()).toBe(began);
  });
});

describe('verify of a source that contradicts itself', () => {
  it('L17: a list without submissions that are there by ID proves nothing', async () => {
    const place = await SyncPlace.open({ submissions: 5 });
    await place.pass('full');
    const body = JSON.stringify({ items: [], total: 0, page: 1, limit: 100, totalPages: 0 });
    place.sandbox.faults.add({ path: /^\/submissions$/, status: 200, body, times: Infinity });
    expect(await place.verify()).toMatchObject({
      outcome: 'unproven',
      compared: 5,
      unlisted: { count: 5 },
    });
  });

  it('one listed twice is one submission', async () => {
    const place = await SyncPlace.open({ submissions: 3, behaviour: { maxLimit: 100 } });
    await place.pass('full');
    const items = place.store.ids(FORM).map((id) => {
      const { data, status } = place.store.get(id)!;
      const createdAt = new Date(place.store.get(id)!.createdAt).toISOString();
      return { id, formId: FORM, status, createdAt, data };
    });
    const list = { items: [...items, items[1]], total: 3, page: 1, limit: 100, totalPages: 1 };
    const body = JSON.stringify(list);
    place.sandbox.faults.add({ path: /^\/submissions$/, status: 200, body, times: Infinity });
    expect(await place.verify()).toMatchObject({ outcome: 'same', compared: 3 });
  });
});

describe('verify where the source does not answer for one submission', () => {
  it('L6: says so of that one, and compares the others', async () => {
    const place = await SyncPlace.open({ submissions: 20 });
    await place.pass('full');
    const [odd, gone] = place.store.ids(FORM);
    for (const id of [odd!, gone!]) place.store.delete(id);
    place.sandbox.faults.add({ path: `/submissions/${odd}`, status: 403, times: Infinity });
    const report = await place.verify();
    expect(report).toMatchObject({ undecided: { ids: [odd] }, extra: { ids: [gone] } });
    expect((await place.pass('full')).outcome).toBe('ok');
    // From then on it is listed, and known to be in doubt.
    expect(await place.verify()).toMatchObject({ outcome: 'same', listed: 1 });
  });
});
