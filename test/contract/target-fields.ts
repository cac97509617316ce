import { describe, expect, it } from 'vitest';
import { AGE, field, fieldList, NAME, row, type TargetStage } from './target-harness.ts';

/** What becomes of fields (L9). */
export function describeFields(stage: TargetStage): void {
  describe('L9: fields', () => {
    const labels = async (): Promise<Record<string, string>> =>
      Object.fromEntries((await (await stage.read()).fields()).map((one) => [one.id, one.label]));

    it('are reported once when new, and not again', async () => {
      await stage.write(async (writer) => {
        expect(await writer.prepare([NAME, AGE])).toEqual({
          added: ['Full name', 'Age'],
          relabelled: [],
          removed: [],
        });
      });
      await stage.write(async (writer) => {
        expect(await writer.prepare([NAME, AGE])).toEqual({
          added: [],
          relabelled: [],
          removed: [],
        });
      });
    });

    it('follow a relabel in the same column', async () => {
      await stage.write(async (writer) => {
        await writer.prepare([NAME, AGE]);
        await writer.apply([row('a', { field_1_a: 'x', field_2_b: 1 })], []);
      });
      const before = await (await stage.read()).fields();
      await stage.write(async (writer) => {
        const result = await writer.prepare([{ ...NAME, label: 'Your name' }, AGE]);
        expect(result.relabelled).toEqual([{ from: 'Full name', to: 'Your name' }]);
        expect(result.added).toEqual([]);
      });
      expect(await labels()).toEqual({ field_1_a: 'Your name', field_2_b: 'Age' });
      expect(await (await stage.read()).fields()).toHaveLength(before.length);
      expect(await stage.cellsOf('a')).toEqual({ field_1_a: 'x', field_2_b: 1 });
    });

    it('follow two labels that change places', async () => {
      await stage.write(async (writer) => {
        await writer.prepare([NAME, AGE]);
        await writer.apply([row('a', { field_1_a: 'x', field_2_b: 1 })], []);
        await writer.prepare([
          { ...NAME, label: 'Age' },
          { ...AGE, label: 'Full name' },
        ]);
      });
      expect(await labels()).toEqual({ field_1_a: 'Age', field_2_b: 'Full name' });
      expect(await stage.cellsOf('a')).toEqual({ field_1_a: 'x', field_2_b: 1 });
    });

    it('that left the form keep column, label and answers, and are reported once', async () => {
      await stage.write(async (writer) => {
        await writer.prepare([NAME, AGE]);
        await writer.apply([row('a', { field_1_a: 'x', field_2_b: 1 })], []);
        const removed = { ...AGE, inSchema: false };
        expect((await writer.prepare([NAME, removed])).removed).toEqual(['Age']);
        expect((await writer.prepare([NAME, removed])).removed).toEqual([]);
        expect((await writer.prepare([NAME])).removed).toEqual([]);
      });
      const fields = await (await stage.read()).fields();
      expect(fields.find((one) => one.id === 'field_2_b')).toMatchObject({ label: 'Age' });
      expect(fields.find((one) => one.id === 'field_2_b')?.removedAt).not.toBeNull();
      expect(fields.find((one) => one.id === 'field_1_a')?.removedAt).toBeNull();
      expect(await stage.cellsOf('a')).toEqual({ field_1_a: 'x', field_2_b: 1 });
    });

    it('that come back are there again in their old column', async () => {
      await stage.write(async (writer) => {
        await writer.prepare([NAME, AGE]);
        await writer.prepare([NAME]);
        expect((await writer.prepare([NAME, AGE])).added).toEqual([]);
      });
      const fields = await (await stage.read()).fields();
      expect(fields.map((one) => one.removedAt)).toEqual([null, null]);
    });

    it('with one label stay two columns', async () => {
      const fields = fieldList(
        field('field_1_a', 'Name'),
        field('field_2_b', 'Name'),
        field('field_3_c', 'name'),
        field('field_4_d', 'Status'),
        field('field_5_e', ''),
      );
      const cells = {
        field_1_a: '1',
        field_2_b: '2',
        field_3_c: '3',
        field_4_d: '4',
        field_5_e: '5',
      };
      await stage.write(async (writer) => {
        await writer.prepare(fields);
        await writer.apply([row('a', cells)], []);
      });
      expect(await stage.cellsOf('a')).toEqual(cells);
      const columns = (await (await stage.read()).fields()).map((one) => one.column.toLowerCase());
      expect(new Set(columns).size).toBe(fields.length);
    });

    it('that turn up in the middle of a pass get their column then', async () => {
      await stage.write(async (writer) => {
        await writer.prepare([NAME]);
        await writer.apply([row('a', { field_1_a: 'x' })], []);
        const old = field('field_7_old', 'field_7_old', { position: 9, inSchema: false });
        expect((await writer.prepare([NAME, old])).added).toEqual(['field_7_old']);
        await writer.apply([row('b', { field_1_a: 'y', field_7_old: 'z' })], []);
      });
      expect(await stage.cellsOf('a')).toEqual({ field_1_a: 'x', field_7_old: null });
      expect(await stage.cellsOf('b')).toEqual({ field_1_a: 'y', field_7_old: 'z' });
    });

    it('hold texts when they are hashed, even of digits only', async () => {
      await stage.write(async (writer) => {
        await writer.prepare([{ ...NAME, hashed: true }]);
        await writer.apply([row('a', { field_1_a: '0123' })], []);
      });
      expect(await stage.cellsOf('a')).toEqual({ field_1_a: '0123' });
    });
  });
}
