import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { FormWriter, Target } from '../../../src/mirror/target.ts';
import type { FormIdentity, Row } from '../../../src/mirror/types.ts';
import { AT_ONCE, CHECKPOINT, field, FORM, pass, row } from '../../contract/target-harness.ts';
import {
  type BigQueryPlace,
  bigQueryPlace,
  type BigQueryStandIn,
  startBigQuery,
} from '../../support/bigquery-place.ts';

const AT = '2026-03-05T10:00:00.000Z';
const OTHER: FormIdentity = { id: 'frm_2', slug: 'event', name: 'Event' };

let standIn: BigQueryStandIn;
beforeAll(async () => {
  standIn = await startBigQuery();
});
afterAll(() => standIn.close());

describe('L18: what is forgotten leaves tables that the mirror made and does not go on with', () => {
  let place: BigQueryPlace;
  beforeEach(async () => {
    place = await bigQueryPlace(standIn);
  });

  async function inPlace<T>(work: (target: Target) => Promise<T>): Promise<T> {
    await using target = await place.open('default', undefined, 'full');
    return await work(target);
  }

  const write = <T>(work: (writer: FormWriter) => Promise<T>, form = FORM): Promise<T> =>
    inPlace(async (target) => {
      await using writer = await target.openWriter(form, AT_ONCE);
      return await work(writer);
    });

  /** A full pass that stores these rows. */
  const store = (rows: readonly Row[], form = FORM) =>
    write(async (writer) => {
      await writer.prepare([field('f1', 'Text')]);
      await writer.losses();
      await writer.apply(rows, []);
      await writer.finish(pass({ kind: 'full' }), { checkpoint: CHECKPOINT });
    }, form);

  const traces = async (ids: readonly string[], form = FORM) =>
    inPlace(async (target) => (await target.reader(form.id))?.traces(ids));

  const idsIn = async (table: string) => {
    const rows = await place.query(`SELECT id FROM ${place.relation(table)} ORDER BY id`);
    return rows.map(({ id }) => id);
  };

  const BOTH = [row('a', { f1: 'x' }), row('b', { f1: 'y' })];
  const NONE = { rows: 0, listings: 0, refusals: 0, history: 0 };

  /** The mirror begins the form again beside what it made of it before. */
  const beginAgain = async () => {
    await store(BOTH);
    await place.query(`DELETE FROM ${place.relation('mirror_state')} WHERE form_id = '${FORM.id}'`);
    await store(BOTH);
    expect(await idsIn('contact_form_2')).toEqual(['a', 'b']);
  };
  const MADE = ['contact_form', 'contact_form_history', 'contact_form_2', 'contact_form_2_history'];

  it('where people removed the row of the form in mirror_state', async () => {
    await beginAgain();
    const held = await traces(['a']);
    // Two rows, a version of each, and the status that each had.
    expect(held).toEqual({ ...NONE, rows: 2, history: 4 });
    expect(await write((writer) => writer.forget(['a'], AT))).toEqual({ ...held, left: [] });
    for (const table of MADE) expect(await idsIn(table)).toEqual(['b']);
    expect(await traces(['a'])).toEqual(NONE);
    const [shown] = await inPlace((target) => target.overview());
    expect(shown).toMatchObject({ rows: 1, forgotten: 1 });
  });

  it('where that row is gone, and no pass has begun the form again', async () => {
    await store(BOTH);
    await place.query(`DELETE FROM ${place.relation('mirror_state')} WHERE form_id = '${FORM.id}'`);
    expect(await write((writer) => writer.forget(['a'], AT))).toMatchObject({ rows: 1 });
    for (const table of MADE.slice(0, 2)) expect(await idsIn(table)).toEqual(['b']);
  });

  it('where people replaced the table, and then changed the history', async () => {
    await store(BOTH);
    const table = place.relation('contact_form');
    await place.query(`DROP TABLE ${table}`);
    await place.query(`CREATE VIEW ${table} AS SELECT 1 AS one`);
    await store(BOTH);
    const history = place.relation('contact_form_history');
    await place.query(`ALTER TABLE ${history} DROP COLUMN _valid_to`);
    await store(BOTH);
    expect(await idsIn('contact_form_2_history')).toEqual(['a', 'b']);
    const held = await traces(['a']);
    expect(await write((writer) => writer.forget(['a'], AT))).toEqual({ ...held, left: [] });
    for (const name of ['contact_form_history', 'contact_form_2', 'contact_form_2_history'])
      expect(await idsIn(name)).not.toContain('a');
  });

  it('and by purge, which removes what was marked deleted', async () => {
    await beginAgain();
    await write((writer) => writer.markDeleted(['a'], '2026-03-01T10:00:00.000Z'));
    expect(await write((writer) => writer.purgeDeleted(AT))).toMatchObject({ rows: 2 });
    for (const table of MADE) expect(await idsIn(table)).toEqual(['b']);
  });

  it('but not tables that another form goes on with, nor what people made by queries', async () => {
    await store(BOTH, OTHER);
    await beginAgain();
    await place.query(
      `CREATE TABLE ${place.relation('kept')} AS SELECT * FROM ${place.relation('contact_form')}`,
    );
    await place.query(
      `CREATE TABLE ${place.relation('sorted')} PARTITION BY TIMESTAMP_TRUNC(created_at, MONTH)
       AS SELECT * FROM ${place.relation('contact_form_history')}`,
    );
    await write((writer) => writer.forget(['a'], AT));
    for (const table of ['event', 'event_history', 'kept', 'sorted'])
      expect(await idsIn(table)).toEqual(['a', 'b']);
  });

  it('nor the table of another form that is called as its history would be', async () => {
    await store(BOTH, { ...OTHER, slug: 'contact-form-history' });
    await store(BOTH);
    expect(await idsIn('contact_form_history_2')).toEqual(['a', 'b']);
    await write((writer) => writer.forget(['a'], AT));
    expect(await idsIn('contact_form_history_2')).toEqual(['b']);
    expect(await idsIn('contact_form_history')).toEqual(['a', 'b']);
  });

  it('and no other form says that it holds them', async () => {
    await store([row('c', { f1: 'z' })], OTHER);
    await beginAgain();
    expect(await traces(['a'], OTHER)).toEqual(NONE);
    // Nothing but the former tables has it: they say whose they are.
    const rows = ['contact_form_2', 'contact_form_2_history', 'mirror_status_history'];
    for (const table of rows) {
      const column = table.startsWith('mirror_') ? 'submission_id' : 'id';
      await place.query(`DELETE FROM ${place.relation(table)} WHERE ${column} = 'a'`);
    }
    expect(await traces(['a'])).toEqual({ ...NONE, rows: 1, history: 1 });
    expect(await traces(['a'], OTHER)).toEqual(NONE);
  });
});
