import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { hashedCell, looksHashed } from '../../src/mirror/hashing.ts';
import { parsePicks } from '../../src/mirror/picks.ts';
import type { Cell } from '../../src/mirror/types.ts';
import { FIELD, FORM, SyncPlace, type SyncPlaceOptions } from '../support/sync-place.ts';

const KEY = 'hJ2mQ9xT4bN7vK1wR8cF5yL0pZ3sD6gA';
const OTHER_KEY = 'nB7xW2kV9qM4tH1rY6jC3zL8pD5sF0gE';
const MAIL = 'field_2_mail';
const AGE = 'field_3_age';

/** A form of three fields with `count` submissions, mirrored with every field in plain text. */
async function plainCopy(count = 30, options: SyncPlaceOptions = {}): Promise<SyncPlace> {
  const place = await SyncPlace.open(options);
  place.store.addField(FORM, { id: MAIL, label: 'Mail' });
  place.store.addField(FORM, { id: AGE, label: 'Age' });
  for (let one = 0; one < count; one++) {
    place.submit({
      data: { [FIELD]: `Jana ${one}`, [MAIL]: `jana${one}@example.com`, [AGE]: 20 + one },
    });
  }
  expect((await place.pass('full')).outcome).toBe('ok');
  return place;
}

/** What stands in a field's column, row by row, the newest last. */
const column = (place: SyncPlace, name: string): Cell[] =>
  [...place.view().rows(FORM).values()]
    .toSorted((a, b) => String(a.created_at).localeCompare(String(b.created_at)))
    .map((row) => (row as unknown as Record<string, Cell>)[name] ?? null);

/** Files of the target whose bytes hold a text. */
const filesWith = (place: SyncPlace, text: string): string[] => {
  const folder = dirname(place.file());
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .filter((name) => readFileSync(join(folder, name)).includes(text));
};

const hashing = (fields: readonly string[], hashKey = KEY) => ({
  picks: parsePicks(['*'], fields),
  hashKey,
});

describe('a pass under other settings than the rows were stored under', () => {
  it('L4: reads no more than before when nothing changed', async () => {
    const place = await plainCopy();
    const settings = hashing([MAIL]);
    await place.pass('incremental', settings);
    const again = await place.pass('incremental', settings);
    expect([again.kind, again.reason, again.updated]).toEqual(['incremental', null, 0]);
  });

  it('L11: hashes what was stored plainly as soon as it is asked to, and says why it reads everything', async () => {
    const place = await plainCopy();
    const report = await place.pass('incremental', hashing([MAIL, AGE]));
    expect(report).toMatchObject({ kind: 'full', outcome: 'ok', updated: 30 });
    expect(report.reason).toMatch(/^Other fields are hashed/);
    expect(column(place, 'mail')[0]).toBe(hashedCell('jana0@example.com', KEY));
    expect(column(place, 'mail').every(looksHashed)).toBe(true);
    // Of a column of numbers, too: nothing of them stays beside the hashes.
    const rows = [...place.view().rows(FORM).values()];
    const values = rows.flatMap((row) => Object.values(row)).map(String);
    expect(values.filter((value) => /^\d\d(\.0)?$/.test(value))).toEqual([]);
    expect(values).toContain(hashedCell(20, KEY));
  });

  it('L18: once hashed and scrubbed, no file of the target holds a plain answer', async () => {
    const place = await plainCopy();
    expect(filesWith(place, 'jana7@example.com')).not.toEqual([]);
    await place.pass('incremental', hashing([MAIL]));
    await place.scrub();
    for (let one = 0; one < 30; one++) {
      expect(filesWith(place, `jana${one}@example.com`)).toEqual([]);
    }
    expect(filesWith(place, 'Jana 7')).not.toEqual([]);
  });

  it('L11: hashes what rows hold that are marked deleted, and leaves them deleted as they were', async () => {
    const place = await plainCopy();
    const [first = '', second = ''] = place.sourceIds();
    place.store.delete(first);
    await place.pass('full');
    place.wait(60_000);
    place.store.delete(second);
    await place.pass('full');
    const before = place.view().rows(FORM);
    const mail = String(before.get(first)?.['mail']);
    expect(mail).toContain('@');
    const compared = await place.verify(hashing([MAIL, AGE]));
    expect([compared.outcome, compared.plain.count]).toEqual(['different', 30]);
    await place.pass('incremental', hashing([MAIL, AGE]));
    const after = place.view().rows(FORM);
    expect(after.get(first)?.['mail']).toBe(hashedCell(mail, KEY));
    expect(after.get(first)?.['name']).toBe(before.get(first)?.['name']);
    for (const id of [first, second]) {
      expect(after.get(id)?._deleted_at).toBe(before.get(id)?._deleted_at);
    }
    const again = await place.verify(hashing([MAIL, AGE]));
    expect([again.outcome, again.plain.count]).toEqual(['same', 0]);
    // L4: once.
    await place.pass('full', hashing([MAIL, AGE]));
    expect(place.view().rows(FORM)).toEqual(after);
  });

  it('does not tell in the history that rows which it hashes are back', async () => {
    const place = await plainCopy(30, { history: 'full' });
    const [gone = ''] = place.sourceIds();
    await place.clock.sleep(60_000);
    place.store.delete(gone);
    await place.pass('full', hashing([]));
    await place.clock.sleep(60_000);
    // Writes take time.
    const now = place.clock.now.bind(place.clock);
    let ms = 0;
    place.clock.now = () => now() + ms++;
    await place.pass('incremental', hashing([MAIL]));
    using database = new DatabaseSync(place.file());
    const versions = database
      .prepare('SELECT _is_deleted FROM contact_history WHERE id = ? ORDER BY _valid_from')
      .all(gone);
    expect(versions.map((one) => one['_is_deleted'])).toEqual([0, 1, 1]);
  });

  it('L11, L17: hashes what the list does not show any more, whatever becomes of those rows', async () => {
    for (const absent of ['deleted', 'undecided', 'withheld', 'unproven'] as const) {
      const place = await plainCopy(60);
      const gone = place.sourceIds().slice(0, absent === 'withheld' ? 30 : 2);
      for (const id of gone) place.store.delete(id);
      const status = 403;
      if (absent === 'undecided')
        place.sandbox.faults.add({ path: /^\/submissions\/./, status, times: Infinity });
      if (absent === 'unproven') {
        const list = { items: [], total: 5, page: 1, limit: 100, totalPages: 1 };
        const body = JSON.stringify(list);
        place.sandbox.faults.add({ path: /^\/submissions$/, status: 200, body, times: Infinity });
      }
      const before = place.view().rows(FORM);
      const report = await place.pass('incremental', hashing([MAIL, AGE]));
      const outcomes = {
        deleted: 'ok',
        undecided: 'ok',
        withheld: 'withheld',
        unproven: 'incomplete',
      };
      expect([report.kind, report.outcome]).toEqual(['full', outcomes[absent]]);
      expect(column(place, 'mail').every(looksHashed)).toBe(true);
      const rows = place.view().rows(FORM);
      for (const id of gone) {
        expect(rows.get(id)?.['mail']).toBe(hashedCell(String(before.get(id)?.['mail']), KEY));
        expect(rows.get(id)?._deleted_at === null).toBe(absent !== 'deleted');
      }
      expect(place.view().rejected(FORM).size).toBe(absent === 'undecided' ? 2 : 0);
    }
  });

  it('L6, L11: keeps what is listed of a row that is hashed unseen, and verify finds one that is not hashed', async () => {
    const place = await plainCopy(60);
    const [listed = ''] = place.sourceIds();
    place.store.delete(listed);
    const fault = { path: /^\/submissions\/./, status: 403, times: Infinity };
    place.sandbox.faults.add(fault);
    expect(await place.pass('full')).toMatchObject({ outcome: 'ok', undecided: 1 });
    const compared = await place.verify(hashing([MAIL]));
    expect([compared.outcome, compared.plain.count]).toEqual(['different', 60]);
    expect(compared.plain.ids).toContain(listed);
    for (const id of place.sourceIds().slice(0, 25)) place.store.delete(id);
    const report = await place.pass('incremental', hashing([MAIL]));
    expect(report.outcome).toBe('withheld');
    expect([...place.view().rejected(FORM)]).toEqual([listed]);
    expect(column(place, 'mail').every(looksHashed)).toBe(true);
  });

  it('stores answers again when hashing is switched off, and hashes them anew under another key', async () => {
    const place = await plainCopy();
    await place.pass('full', hashing([MAIL]));
    const rekeyed = await place.pass('incremental', hashing([MAIL], OTHER_KEY));
    expect([rekeyed.kind, rekeyed.reason?.includes('HASH_KEY is another one')]).toEqual([
      'full',
      true,
    ]);
    expect(column(place, 'mail')[0]).toBe(hashedCell('jana0@example.com', OTHER_KEY));
    const plain = await place.pass('incremental');
    expect(plain.kind).toBe('full');
    expect(column(place, 'mail')[0]).toBe('jana0@example.com');
    // Nothing is hashed: the key does not matter.
    const same = await place.pass('incremental', { hashKey: OTHER_KEY });
    expect(same.kind).toBe('incremental');
  });

  it('L1: fills a field that was not picked for a while', async () => {
    const place = await plainCopy(3);
    await place.pass('incremental', { picks: parsePicks([FIELD]) });
    place.submitMany(5, { data: { [FIELD]: 'Petr', [MAIL]: 'petr@example.com' } });
    await place.pass('incremental', { picks: parsePicks([FIELD]) });
    expect(column(place, 'mail').filter((cell) => cell === null)).toHaveLength(5);
    const report = await place.pass('incremental', { picks: parsePicks([FIELD, MAIL]) });
    expect([report.kind, report.reason]).toEqual([
      'full',
      'Other fields are picked than when the rows were stored; everything is read again.',
    ]);
    expect(column(place, 'mail')).not.toContain(null);
  });

  it('L1: fills a field that only old answers carry when it is picked later', async () => {
    const place = await SyncPlace.open();
    place.submit({ data: { [FIELD]: 'Jana', field_0_gone: 'old' } });
    place.submitMany(120);
    await place.pass('full', { picks: parsePicks([FIELD]) });
    const report = await place.pass('incremental', { picks: parsePicks([FIELD, 'field_0_gone']) });
    expect(report.kind).toBe('full');
    expect(column(place, 'field_0_gone')[0]).toBe('old');
    const again = await place.pass('incremental', { picks: parsePicks([FIELD, 'field_0_gone']) });
    expect([again.kind, again.reason]).toEqual(['incremental', null]);
  });

  it('L5, L17: reads everything until a full pass is proven, whatever ends before', async () => {
    const place = await plainCopy(250);
    place.sandbox.faults.add({ path: '/submissions', after: 1, times: 1, status: 403 });
    const broken = await place.pass('incremental', hashing([MAIL]));
    expect([broken.kind, broken.outcome]).toEqual(['full', 'failed']);
    const next = await place.pass('incremental', hashing([MAIL]));
    expect([next.kind, next.outcome]).toEqual(['full', 'ok']);
    expect(column(place, 'mail').every(looksHashed)).toBe(true);
  });
});
