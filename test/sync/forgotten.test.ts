import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { MirrorError } from '../../src/base/errors.ts';
import { parsePicks } from '../../src/mirror/picks.ts';
import { forget as forgetIn } from '../../src/sync/erase.ts';
import { purgeDeleted, purgeUnpicked } from '../../src/sync/purge.ts';
import { openSqlite } from '../../src/targets/sql/sqlite/sqlite-database.ts';
import { FORM, SyncPlace } from '../support/sync-place.ts';

const AT = '2026-06-01T00:00:00.000Z';
const AFTER = '2036-01-01T00:00:00.000Z';

/** Has a target of the place forget submissions. */
async function forget(place: SyncPlace, ids: readonly string[], target = 'a'): Promise<void> {
  const opened = openSqlite(target, place.file(target), systemClock);
  {
    await using writer = await opened.openWriter({ id: FORM, slug: '', name: '' }, { waitMs: 0 });
    await writer.forget(ids, AT);
  }
  await opened[Symbol.asyncDispose]();
}

describe('L18: a submission that was forgotten', () => {
  it('is counted where the files could not be scrubbed afterwards, as what is purged is', async () => {
    const place = await SyncPlace.open({ submissions: 4 });
    await place.pass('full');
    const [gone = '', ...ids] = place.sourceIds();
    place.store.delete(gone);
    await place.pass('full');
    const target = openSqlite('a', place.file(), systemClock);
    const kept = new MirrorError('TARGET_BUSY', 'somebody reads', { retryable: true });
    target.scrub = () => Promise.reject(kept);
    const form = { id: FORM, slug: '', name: '' };
    const options = { waitMs: 0, signal: new AbortController().signal };
    const all = { isChosen: () => true, includes: () => true };
    const purged = await purgeDeleted([{ target, storing: undefined, ...all }], AFTER, {
      ...options,
      dryRun: false,
    });
    expect(purged).toMatchObject([{ rows: 1, failure: kept }]);
    const nothing = { picks: parsePicks([]), hashKey: undefined };
    const emptied = await purgeUnpicked([{ target, storing: nothing, ...all }], AT, {
      ...options,
      dryRun: false,
    });
    expect(emptied).toMatchObject([{ rows: 3, failure: kept }]);
    const reports = await forgetIn([{ target, mirrors: () => true }], [{ form, ids }], AT, options);
    expect(reports).toMatchObject([{ rows: 3, failure: kept }]);
    await target[Symbol.asyncDispose]();
  });

  it('counts for the proof of every pass, and costs no request more', async () => {
    const place = await SyncPlace.open({ submissions: 249 });
    // The newest: every pass meets it.
    const id = place.submit();
    await place.pass('full');
    await forget(place, [id]);
    const incremental = await place.pass('incremental');
    expect(incremental).toMatchObject({
      kind: 'incremental',
      outcome: 'ok',
      inserted: 0,
      reason: null,
    });
    expect(incremental.requests).toBeLessThan(3);
    const full = await place.pass('full');
    expect(full).toMatchObject({
      outcome: 'ok',
      total: 250,
      distinct: 250,
      inserted: 0,
      unchanged: 249,
    });
    expect(full.rejected).toBe(0);
    place.submit();
    expect(await place.pass('incremental')).toMatchObject({ kind: 'incremental', inserted: 1 });
    expect(place.liveIds()).toEqual(place.sourceIds().filter((one) => one !== id));
  });

  it('stays away when it changes, is deleted, and is restored, and is not looked up as deleted', async () => {
    const place = await SyncPlace.open({ submissions: 30 });
    await place.pass('full');
    const [id = '', other = ''] = place.sourceIds();
    await forget(place, [id]);
    place.store.setStatus(id, 'PAID');
    expect(await place.pass('full')).toMatchObject({ outcome: 'ok', updated: 0 });
    place.store.delete(id);
    place.store.delete(other);
    expect(await place.pass('full')).toMatchObject({ outcome: 'ok', deleted: 1 });
    place.store.restore(id);
    expect(await place.pass('incremental')).toMatchObject({ outcome: 'ok', inserted: 0 });
    expect(await place.pass('full')).toMatchObject({ outcome: 'ok', inserted: 0 });
    expect(place.liveIds()).not.toContain(id);
  });

  it('is never listed as rejected, whatever is wrong with it', async () => {
    const place = await SyncPlace.open({ submissions: 10 });
    await place.pass('full');
    const [id = ''] = place.sourceIds();
    await forget(place, [id]);
    place.store.distort(id, { data: ['no answers'], createdAt: 'never' });
    expect(await place.pass('full')).toMatchObject({ outcome: 'ok', rejected: 0 });
    expect(await place.verify()).toMatchObject({ outcome: 'same', forgotten: 1, listed: 0 });
  });

  it('L7: is not marked, not even where another target holds it', async () => {
    const place = await SyncPlace.open({ submissions: 5 });
    await place.pass('full');
    await place.pass('full', { target: 'b' });
    const [id = ''] = place.sourceIds();
    await forget(place, [id]);
    await place.mark({ targets: ['a', 'b'] });
    expect(place.store.get(id)?.status).toBe('NEW');
    expect(place.requests('PATCH', /./)).toBe(4);
  });

  it('is no difference to a comparison; a row that is missing for another reason is', async () => {
    const place = await SyncPlace.open({ submissions: 12 });
    await place.pass('full');
    const [id = ''] = place.sourceIds();
    await forget(place, [id]);
    expect(await place.verify()).toMatchObject({ outcome: 'same', compared: 12, forgotten: 1 });
    place.submit();
    expect(await place.verify()).toMatchObject({
      outcome: 'different',
      missing: { count: 1 },
      forgotten: 1,
    });
  });

  it('is not counted as new by a pass that writes nothing', async () => {
    const place = await SyncPlace.open({ submissions: 12 });
    await place.pass('full');
    const [id = ''] = place.sourceIds();
    await forget(place, [id]);
    expect(await place.pass('full', { dryRun: true })).toMatchObject({
      inserted: 0,
      unchanged: 11,
    });
  });

  it('does not come back where all other rows have to be read again', async () => {
    const place = await SyncPlace.open({ submissions: 12 });
    await place.pass('full');
    const [id = ''] = place.sourceIds();
    await forget(place, [id]);
    {
      using database = new DatabaseSync(place.file());
      database.exec('DROP VIEW contact_labelled; DROP TABLE contact');
    }
    expect(await place.pass('incremental')).toMatchObject({
      kind: 'full',
      outcome: 'ok',
      inserted: 11,
    });
    expect(place.liveIds()).not.toContain(id);
  });
});
