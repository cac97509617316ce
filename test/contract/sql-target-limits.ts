import { describe, expect, it } from 'vitest';
import type { Cell, Row } from '../../src/mirror/types.ts';
import { ExactNumber } from '../../src/mirror/types.ts';
import type { QueriedStage } from './sql-target.ts';
import { field, fieldList, NAME, row, sorted } from './target-harness.ts';

/** Fields of a very wide form. */
const wideFields = (count: number) =>
  fieldList(
    ...Array.from({ length: count }, (_, index) => field(`field_${index}_w`, `Question ${index}`)),
  );

/** A row with an answer of `length` characters in every field, no two alike. */
function wideRow(id: string, count: number, length: number): Row {
  const cells = new Map<string, Cell>();
  for (let index = 0; index < count; index++) {
    cells.set(`field_${index}_w`, `${id}:${index}:`.padEnd(length, 'ž').slice(0, length));
  }
  return row(id, {}, { cells });
}

/** Where databases end: width, size, number of rows. */
export function describeSqlLimits(stage: QueriedStage): void {
  describe('limits', () => {
    // PostgreSQL keeps values up to 24 bytes in the row, and for longer ones a pointer: both kinds must fit.
    it.each([12, 24, 30, 200])(
      'L1: a form of 2,000 fields, each with an answer of %i characters, loses nothing',
      async (length) => {
        const fields = wideFields(2_000);
        const rows = [1, 2, 3].map((index) => wideRow(`w${index}`, 2_000, length));
        await stage.write(async (writer) => {
          expect((await writer.prepare(fields)).added).toHaveLength(2_000);
          const result = await writer.apply(rows, []);
          expect(result).toMatchObject({ outcomes: rows.map(() => 'inserted'), rejections: [] });
          expect((await writer.apply(rows, [])).outcomes).toEqual(rows.map(() => 'unchanged'));
        });
        const stored = await (await stage.read()).rows(rows.map(({ id }) => id));
        for (const { id, cells } of rows) expect(stored.get(id)?.cells).toEqual(cells);
      },
    );

    it('a very wide form takes changes, new fields and relabels, and shows its answers in the view', async () => {
      const fields = wideFields(2_000);
      const relabelled = fields.map((one) =>
        field(one.id, one.label.replace('Question', 'Frage'), { position: one.position }),
      );
      const last = field('field_late_w', 'Late', { position: 2_000 });
      const late = new Map<string, Cell>([
        ...wideRow('w1', 2_000, 30).cells,
        ['field_late_w', 'at last'],
        ['field_1999_w', 5],
        ['field_1998_w', new ExactNumber('123456789012345678901234567890')],
        ['field_1997_w', null],
      ]);
      await stage.write(async (writer) => {
        await writer.prepare(fields);
        await writer.apply([wideRow('w1', 2_000, 30), wideRow('w2', 2_000, 30)], []);
        await writer.prepare([...relabelled, last]);
        const rows = [row('w1', {}, { cells: late }), wideRow('w2', 2_000, 30)];
        expect((await writer.apply(rows, [])).outcomes).toEqual(['updated', 'unchanged']);
        expect((await writer.apply(rows, [])).outcomes).toEqual(['unchanged', 'unchanged']);
      });
      const [overflown] = await stage.place.query(
        `SELECT column_name, view_label FROM ${stage.place.relation('mirror_fields')}
         WHERE stored_in = '_more' AND view_label IS NOT NULL ORDER BY ordinal LIMIT 1`,
      );
      const label = String(overflown?.['view_label']);
      expect(label).toMatch(/^Frage \d+$/);
      const [shown] = await stage.place.query(
        `SELECT "${label}" AS answer, "Frage 0" AS first
         FROM ${stage.place.relation('contact_form_labelled')} WHERE id = 'w1'`,
      );
      const index = Number(label.slice('Frage '.length));
      const expected = wideRow('w1', 2_000, 30).cells;
      expect(shown).toMatchObject({
        answer: expected.get(`field_${index}_w`),
        first: expected.get('field_0_w'),
      });
      const { cells } = (await (await stage.read()).rows(['w1'])).get('w1') ?? {};
      expect(cells?.get('field_late_w')).toBe('at last');
      expect(cells?.get('field_1999_w')).toBe(5);
      expect(cells?.get('field_1997_w')).toBeNull();
    });

    it('L11: answers in the overflow column stay when their fields are not picked any more', async () => {
      const fields = wideFields(2_000);
      const rest = fields.filter((one) => one.id !== 'field_1990_w');
      await stage.write(async (writer) => {
        await writer.prepare(fields);
        await writer.apply([wideRow('w1', 2_000, 30)], []);
        await writer.prepare(rest);
        const changed = new Map([...wideRow('w1', 2_000, 30).cells, ['field_1991_w', 'new']]);
        changed.set('field_1990_w', 'not picked');
        const rows = [row('w1', {}, { cells: changed }), wideRow('w2', 2_000, 30)];
        expect((await writer.apply(rows, [])).outcomes).toEqual(['updated', 'inserted']);
        expect((await writer.apply(rows, [])).outcomes).toEqual(['unchanged', 'unchanged']);
      });
      const stored = await (await stage.read()).rows(['w1', 'w2']);
      const before = wideRow('w1', 2_000, 30).cells.get('field_1990_w');
      expect(stored.get('w1')?.cells.get('field_1990_w')).toBe(before);
      expect(stored.get('w1')?.cells.get('field_1991_w')).toBe('new');
      expect(stored.get('w2')?.cells.get('field_1990_w')).toBeNull();
    });

    it('an answer of several million characters is an answer like any other', async () => {
      const long = 'žluťoučký '.repeat(600_000);
      const rows = [row('a', { field_1_a: long }), row('b', { field_1_a: 'short' })];
      await stage.write(async (writer) => {
        await writer.prepare([NAME]);
        expect((await writer.apply(rows, [])).outcomes).toEqual(['inserted', 'inserted']);
        expect((await writer.apply(rows, [])).outcomes).toEqual(['unchanged', 'unchanged']);
      });
      expect((await stage.cellsOf('a'))['field_1_a']).toBe(long);
    });

    it('L14: IDs of many rows come in chunks', async () => {
      const ids = Array.from({ length: 11_000 }, (_, index) => `sub_${index}`);
      await stage.write(async (writer) => {
        await writer.prepare([]);
        for (let start = 0; start < ids.length; start += 1_000) {
          await writer.apply(
            ids.slice(start, start + 1_000).map((id) => row(id)),
            [],
          );
        }
        expect(await writer.markDeleted(ids.slice(0, 3_000), '2026-01-01T00:00:00.000Z')).toBe(
          3_000,
        );
      });
      const reader = await stage.read();
      const chunks: number[] = [];
      for await (const chunk of reader.liveIds()) chunks.push(chunk.length);
      expect(chunks).toEqual([5_000, 3_000]);
      const live = ids.slice(3_000).sort();
      expect(await sorted(reader.liveIds())).toEqual(live);
      expect(
        await sorted(
          reader.markCandidates(['NEW', 'PAID'], {
            wanted: 'DONE',
            since: '1970-01-01T00:00:00.000Z',
          }),
        ),
      ).toEqual(live);
    });
  });
}
