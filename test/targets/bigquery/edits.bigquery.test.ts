import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TimeSpan } from '../../../src/mirror/time-counts.ts';
import type { ApplyResult } from '../../../src/mirror/target.ts';
import { JsonText, type PickedField, type Row } from '../../../src/mirror/types.ts';
import { AT_ONCE, CHECKPOINT, field, FORM, pass, row } from '../../contract/target-harness.ts';
import {
  type BigQueryPlace,
  bigQueryPlace,
  type BigQueryStandIn,
  startBigQuery,
} from '../../support/bigquery-place.ts';

const [TEXT, NUMBER, LIST] = [field('f1', 'Text'), field('f2', 'Number'), field('f3', 'List')];
const ALL = [TEXT, NUMBER, LIST];
const EARLY = '2026-01-05T10:00:00.000Z';
const LATE = '2026-03-05T10:00:00.000Z';

const ROWS = [
  row('a', { f1: 'x', f2: 1.5, f3: new JsonText('{"b":[1,2],"a":"é"}') }, { createdAt: EARLY }),
  row('b', { f1: 'y', f2: 2, f3: null }, { createdAt: LATE }),
  row('c', { f1: null, f2: 'no number', f3: 'none' }, { createdAt: null }),
];

/** In statements that are written before there is a place. */
const THEIRS = '{table}';

let standIn: BigQueryStandIn;
beforeAll(async () => {
  standIn = await startBigQuery();
});
afterAll(() => standIn.close());

describe('answers that people changed in BigQuery', () => {
  let place: BigQueryPlace;
  let table: string;
  beforeEach(async () => {
    place = await bigQueryPlace(standIn);
    table = place.relation('contact_form');
    await comparing(ROWS, 'all', ALL);
  });

  interface Compared {
    readonly hasEdited: boolean;
    readonly outcomes: ApplyResult['outcomes'];
  }

  /** What a pass does that compares rows. */
  async function comparing(
    rows: readonly Row[],
    spans: readonly TimeSpan[] | 'all' = 'all',
    fields: readonly PickedField[] = ALL,
  ): Promise<Compared> {
    await using target = await place.open();
    await using writer = await target.openWriter(FORM, AT_ONCE);
    await writer.prepare(fields);
    await writer.losses();
    const hasEdited = (await writer.distrustEdited?.(spans)) ?? false;
    const { outcomes } = await writer.apply(rows, []);
    await writer.finish(pass({ kind: 'full' }), { checkpoint: CHECKPOINT });
    return { hasEdited, outcomes };
  }

  const same = ROWS.map(() => 'unchanged');
  const cells = () =>
    place.query(
      `SELECT id, text, number, number_text, TO_JSON_STRING(list) AS list, list_text, _hash FROM ${table} ORDER BY id`,
    );

  it('L4: rows as they were written are none of them, whatever their types', async () => {
    expect(await comparing(ROWS)).toEqual({ hasEdited: false, outcomes: same });
  });

  it.each([
    ['a text', `text = 'z'`, 'a'],
    ['a text that was not there', `text = ''`, 'c'],
    ['an answer that is emptied', 'text = NULL', 'a'],
    ['a number', 'number = 7', 'a'],
    ['a text beside numbers', `number_text = 'other'`, 'c'],
    ['a list', `list = PARSE_JSON('[2,1]')`, 'a'],
  ])('L1: %s is put right', async (_what, change, id) => {
    const before = await cells();
    await place.query(`UPDATE ${table} SET ${change} WHERE id = '${id}'`);
    expect(await cells()).not.toEqual(before);
    const outcomes = ROWS.map((one) => (one.id === id ? 'updated' : 'unchanged'));
    expect(await comparing(ROWS)).toEqual({ hasEdited: true, outcomes });
    expect(await cells()).toEqual(before);
    expect(await comparing(ROWS)).toEqual({ hasEdited: false, outcomes: same });
  });

  const liveIds = async (): Promise<unknown[]> =>
    (await place.query(`SELECT id FROM ${table} WHERE _deleted_at IS NULL ORDER BY id`)).map(
      ({ id }) => id,
    );

  it.each([
    ['an ID that they gave to another row', `UPDATE ${THEIRS} SET id = 'b' WHERE id = 'a'`],
    ['an ID that they emptied', `UPDATE ${THEIRS} SET id = NULL WHERE id = 'a'`],
    ['a date that they moved', `UPDATE ${THEIRS} SET created_at = '2020-01-01' WHERE id = 'a'`],
  ])('L1, L17: %s leaves each submission one live row', async (_what, change) => {
    const before = await cells();
    await place.query(change.replace(THEIRS, table));
    const { hasEdited } = await comparing(ROWS);
    expect(hasEdited).toBe(!change.includes('created_at'));
    expect(await liveIds()).toEqual(['a', 'b', 'c']);
    expect((await cells()).filter(({ id }) => id !== null)).toEqual(before);
    expect(await comparing(ROWS)).toEqual({ hasEdited: false, outcomes: same });
    await using target = await place.open();
    const [form] = await target.overview();
    expect(form).toMatchObject({ rows: 3, losses: [] });
  });

  it('an answer that they moved into another column is put back', async () => {
    const moved = [row('a', { f1: null, f3: 'y' })];
    await comparing(moved);
    await place.query(`UPDATE ${table} SET text = 'y', list_text = NULL WHERE id = 'a'`);
    expect(await comparing(moved)).toEqual({ hasEdited: true, outcomes: ['updated'] });
    expect((await cells())[0]).toMatchObject({ text: null, list_text: 'y' });
  });

  it('within windows only, where only they are compared', async () => {
    await place.query(`UPDATE ${table} SET text = 'z' WHERE id IN ('a', 'b')`);
    const window = { from: '2026-02-01T00:00:00.000Z', to: '2026-04-01T00:00:00.000Z' };
    const [a, b] = ROWS;
    const result = await comparing(a && b ? [a, b] : [], [window]);
    expect(result).toEqual({ hasEdited: true, outcomes: ['unchanged', 'updated'] });
    expect((await cells()).map(({ text }) => text)).toEqual(['z', 'y', null]);
  });

  it('a field that is added later makes no row an edited one', async () => {
    const more = [...ALL, field('f4', 'More')];
    expect(await comparing(ROWS, 'all', more)).toEqual({ hasEdited: false, outcomes: same });
    await comparing([row('d', { f4: 'new' })], 'all', more);
    expect(await comparing(ROWS, 'all', more)).toEqual({ hasEdited: false, outcomes: same });
    await place.query(`UPDATE ${table} SET more = 'by hand' WHERE id = 'b'`);
    const outcomes = ['unchanged', 'updated', 'unchanged'];
    expect(await comparing(ROWS, 'all', more)).toEqual({ hasEdited: true, outcomes });
  });

  it('columns of fields that are not picked any more are left alone', async () => {
    // Rows that were written with another pick are read in any case.
    const fewer = await comparing(ROWS, 'all', [TEXT, LIST]);
    expect(fewer).toEqual({ hasEdited: false, outcomes: same });
    await place.query(`UPDATE ${table} SET number = 99 WHERE id = 'a'`);
    const { hasEdited } = await comparing(ROWS, 'all', [TEXT, LIST]);
    expect(hasEdited).toBe(false);
    expect((await cells())[0]).toMatchObject({ id: 'a', number: '99' });
    expect((await comparing(ROWS)).outcomes).toEqual(['updated', 'unchanged', 'unchanged']);
  });

  it('a column that people renamed is filled again, and nothing else is written', async () => {
    await place.query(`ALTER TABLE ${table} RENAME COLUMN text TO other`);
    const { outcomes } = await comparing(ROWS);
    expect(outcomes).toEqual(['updated', 'updated', 'unchanged']);
    expect((await cells()).map(({ text }) => text)).toEqual(['x', 'y', null]);
    expect(await comparing(ROWS)).toEqual({ hasEdited: false, outcomes: same });
  });

  it('rows that are marked deleted are not looked at', async () => {
    {
      await using target = await place.open();
      await using writer = await target.openWriter(FORM, AT_ONCE);
      await writer.markDeleted(['a'], LATE);
    }
    await place.query(`UPDATE ${table} SET text = 'z' WHERE id = 'a'`);
    expect((await comparing(ROWS.slice(1))).hasEdited).toBe(false);
    expect((await comparing(ROWS)).outcomes).toEqual(['restored', 'unchanged', 'unchanged']);
    expect((await cells())[0]).toMatchObject({ id: 'a', text: 'x' });
  });
});
