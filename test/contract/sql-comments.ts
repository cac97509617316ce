import { beforeEach, describe, expect, it } from 'vitest';
import { type Cell, JsonText, type PickedField } from '../../src/mirror/types.ts';
import { TestClock } from '../support/test-clock.ts';
import { sqlOf } from './sql-by-hand.ts';
import type { SqlStage } from './sql-target.ts';
import { AGE, AT_ONCE, CHECKPOINT, field, FORM, NAME, pass, row } from './target-harness.ts';

const IN_SCHEMA =
  "c.relkind IN ('r', 'v') AND c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = '{mirror_forms}'::regclass)";
const COMMENTS = `SELECT c.relname::text AS relation, '' AS col, coalesce(obj_description(c.oid), '') AS comment
    FROM pg_class AS c WHERE ${IN_SCHEMA}
    UNION ALL SELECT c.relname::text, attname::text, coalesce(col_description(attrelid, attnum), '')
    FROM pg_class AS c JOIN pg_attribute ON attrelid = c.oid AND attnum > 0 AND NOT attisdropped WHERE ${IN_SCHEMA}`;

/** What people are told in their tools of tables and columns of PostgreSQL. */
export function describeComments(stage: SqlStage): void {
  describe('comments', () => {
    let clock: TestClock;
    beforeEach(() => {
      clock = new TestClock(Date.UTC(2026, 2, 5));
    });
    const sql = (text: string) => sqlOf(stage)(text);
    /** By table and column; a table's own under its name. */
    const comments = async (): Promise<Map<string, string>> => {
      const rows = await sql(COMMENTS);
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
  });
}
