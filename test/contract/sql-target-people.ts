import { describe, expect, it } from 'vitest';
import type { PickedField, Row } from '../../src/mirror/types.ts';
import { CATALOGUE_TABLES, CATALOGUE_VERSION } from '../../src/targets/sql/catalogue-tables.ts';
import { dropViews, sqlOf } from './sql-by-hand.ts';
import type { QueriedStage, SqlStage } from './sql-target.ts';
import { columnsOf } from './sql-target-tables.ts';
import {
  AGE,
  AT_ONCE,
  CHECKPOINT,
  field,
  fieldList,
  FORM,
  NAME,
  pass,
  row,
} from './target-harness.ts';

const storing = (stage: QueriedStage) => ({
  sql: sqlOf(stage),
  store: (rows: Row[], ...fields: PickedField[]) =>
    stage.write(async (writer) => {
      await writer.prepare(fieldList(...fields));
      return writer.apply(rows, []);
    }),
});

/** What people do in the database: views of theirs, columns of theirs, constraints, tables that have our names. */
export function describeSqlPeople(stage: QueriedStage): void {
  const { sql, store } = storing(stage);

  describe('what people build on it', () => {
    it('L9: a view on the table goes on when a number column meets text, and no value is lost', async () => {
      await store([row('a', { field_2_b: 1.25 }), row('b', { field_2_b: 2 })], NAME, AGE);
      await sql('CREATE VIEW {theirs} AS SELECT id, age * 2 AS twice FROM {contact_form}');
      const rows = [row('a', { field_2_b: 1.25 }), row('c', { field_2_b: 'many' })];
      expect((await store(rows, NAME, AGE)).outcomes).toEqual(['unchanged', 'inserted']);
      expect((await store(rows, NAME, AGE)).outcomes).toEqual(['unchanged', 'unchanged']);
      const theirs = await sql("SELECT CAST(twice AS text) AS twice FROM {theirs} WHERE id = 'a'");
      expect(theirs).toMatchObject([
        { twice: '2.5' + (stage.place.product === 'PostgreSQL' ? '0' : '') },
      ]);
      const ours = await sql('SELECT id, age, age_text FROM {contact_form} ORDER BY id');
      expect(ours.map((one) => [one['id'], Number(one['age']), one['age_text']])).toEqual([
        ['a', 1.25, null],
        ['b', 2, null],
        ['c', 0, 'many'],
      ]);
      await store([row('b', { field_2_b: 7 }), row('d', { field_2_b: 8 })], NAME, AGE);
      const later = await sql('SELECT id, CAST(twice AS text) AS twice FROM {theirs} ORDER BY id');
      expect(later.map((one) => Number(one['twice']))).toEqual([2.5, 14, 0, 16]);
      expect(await stage.cellsOf('c')).toEqual({ field_1_a: null, field_2_b: 'many' });
    });

    it('L9: a view on the labelled view survives relabels, new fields and changes of type', async () => {
      await store([row('a', { field_1_a: 'x', field_2_b: 5 })], NAME, AGE);
      await sql(
        'CREATE VIEW {theirs} AS SELECT id, "Full name" AS n, "Age" AS a FROM {contact_form_labelled}',
      );
      const [name, age] = [
        { ...NAME, label: 'Name' },
        { ...AGE, label: 'Years' },
      ];
      await store([row('b', { field_1_a: 'y', field_2_b: 6 })], name, age, field('f3', 'Extra'));
      await store(
        [row('c', { field_1_a: 'z', field_2_b: 'old' })],
        name,
        age,
        field('f3', 'Extra'),
      );
      await store([row('d', { field_1_a: 'w', field_2_b: 7 })], age, { ...NAME, label: 'Who' });
      const theirs = await sql('SELECT id, n FROM {theirs} ORDER BY id');
      expect(theirs.map((one) => one['n'])).toEqual(['x', 'y', 'z', 'w']);
      const ages = await sql(
        "SELECT CAST(a AS text) AS a FROM {theirs} WHERE id IN ('a', 'd') ORDER BY id",
      );
      expect(ages.map((one) => one['a'])).toEqual(['5', '7']);
      const labelled = await sql(
        'SELECT "Who" AS n, "Years" AS a, "Years (text)" AS t FROM {contact_form_labelled} ORDER BY id',
      );
      expect(labelled.map((one) => [one['n'], Number(one['a']), one['t']])).toEqual([
        ['x', 5, null],
        ['y', 6, null],
        ['z', 0, 'old'],
        ['w', 7, null],
      ]);
    });

    it('L17: a date that they make none counts as none, and the row is put right', async () => {
      await store([row('a'), row('b')], NAME);
      const none = { PostgreSQL: `'infinity'`, SQLite: `'soon'` }[stage.place.product as string];
      await sql(`UPDATE {contact_form} SET created_at = ${none ?? 'NULL'} WHERE id = 'a'`);
      const ever = { from: null, to: null };
      const reader = await stage.read();
      expect((await reader.timeCounts(ever, 'day')).map(({ rows }) => rows)).toEqual([1]);
      const dated: string[] = [];
      for await (const ids of reader.liveIdsWithin(ever)) dated.push(...ids);
      expect(dated).toEqual(['b']);
      const { outcomes } = await stage.write(async (writer) => {
        await writer.prepare(fieldList(NAME));
        // As each pass begins.
        await writer.losses();
        return writer.apply([row('a'), row('b')], []);
      });
      expect(outcomes).toEqual(['updated', 'unchanged']);
    });

    it('columns of theirs stay, filled as they were', async () => {
      await store([row('a', { field_1_a: 'x' })], NAME);
      await sql('ALTER TABLE {contact_form} ADD COLUMN age text');
      await sql("UPDATE {contact_form} SET age = 'my note'");
      await store([row('a', { field_1_a: 'y', field_2_b: 5 })], NAME, AGE);
      const [found] = await sql('SELECT age, CAST(age_2 AS text) AS age_2 FROM {contact_form}');
      expect(found).toMatchObject({ age: 'my note', age_2: '5' });
    });

    it('tables that have the names we would take are left alone', async () => {
      await store([row('a')], NAME);
      await sql('CREATE TABLE {survey} (x text)');
      await sql('CREATE TABLE {survey_2_labelled} (x text)');
      await stage.write((writer) => writer.prepare([NAME]), { id: 's', slug: 'survey', name: 'S' });
      const [form] = await sql(
        "SELECT table_name, view_name FROM {mirror_forms} WHERE form_id = 's'",
      );
      expect(form).toMatchObject({ table_name: 'survey_3', view_name: 'survey_3_labelled' });
      expect(await sql('SELECT * FROM {survey}')).toEqual([]);
    });
  });

  describe('L5: what people drop is created again, and filled by the next full pass', () => {
    const begin = async (): Promise<void> => {
      await store([row('a', { field_1_a: 'x', field_2_b: 5 })], NAME, AGE);
      await stage.write((writer) => writer.finish(pass(), { checkpoint: CHECKPOINT }));
    };

    it('a column', async () => {
      await begin();
      await dropViews(stage.place);
      await sql('ALTER TABLE {contact_form} DROP COLUMN age');
      const { outcomes } = await store([row('a', { field_1_a: 'x', field_2_b: 5 })], NAME, AGE);
      expect(outcomes).toEqual(['updated']);
      expect(await stage.cellsOf('a')).toEqual({ field_1_a: 'x', field_2_b: 5 });
      expect(await (await stage.read()).checkpoint()).toBeUndefined();
      expect(await sql('SELECT "Full name" AS n FROM {contact_form_labelled}')).toHaveLength(1);
    });

    it('the table', async () => {
      await begin();
      await dropViews(stage.place);
      await sql('DROP TABLE {contact_form}');
      expect(await stage.target.overview()).toMatchObject([{ rows: 0 }]);
      const reader = await stage.read();
      expect((await reader.rows(['a'])).size).toBe(0);
      expect(await reader.confirm(['a'])).toEqual(new Set());
      const { outcomes } = await store([row('a', { field_1_a: 'x', field_2_b: 5 })], NAME, AGE);
      expect(outcomes).toEqual(['inserted']);
      expect(await (await stage.read()).checkpoint()).toBeUndefined();
    });

    it('the table, putting one of their own in its place', async () => {
      await begin();
      await dropViews(stage.place);
      await sql('DROP TABLE {contact_form}');
      await sql('CREATE TABLE {contact_form} (mine text)');
      expect((await store([row('a', { field_1_a: 'x' })], NAME)).outcomes).toEqual(['inserted']);
      expect(await sql('SELECT mine FROM {contact_form}')).toEqual([]);
      expect(await sql('SELECT full_name FROM {contact_form_2}')).toHaveLength(1);
    });

    it('the table, giving it another name', async () => {
      await begin();
      await sql('ALTER TABLE {contact_form} RENAME TO "old one"');
      const rows = [row('b', { field_1_a: 'y', field_2_b: 6 })];
      expect((await store(rows, NAME, AGE)).outcomes).toEqual(['inserted']);
      expect(await (await stage.read()).checkpoint()).toBeUndefined();
      const [form] = await sql('SELECT table_name, view_name FROM {mirror_forms}');
      const view = String(form?.['view_name']);
      expect(view).toBe('contact_form_labelled');
      expect(await sql(`SELECT id, "Full name" AS n FROM {${view}}`)).toMatchObject([
        { id: 'b', n: 'y' },
      ]);
      expect((await store(rows, { ...NAME, label: 'Name' }, AGE)).outcomes).toEqual(['unchanged']);
      expect(await sql(`SELECT "Name" AS n FROM {${view}}`)).toMatchObject([{ n: 'y' }]);
    });

    it('the table, leaving its view and what they built on it: both show the new one', async () => {
      await begin();
      await sql(
        'CREATE VIEW {theirs} AS SELECT id, "Full name" AS n, "Age" AS a FROM {contact_form_labelled}',
      );
      if (stage.place.product !== 'PostgreSQL') await sql('DROP TABLE {contact_form}');
      else await sql('ALTER TABLE {contact_form} RENAME TO old_one');
      const [name, age] = [
        { ...NAME, label: 'Name' },
        { ...AGE, label: 'Years' },
      ];
      await store([row('b', { field_1_a: 'y', field_2_b: 6 })], name, age);
      const [form] = await sql('SELECT table_name, view_name FROM {mirror_forms}');
      expect(form).toEqual({ table_name: 'contact_form', view_name: 'contact_form_labelled' });
      expect(await sql('SELECT "Name" AS n FROM {contact_form_labelled}')).toEqual([{ n: 'y' }]);
      expect(await (await stage.read()).notices()).toEqual([]);
      expect(await sql('SELECT id, n FROM {theirs}')).toEqual([{ id: 'b', n: 'y' }]);
    });

    it('the table, and another stands in its place: the view shows ours', async () => {
      await begin();
      await sql('ALTER TABLE {contact_form} RENAME TO old_one');
      await sql('CREATE TABLE {contact_form} (mine text)');
      await store([row('b', { field_1_a: 'y' })], NAME, AGE);
      const [form] = await sql('SELECT table_name, view_name FROM {mirror_forms}');
      expect(form).toEqual({ table_name: 'contact_form_2', view_name: 'contact_form_labelled' });
      expect(await sql('SELECT id FROM {contact_form_labelled}')).toEqual([{ id: 'b' }]);
    });

    it('the view, putting one of their own in its place', async () => {
      await begin();
      await dropViews(stage.place);
      await sql('CREATE VIEW {contact_form_labelled} AS SELECT 1 AS mine');
      await store([], { ...NAME, label: 'Name' }, AGE);
      expect(await sql('SELECT mine FROM {contact_form_labelled}')).toHaveLength(1);
      expect(await sql('SELECT "Name" AS n FROM {contact_form_labelled_2}')).toHaveLength(1);
      await store([], { ...NAME, label: 'Who' }, AGE);
      expect(await sql('SELECT "Who" AS n FROM {contact_form_labelled_2}')).toHaveLength(1);
    });
  });
}

/** The same where what is stored may be constrained, and the catalogue has a version of its own. */
export function describeSqlConstraints(stage: SqlStage): void {
  const { sql, store } = storing(stage);

  describe('what people do to the catalogue', () => {
    it('a catalogue table that is not ours is refused, not touched', async () => {
      if (stage.place.product === 'PostgreSQL')
        await sql('CREATE SCHEMA {x}'.replace('{x}', schemaOf(stage)));
      else await stage.write(async () => {}).then(() => dropCatalogue(stage));
      await sql('CREATE TABLE {mirror_forms} (mine text)');
      const results = await stage.target.check();
      expect(results.every((result) => result.ok)).toBe(true);
      await expect(stage.target.openWriter(FORM, AT_ONCE)).rejects.toMatchObject({
        code: 'SETTINGS',
        message: expect.stringContaining('mirror_forms'),
      });
      expect(await sql('SELECT mine FROM {mirror_forms}')).toEqual([]);
    });

    it.each([
      [
        'a later one',
        "UPDATE {mirror_meta} SET value = '99' WHERE \"key\" = 'catalogue_version'",
        'schema 99,',
      ],
      [
        'an earlier one',
        "UPDATE {mirror_meta} SET value = '4' WHERE \"key\" = 'catalogue_version'",
        'schema 4,',
      ],
      [
        'no number',
        "UPDATE {mirror_meta} SET value = '1.5' WHERE \"key\" = 'catalogue_version'",
        'schema 1.5,',
      ],
      ['none at all', 'DELETE FROM {mirror_meta}', 'no schema,'],
    ])(
      'another schema, %s, is refused with what to do, and all is left as it is',
      async (_, change, words) => {
        await store([row('a')], NAME);
        await sql(change);
        const everything = async (): Promise<unknown> => {
          const rows: unknown[] = [];
          for (const table of [...CATALOGUE_TABLES, 'contact_form', 'contact_form_labelled']) {
            rows.push([
              table,
              await columnsOf(stage, table),
              await sql(`SELECT * FROM {${table}}`),
            ]);
          }
          return rows;
        };
        const before = await everything();
        const message = new RegExp(
          `mirror_meta was written by another build of forms-mirror \\(${words} this one needs ${CATALOGUE_VERSION}\\). Nothing in it was changed. Delete it, or choose another .* in the target URL, and run again.`,
        );
        const refusal = {
          code: 'OTHER_SCHEMA',
          retryable: false,
          message: expect.stringMatching(message),
        };
        const fresh = await stage.open();
        await expect(fresh.openWriter(FORM, AT_ONCE)).rejects.toMatchObject(refusal);
        await expect(fresh.overview()).rejects.toMatchObject(refusal);
        await expect(fresh.heldForms()).rejects.toMatchObject(refusal);
        await expect(fresh.reader(FORM.id)).rejects.toMatchObject(refusal);
        await expect(fresh.snapshot(FORM.id)).rejects.toMatchObject(refusal);
        await expect(fresh.relations()).rejects.toMatchObject(refusal);
        await expect(fresh.pauses()).rejects.toMatchObject(refusal);
        const pause = { formId: null, since: '2026-03-02T08:00:00.000Z', by: 'me', reason: null };
        await expect(fresh.pause(pause)).rejects.toMatchObject(refusal);
        await expect(fresh.lastLook()).rejects.toMatchObject(refusal);
        await expect(fresh.lockMarking(FORM.id)).rejects.toMatchObject(refusal);
        expect(await fresh.check()).toContainEqual({ ok: false, message: refusal.message });
        expect(await everything()).toEqual(before);
      },
    );
  });

  describe('L6: a row that the database refuses', () => {
    const rows = Array.from({ length: 100 }, (_, index) =>
      row(`r${index}`, { field_1_a: index === 42 ? 'forbidden secret' : `name ${index}` }),
    );
    const forbid =
      "CREATE TRIGGER no BEFORE INSERT ON {contact_form} WHEN new.full_name LIKE 'forbidden%' BEGIN SELECT RAISE(ABORT, 'no forbidden secret'); END";

    it('costs no other one, is named without its answer, and is stored once nothing is in its way', async () => {
      await store([], NAME);
      await sql(
        stage.place.product === 'SQLite'
          ? forbid
          : "ALTER TABLE {contact_form} ADD CONSTRAINT polite CHECK (full_name NOT LIKE 'forbidden%')",
      );
      const result = await store(rows, NAME);
      expect(result.outcomes.filter((outcome) => outcome === 'inserted')).toHaveLength(99);
      expect(result.outcomes[42]).toBe('rejected');
      expect(result.refused).toMatchObject({ code: 'TARGET_FAILED', retryable: false });
      expect(result.refused?.message).toMatch(/contact_form refuses 1 row of form "Contact form"/);
      expect(result.refused?.message).not.toContain('secret');
      expect([result.newlyListed.size, result.rejections]).toEqual([0, []]);
      expect((await (await stage.read()).rejections(10)).total).toBe(0);
      await sql(
        stage.place.product === 'SQLite'
          ? 'DROP TRIGGER no'
          : 'ALTER TABLE {contact_form} DROP CONSTRAINT polite',
      );
      expect((await store(rows, NAME)).outcomes[42]).toBe('inserted');
      expect((await (await stage.read()).rejections(10)).total).toBe(0);
    });

    it('may be every row', async () => {
      await store([], NAME);
      await sql("ALTER TABLE {contact_form} ADD COLUMN theirs varchar(20) NOT NULL DEFAULT ''");
      await sql('CREATE UNIQUE INDEX only_one ON {contact_form} (theirs)');
      await expect(store(rows.slice(0, 5), NAME)).rejects.toMatchObject({
        code: 'TARGET_FAILED',
        retryable: false,
        message: expect.stringMatching(/even without their answers.*(?:only_one|theirs)/),
      });
      expect(await sql('SELECT id FROM {contact_form}')).toEqual([]);
    });
  });
}

const schemaOf = (stage: SqlStage): string => stage.place.relation('x').replace(/\."x"$/, '');

async function dropCatalogue(stage: SqlStage): Promise<void> {
  const tables = await stage.place.query(
    stage.place.product === 'SQLite'
      ? "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'mirror%'"
      : "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = database() AND table_name LIKE 'mirror%'",
  );
  for (const table of tables) await stage.place.query(`DROP TABLE ${String(table['name'])}`);
}
