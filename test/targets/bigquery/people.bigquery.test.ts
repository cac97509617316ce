import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { HistoryKind } from '../../../src/mirror/histories.ts';
import { compareRow } from '../../../src/mirror/changes.ts';
import type { StoredRow } from '../../../src/mirror/target.ts';
import type { FormIdentity, PickedField, Row } from '../../../src/mirror/types.ts';
import {
  AT_ONCE,
  CHECKPOINT,
  field,
  fieldList,
  FORM,
  pass,
  row,
} from '../../contract/target-harness.ts';
import {
  type BigQueryPlace,
  bigQueryPlace,
  type BigQueryStandIn,
  startBigQuery,
} from '../../support/bigquery-place.ts';

const AT = '2026-03-05T10:00:00.000Z';
const OTHER: FormIdentity = { id: 'frm_2', slug: 'event', name: 'Event' };
const TEXT = field('f1', 'Text');
const FIELDS = fieldList(TEXT, field('f2', 'More'));
const VIEWS = ['answers', 'contact_form_labelled', 'contact_form_live', 'submissions'];

let standIn: BigQueryStandIn;
beforeAll(async () => {
  standIn = await startBigQuery();
});
afterAll(() => standIn.close());

describe('what people remove in BigQuery', () => {
  let place: BigQueryPlace;
  beforeEach(async () => {
    place = await bigQueryPlace(standIn);
  });

  interface Wishes {
    readonly fields?: readonly PickedField[];
    readonly form?: FormIdentity;
    readonly history?: HistoryKind;
    readonly provenFor?: string;
  }

  /** A full pass that stores these rows. */
  async function store(
    rows: readonly Row[],
    { fields = [TEXT], form = FORM, history = 'status', provenFor = 'p.h.k.f' }: Wishes = {},
  ): Promise<void> {
    await using target = await place.open('default', undefined, history);
    await using writer = await target.openWriter(form, AT_ONCE);
    await writer.prepare(fields);
    await writer.losses();
    await writer.apply(rows, []);
    await writer.finish(pass({ kind: 'full' }), { checkpoint: { ...CHECKPOINT, provenFor } });
  }

  const names = async (): Promise<unknown[]> => {
    const rows = await place.query(
      `SELECT table_name AS name FROM INFORMATION_SCHEMA.TABLES WHERE table_type = 'VIEW' AND NOT STARTS_WITH(table_name, 'mirror_') ORDER BY 1`,
    );
    return rows.map(({ name }) => name);
  };

  /** As status and the page tell of it, which is as the pass did. */
  const noticed = async () => {
    await using target = await place.open();
    const [form] = await target.overview();
    const reader = await target.reader(FORM.id);
    expect(await reader?.notices()).toEqual(form?.notices);
    return form?.notices;
  };

  it.each(VIEWS)('L5: the view %s is made again by the next pass', async (view) => {
    await store([row('a', { f1: 'x' })]);
    expect(await names()).toEqual(VIEWS);
    await place.query(`DROP VIEW ${place.relation(view)}`);
    await store([row('a', { f1: 'x' })]);
    expect(await names()).toEqual(VIEWS);
  });

  it.each(['answers', 'contact_form_live'])(
    'L17: that the view %s could not be made is told, and since when, until it is made',
    async (view) => {
      await store([row('a', { f1: 'x' })]);
      await place.query(`DROP VIEW ${place.relation(view)}`);
      const body = JSON.stringify({ error: { code: 400, message: 'Too long', errors: [] } });
      const end = standIn.faults.add({ method: 'tables.insert', times: 99, status: 400, body });
      await store([row('a', { f1: 'x' })]);
      const first = await noticed();
      expect(first).toEqual([
        expect.objectContaining({
          code: 'VIEW_BEHIND',
          blocks: false,
          remedy: expect.stringMatching(/The next pass of the form tries again; the tables/),
          message: expect.stringMatching(
            new RegExp(
              `^The views? .*${view}.* behind: since .* UTC bringing .* up to date has failed, as BigQuery refused`,
            ),
          ),
        }),
      ]);
      await store([row('a', { f1: 'y' })]);
      expect(await noticed()).toEqual(first);
      end();
      await store([row('a', { f1: 'y' })]);
      expect(await noticed()).toEqual([]);
      expect(await names()).toEqual(VIEWS);
    },
  );

  it('L17: who only reads names a list that they dropped, and makes nothing; the next pass does', async () => {
    await store([row('a', { f1: 'x' })]);
    await place.query(`DROP TABLE ${place.relation('mirror_passes')}`);
    await using target = await place.open();
    const reader = await target.reader(FORM.id);
    const made = () => place.columnsOf?.('mirror_passes');
    await expect(reader?.passes(1)).rejects.toMatchObject({
      code: 'TARGET_FAILED',
      message: expect.stringMatching(/mirror_passes is gone\. The next pass makes it again\.$/),
    });
    expect(await made()).toEqual([]);
    await store([row('a', { f1: 'x' })]);
    expect(await reader?.passes(1)).toHaveLength(1);
  });

  it('views over all forms show every form, whichever of two passes ends last', async () => {
    await store([row('a', { f1: 'x' })]);
    const event = { form: OTHER };
    const third = { form: { ...OTHER, id: 'frm_3', slug: 'third', name: 'Third' } };
    // The first five are a table and views of its own; what it has read for the next one gets old meanwhile.
    standIn.faults.add({ method: 'tables.insert', after: 5, times: 1, delayMs: 5_000 });
    const slow = store([row('a', { f1: 'y' })], event);
    while (standIn.faults.tally().every(({ hit }) => hit === 0)) await setImmediate();
    standIn.faults.clear();
    await store([row('a', { f1: 'z' })], third);
    await slow;
    const shown = await place.query(
      `SELECT DISTINCT form_id FROM ${place.relation('answers')} ORDER BY 1`,
    );
    expect(shown.map((one) => one['form_id'])).toEqual(['frm_1', 'frm_2', 'frm_3']);
  });

  it('L1: a row that people doubled is there once after the next pass, as it was changed last', async () => {
    await store([row('a', { f1: 'x' }), row('b', { f1: 'y' })]);
    const table = place.relation('contact_form');
    await place.query(`INSERT INTO ${table} SELECT * FROM ${table}`);
    await place.query(
      `INSERT INTO ${table} (id, status, text, _changed_at) VALUES ('a', 'NEW', 'old', TIMESTAMP '2001-01-01 00:00:00+00')`,
    );
    await store([row('a', { f1: 'x' }), row('b', { f1: 'y' })]);
    const rows = await place.query(`SELECT id, text FROM ${table} ORDER BY id`);
    expect(rows).toEqual([
      { id: 'a', text: 'x' },
      { id: 'b', text: 'y' },
    ]);
    await using target = await place.open();
    const [shown] = await target.overview();
    expect(shown).toMatchObject({ rows: 2, losses: [] });
  });

  it('L1: a row that people doubled differs until then', async () => {
    await store([row('a', { f1: 'x' }), row('b', { f1: 'y' })]);
    const table = place.relation('contact_form');
    await place.query(`INSERT INTO ${table} SELECT * FROM ${table} WHERE id = 'b'`);
    await using target = await place.open();
    const reader = await target.reader(FORM.id);
    const held = (await reader?.rows(['a', 'b'])) ?? new Map<string, StoredRow>();
    const differences = [row('a', { f1: 'x' }), row('b', { f1: 'y' })].map((one) =>
      compareRow(one, held.get(one.id)!, ['f1']),
    );
    expect(differences).toEqual([undefined, { columns: ['id'], fieldIds: [] }]);
  });

  it('L18: every row of a submission is forgotten, in whatever months people doubled it', async () => {
    await store([row('a', { f1: 'x' }), row('b', { f1: 'y' })], { history: 'full' });
    const table = place.relation('contact_form');
    for (const at of [`TIMESTAMP '2024-07-01 00:00:00+00'`, 'CAST(NULL AS TIMESTAMP)'])
      await place.query(
        `INSERT INTO ${table} (id, status, created_at, text) SELECT id, status, ${at}, text FROM ${table} WHERE id = 'a' LIMIT 1`,
      );
    await using target = await place.open('default', undefined, 'full');
    {
      await using writer = await target.openWriter(FORM, AT_ONCE);
      expect((await writer.traces(['a'])).rows).toBe(3);
      expect(await writer.forget(['a'], AT)).toMatchObject({ rows: 3 });
      expect(await writer.losses()).toEqual([]);
    }
    expect(await place.query(`SELECT id FROM ${table}`)).toEqual([{ id: 'b' }]);
  });

  it('L1: they find the same where fields are called as statements call tables', async () => {
    const letters = Array.from('abcdefghijklmnopqrstuvwxyz');
    const fields = fieldList(...letters.map((letter) => field(`f_${letter}`, letter)));
    const rows = ['1', '2'].map((id) =>
      row(id, Object.fromEntries(letters.map((letter) => [`f_${letter}`, `${letter} ${id}`]))),
    );
    const storeAll = () => store(rows, { fields, history: 'full' });
    await storeAll();
    const table = place.relation('contact_form');
    const history = place.relation('contact_form_history');
    const answers = () => place.query(`SELECT id, a, d, s, t FROM ${table} ORDER BY id`);
    const before = await answers();
    await place.query(`INSERT INTO ${table} SELECT * FROM ${table} WHERE id = '2'`);
    await place.query(`UPDATE ${table} SET d = 'theirs' WHERE id = '1'`);
    await using target = await place.open('default', undefined, 'full');
    {
      await using writer = await target.openWriter(FORM, AT_ONCE);
      await writer.prepare(fields);
      await writer.losses();
      expect(await writer.distrustEdited?.('all')).toBe(true);
      expect((await writer.apply(rows, [])).outcomes).toEqual(['updated', 'unchanged']);
      await writer.finish(pass({ kind: 'full' }), { checkpoint: CHECKPOINT });
      expect(await answers()).toEqual(before);
      expect(await writer.emptyFields(['f_t', 'f_v'], AT)).toBeGreaterThan(0);
      expect(await place.query(`SELECT id FROM ${history} WHERE t IS NOT NULL`)).toEqual([]);
    }
    await place.query(`DROP TABLE ${history}`);
    await storeAll();
    await place.query(`ALTER TABLE ${history} DROP COLUMN v`);
    await storeAll();
    const versions = `SELECT id, t, v FROM ${history} WHERE _valid_to IS NULL ORDER BY id`;
    expect(await place.query(versions)).toEqual([
      { id: '1', t: 't 1', v: 'v 1' },
      { id: '2', t: 't 2', v: 'v 2' },
    ]);
  });

  it('L17: answers beside their column are spoken of until they are removed', async () => {
    await store([row('a', { f1: 1 }), row('b', { f1: 'two' })]);
    await using target = await place.open();
    const codes = async () =>
      (await (await target.reader(FORM.id))?.notices())?.map(({ code }) => code);
    expect(await codes()).toEqual(['ANSWERS_BESIDE']);
    {
      await using writer = await target.openWriter(FORM, AT_ONCE);
      expect(await writer.emptyFields(['f1'], AT)).toBe(2);
    }
    expect(await codes()).toEqual([]);
  });

  it('L8, L18: what was deleted long ago is purged, and no row that has a double which is not', async () => {
    const OLD = `TIMESTAMP '2025-01-01 00:00:00+00'`;
    const BEFORE = '2025-06-01T00:00:00.000Z';
    const rows = ['a', 'b', 'c', 'd'].map((id) => row(id, { f1: id }));
    await store(rows, { history: 'full' });
    const table = place.relation('contact_form');
    const history = place.relation('contact_form_history');
    await place.query(
      `INSERT INTO ${table} SELECT * REPLACE (${OLD} AS _deleted_at) FROM ${table} WHERE id = 'a'`,
    );
    await place.query(`UPDATE ${table} SET _deleted_at = ${OLD} WHERE id IN ('b', 'c')`);
    await place.query(`UPDATE ${table} SET id = NULL WHERE id = 'c'`);
    // Of `d` its history alone is left.
    await place.query(`DELETE FROM ${table} WHERE id = 'd'`);
    await place.query(`UPDATE ${history} SET _valid_to = ${OLD} WHERE id IN ('c', 'd')`);
    await using target = await place.open('default', undefined, 'full');
    await using writer = await target.openWriter(FORM, AT_ONCE);
    // `b`, the versions of `c` and `d`, and the row without an ID.
    expect(await writer.countDeleted(BEFORE)).toBe(4);
    expect(await writer.purgeDeleted(BEFORE)).toMatchObject({ rows: 2 });
    expect(await writer.countDeleted(BEFORE)).toBe(0);
    expect(await place.query(`SELECT id FROM ${table}`)).toEqual([{ id: 'a' }, { id: 'a' }]);
    expect(await place.query(`SELECT id FROM ${history}`)).toEqual([{ id: 'a' }]);
  });

  it('L13: every row of a submission is marked deleted, in whatever months people doubled it', async () => {
    await store([row('a', { f1: 'x' }), row('b', { f1: 'y' })]);
    const table = place.relation('contact_form');
    await place.query(
      `INSERT INTO ${table} (id, status, created_at, text) SELECT id, status, TIMESTAMP '2024-07-01 00:00:00+00', text FROM ${table} WHERE id = 'a'`,
    );
    await using target = await place.open();
    await using writer = await target.openWriter(FORM, AT_ONCE);
    expect(await writer.markDeleted(['a'], AT)).toBe(1);
    expect(await place.query(`SELECT id FROM ${table} WHERE _deleted_at IS NULL`)).toEqual([
      { id: 'b' },
    ]);
  });

  it('L17: a row of mirror_state that they doubled is named, and nothing is written', async () => {
    await store([row('a', { f1: 'x' })]);
    const state = place.relation('mirror_state');
    await place.query(`INSERT INTO ${state} SELECT * FROM ${state} WHERE form_id = '${FORM.id}'`);
    await expect(store([row('a', { f1: 'z' })])).rejects.toMatchObject({
      code: 'TARGET_FAILED',
      message: expect.stringContaining('mirror_state has several rows of form frm_1'),
    });
    const rows = await place.query(`SELECT text FROM ${place.relation('contact_form')}`);
    expect(rows).toEqual([{ text: 'x' }]);
  });

  it('an answer that they changed is put right by the full pass after they emptied its hash', async () => {
    await store([row('a', { f1: 'x' }), row('b', { f1: 'y' })]);
    const table = place.relation('contact_form');
    await place.query(`UPDATE ${table} SET text = 'changed' WHERE id = 'a'`);
    await place.query(`UPDATE ${table} SET _hash = NULL WHERE TRUE`);
    await store([row('a', { f1: 'x' }), row('b', { f1: 'y' })]);
    const rows = await place.query(
      `SELECT id, text, _hash IS NOT NULL AS is_hashed FROM ${table} ORDER BY id`,
    );
    expect(rows).toEqual([
      { id: 'a', text: 'x', is_hashed: true },
      { id: 'b', text: 'y', is_hashed: true },
    ]);
  });

  it('L18: what was forgotten stays away where the row of the form in mirror_state is gone', async () => {
    await store([row('a', { f1: 'x' }), row('b', { f1: 'y' })]);
    {
      await using target = await place.open();
      await using writer = await target.openWriter(FORM, AT_ONCE);
      await writer.forget(['a'], AT);
    }
    const state = place.relation('mirror_state');
    const idsIn = (table: string) => place.query(`SELECT id FROM ${place.relation(table)}`);
    // By the copy of what was noted, which has the salt as well.
    await place.query(`DELETE FROM ${state} WHERE form_id = '${FORM.id}'`);
    await store([row('a', { f1: 'x' }), row('b', { f1: 'y' })]);
    expect(await idsIn('contact_form_2')).toEqual([{ id: 'b' }]);
    await place.query(
      `DELETE FROM ${state} WHERE form_id IN ('${FORM.id}', '#forgotten ${FORM.id}')`,
    );
    await expect(store([row('a', { f1: 'x' }), row('b', { f1: 'y' })])).rejects.toMatchObject({
      code: 'TARGET_FAILED',
      message: expect.stringContaining('1 submission could come back, so nothing was written'),
    });
    expect(await idsIn('contact_form_2')).toEqual([{ id: 'b' }]);
  });

  it('L18: answers to a field leave rows though a history that was ended never had its column', async () => {
    await store([row('a', { f1: 'x' })], { history: 'full' });
    await store([row('a', { f1: 'z', f2: 'y' })], { fields: FIELDS });
    await using target = await place.open();
    await using writer = await target.openWriter(FORM, AT_ONCE);
    await writer.prepare([TEXT]);
    expect(await writer.countFilled(['f1', 'f2'])).toBe(2);
    expect(await writer.emptyFields(['f2'], AT)).toBe(1);
    const rows = await place.query(`SELECT text, more FROM ${place.relation('contact_form')}`);
    expect(rows).toEqual([{ text: 'z', more: null }]);
  });

  it('L18: hashing begins though a history that was ended is gone', async () => {
    await store([row('a', { f1: 'x' })], { history: 'full' });
    await store([row('a', { f1: 'x' })]);
    await place.query(`DROP TABLE ${place.relation('contact_form_history')}`);
    await store([row('a', { f1: 'digest' })], {
      fields: [{ ...TEXT, hashed: true }],
      provenFor: 'p.h.k.1-f',
    });
    const rows = await place.query(`SELECT text FROM ${place.relation('contact_form')}`);
    expect(rows).toEqual([{ text: 'digest' }]);
  });
});
