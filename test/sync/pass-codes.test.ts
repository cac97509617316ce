import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { openSqlite } from '../../src/targets/sql/sqlite/sqlite-database.ts';
import { FORM, SyncPlace } from '../support/sync-place.ts';

/** What the target keeps of every pass, oldest first. */
function recorded(place: SyncPlace): unknown[] {
  using database = new DatabaseSync(place.file(), { readOnly: true });
  const rows = database.prepare('SELECT outcome, error_code FROM mirror_passes ORDER BY id').all();
  return rows.map((row) => [row['outcome'], row['error_code']]);
}

describe('the code of a pass', () => {
  it('is that of what kept it from being complete, in the report and in the target', async () => {
    const place = await SyncPlace.open({ submissions: 60 });
    const passes = [await place.pass('full')];

    // A list that misses what its total counts.
    const body = '{"items":[],"total":60,"page":1,"limit":100,"totalPages":1}';
    place.sandbox.faults.add({ status: 200, body, path: /^\/submissions$/, times: Infinity });
    passes.push(await place.pass('full'));
    place.sandbox.faults.clear();

    for (const id of place.store.ids(FORM).slice(0, -10)) place.store.delete(id);
    passes.push(await place.pass('full'));

    for (const status of [401, 500]) {
      place.sandbox.faults.add({ status, path: /^\/submissions$/, times: Infinity });
      passes.push(await place.pass('full'));
      place.sandbox.faults.clear();
    }

    place.store.deleteForm(FORM);
    passes.push(await place.pass('full'));

    const expected = [
      ['ok', null],
      ['incomplete', 'PASS_INCOMPLETE'],
      ['withheld', 'DELETES_WITHHELD'],
      ['failed', 'FORMS_UNAUTHORIZED'],
      ['failed', 'FORMS_FAILED'],
      ['gone', 'FORM_GONE'],
    ];
    expect(passes.map(({ outcome, code }) => [outcome, code])).toEqual(expected);
    expect(recorded(place)).toEqual(expected);
  });

  it('is TARGET_BUSY where another pass holds the form', async () => {
    const place = await SyncPlace.open({ submissions: 1 });
    await using target = openSqlite('default', place.file());
    await using _writer = await target.openWriter(
      { id: FORM, slug: 'contact', name: 'Contact' },
      { waitMs: 0 },
    );
    expect(await place.pass('full')).toMatchObject({ outcome: 'busy', code: 'TARGET_BUSY' });
  });
});
