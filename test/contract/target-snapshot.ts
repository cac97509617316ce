import { describe, expect, it } from 'vitest';
import type { FormSnapshot } from '../../src/mirror/snapshot.ts';
import { type Cell, ExactNumber } from '../../src/mirror/types.ts';
import { AGE, field, NAME, row, type TargetStage } from './target-harness.ts';

const AT = '2026-03-05T00:00:00.000Z';
const EXACT = new ExactNumber('900719925474099312345');

/** What is read of a form at leisure, while others write. */
export function describeSnapshot(stage: TargetStage): void {
  const open = async (): Promise<FormSnapshot> => {
    const snapshot = await stage.target.snapshot('frm_1');
    if (snapshot === undefined) throw new Error('never mirrored');
    return snapshot;
  };
  /** Rows by column name, in their order. */
  const all = async (snapshot: FormSnapshot, withDeleted = false) => {
    const rows: Record<string, Cell>[] = [];
    for await (const piece of snapshot.rows({ withDeleted })) {
      for (const cells of piece) {
        expect(cells).toHaveLength(snapshot.columns.length);
        rows.push(
          Object.fromEntries(snapshot.columns.map(({ label }, at) => [label, cells[at] ?? null])),
        );
      }
    }
    return rows;
  };

  describe('a snapshot of a form', () => {
    it('is none where nothing was mirrored', async () => {
      expect(await stage.target.snapshot('frm_1')).toBeUndefined();
      await stage.write((writer) => writer.prepare([NAME]));
      expect(await stage.target.snapshot('frm_2')).toBeUndefined();
      await using snapshot = await open();
      expect(await all(snapshot)).toEqual([]);
    });

    it('L10: holds every row with every answer as it is, and deleted ones after the others when asked', async () => {
      await stage.write(async (writer) => {
        await writer.prepare([NAME, AGE, field('f3', 'Full name', { position: 2 })]);
        await writer.apply(
          [
            row('b', { field_1_a: '=1+1', field_2_b: EXACT, f3: '00042' }, { status: 'DONE' }),
            row('a', { field_1_a: 'Žofie "Q"\n😀', field_2_b: -1.5 }, { createdAt: null }),
            row('c', { f3: '["x","y"]' }, { createdAt: '2026-02-01T12:00:00.123456Z' }),
            row('d', {}),
          ],
          [],
        );
        await writer.markDeleted(['d'], AT);
      });
      await using snapshot = await open();
      const names = snapshot.columns.map(({ name }) => name);
      const labels = snapshot.columns.map(({ label }) => label);
      for (const each of [names, labels]) expect(new Set(each).size).toBe(each.length);
      expect(labels).toEqual(expect.arrayContaining(['id', 'Full name', 'Age', 'Full name (2)']));
      const rows = await all(snapshot);
      const byId = new Map(rows.map((one) => [one['id'], one]));
      expect(new Set(byId.keys())).toEqual(new Set(['a', 'b', 'c']));
      expect(byId.get('a')).toMatchObject({
        status: 'NEW',
        created_at: null,
        'Full name': 'Žofie "Q"\n😀',
        Age: -1.5,
        'Full name (2)': null,
        _deleted_at: null,
      });
      expect(byId.get('b')).toMatchObject({
        status: 'DONE',
        created_at: '2026-03-01T12:00:00.000Z',
        'Full name': '=1+1',
        Age: EXACT,
        'Full name (2)': '00042',
      });
      expect(byId.get('c')).toMatchObject({
        created_at: '2026-02-01T12:00:00.123456Z',
        'Full name (2)': '["x","y"]',
      });
      const withDeleted = await all(snapshot, true);
      expect(withDeleted.slice(0, 3)).toEqual(rows);
      expect(withDeleted[3]).toMatchObject({ id: 'd', _deleted_at: AT });
    });

    it('L14: comes in pieces, each row once, whatever dates the rows share', async () => {
      const dates = ['2026-03-01T12:00:00.000Z', '2026-03-01T12:00:00.000001Z', null];
      const rows = Array.from({ length: 2_500 }, (_, nth) =>
        row(`s${nth}`, {}, { createdAt: dates[nth % 3] ?? null }),
      );
      await stage.write(async (writer) => {
        await writer.prepare([]);
        for (let start = 0; start < rows.length; start += 500)
          await writer.apply(rows.slice(start, start + 500), []);
      });
      await using snapshot = await open();
      const ids = (await all(snapshot)).map((one) => one['id']);
      expect(ids.length).toBe(2_500);
      expect(new Set(ids)).toEqual(new Set(rows.map(({ id }) => id)));
    });

    it('is of one instant: what is written meanwhile is not in it', async () => {
      const write = (rows: readonly [string, string][]): Promise<unknown> =>
        stage.write(async (writer) => {
          await writer.prepare([NAME]);
          await writer.apply(
            rows.map(([id, name]) => row(id, { field_1_a: name })),
            [],
          );
        });
      await write([
        ['a', 'before'],
        ['b', 'before'],
      ]);
      await using snapshot = await open();
      // A sheet has no instants: one of a few rows is read with the first piece.
      const rows = snapshot.rows({ withDeleted: true })[Symbol.asyncIterator]();
      const isAsked = stage.place.readsAtFirstPiece === true;
      const asked = isAsked ? await rows.next() : undefined;
      await write([
        ['a', 'after'],
        ['c', 'after'],
      ]);
      const { value } = asked ?? (await rows.next());
      const name = snapshot.columns.findIndex(({ label }) => label === 'Full name');
      expect((value ?? []).map((cells: readonly Cell[]) => cells[name])).toEqual([
        'before',
        'before',
      ]);
      await using later = await open();
      const now = (await all(later)).map((one) => [one['id'], one['Full name']] as const);
      expect(new Map(now)).toEqual(
        new Map([
          ['a', 'after'],
          ['b', 'before'],
          ['c', 'after'],
        ]),
      );
    });
  });
}
