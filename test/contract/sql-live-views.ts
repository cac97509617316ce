import { describe, expect, it } from 'vitest';
import type { PickedField, Row } from '../../src/mirror/types.ts';
import { sqlOf } from './sql-by-hand.ts';
import type { SqlStage } from './sql-target.ts';
import { columnsOf } from './sql-target-tables.ts';
import { AGE, CHECKPOINT, fieldList, FORM, NAME, pass, row } from './target-harness.ts';

/** The view of a form's live rows, and the indexes that people's queries use. */
export function describeSqlLiveViews(stage: SqlStage): void {
  const sql = sqlOf(stage);
  /** A pass that stores these rows and ends well. */
  const passOver = (rows: readonly Row[], fields: readonly PickedField[], form = FORM) =>
    stage.write(async (writer) => {
      await writer.prepare(fieldList(...fields));
      const { outcomes } = await writer.apply(rows, []);
      await writer.finish(pass({ kind: 'full' }), { checkpoint: CHECKPOINT });
      return outcomes;
    }, form);
  describe('indexes', () => {
    const indexes = async (table = 'contact_form'): Promise<string[]> => {
      const rows = await sql(INDEXES[stage.place.product](table));
      return rows.map(({ definition }) => String(definition));
    };

    it('on the time of the last change, and on status, are made at the end of a full pass', async () => {
      await stage.write(async (writer) => {
        await writer.prepare([NAME]);
        await writer.apply([row('a')], []);
      });
      expect(await indexes()).not.toContainEqual(expect.stringMatching(/\(_changed_at\)$/));
      for (const _ of [1, 2]) await passOver([row('a')], [NAME]);
      const made = await indexes();
      for (const columns of INDEXED[stage.place.product]) {
        const on = made.filter((one) =>
          new RegExp(`\\(${columns}\\)`).test(one.replaceAll('"', '')),
        );
        expect([columns, on.length]).toEqual([columns, 1]);
      }
    });

    it('on the history of statuses are made before it is asked, or at the end of a full pass', async () => {
      const onHistory = async (): Promise<number> =>
        (await indexes('mirror_status_history')).filter((one) => one.includes('(submission_id)'))
          .length;
      const apply = (...rows: Row[]) =>
        stage.write(async (writer) => {
          await writer.prepare([NAME]);
          await writer.apply(rows, []);
        });
      await apply(row('a'), row('b'));
      // MySQL ends a transaction wherever one is made: it has it from the beginning.
      expect(await onHistory()).toBe(stage.place.product === 'MySQL or MariaDB' ? 1 : 0);
      await apply(row('a', {}, { status: 'PAID' }), row('c'));
      expect(await onHistory()).toBe(1);
      await sql('DROP TABLE {mirror_status_history}');
      for (const _ of [1, 2]) await passOver([row('a')], [NAME]);
      expect(await onHistory()).toBe(1);
    });
  });

  describe('the view of live rows', () => {
    it('shows no deleted row, has the names of the columns, and follows new ones', async () => {
      await passOver([row('a', { field_1_a: 'x' }), row('b')], [NAME, AGE]);
      await sql('CREATE VIEW {theirs} AS SELECT id, full_name FROM {contact_form_live}');
      await stage.write((writer) => writer.markDeleted(['b'], '2026-03-05T00:00:00.000Z'));
      await passOver([row('c', { field_2_b: 5 }), row('d', { field_2_b: 'x' })], [NAME, AGE]);
      const ids = await sql('SELECT id FROM {theirs} ORDER BY id');
      expect(ids.map(({ id }) => id)).toEqual(['a', 'c', 'd']);
      expect(new Set(await columnsOf(stage, 'contact_form_live'))).toEqual(
        new Set(await columnsOf(stage, 'contact_form')),
      );
      const shown = await sql('SELECT age_text AS t FROM {contact_form_live} WHERE age IS NULL');
      expect(new Set(shown.map(({ t }) => t))).toEqual(new Set([null, 'x']));
    });

    it('leaves a view alone that people made under its name with the same columns, or make of it later', async () => {
      const shown = async (view: string) =>
        (await sql(`SELECT id FROM {${view}} ORDER BY id`)).map(({ id }) => id);
      const drop =
        stage.place.product === 'SQLite' ? 'DROP VIEW IF EXISTS {contact_form_live};' : '';
      const theirs = async (status: string) => {
        for (const statement of [
          drop,
          `CREATE${drop === '' ? ' OR REPLACE' : ''} VIEW {contact_form_live} AS
          SELECT * FROM {contact_form} WHERE _deleted_at IS NULL AND status <> '${status}'`,
        ])
          if (statement !== '') await sql(statement);
      };
      await stage.write((writer) => writer.prepare([NAME]));
      await theirs('NEW');
      await passOver([row('a'), row('b', {}, { status: 'DONE' })], [NAME]);
      expect([await shown('contact_form_live'), await shown('contact_form_live_2')]).toEqual([
        ['b'],
        ['a', 'b'],
      ]);
      await sql('DROP VIEW {contact_form_live}');
      await passOver([row('c', { field_2_b: 5 })], [NAME, AGE]);
      await theirs('DONE');
      await passOver([row('d', { field_2_b: 'x' })], [NAME, AGE]);
      expect(await shown('contact_form_live')).toEqual(['a', 'c', 'd']);
      expect(await shown('contact_form_live_2')).toEqual(['a', 'b', 'c', 'd']);
    });

    it('leaves alone what people have under its name', async () => {
      await stage.write(async () => {});
      await sql('CREATE TABLE {contact_form_live} (mine text)');
      await passOver([row('a')], [NAME]);
      expect(await sql('SELECT mine FROM {contact_form_live}')).toEqual([]);
      expect(await sql('SELECT id FROM {contact_form_live_2}')).toEqual([{ id: 'a' }]);
    });
  });
}

const PARTIAL = ['_changed_at', 'created_at, status', 'status, id'];
/** The columns of the indexes on the form's table, as a full pass leaves them. */
const INDEXED = {
  SQLite: PARTIAL,
  PostgreSQL: PARTIAL,
  'MySQL or MariaDB': ['_changed_at', '_deleted_at, created_at, id, status', '_deleted_at, status'],
};

/** The definitions of the indexes on a table. */
const INDEXES = {
  SQLite: (table: string) =>
    `SELECT replace(sql, ',', ', ') AS definition FROM sqlite_schema WHERE type = 'index' AND tbl_name = '${table}' AND sql IS NOT NULL`,
  'MySQL or MariaDB': (
    table: string,
  ) => `SELECT concat('(', group_concat(column_name ORDER BY seq_in_index SEPARATOR ', '), ')') AS definition
    FROM information_schema.statistics WHERE table_schema = database() AND table_name = '${table}' GROUP BY index_name`,
  PostgreSQL: (table: string) =>
    `SELECT pg_get_indexdef(indexrelid) AS definition FROM pg_index WHERE indrelid = '{${table}}'::regclass`,
} as const;
