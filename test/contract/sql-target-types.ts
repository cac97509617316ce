import { describe, expect, it } from 'vitest';
import { type Cell, ExactNumber, JsonText, type PickedField } from '../../src/mirror/types.ts';
import { dropViews } from './sql-by-hand.ts';
import type { QueriedStage } from './sql-target.ts';
import { AGE, CHECKPOINT, field, fieldList, NAME, pass, row } from './target-harness.ts';

/** What type a column has, for ever, and where what it can't hold stands. */
export function describeSqlTypes(stage: QueriedStage): void {
  const sql = (text: string) =>
    stage.place.query(
      text.replace(/\{(\w+)\}/g, (_all, name: string) => stage.place.relation(name)),
    );
  /** Stores these answers to one question, in rows a, b, c, …; what became of them. */
  const store = (cells: readonly Cell[], fields: readonly PickedField[] = [NAME, AGE]) =>
    stage.write(async (writer) => {
      await writer.prepare(fields);
      const rows = cells.map((cell, nth) =>
        row(String.fromCodePoint(97 + nth), { field_2_b: cell }),
      );
      const { outcomes } = await writer.apply(rows, []);
      expect((await writer.apply(rows, [])).outcomes).toEqual(rows.map(() => 'unchanged'));
      return outcomes;
    });
  const typeOf = async (column = 'age') => {
    const rows = await sql(`SELECT type FROM {mirror_fields} WHERE column_name = '${column}'`);
    return rows[0]?.['type'];
  };
  /** Both columns of the rows, the numbers as doubles. */
  const columns = async () => {
    const rows = await sql('SELECT age, age_text FROM {contact_form} ORDER BY id');
    return rows.map(({ age, age_text: text }) => [age === null ? null : Number(age), text]);
  };
  const answers = async (many: number) => {
    const ids = Array.from({ length: many }, (_, nth) => String.fromCodePoint(97 + nth));
    const stored = await (await stage.read()).rows(ids);
    return ids.map((id) => stored.get(id)?.cells.get('field_2_b'));
  };

  describe('types that hold', () => {
    it('L10: blanks leave a column of numbers one of numbers, and are no answers there', async () => {
      await store(['', '', null]);
      expect([await typeOf(), await answers(3)]).toEqual([null, ['', '', null]]);
      expect(await store(['', 4, ''])).toEqual(['unchanged', 'updated', 'unchanged']);
      expect([await typeOf(), await answers(3)]).toEqual(['number', [null, 4, null]]);
      expect(await store(['', 4, '', ''])).toEqual([
        'unchanged',
        'unchanged',
        'unchanged',
        'inserted',
      ]);
      const [sums] = await sql(
        'SELECT CAST(sum(age) AS text) AS total, CAST(count(age) AS text) AS many FROM {contact_form}',
      );
      expect(sums).toEqual({ total: '4', many: '1' });
      const names = await sql('SELECT text_column FROM {mirror_fields}');
      expect(names.map((one) => one['text_column'])).toEqual([null, null]);
    });

    it('L10: numbers in a list come back digit by digit', async () => {
      const lists = ['[0.55587577846274,-0.707176497086]', '{"a":[20000000000000000000,1.5]}'];
      const cells = lists.map((text) => new JsonText(text));
      await store(cells);
      expect([await typeOf(), await answers(2)]).toEqual(['json', cells]);
    });

    it('L9, L10: a text among numbers goes beside them, and an answer moves between the two', async () => {
      await store([1, 2.5, 3]);
      await store([1, 'two', 3, '4']);
      expect(await columns()).toEqual([
        [1, null],
        [null, 'two'],
        [3, null],
        [null, '4'],
      ]);
      expect(await answers(4)).toEqual([1, 'two', 3, '4']);
      expect(await store(['one', 2, '', 4])).toEqual(['updated', 'updated', 'updated', 'updated']);
      expect(await columns()).toEqual([
        [null, 'one'],
        [2, null],
        [null, null],
        [4, null],
      ]);
      expect(await answers(4)).toEqual(['one', 2, null, 4]);
      expect(await typeOf()).toBe('number');
    });

    it('L10: the first answer decides', async () => {
      await store(['', 'two', 2]);
      expect([await typeOf(), await answers(3)]).toEqual(['text', ['', 'two', '2']]);
      const rows = await sql('SELECT age FROM {contact_form} ORDER BY id');
      expect(rows.map((one) => one['age'])).toEqual(['', 'two', '2']);
    });

    it('L10: every number keeps all its digits, and counts in a sum', async () => {
      const exact = ['123456789012345678901234567890', '0.1000000000000000055511151231257827'];
      const numbers = [5, ...exact.map((digits) => new ExactNumber(digits))];
      await store(numbers);
      expect(await answers(3)).toEqual(numbers);
      expect(await typeOf()).toBe('number');
      const [sum] = await sql('SELECT sum(age) AS total FROM {contact_form}');
      expect(Number(sum?.['total'])).toBe(1.2345678901234568e29);
      await store([numbers[1] ?? 0, 'x', 7]);
      expect(await answers(3)).toEqual([numbers[1], 'x', 7]);
      await store([8, '123456789012345678901234567890', 7]);
      expect(await answers(3)).toEqual([8, exact[0], 7]);
    });

    it('L10: lists are JSON that the database takes apart, and anything else stands beside it', async () => {
      const list = new JsonText('["red","blue"]');
      const cells = [list, '', new JsonText('{"a":[1,{"b":null}]}'), 'red', 12, '["red","blue"]'];
      await store(cells);
      expect(await typeOf()).toBe('json');
      expect(await answers(6)).toEqual([list, null, cells[2], 'red', '12', '["red","blue"]']);
      const parts = await sql(
        stage.place.product === 'SQLite'
          ? `SELECT j.value AS one FROM contact_form AS t, json_each(t.age) AS j WHERE t.id = 'a' ORDER BY 1`
          : stage.place.product === 'MySQL or MariaDB'
            ? `SELECT j.one FROM contact_form AS t, json_table(t.age, '$[*]' COLUMNS (one varchar(20) PATH '$')) AS j WHERE t.id = 'a' ORDER BY 1`
            : `SELECT jsonb_array_elements_text(age) AS one FROM {contact_form} WHERE id = 'a' ORDER BY 1`,
      );
      expect(parts.map(({ one }) => one)).toEqual(['blue', 'red']);
      await store(['red', list]);
      expect(await answers(2)).toEqual(['red', list]);
    });

    it('L9: its name is free, and holds through relabels and further fields', async () => {
      const other = field('f3', 'Age text');
      await store([1, 'two'], fieldList(NAME, AGE, other));
      const named = async () =>
        (await sql('SELECT column_name, text_column FROM {mirror_fields} ORDER BY ordinal')).map(
          (one) => [one['column_name'], one['text_column']],
        );
      const columnsNow = [
        ['full_name', null],
        ['age', 'age_text_2'],
        ['age_text', null],
      ];
      expect(await named()).toEqual(columnsNow);
      const relabelled = fieldList(
        NAME,
        { ...AGE, label: 'Years' },
        other,
        field('f4', 'Age text 2'),
      );
      await store(['one', 2], relabelled);
      expect(await named()).toEqual([...columnsNow, ['age_text_2_2', null]]);
      const [shown] = await sql(
        `SELECT "Years" AS n, "Years (text)" AS t FROM {contact_form_labelled} WHERE id = 'a'`,
      );
      expect(shown).toEqual({ n: null, t: 'one' });
    });

    it('L17: where answers stand beside their column is named, without reading rows', async () => {
      await store([1]);
      expect(await (await stage.read()).notices()).toEqual([]);
      await store([1, 'two']);
      const notices = await (await stage.read()).notices();
      expect(notices).toMatchObject([{ code: 'ANSWERS_BESIDE', blocks: false, columns: ['Age'] }]);
      expect(notices[0]?.message).toMatch(/contact_form .* age in age_text\.$/);
      expect(notices[0]?.remedy).toContain('"Age (text)"');
      expect((await stage.target.overview())[0]?.notices).toEqual(notices);
    });

    it('L5: a column of texts that people dropped is missed, made again and filled', async () => {
      await store([1, 'two']);
      await stage.write((writer) => writer.finish(pass(), { checkpoint: CHECKPOINT }));
      await dropViews(stage.place);
      await sql('ALTER TABLE {contact_form} DROP COLUMN age_text');
      expect(await answers(2)).toEqual([1, null]);
      const lost = [{ what: 'column', name: 'Age (text)' }];
      expect(await (await stage.read()).losses()).toEqual(lost);
      expect((await stage.target.overview())[0]?.losses).toEqual(lost);
      expect(await store([1, 'two'])).toEqual(['unchanged', 'updated']);
      expect(await columns()).toEqual([
        [1, null],
        [null, 'two'],
      ]);
      expect(await (await stage.read()).checkpoint()).toBeUndefined();
    });

    it('L9: a column of texts that people drop takes its type from the next answers', async () => {
      await store(['two', 2]);
      await dropViews(stage.place);
      await sql('ALTER TABLE {contact_form} DROP COLUMN age');
      await store([3, 2]);
      expect([await typeOf(), await answers(2)]).toEqual(['number', [3, 2]]);
    });

    it('L18: what stands beside a column is emptied with it', async () => {
      await store([1, 'two']);
      const reader = await stage.read();
      expect(await reader.countFilled(['field_2_b'])).toBe(2);
      await stage.write((writer) => writer.emptyFields(['field_2_b'], '2026-04-01T00:00:00.000Z'));
      expect(await columns()).toEqual([
        [null, null],
        [null, null],
      ]);
      expect(await reader.countFilled(['field_2_b'])).toBe(0);
      await store([1, 'two']);
      expect(await answers(2)).toEqual([1, 'two']);
    });

    it('L1: a very wide form of numbers that meet texts loses nothing', async () => {
      const fields = fieldList(
        ...Array.from({ length: 2_000 }, (_, nth) => field(`field_${nth}_w`, `Question ${nth}`)),
      );
      const cellsOf = (make: (nth: number) => Cell) =>
        new Map(fields.map(({ id }, nth) => [id, make(nth)]));
      // The first ones have a column of their own, and the table has no room for one beside it.
      const numbers = row('a', {}, { cells: cellsOf((nth) => (nth < 20 ? nth : `text ${nth}`)) });
      const texts = row('b', {}, { cells: cellsOf((nth) => `other ${nth}`) });
      await stage.write(async (writer) => {
        await writer.prepare(fields);
        await writer.apply([numbers], []);
        expect((await writer.apply([texts, numbers], [])).outcomes).toEqual([
          'inserted',
          'unchanged',
        ]);
        expect((await writer.apply([texts, numbers], [])).outcomes).toEqual([
          'unchanged',
          'unchanged',
        ]);
      });
      const stored = await (await stage.read()).rows(['a', 'b']);
      for (const { id, cells } of [numbers, texts]) expect(stored.get(id)?.cells).toEqual(cells);
      const [first] = await sql('SELECT text_stored_in FROM {mirror_fields} WHERE ordinal = 0');
      expect(first).toEqual({ text_stored_in: '_more' });
    });
  });
}
