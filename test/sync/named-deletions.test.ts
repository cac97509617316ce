import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { TableRow } from '../laws/table-view.ts';
import { FORM, SyncPlace } from '../support/sync-place.ts';

// Each of these has made some program empty a copy by mistake.

const deletedRows = (place: SyncPlace): TableRow[] =>
  [...place.view().rows(FORM).values()].filter((row) => row._deleted_at !== null);

const openSynced = async (submissions: number): Promise<SyncPlace> => {
  const place = await SyncPlace.open({ submissions });
  expect((await place.pass('full')).outcome).toBe('ok');
  return place;
};

describe('a workspace that is lost', () => {
  it.each(['full', 'incremental'] as const)(
    'L8: answers 404 to all: a %s pass marks nothing deleted, says so, and all is well when it is back',
    async (kind) => {
      const place = await openSynced(250);
      place.sandbox.faults.add({ status: 404, times: Number.POSITIVE_INFINITY });
      const report = await place.pass(kind);
      expect([report.outcome, report.deleted]).toEqual(['gone', 0]);
      expect(report.error).toContain('Its rows stay as they are');
      expect(place.liveIds()).toHaveLength(250);
      place.sandbox.faults.clear();
      const back = await place.pass(kind);
      expect([back.outcome, back.updated, back.inserted]).toEqual(['ok', 0, 0]);
      expect(place.liveIds()).toEqual(place.sourceIds());
    },
  );

  it('has no rows that stay where it was never mirrored', async () => {
    const place = await SyncPlace.open({ submissions: 3 });
    place.store.deleteForm(FORM);
    const { outcome, error } = await place.pass('full');
    expect([outcome, error]).toEqual(['gone', expect.stringContaining('never mirrored here')]);
  });

  it('L8: 404 for everything once absent rows are looked up: nothing is marked', async () => {
    const place = await openSynced(250);
    for (const id of place.store.ids(FORM).slice(0, 5)) place.store.delete(id);
    place.onRequest = ({ path }) => {
      if (!/^\/submissions\/./.test(path)) return;
      place.onRequest = () => {};
      place.sandbox.faults.add({ status: 404, times: Number.POSITIVE_INFINITY });
    };
    const report = await place.pass('full');
    expect([report.outcome, report.deleted]).toEqual(['gone', 0]);
    expect(deletedRows(place)).toEqual([]);
    place.sandbox.faults.clear();
    expect(await place.pass('full')).toMatchObject({ outcome: 'ok', deleted: 5 });
  });

  it('L8: a revoked key stops everything with one clear message; the rows and the checkpoint stay', async () => {
    const place = await openSynced(250);
    place.sandbox.keys.revoke(place.sandbox.apiKey);
    const report = await place.pass('full');
    expect([report.outcome, report.failure?.code]).toEqual(['failed', 'FORMS_UNAUTHORIZED']);
    expect(place.liveIds()).toHaveLength(250);
  });

  it('L8: 404 for single submissions that the list still shows marks nothing', async () => {
    const place = await openSynced(250);
    place.sandbox.faults.add({
      path: '/submissions/',
      status: 404,
      times: Number.POSITIVE_INFINITY,
    });
    expect(await place.pass('full')).toMatchObject({ outcome: 'ok', deleted: 0 });
    expect(deletedRows(place)).toEqual([]);
  });
});

describe('the brake', () => {
  it('L8: an emptied list of 500 rows: nothing is marked, the pass reports it; accept-deletes releases it', async () => {
    const place = await openSynced(500);
    for (const id of place.store.ids(FORM)) place.store.delete(id);
    const held = await place.pass('full');
    expect([held.outcome, held.withheld, held.deleted]).toEqual(['withheld', 500, 0]);
    expect(held.error).toMatch(/500 rows .* sync --full --accept-deletes --form form-1/);
    expect(place.requests('GET', /^\/submissions\/./)).toBe(0);
    expect(deletedRows(place)).toEqual([]);
    const released = await place.pass('full', { acceptDeletes: true });
    expect([released.outcome, released.deleted]).toEqual(['ok', 500]);
    expect(place.liveIds()).toEqual([]);
    expect(deletedRows(place)).toHaveLength(500);
  });

  it.each([
    { rows: 500, gone: 100, outcome: 'ok' },
    { rows: 500, gone: 101, outcome: 'withheld' },
    { rows: 24, gone: 20, outcome: 'ok' },
    { rows: 24, gone: 21, outcome: 'withheld' },
  ])('L8: $gone of $rows rows vanish at once: $outcome', async ({ rows, gone, outcome }) => {
    const place = await openSynced(rows);
    for (const id of place.store.ids(FORM).slice(0, gone)) place.store.delete(id);
    const report = await place.pass('full');
    expect(report).toMatchObject({ outcome, deleted: outcome === 'ok' ? gone : 0 });
    expect(deletedRows(place)).toHaveLength(outcome === 'ok' ? gone : 0);
  });

  it('L8: released over a list that is empty by mistake, it marks only what answers 404', async () => {
    const place = await openSynced(60);
    const gone = place.store.ids(FORM)[3]!;
    place.store.delete(gone);
    place.sandbox.faults.add({
      path: /^\/submissions$/,
      status: 200,
      body: '{"items":[],"total":0,"page":1,"limit":100,"totalPages":0}',
      times: Number.POSITIVE_INFINITY,
    });
    const report = await place.pass('full', { acceptDeletes: true });
    expect(report).toMatchObject({ outcome: 'incomplete', deleted: 1 });
    expect(deletedRows(place).map(({ id }) => id)).toEqual([gone]);
    place.sandbox.faults.clear();
    expect(await place.pass('full')).toMatchObject({ outcome: 'ok', inserted: 0 });
    expect(place.liveIds()).toEqual(place.sourceIds());
  });

  it('a pass held by the brake stores everything else, and advances the watermark', async () => {
    const place = await openSynced(300);
    for (const id of place.store.ids(FORM).slice(0, 200)) place.store.delete(id);
    const [fresh] = place.submitMany(1);
    expect((await place.pass('full')).outcome).toBe('withheld');
    expect(place.liveIds()).toContain(fresh);
    place.submit();
    const next = await place.pass('incremental');
    const withheld = { outcome: 'withheld', code: 'DELETES_WITHHELD', withheld: 200 };
    expect(next).toMatchObject({ ...withheld, kind: 'incremental', inserted: 1 });
    expect(next.requests).toBeLessThanOrEqual(3);
  });
});

describe('an absent row that can not be asked for', () => {
  const HTML = '<html><body>Just a moment</body></html>';

  it.each([
    { answers: '500', rule: { status: 500 } },
    { answers: '403', rule: { status: 403 } },
    { answers: 'HTML', rule: { status: 200, body: HTML } },
    { answers: 'another submission', rule: { status: 200, body: '{"id":"someone else"}' } },
  ])(
    'L6, L8: answers $answers: it stays and is listed, the others are marked, the pass is proven',
    async ({ rule }) => {
      const place = await openSynced(250);
      const [odd, ...others] = place.store.ids(FORM).slice(3, 7);
      for (const id of [odd!, ...others]) place.store.delete(id);
      place.sandbox.faults.add({ path: `/submissions/${odd}`, times: 1_000, ...rule });
      const report = await place.pass('full');
      expect(report).toMatchObject({ outcome: 'ok', deleted: 3, undecided: 1, rejected: 1 });
      expect(deletedRows(place).map(({ id }) => id)).toEqual(expect.arrayContaining(others));
      expect(place.liveIds()).toContain(odd);
      expect([...place.view().rejected(FORM)]).toEqual([odd]);
      place.sandbox.faults.clear();
      expect(await place.pass('full')).toMatchObject({ deleted: 1, undecided: 0, rejected: 0 });
      expect([...place.view().rejected(FORM)]).toEqual([]);
    },
  );

  it('L8: 410 Gone proves a deletion as 404 does', async () => {
    const place = await openSynced(250);
    const [gone] = place.store.ids(FORM);
    place.store.delete(gone!);
    place.sandbox.faults.add({ path: `/submissions/${gone}`, status: 410, times: 1 });
    expect(await place.pass('full')).toMatchObject({ outcome: 'ok', deleted: 1, undecided: 0 });
    expect(place.liveIds()).toEqual(place.sourceIds());
  });

  it('L6, L8: has the ID ".", of which no address can be made', async () => {
    const place = await openSynced(120);
    for (const id of ['.', '..']) place.submit({ id });
    await place.pass('full');
    const [other] = place.store.ids(FORM);
    for (const id of ['.', '..', other!]) place.store.delete(id);
    expect(await place.pass('full')).toMatchObject({ outcome: 'ok', deleted: 1, undecided: 2 });
    expect([...place.view().rejected(FORM)].toSorted()).toEqual(['.', '..']);
  });

  it('L8: as the whole form and API: nothing is inferred, and the pass fails', async () => {
    const place = await openSynced(120);
    for (const id of place.store.ids(FORM).slice(0, 5)) place.store.delete(id);
    place.onRequest = ({ path }) => {
      if (!/^\/submissions\/./.test(path)) return;
      place.onRequest = () => {};
      place.sandbox.faults.add({ status: 410, times: Number.POSITIVE_INFINITY });
    };
    expect(await place.pass('full')).toMatchObject({ outcome: 'failed', deleted: 0 });
    expect(deletedRows(place)).toEqual([]);
  });
});

describe('what is restored at the source', () => {
  it('L8: a deleted form is gone and its table stays; when it returns, mirroring goes on', async () => {
    const place = await openSynced(120);
    place.store.deleteForm(FORM);
    for (const kind of ['full', 'incremental'] as const) {
      expect(await place.pass(kind)).toMatchObject({ outcome: 'gone', deleted: 0 });
    }
    expect(place.liveIds()).toHaveLength(120);
    place.store.restoreForm(FORM);
    place.submit();
    expect(await place.pass('incremental')).toMatchObject({ outcome: 'ok', inserted: 1 });
    expect(place.liveIds()).toEqual(place.sourceIds());
  });

  it('L8: a submission that returns is restored, with its current answers', async () => {
    const place = await openSynced(120);
    const id = place.store.ids(FORM)[7]!;
    place.store.delete(id);
    expect(await place.pass('full')).toMatchObject({ outcome: 'ok', deleted: 1 });
    expect(deletedRows(place).map((row) => row.id)).toEqual([id]);
    place.store.restore(id);
    place.store.setStatus(id, 'PAID');
    expect(await place.pass('full')).toMatchObject({ outcome: 'ok', updated: 1, inserted: 0 });
    expect(place.view().rows(FORM).get(id)).toMatchObject({ _deleted_at: null, status: 'PAID' });
    expect(await place.pass('full')).toMatchObject({ updated: 0 });
  });

  it('L8: an incremental pass infers no deletion: it asks for what the list of a status does not show', async () => {
    const place = await SyncPlace.open({ submissions: 450 });
    place.wait(86_400_000);
    place.submit();
    await place.pass('full');
    const gone = place.store.ids(FORM)[7]!;
    place.store.delete(gone);
    expect(await place.pass('incremental')).toMatchObject({ outcome: 'ok', deleted: 1, absent: 0 });
    expect(deletedRows(place).map(({ id }) => id)).toEqual([gone]);
    expect(place.requests('GET', new RegExp(`/submissions/${gone}$`))).toBe(1);
  });
});

describe('a dry run', () => {
  it('changes not one byte of the file, and counts what a real pass then does', async () => {
    const place = await openSynced(250);
    const ids = place.store.ids(FORM);
    place.store.delete(ids[3]!);
    place.store.setStatus(ids[4]!, 'PAID');
    place.submitMany(2);
    const before = readFileSync(place.file());
    const dry = await place.pass('full', { dryRun: true });
    expect(readFileSync(place.file()).equals(before)).toBe(true);
    const real = await place.pass('full');
    const counts = { outcome: 'ok', inserted: 2, updated: 1, deleted: 1 };
    expect(dry).toMatchObject(counts);
    expect(real).toMatchObject(counts);
  });

  it('of a form never mirrored creates no file', async () => {
    const place = await SyncPlace.open({ submissions: 120 });
    const report = await place.pass('full', { dryRun: true });
    expect(report).toMatchObject({ outcome: 'ok', inserted: 120 });
    expect(() => readFileSync(place.file())).toThrow('ENOENT');
  });

  it('of a form that is gone does not record it', async () => {
    const place = await openSynced(20);
    place.store.deleteForm(FORM);
    const before = readFileSync(place.file());
    expect(await place.pass('full', { dryRun: true })).toMatchObject({ outcome: 'gone' });
    expect(readFileSync(place.file()).equals(before)).toBe(true);
  });
});
