import { describe, expect, it } from 'vitest';
import type { Cell } from '../../src/mirror/types.ts';
import { AGE, FORM, NAME, row, sorted, type TargetStage } from './target-harness.ts';

/** What becomes of rows. */
export function describeRows(stage: TargetStage): void {
  describe('before anything was written', () => {
    it('has nothing to show, and reading makes nothing', async () => {
      expect(await stage.target.overview()).toEqual([]);
      expect(await stage.target.reader(FORM.id)).toBeUndefined();
    });

    it('checks reach and rights, and all is well', async () => {
      const results = await stage.target.check();
      expect(results.length).toBeGreaterThan(0);
      expect(results.filter((result) => !result.ok)).toEqual([]);
      expect(await stage.target.overview()).toEqual([]);
    });

    it('has a batch size and an address', () => {
      expect(stage.target.batchRows).toBeGreaterThanOrEqual(1);
      expect(stage.target.address).not.toBe('');
    });
  });

  describe('rows', () => {
    it('L1: are stored with status, time and cells, each once', async () => {
      const rows = [
        row('sub_1', { field_1_a: 'Ada', field_2_b: 36 }),
        row('sub_2', { field_1_a: 'Bob' }, { status: 'PAID', createdAt: null }),
      ];
      const result = await stage.write(async (writer) => {
        await writer.prepare([NAME, AGE]);
        return writer.apply(rows, []);
      });
      expect(result).toEqual({
        outcomes: ['inserted', 'inserted'],
        rejections: [],
        newlyListed: new Set(),
        forgotten: new Set(),
      });
      const stored = await (await stage.read()).rows(['sub_1', 'sub_2', 'sub_3']);
      expect(stored.size).toBe(2);
      expect(stored.get('sub_1')).toEqual({ ...rows[0], deletedAt: null });
      expect(stored.get('sub_2')).toEqual({
        ...rows[1],
        cells: new Map<string, Cell>([
          ['field_1_a', 'Bob'],
          ['field_2_b', null],
        ]),
        deletedAt: null,
      });
    });

    it('L4: are unchanged the second time; a change updates', async () => {
      await stage.write(async (writer) => {
        await writer.prepare([NAME, AGE]);
        const rows = [row('a', { field_1_a: 'x', field_2_b: 1.5 }), row('b', {})];
        await writer.apply(rows, []);
        expect((await writer.apply(rows, [])).outcomes).toEqual(['unchanged', 'unchanged']);
      });
      await stage.write(async (writer) => {
        await writer.prepare([NAME, AGE]);
        const { outcomes } = await writer.apply(
          [
            row('b', { field_1_a: 'y' }),
            row('a', { field_1_a: 'x', field_2_b: 1.5 }),
            row('c', {}),
          ],
          [],
        );
        expect(outcomes).toEqual(['updated', 'unchanged', 'inserted']);
      });
    });

    it('see an answer cleared, a status and a time changed', async () => {
      await stage.write(async (writer) => {
        await writer.prepare([NAME]);
        await writer.apply([row('a', { field_1_a: 'x' }), row('b'), row('c')], []);
        const { outcomes } = await writer.apply(
          [
            row('a'),
            row('b', {}, { status: 'DONE' }),
            row('c', {}, { createdAt: '2026-03-01T12:00:00.001Z' }),
          ],
          [],
        );
        expect(outcomes).toEqual(['updated', 'updated', 'updated']);
      });
      const rows = await (await stage.read()).rows(['a', 'b', 'c']);
      expect(rows.get('a')?.cells.get('field_1_a')).toBeNull();
      expect(rows.get('b')?.status).toBe('DONE');
      expect(rows.get('c')?.createdAt).toBe('2026-03-01T12:00:00.001Z');
    });

    it('keep fractions of a second to the microsecond', async () => {
      const createdAt = '2026-03-01T12:00:00.123456Z';
      await stage.write(async (writer) => {
        await writer.prepare([]);
        await writer.apply([row('a', {}, { createdAt })], []);
        expect((await writer.apply([row('a', {}, { createdAt })], [])).outcomes).toEqual([
          'unchanged',
        ]);
      });
      expect((await (await stage.read()).rows(['a'])).get('a')?.createdAt).toBe(createdAt);
    });

    it('take an empty batch', async () => {
      const result = await stage.write(async (writer) => {
        await writer.prepare([NAME]);
        return writer.apply([], []);
      });
      expect(result).toEqual({
        outcomes: [],
        rejections: [],
        newlyListed: new Set(),
        forgotten: new Set(),
      });
    });

    it('take a whole batch at once', async () => {
      const size = stage.target.batchRows;
      const rows = Array.from({ length: size }, (_, index) =>
        row(`sub_${index}`, { field_1_a: `name ${index}`, field_2_b: index }),
      );
      await stage.write(async (writer) => {
        await writer.prepare([NAME, AGE]);
        const { outcomes } = await writer.apply(rows, []);
        expect(outcomes).toEqual(rows.map(() => 'inserted'));
      });
      const reader = await stage.read();
      expect(await sorted(reader.liveIds())).toEqual(rows.map(({ id }) => id).sort());
      expect((await reader.rows(rows.map(({ id }) => id))).size).toBe(size);
    });

    it('L11: ignore cells of fields that were not prepared, and leave their columns alone', async () => {
      await stage.write(async (writer) => {
        await writer.prepare([NAME, AGE]);
        await writer.apply([row('a', { field_1_a: 'x', field_2_b: 1 })], []);
      });
      await stage.write(async (writer) => {
        await writer.prepare([NAME]);
        const { outcomes } = await writer.apply(
          [row('a', { field_1_a: 'y', field_2_b: 2, field_9_z: 'secret' })],
          [],
        );
        expect(outcomes).toEqual(['updated']);
      });
      expect(await stage.cellsOf('a')).toEqual({ field_1_a: 'y', field_2_b: 1 });
    });
  });
}
