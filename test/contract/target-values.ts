import { describe, expect, it } from 'vitest';
import { sameCell } from '../../src/mirror/cell.ts';
import { type Cell, ExactNumber } from '../../src/mirror/types.ts';
import { AGE, field, fieldList, NAME, row, type TargetStage } from './target-harness.ts';

/** What becomes of answers (L10). */
export function describeValues(stage: TargetStage): void {
  describe('L10: values', () => {
    const VALUES: readonly Cell[] = [
      'Žluťoučký kůň 😀 👩‍👩‍👧',
      '=IMPORTXML("http://x","//a")',
      '+420 123 456 789',
      "-1'; DROP TABLE x; --",
      '00123',
      '12345678901234567890',
      '1-2',
      'two\nlines\r\nand\ttab',
      ' spaces at both ends ',
      '{"a":[1,null],"b":"\\"}',
      '{NULL,"NULL"}',
      'NULL',
      '\\N',
      '\u200b\ufeff',
      'x'.repeat(40_000),
      'true',
    ];
    const NUMBERS: readonly Cell[] = [
      0,
      -1,
      36,
      1.5,
      0.1,
      1e21,
      5e-324,
      1.7976931348623157e308,
      Number.MAX_SAFE_INTEGER,
      new ExactNumber('9007199254740993'),
      new ExactNumber('-9223372036854775808'),
      new ExactNumber('123456789012345678901234567890'),
      new ExactNumber('0.1000000000000000055511151231257827'),
      1152921504606847000,
    ];

    it('pass as texts', async () => {
      const rows = VALUES.map((value, index) => row(`v${index}`, { field_1_a: value }));
      await stage.write(async (writer) => {
        await writer.prepare([NAME]);
        expect((await writer.apply(rows, [])).rejections).toEqual([]);
        expect((await writer.apply(rows, [])).outcomes).toEqual(rows.map(() => 'unchanged'));
      });
      const stored = await (await stage.read()).rows(rows.map(({ id }) => id));
      expect(rows.map(({ id }) => stored.get(id)?.cells.get('field_1_a'))).toEqual(VALUES);
    });

    it('pass as numbers', async () => {
      const rows = NUMBERS.map((value, index) => row(`n${index}`, { field_2_b: value }));
      await stage.write(async (writer) => {
        await writer.prepare([AGE]);
        expect((await writer.apply(rows, [])).rejections).toEqual([]);
        expect((await writer.apply(rows, [])).outcomes).toEqual(rows.map(() => 'unchanged'));
      });
      const stored = await (await stage.read()).rows(rows.map(({ id }) => id));
      expect(rows.map(({ id }) => stored.get(id)?.cells.get('field_2_b'))).toEqual(NUMBERS);
    });

    it('keep every number exactly when a column of numbers meets text', async () => {
      const numbers = NUMBERS.map((value, index) => row(`n${index}`, { field_2_b: value }));
      const all = [...numbers, row('t', { field_2_b: 'thirty' })];
      await stage.write(async (writer) => {
        await writer.prepare([AGE]);
        await writer.apply(numbers, []);
        expect((await writer.apply(all.slice(-1), [])).outcomes).toEqual(['inserted']);
        expect((await writer.apply(all, [])).outcomes).toEqual(all.map(() => 'unchanged'));
      });
      const stored = await (await stage.read()).rows(all.map(({ id }) => id));
      const differing = all.filter(
        ({ id, cells }) =>
          !sameCell(stored.get(id)?.cells.get('field_2_b') ?? null, cells.get('field_2_b') ?? null),
      );
      expect(differing).toEqual([]);
    });

    it('take text and numbers in one batch, in one row and alone', async () => {
      const fields = fieldList(NAME, AGE, field('field_3_c', 'Extra'));
      const rows = [
        row('a', { field_1_a: 1, field_2_b: 'x', field_3_c: 3 }),
        row('b', { field_1_a: 'y', field_2_b: 2 }),
      ];
      await stage.write(async (writer) => {
        await writer.prepare(fields);
        await writer.apply(rows, []);
        expect((await writer.apply(rows, [])).outcomes).toEqual(['unchanged', 'unchanged']);
      });
      const cells = await stage.cellsOf('a');
      expect(sameCell(cells['field_1_a'] ?? null, 1)).toBe(true);
      expect(cells['field_3_c']).toBe(3);
    });

    it('with half a character or U+0000 are stored visibly or as they are, and never lost', async () => {
      const rows = [
        row('a', { field_1_a: 'bad \ud800 half' }),
        row('b', { field_1_a: 'a nul \0 here' }),
        row('c', { field_1_a: 'fine' }),
      ];
      const result = await stage.write(async (writer) => {
        await writer.prepare([NAME]);
        return writer.apply(rows, []);
      });
      expect(result.outcomes).toEqual(['inserted', 'inserted', 'inserted']);
      expect(result.rejections.every((item) => item.stored)).toBe(true);
      const stored = await (await stage.read()).rows(['a', 'b', 'c']);
      expect(stored.get('a')?.cells.get('field_1_a')).toBe('bad \u{FFFD} half');
      expect(['a nul \0 here', 'a nul \u{FFFD} here', 'a nul \u2400 here']).toContain(
        stored.get('b')?.cells.get('field_1_a'),
      );
      const listed = new Set(result.rejections.map((item) => item.submissionId));
      expect(listed.has('a')).toBe(true);
      expect(listed.has('c')).toBe(false);
    });

    it('under a field ID such as __proto__ are answers like any other', async () => {
      const fields = fieldList(field('__proto__', 'Odd'), field('constructor', 'Odder'));
      const cells = new Map<string, Cell>([
        ['__proto__', 'one'],
        ['constructor', 2],
      ]);
      await stage.write(async (writer) => {
        await writer.prepare(fields);
        await writer.apply([row('a', {}, { cells })], []);
      });
      expect((await (await stage.read()).rows(['a'])).get('a')?.cells).toEqual(cells);
    });
  });
}
