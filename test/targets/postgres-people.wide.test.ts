import { beforeAll, describe, expect, it } from 'vitest';
import {
  AT_ONCE,
  field,
  fieldList,
  FORM,
  NAME,
  AGE,
  row,
  stageTargets,
} from '../contract/target-harness.ts';
import { sameCell } from '../../src/mirror/cell.ts';
import { JsonText } from '../../src/mirror/types.ts';
import { lentPostgres } from '../support/lent-server.ts';
import { postgresPlace } from '../support/postgres-place.ts';
import { postgresMissing } from '../support/servers.ts';

describe.skipIf(postgresMissing())('what people have in PostgreSQL', () => {
  let server: { url: string };
  beforeAll(async () => {
    server = await lentPostgres();
  });
  const stage = stageTargets(() => postgresPlace(server));
  const sql = (text: string) =>
    stage.place.query(
      text.replace(/\{(\w+)\}/g, (_all, name: string) => stage.place.relation(name)),
    );
  const typesOf = async (relation: string): Promise<Record<string, string>> => {
    const rows = await stage.place.query(
      `SELECT attname::text AS name, atttypid::regtype::text AS type FROM pg_attribute
       WHERE attrelid = to_regclass('${stage.place.relation(relation)}') AND attnum > 0 AND NOT attisdropped`,
    );
    return Object.fromEntries(rows.map((one) => [String(one['name']), String(one['type'])]));
  };

  it('columns have the types of what is in them, and times are timestamptz', async () => {
    const fields = fieldList(NAME, AGE, field('f3', 'Empty'));
    await stage.write(async (writer) => {
      await writer.prepare(fields);
      await writer.apply([row('a', { field_1_a: 'x', field_2_b: 1.5 })], []);
    });
    const types = {
      id: 'text',
      status: 'text',
      created_at: 'timestamp with time zone',
      _first_seen_at: 'timestamp with time zone',
      _changed_at: 'timestamp with time zone',
      _deleted_at: 'timestamp with time zone',
    };
    expect(await typesOf('contact_form')).toEqual({
      ...types,
      full_name: 'text',
      age: 'numeric',
      empty: 'text',
    });
    expect(await typesOf('contact_form_labelled')).toEqual({
      ...types,
      'Full name': 'text',
      Age: 'numeric',
      Empty: 'text',
    });
  });

  describe('a table renamed whose view has other columns than the new one', () => {
    const begin = async (): Promise<void> => {
      for (const age of [1, 'many']) {
        await stage.write(async (writer) => {
          await writer.prepare([NAME, AGE]);
          await writer.apply([row('a', { field_2_b: age })], []);
        });
      }
      expect(Object.keys(await typesOf('contact_form_labelled'))).toContain('Age (text)');
    };
    const renameAndStore = async (): Promise<void> => {
      await sql('ALTER TABLE {contact_form} RENAME TO old_one');
      await stage.write(async (writer) => {
        await writer.prepare([NAME, AGE]);
        await writer.apply([row('b', { field_1_a: 'y' })], []);
      });
    };

    it('the view is made again, with the rights on it', async () => {
      await sql('DROP ROLE IF EXISTS reader').catch(() => []);
      await sql('CREATE ROLE reader');
      await begin();
      await sql('GRANT SELECT ON {contact_form_labelled} TO reader');
      await renameAndStore();
      expect(await sql('SELECT id FROM {contact_form_labelled}')).toEqual([{ id: 'b' }]);
      const [right] = await sql(
        "SELECT has_table_privilege('reader', '{contact_form_labelled}', 'SELECT') AS may",
      );
      expect(right).toEqual({ may: true });
      await sql('DROP OWNED BY reader');
      await sql('DROP ROLE reader');
    });

    it('stays where something depends on it, and that is said until it is dropped', async () => {
      await begin();
      await sql(
        'CREATE VIEW {theirs} AS SELECT id, "Age (text)" AS n FROM {contact_form_labelled}',
      );
      await renameAndStore();
      expect(await sql('SELECT id FROM {theirs}')).toEqual([{ id: 'a' }]);
      expect(await sql('SELECT id FROM {contact_form_labelled_2}')).toEqual([{ id: 'b' }]);
      const notices = await (await stage.read()).notices();
      expect(notices).toMatchObject([{ code: 'VIEW_LEFT', tab: 'contact_form_labelled' }]);
      expect(notices[0]?.message).toMatch(/contact_form_labelled shows a former table/);
      expect(notices[0]?.remedy).toMatch(/contact_form_labelled_2 instead, then drop it/);
      expect((await stage.target.overview())[0]?.notices).toEqual(notices);
      const message = expect.stringMatching('shows a former table');
      expect(await stage.target.check()).toContainEqual(expect.objectContaining({ message }));
      await sql('DROP VIEW {theirs}');
      await sql('DROP VIEW {contact_form_labelled}');
      expect(await (await stage.read()).notices()).toEqual([]);
    });
  });

  it('L9: rights on the labelled view outlast a change of type', async () => {
    await sql('DROP ROLE IF EXISTS analyst').catch(() => []);
    await sql('CREATE ROLE analyst');
    await stage.write((writer) => writer.prepare([NAME, AGE]));
    await sql('GRANT SELECT ON {contact_form_labelled} TO analyst WITH GRANT OPTION');
    await sql('GRANT UPDATE ("Full name") ON {contact_form_labelled} TO PUBLIC');
    const rights = () =>
      sql(
        `SELECT relacl::text, (SELECT attacl::text FROM pg_attribute WHERE attrelid = c.oid AND attname = 'Full name')
         FROM pg_class c WHERE oid = '{contact_form_labelled}'::regclass`,
      );
    const before = await rights();
    const [{ oid } = {}] = await sql("SELECT '{contact_form_labelled}'::regclass::oid AS oid");
    await stage.write(async (writer) => {
      await writer.prepare([NAME, AGE]);
      await writer.apply([row('a', { field_2_b: 1 })], []);
    });
    expect(await rights()).toEqual(before);
    expect(await sql("SELECT '{contact_form_labelled}'::regclass::oid AS oid")).not.toEqual([
      { oid },
    ]);
    await sql('DROP OWNED BY analyst');
    await sql('DROP ROLE analyst');
  });

  it('a late question becomes a number column, even when users built on the labelled view', async () => {
    await stage.write((writer) => writer.prepare([NAME]));
    await sql('CREATE VIEW {theirs} AS SELECT * FROM {contact_form_labelled}');
    const fields = fieldList(NAME, AGE);
    await stage.write(async (writer) => {
      await writer.prepare(fields);
      expect(await typesOf('contact_form_labelled')).not.toHaveProperty('Age');
      await writer.apply([row('a', { field_1_a: 'x' })], []);
      await writer.apply([row('b', { field_2_b: 5 })], []);
    });
    expect(await typesOf('contact_form')).toMatchObject({ age: 'numeric' });
    expect(await typesOf('contact_form_labelled')).toMatchObject({ Age: 'numeric' });
    expect(await sql('SELECT "Age" AS age FROM {contact_form_labelled} ORDER BY id')).toEqual([
      { age: null },
      { age: '5' },
    ]);
  });

  it('an empty column that users built on stays text; one that they filled, too', async () => {
    await stage.write((writer) => writer.prepare(fieldList(NAME, AGE, field('f3', 'Note'))));
    await sql('CREATE VIEW {theirs} AS SELECT age FROM {contact_form}');
    await sql(
      "INSERT INTO {contact_form} (id, status, note, _first_seen_at, _changed_at) VALUES ('x', 'NEW', 'mine', now(), now())",
    );
    await stage.write(async (writer) => {
      await writer.prepare(fieldList(NAME, AGE, field('f3', 'Note')));
      const rows = [row('a', { field_1_a: 1, field_2_b: 2, f3: 3 })];
      await writer.apply(rows, []);
      expect((await writer.apply(rows, [])).outcomes).toEqual(['unchanged']);
    });
    expect(await typesOf('contact_form')).toMatchObject({
      full_name: 'numeric',
      age: 'text',
      note: 'text',
    });
    expect(await sql('SELECT age FROM {theirs} WHERE age IS NOT NULL')).toEqual([{ age: '2' }]);
    expect(await sql("SELECT note FROM {contact_form} WHERE id = 'x'")).toEqual([{ note: 'mine' }]);
  });

  it('L9: number columns stay so under whatever people built on them, and texts stand beside them', async () => {
    const fields = fieldList(
      ...['Plain', 'Indexed', 'Computed', 'Checked', 'Shown'].map((label, index) =>
        field(`f${index}`, label),
      ),
    );
    const cells = (value: number | string) =>
      Object.fromEntries(fields.map(({ id }) => [id, value]));
    await stage.write(async (writer) => {
      await writer.prepare(fields);
      await writer.apply([row('a', cells(2.5)), row('b', cells(3))], []);
    });
    await sql('CREATE INDEX ON {contact_form} (indexed)');
    await sql('CREATE INDEX ON {contact_form} ((computed * 2))');
    await sql('ALTER TABLE {contact_form} ADD CHECK (checked > 0)');
    await sql(
      'CREATE MATERIALIZED VIEW {cached} AS SELECT sum(shown) AS total FROM {contact_form}',
    );
    await sql('CREATE VIEW {theirs} AS SELECT * FROM {contact_form_labelled}');
    const columns = async (relation: string) => Object.keys(await typesOf(relation));
    const before = await columns('contact_form_labelled');
    await stage.write(async (writer) => {
      await writer.prepare(fields);
      const rows = [row('b', cells('three')), row('c', cells(4)), row('a', cells(2.5))];
      expect((await writer.apply(rows, [])).outcomes).toEqual(['updated', 'inserted', 'unchanged']);
      expect((await writer.apply(rows, [])).outcomes).toEqual(rows.map(() => 'unchanged'));
    });
    const names = ['plain', 'indexed', 'computed', 'checked', 'shown'];
    expect(await typesOf('contact_form')).toMatchObject({
      ...Object.fromEntries(names.map((name) => [name, 'numeric'])),
      ...Object.fromEntries(names.map((name) => [`${name}_text`, 'text'])),
    });
    expect((await columns('contact_form_labelled')).slice(0, before.length)).toEqual(before);
    await sql('REFRESH MATERIALIZED VIEW {cached}');
    expect(await sql('SELECT total FROM {cached}')).toEqual([{ total: '6.5' }]);
    expect(await sql('SELECT "Shown" AS n FROM {theirs} ORDER BY id')).toEqual([
      { n: '2.5' },
      { n: null },
      { n: '4' },
    ]);
    expect(
      await sql(
        'SELECT "Shown" AS n, "Shown (text)" AS t FROM {contact_form_labelled} ORDER BY id',
      ),
    ).toEqual([
      { n: '2.5', t: null },
      { n: null, t: 'three' },
      { n: '4', t: null },
    ]);
  });

  it('L10: arrays and objects are jsonb, and what jsonb would refuse or change stands beside it', async () => {
    const odd = ['["\\u0000"]', '["\\ud83d"]', `${'['.repeat(2_000)}${']'.repeat(2_000)}`];
    const sound = ['["x","\\\\u0000"]', '{"b":1e+21,"a":[0.1,12345678901234567890.123]}', '[]'];
    const cells = [...sound, ...odd].map((text) => new JsonText(text));
    const rows = [...cells, 'none of these', 7, ''].map((cell, index) =>
      row(`r${index}`, { field_2_b: cell }),
    );
    await stage.write(async (writer) => {
      await writer.prepare([NAME, AGE]);
      expect((await writer.apply(rows, [])).rejections).toEqual([]);
      expect((await writer.apply(rows, [])).outcomes).toEqual(rows.map(() => 'unchanged'));
    });
    expect(await typesOf('contact_form')).toMatchObject({ age: 'jsonb', age_text: 'text' });
    const stored = await (await stage.read()).rows(rows.map(({ id }) => id));
    for (const { id, cells: own } of rows) {
      const [wanted, read] = [own.get('field_2_b'), stored.get(id)?.cells.get('field_2_b')];
      expect([id, sameCell(wanted ?? null, read ?? null)]).toEqual([id, true]);
    }
    const beside = await sql(
      'SELECT id FROM {contact_form} WHERE age_text IS NOT NULL ORDER BY id',
    );
    expect(beside.map(({ id }) => id)).toEqual(['r3', 'r4', 'r5', 'r6', 'r7']);
    expect(
      await sql("SELECT jsonb_array_elements_text(age) AS one FROM {contact_form} WHERE id = 'r0'"),
    ).toEqual([{ one: 'x' }, { one: '\\u0000' }]);
  });

  it('L9: every keyword of PostgreSQL can be a label, and its column needs no quotes', async () => {
    const words = (await sql('SELECT word FROM pg_get_keywords()')).map((one) =>
      String(one['word']),
    );
    const fields = fieldList(...words.slice(0, 290).map((word, index) => field(`f${index}`, word)));
    const other = fieldList(...words.slice(290).map((word, index) => field(`f${index}`, word)));
    const second = { id: 'frm_2', slug: 'select', name: 'Select' };
    await stage.write((writer) => writer.prepare(fields));
    await stage.write((writer) => writer.prepare(other), second);
    const schema = stage.place.relation('x').replace(/\."x"$/, '');
    await sql(`SET search_path = ${schema}`);
    for (const id of [FORM.id, second.id]) {
      const [form] = await sql(`SELECT table_name FROM {mirror_forms} WHERE form_id = '${id}'`);
      const columns = await sql(
        `SELECT column_name FROM {mirror_fields} WHERE form_id = '${id}' AND stored_in = 'column'`,
      );
      const names = columns.map((one) => String(one['column_name']));
      expect(names.length).toBeGreaterThan(100);
      const found = await sql(`SELECT ${names.join(', ')} FROM ${String(form?.['table_name'])}`);
      expect(found).toEqual([]);
    }
  });

  it('names of types and indexes are not taken for tables', async () => {
    await stage.write((writer) => writer.prepare([NAME]));
    await sql('CREATE DOMAIN {survey} AS text');
    await sql('CREATE TYPE {survey_2} AS ENUM ()');
    await stage.write((writer) => writer.prepare([NAME]), { id: 's', slug: 'survey', name: 'S' });
    const [form] = await sql("SELECT table_name FROM {mirror_forms} WHERE form_id = 's'");
    expect(form).toEqual({ table_name: 'survey_3' });
  });

  it('L6: what a trigger says about a row is not passed on', async () => {
    await stage.write((writer) => writer.prepare([NAME]));
    await sql(
      "CREATE FUNCTION {no}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no %', new.full_name; END $$",
    );
    await sql(
      'CREATE TRIGGER no BEFORE INSERT ON {contact_form} FOR EACH ROW EXECUTE FUNCTION {no}()',
    );
    const applied = stage.write(async (writer) => {
      await writer.prepare([NAME]);
      return writer.apply([row('a', { field_1_a: 'secret' })], []);
    });
    await expect(applied).rejects.toMatchObject({
      code: 'TARGET_FAILED',
      message: expect.stringContaining('PostgreSQL refuses the row (P0001)'),
    });
    await expect(applied).rejects.not.toThrow('secret');
  });

  it('a column whose type was changed is explained', async () => {
    await stage.write((writer) => writer.prepare([NAME]));
    await sql('DROP VIEW {contact_form_labelled}');
    await sql('ALTER TABLE {contact_form} ALTER COLUMN full_name TYPE date USING NULL');
    await using writer = await stage.target.openWriter(FORM, AT_ONCE);
    await writer.prepare([NAME]);
    await expect(writer.apply([row('a', { field_1_a: 'secret' })], [])).rejects.toMatchObject({
      code: 'TARGET_FAILED',
      message: expect.stringMatching(/type of a mirrored column was changed/),
    });
  });
});
