import { describe, expect, it } from 'vitest';
import { minute, rowVersions } from './row-versions.ts';
import type { QueriedStage } from './sql-target.ts';
import { row } from './target-harness.ts';

/** What becomes of histories that people changed, or made something else of. */
export function describeChangedHistory(stage: QueriedStage): void {
  describe('a history of rows that people changed', () => {
    const { write, named, apply, sql, versionsOf } = rowVersions(stage);

    it('tells what is so now again in a column that people dropped', async () => {
      const both = (id: string, name: string) => row(id, { field_1_a: name, field_2_b: 5 });
      await apply(both('a', 'Ada'), both('b', 'Bo'));
      await apply(both('a', 'Eva'));
      await sql('ALTER TABLE {contact_form_history} DROP COLUMN full_name');
      await apply();
      expect(
        await sql('SELECT id, full_name FROM {contact_form_history} ORDER BY id, _valid_from'),
      ).toEqual([
        { id: 'a', full_name: null },
        { id: 'a', full_name: 'Eva' },
        { id: 'b', full_name: 'Bo' },
      ]);
    });

    it('is made again where people dropped it, and goes on where they dropped the table', async () => {
      await apply(named('a', 'Ada'));
      await stage.place.damage?.dropPlace();
      await apply(named('a', 'Eva'));
      expect(await versionsOf('a')).toEqual([
        ['Ada', false, minute(0), minute(1)],
        ['Eva', false, minute(1), null],
      ]);
      await sql('DROP TABLE {contact_form_history}');
      await apply(named('a', 'Ida'));
      // As it was before this pass, and by it: one instant.
      expect(await versionsOf('a')).toEqual([['Ida', false, minute(2), null]]);
    });

    it('takes another name where people made something else of its own', async () => {
      await apply(named('a', 'Ada'));
      await sql('DROP TABLE {contact_form_history}');
      await sql('CREATE TABLE {contact_form_history} (id integer, note char(9))');
      await apply(named('a', 'Eva'));
      await write((writer) => writer.forget(['z'], minute(9)));
      expect(await sql('SELECT id, full_name FROM {contact_form_history_2}')).toEqual([
        { id: 'a', full_name: 'Eva' },
      ]);
      expect(await sql('SELECT * FROM {contact_form_history}')).toEqual([]);
      const names = ((await stage.target.relations())?.relations ?? []).map(({ name }) => name);
      expect(names.filter((name) => name.includes('history'))).toContain('contact_form_history_2');
    });

    it('L18: is left by what is forgotten though people changed it, or says that it can not be', async () => {
      await apply(named('a', 'Ada'), named('b', 'Bo'), named('c', 'Cy'));
      await sql('ALTER TABLE {contact_form_history} RENAME COLUMN _is_deleted TO gone');
      const idsIn = async (table: string) =>
        (await sql(`SELECT DISTINCT id FROM {${table}} ORDER BY id`)).map((one) => one['id']);
      expect(await (await stage.read()).traces(['a'])).toMatchObject({ rows: 1, history: 2 });
      await write((writer) => writer.forget(['a'], minute(9)));
      // By then there is another one.
      expect(await idsIn('contact_form_history')).toEqual(['b', 'c']);
      expect(await idsIn('contact_form_history_2')).toEqual(['b', 'c']);
      await write((writer) => writer.forget(['b'], minute(9)));
      expect(await idsIn('contact_form_history')).toEqual(['c']);
      expect(await idsIn('contact_form_history_2')).toEqual(['c']);
      await sql('ALTER TABLE {contact_form_history} RENAME COLUMN id TO who');
      const forget = write((writer) => writer.forget(['c'], minute(9)));
      await expect(forget).rejects.toMatchObject({ code: 'TARGET_FAILED' });
      await expect(forget).rejects.toThrow(/contact_form_history .* no column id/);
      expect(await (await stage.open()).overview()).toMatchObject([{ rows: 1 }]);
    });
  });
}
