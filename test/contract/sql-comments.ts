import { beforeEach, describe, expect, it } from 'vitest';
import { type Cell, JsonText, type PickedField } from '../../src/mirror/types.ts';
import { TestClock } from '../support/test-clock.ts';
import { sqlOf } from './sql-by-hand.ts';
import type { SqlStage } from './sql-target.ts';
import { AGE, AT_ONCE, CHECKPOINT, field, FORM, NAME, pass, row } from './target-harness.ts';

const IN_SCHEMA =
  "c.relkind IN ('r', 'v') AND c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = '{mirror_forms}'::regclass)";
const COMMENTS = {
  PostgreSQL: `SELECT c.relname::text AS relation, '' AS col, coalesce(obj_description(c.oid), '') AS comment
    FROM pg_class AS c WHERE ${IN_SCHEMA}
    UNION ALL SELECT c.relname::text, attname::text, coalesce(col_description(attrelid, attnum), '')
    FROM pg_class AS c JOIN pg_attribute ON attrelid = c.oid AND attnum > 0 AND NOT attisdropped WHERE ${IN_SCHEMA}`,
  // Views have none there.
  'MySQL or MariaDB': `SELECT table_name AS relation, '' AS col, table_comment AS comment
    FROM information_schema.tables WHERE table_schema = database() AND table_type = 'BASE TABLE'
    UNION ALL SELECT c.table_name, c.column_name, c.column_comment FROM information_schema.columns AS c
    JOIN information_schema.tables AS t ON t.table_schema = c.table_schema AND t.table_name = c.table_name
    WHERE c.table_schema = database() AND t.table_type = 'BASE TABLE'`,
  SQLite: '',
} as const;

/** What people are told in their tools of tables and columns, by databases that have comments. */
export function describeComments(stage: SqlStage): void {
  describe('comments', () => {
    let clock: TestClock;
    beforeEach(() => {
      clock = new TestClock(Date.UTC(2026, 2, 5));
    });
    const sql = (text: string) => sqlOf(stage)(text);
    /** By table and column; a table's own under its name. */
    const comments = async (): Promise<Map<string, string>> => {
      const rows = await sql(COMMENTS[stage.place.product]);
      return new Map(
        rows.map((one) => [
          [one['relation'], one['col']].filter((part) => part !== '').join('.'),
          String(one['comment']),
        ]),
      );
    };
    const passOver = async (fields: readonly PickedField[], answers: Record<string, Cell>) => {
      await using target = await stage.place.open('default', clock, 'full');
      await using writer = await target.openWriter(FORM, AT_ONCE);
      await writer.prepare(fields);
      await writer.apply([row('a', answers)], []);
      await writer.finish(pass({ kind: 'full' }), { checkpoint: CHECKPOINT });
    };
    const odd = field('f3', "It's \\ odd\n\u{1F600}" + 'x'.repeat(2_000));

    it('tables and columns of ours have comments, in the catalogue and the history, too', async () => {
      await passOver([NAME, AGE, odd], { field_1_a: 'x', field_2_b: 5, f3: 'y' });
      const all = await comments();
      const without = [...all].filter(
        ([name, comment]) =>
          comment === '' && !/^mirror_\w+\.|^contact_form_labelled\.(Full name|Age|It)/.test(name),
      );
      expect(without).toEqual([]);
      expect(all.get('contact_form')).toBe(
        'The submissions of Contact form, those that are marked deleted included.',
      );
      expect(all.get('contact_form._deleted_at')).toMatch(/^When the submission was found deleted/);
      expect(all.get('contact_form_history._valid_to')).toMatch(
        /^Until when, without that instant/,
      );
      expect(all.get('mirror_passes')).toMatch(/^Every pass/);
    });

    it('L9: labels are comments on the columns, and follow relabels and types', async () => {
      const list = field('f4', 'Cities');
      const answers = { field_1_a: 'x', f3: 'y', f4: new JsonText('["Ulm"]') };
      await passOver([NAME, AGE, odd, list], answers);
      await passOver([{ ...NAME, label: 'Who?' }, AGE, odd, list], { ...answers, field_2_b: 5 });
      await passOver([{ ...NAME, label: 'Who?' }, AGE, odd], { ...answers, field_2_b: 'five' });
      const all = await comments();
      const label = (name: string): string | undefined => all.get(`contact_form.${name}`);
      expect(['full_name', 'age', 'age_text', 'cities'].map(label)).toEqual([
        'Who?',
        'Age',
        'Age (text)',
        'Cities (no longer in the form, or no longer picked)',
      ]);
      expect(all.get('contact_form_history.full_name')).toBe('Who?');
      const name = [...all.keys()].find((one) => one.startsWith('contact_form.it'));
      expect(all.get(name ?? '')).toMatch(/^It's [\\\uFF3C] odd ?/);
    });

    it('a column without answers keeps what people made of it, and the form goes on', async ({
      skip,
    }) => {
      if (stage.place.product !== 'MySQL or MariaDB')
        skip('what a column is stands in one place there alone');
      const fields = ['a', 'b', 'c', 'd', 'e'].map((id) => field(id, `Column ${id}`));
      await passOver(fields, {});
      const made = [
        "MODIFY column_a longtext DEFAULT 'n/a' CHECK (column_a <> 'z')",
        'MODIFY column_b longtext INVISIBLE',
        "MODIFY column_c longtext NOT NULL DEFAULT ''",
        'ADD FULLTEXT INDEX theirs (column_d)',
        'ADD SYSTEM VERSIONING',
      ];
      for (const action of made) await sql(`ALTER TABLE {contact_form} ${action}`);
      await passOver([...fields, field('f', 'New')], { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6 });
      const [table] = await sql('SHOW CREATE TABLE {contact_form}');
      const text = String(table?.['Create Table']);
      expect(text).toMatch(/"column_a" longtext DEFAULT 'n\/a'.* CHECK \("column_a" <> 'z'\)/);
      expect(text).toMatch(/"column_b" longtext INVISIBLE/);
      expect(text).toMatch(/"column_c" longtext NOT NULL DEFAULT ''/);
      expect(text).toMatch(/FULLTEXT KEY "theirs"/);
      expect(text).toMatch(/"column_e" double/);
      expect(
        await sql(
          "SELECT column_a, column_b, column_c, column_d, column_e, new FROM {contact_form} WHERE id = 'a'",
        ),
      ).toEqual([
        { column_a: '1', column_b: '2', column_c: '3', column_d: '4', column_e: 5, new: 6 },
      ]);
    });

    it('L10: a row that is there is changed where a trigger or versions of theirs make its insertion a change', async ({
      skip,
    }) => {
      if (stage.place.product !== 'MySQL or MariaDB') skip('others insert in another way');
      const versioned = 'ALTER TABLE {contact_form} ADD SYSTEM VERSIONING';
      const trigger =
        'CREATE TRIGGER theirs BEFORE UPDATE ON {contact_form} FOR EACH ROW SET NEW.age = coalesce(NEW.age, 0) + 1';
      await passOver([NAME, AGE], { field_1_a: 'x', field_2_b: 1 });
      for (const [nth, made] of [versioned, trigger].entries()) {
        await sql(made);
        await passOver([NAME, AGE], { field_1_a: `changed ${nth}`, field_2_b: 1 });
        const rows = await sql('SELECT full_name FROM {contact_form}');
        expect(rows).toEqual([{ full_name: `changed ${nth}` }]);
      }
      // Two at once, of which one is new.
      await stage.write(async (writer) => {
        await writer.prepare([NAME, AGE]);
        const both = ['a', 'b'].map((id) => row(id, { field_1_a: 'both' }));
        expect((await writer.apply(both, [])).outcomes).toEqual(['updated', 'inserted']);
      });
      const rows = await sql('SELECT full_name FROM {contact_form}');
      expect(rows).toEqual([{ full_name: 'both' }, { full_name: 'both' }]);
    });

    it('a column keeps what people made of it', async ({ skip }) => {
      if (stage.place.product !== 'MySQL or MariaDB')
        skip('a comment is a part of the column there alone');
      await passOver([NAME, AGE], { field_1_a: 'x', field_2_b: 5 });
      await sql(
        "ALTER TABLE {contact_form} MODIFY full_name varchar(300) CHARACTER SET latin1 NULL DEFAULT 'none' COMMENT 'ours'",
      );
      await sql("ALTER TABLE {contact_form} MODIFY age double NULL COMMENT '' CHECK (age < 1000)");
      const before = await sql('SHOW CREATE TABLE {contact_form}');
      await passOver(
        [
          { ...NAME, label: 'Who?' },
          { ...AGE, label: 'How old?' },
        ],
        { field_1_a: 'z' },
      );
      const textOf = (rows: Record<string, unknown>[]): string => String(rows[0]?.['Create Table']);
      const after = textOf(await sql('SHOW CREATE TABLE {contact_form}'));
      expect(after).toContain("DEFAULT 'none' COMMENT 'ours'");
      expect(after.replace(" COMMENT 'How old?'", '')).toBe(textOf(before));
    });
  });
}
