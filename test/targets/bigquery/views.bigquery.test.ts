import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ExactNumber, JsonText } from '../../../src/mirror/types.ts';
import {
  CHECKPOINT,
  field,
  fieldList,
  FORM,
  NAME,
  pass,
  row,
  stageTargets,
} from '../../contract/target-harness.ts';
import {
  bigQueryPlace,
  type BigQueryStandIn,
  startBigQuery,
} from '../../support/bigquery-place.ts';

let standIn: BigQueryStandIn;
beforeAll(async () => {
  standIn = await startBigQuery();
});
afterAll(() => standIn.close());

const AT = '2026-03-05T10:00:00.000Z';
const FIELDS = fieldList(
  field('f1', 'Jak se jmenujete?'),
  field('f2', 'Age'),
  field('f3', 'Choices'),
  field('f4', 'age'),
  field('f5', 'Never answered'),
);

/** What people read: views, descriptions, and the tables of the catalogue, which are views as well. */
describe('what people see in BigQuery', () => {
  const stage = stageTargets(() => bigQueryPlace(standIn));
  const sql = (text: string) =>
    stage.place.query(
      text.replace(/\{(\w+)\}/g, (_all, name: string) => stage.place.relation(name)),
    );
  const store = () =>
    stage.write(async (writer) => {
      await writer.prepare(FIELDS);
      await writer.losses();
      await writer.apply(
        [
          row('a', {
            f1: 'Žofie "Q"',
            f2: 36,
            f3: new JsonText('["red",2,null,["x"]]'),
            f4: '007',
          }),
          row('b', { f1: '2026-05-01T10:30', f2: 'many', f3: 'none' }, { status: 'PAID' }),
          row('c', { f2: new ExactNumber('0.12345678901') }),
        ],
        [{ submissionId: 'odd', reason: 'is odd', stored: false }],
      );
      await writer.markDeleted(['c'], AT);
      await writer.finish(pass({ kind: 'full' }), { checkpoint: CHECKPOINT });
    });

  it('L17: views are made of a form without any answer yet', async () => {
    await stage.write(async (writer) => {
      await writer.prepare(FIELDS);
      await writer.losses();
      const notices = await writer.finish(pass({ kind: 'full' }), { checkpoint: CHECKPOINT });
      expect(notices).toEqual([]);
    });
    expect(await sql('SELECT value_text, value_number FROM {answers}')).toEqual([]);
    expect(await sql("SELECT field_id FROM {answers} WHERE value_text = 'x'")).toEqual([]);
  });

  it('L9: the view with labels has each field under its current label, also one without any answer', async () => {
    await store();
    const columns = await stage.place.columnsOf?.('contact_form_labelled');
    expect(columns).toEqual([
      'id',
      'status',
      'created_at',
      'Jak_se_jmenujete',
      'Age',
      'Age_text',
      'Choices',
      'Choices_text',
      'age_2',
      'Never_answered',
      '_first_seen_at',
      '_changed_at',
      '_deleted_at',
    ]);
    const relabelled = FIELDS.map((one) =>
      one.id === 'f1' ? field('f1', 'Name', { position: 0 }) : one,
    );
    await stage.write((writer) => writer.prepare(relabelled));
    expect(await stage.place.columnsOf?.('contact_form_labelled')).toContain('Name');
    expect(await sql("SELECT Name, Age_text FROM {contact_form_labelled} WHERE id = 'b'")).toEqual([
      { Name: '2026-05-01T10:30', Age_text: 'many' },
    ]);
  });

  it('the view of live rows leaves out what is marked deleted', async () => {
    await store();
    expect(await sql('SELECT id, age FROM {contact_form_live} ORDER BY id')).toEqual([
      { id: 'a', age: '36' },
      { id: 'b', age: null },
    ]);
  });

  it('all forms are in one model: a row an answer, one a choice of several', async () => {
    await store();
    await stage.write(
      async (writer) => {
        await writer.prepare([NAME]);
        await writer.apply([row('o', { field_1_a: 'other' })], []);
        await writer.finish(pass(), { checkpoint: CHECKPOINT });
      },
      { id: 'frm_2', slug: 'other', name: 'Other' },
    );
    expect(
      await sql(
        'SELECT slug, submission_id, status, is_live FROM {submissions} ORDER BY submission_id',
      ),
    ).toEqual([
      { slug: 'contact-form', submission_id: 'a', status: 'NEW', is_live: true },
      { slug: 'contact-form', submission_id: 'b', status: 'PAID', is_live: true },
      { slug: 'contact-form', submission_id: 'c', status: 'NEW', is_live: false },
      { slug: 'other', submission_id: 'o', status: 'NEW', is_live: true },
    ]);
    const answers = await sql(
      'SELECT submission_id, field_id, value_index, value_text, value_number, value_date FROM {answers} ORDER BY submission_id, field_id, value_index',
    );
    expect(
      answers.map((one) =>
        ['submission_id', 'field_id', 'value_index', 'value_text', 'value_number', 'value_date']
          .map((name) => (typeof one[name] === 'string' ? one[name] : '-'))
          .join(' '),
      ),
    ).toEqual([
      'a f1 1 Žofie "Q" - -',
      'a f2 1 36 36 -',
      'a f3 1 red - -',
      'a f3 2 2 2 -',
      'a f3 4 ["x"] - -',
      'a f4 1 007 - -',
      'b f1 1 2026-05-01T10:30 - 2026-05-01T10:30:00.000Z',
      'b f2 1 many - -',
      'b f3 1 none - -',
      'c f2 1 0.12345678901 0.123456789 -',
      'o field_1_a 1 other - -',
    ]);
  });

  it('the catalogue has the tables that every SQL target has', async () => {
    await store();
    expect(
      await sql('SELECT form_id, slug, table_name, view_name, rejected_count FROM {mirror_forms}'),
    ).toEqual([
      {
        form_id: FORM.id,
        slug: FORM.slug,
        table_name: 'contact_form',
        view_name: 'contact_form_labelled',
        rejected_count: '1',
      },
    ]);
    expect(
      await sql('SELECT field_id, column_name, label, type FROM {mirror_fields} ORDER BY position'),
    ).toEqual([
      { field_id: 'f1', column_name: 'jak_se_jmenujete', label: 'Jak se jmenujete?', type: 'text' },
      { field_id: 'f2', column_name: 'age', label: 'Age', type: 'number' },
      { field_id: 'f3', column_name: 'choices', label: 'Choices', type: 'json' },
      { field_id: 'f4', column_name: 'age_2', label: 'age', type: 'text' },
      { field_id: 'f5', column_name: 'never_answered', label: 'Never answered', type: null },
    ]);
    const { provenAt, total } = CHECKPOINT;
    expect(await sql('SELECT proven_at, total FROM {mirror_checkpoints}')).toEqual([
      { proven_at: provenAt, total: String(total) },
    ]);
    expect(
      await sql('SELECT label FROM {mirror_label_history} WHERE valid_to IS NULL'),
    ).toHaveLength(5);
    expect(await sql('SELECT kind, outcome FROM {mirror_passes}')).toEqual([
      { kind: 'full', outcome: 'ok' },
    ]);
    expect(await sql('SELECT submission_id, stored FROM {mirror_rejected}')).toEqual([
      { submission_id: 'odd', stored: false },
    ]);
  });

  it('labels are the descriptions of columns', async () => {
    await store();
    expect(
      await sql(
        "SELECT column_name, description FROM INFORMATION_SCHEMA.COLUMN_FIELD_PATHS WHERE table_name = 'contact_form' AND column_name IN ('jak_se_jmenujete', 'age_text') ORDER BY column_name",
      ),
    ).toEqual([
      { column_name: 'age_text', description: 'Age (text)' },
      { column_name: 'jak_se_jmenujete', description: 'Jak se jmenujete?' },
    ]);
  });
});
