import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import type { FormsClient } from '../../src/forms/client.ts';
import { ProofLedger } from '../../src/mirror/proof.ts';
import type { WindowWriter } from '../../src/mirror/target.ts';
import { type DeletionParts, markAbsent } from '../../src/sync/deletions.ts';
import { UnstoredCounts } from '../../src/sync/unstored-counts.ts';
import { FORM } from '../support/sync-place.ts';
import { openSynced } from './large-form.ts';

const seen = { createdAt: null, existed: false };

/** A list that has shown these submissions, all of them stored, beside a table whose live rows have the IDs `live`. */
function listed(ids: readonly string[], live: readonly string[]) {
  const ledger = new ProofLedger();
  ledger.begin({ total: ids.length, keys: [], createdAts: [], strict: true });
  for (const key of ids) ledger.sight({ ...seen, key, stored: true });
  const asked: string[] = [];
  const parts: DeletionParts = {
    formId: FORM,
    client: {} as FormsClient,
    writer: {} as WindowWriter,
    ledger,
    async *liveIds() {
      asked.push('IDs');
      yield [...live];
    },
    countLive: async () => live.length,
    isAllowed: async () => false,
    readAgain: async () => false,
    call: { signal: new AbortController().signal },
    signal: new AbortController().signal,
    maxDeleteFraction: 0,
    acceptDeletes: false,
    at: '2026-03-01T12:00:00.000Z',
    onFound: async () => {},
    onUndecided: async () => {},
    unstored: new UnstoredCounts(),
  };
  return { parts, ledger, asked };
}

describe('what is absent from a list', () => {
  it('is nothing where as many rows are live as it has shown and were stored: their IDs are not read', async () => {
    const { parts, asked } = listed(['a', 'b', 'a'], ['a', 'b']);
    expect(await markAbsent(parts)).toMatchObject({ deleted: 0, withheld: 0, stands: true });
    expect(asked).toEqual([]);
  });

  it('L8: is looked for by their IDs where more are live', async () => {
    const { parts } = listed(['a', 'b'], ['a', 'b', 'c']);
    expect(await markAbsent(parts)).toMatchObject({ withheld: 1 });
  });

  it('L8: and where some of what it has shown was not stored', async () => {
    const { parts, ledger } = listed(['a', 'b'], ['a', 'b', 'gone']);
    ledger.sight({ ...seen, key: 'rejected' });
    expect(await markAbsent(parts)).toMatchObject({ withheld: 1 });
  });

  it('L8: and where something was stored before the list was read, which may not show it', async () => {
    const { parts, ledger } = listed([], ['found by its ID', 'a']);
    const early = new ProofLedger();
    early.sight({ ...seen, key: 'found by its ID', stored: true });
    early.begin({ total: 1, keys: [], createdAts: [], strict: true });
    early.sight({ ...seen, key: 'a', stored: true });
    expect(ledger.stored).toBe(0);
    expect(await markAbsent({ ...parts, ledger: early, listedAfter: 0 })).toMatchObject({
      withheld: 1,
    });
  });

  it('L8: is foreseen by a dry run, where as many are new in the same window', async () => {
    const place = await openSynced();
    place.store.delete(place.store.ids(FORM).at(-5) ?? '');
    place.submit();
    const dry = await place.pass('full', { dryRun: true });
    expect(dry).toMatchObject({ outcome: 'ok', inserted: 1, deleted: 1 });
    expect(await place.pass('full')).toMatchObject({ outcome: 'ok', inserted: 1, deleted: 1 });
    expect(place.liveIds()).toEqual(place.sourceIds());
  });

  it.each(['15.3.2026', '2026-3-15 12:00', '2026-03-15 at noon', '2026-02-30T00:00:00.000Z'])(
    'L8: is found where people wrote %s for its date, which no count by date knows',
    async (date) => {
      const place = await openSynced();
      const gone = place.store.ids(FORM).at(40) ?? '';
      place.store.delete(gone);
      using people = new DatabaseSync(place.file());
      people.prepare('UPDATE contact SET created_at = ? WHERE id = ?').run(date, gone);
      expect(await place.pass('full')).toMatchObject({ outcome: 'ok', deleted: 1 });
      expect(place.liveIds()).toEqual(place.sourceIds());
    },
  );

  it('L8: is found in a window that shows a submission without a date', async () => {
    const place = await openSynced();
    place.submit({ createdAt: 'soon' });
    place.submitMany(2);
    expect(await place.pass('full')).toMatchObject({ outcome: 'ok', inserted: 3, rejected: 1 });
    place.store.delete(place.store.ids(FORM).at(-2) ?? '');
    expect(await place.pass('full')).toMatchObject({ outcome: 'ok', deleted: 1, absent: 0 });
    expect(place.liveIds()).toEqual(place.sourceIds());
  });

  it.each([
    ['delete', 'DELETE FROM contact WHERE id = ?'],
    ['mark', `UPDATE contact SET _deleted_at = '2026-03-01T00:00:00.000Z' WHERE id = ?`],
    ['date anew', `UPDATE contact SET created_at = '2020-01-01T00:00:00.000Z' WHERE id = ?`],
  ])(
    'L16: is found by the next pass at the latest, where people %s another row after the list has shown it',
    async (_what, sql) => {
      const place = await openSynced();
      const [gone = '', other = ''] = place.store.ids(FORM).slice(-3);
      place.store.delete(gone);
      using people = new DatabaseSync(place.file());
      let changes: unknown = 0;
      place.onEvents = (events) =>
        events.on('pass.progress', ({ seen }) => {
          // The batch that has just been stored holds both.
          if (seen === 199) changes = people.prepare(sql).run(other).changes;
        });
      await place.pass('full');
      expect(changes).toBe(1);
      place.onEvents = () => {};
      expect(await place.pass('incremental')).toMatchObject({ outcome: 'ok', deleted: 1 });
      expect(place.liveIds()).toEqual(place.sourceIds());
    },
  );
});
