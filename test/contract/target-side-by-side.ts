import { beforeEach, describe, expect, it } from 'vitest';
import { sameCell } from '../../src/mirror/cell.ts';
import type { Loss } from '../../src/mirror/losses.ts';
import type { FormWriter, WindowWriter } from '../../src/mirror/target.ts';
import type { FormWindow } from '../../src/mirror/window.ts';
import {
  AGE,
  AT_ONCE,
  CHECKPOINT,
  FORM,
  NAME,
  pass,
  row,
  sorted,
  type TargetStage,
} from './target-harness.ts';

const OLD: FormWindow = { from: null, to: '2026-01-01T00:00:00.000Z' };
const NEWER: FormWindow = { from: OLD.to, to: '2026-02-01T00:00:00.000Z' };
const FIELDS = [NAME, AGE];
const LATE = { ...NAME, id: 'field_9_z', label: 'Late', position: 2 };
const ODD = { reason: 'is odd', stored: true };
const LOST = { code: 'TARGET_LOST_LOCK' };

/** Windows of a form, written side by side (L13). Where they are not, that there is no writer of one. */
export function describeSideBySide(stage: TargetStage): void {
  describe('L13: windows side by side', () => {
    let form: FormWriter;
    let isParallel: boolean;
    beforeEach(async () => {
      isParallel = stage.target.parallelWindows;
      if (!isParallel) return;
      form = await stage.target.openWriter(FORM, AT_ONCE);
      await form.prepare(FIELDS);
      return () => form[Symbol.asyncDispose]();
    });
    const open = async (window = OLD): Promise<WindowWriter> => {
      const writer = await (await stage.open()).openWindowWriter(FORM.id, window, AT_ONCE);
      await writer.prepare(FIELDS);
      return writer;
    };
    const rowsOf = (name: string, count: number, age: number | string = 1) =>
      Array.from({ length: count }, (_, index) =>
        row(`${name}${index}`, { field_1_a: name, field_2_b: age }),
      );
    const finishFull = (): Promise<unknown> =>
      form.finish(pass({ kind: 'full' }), { checkpoint: CHECKPOINT });
    const told = async (): Promise<readonly Loss[]> => (await stage.read()).losses();

    it('have writers only where they can be written side by side', async () => {
      if (isParallel) return;
      const opening = stage.target.openWindowWriter(FORM.id, OLD, AT_ONCE);
      await expect(opening).rejects.toThrow(TypeError);
    });

    it('are stored at the same time, and every count is exact', async () => {
      if (!isParallel) return;
      await using one = await open(OLD);
      await using two = await open(NEWER);
      const bad = (id: string) => ({ submissionId: id, reason: 'has no data', stored: false });
      await Promise.all(
        ([form, one, two] as const).map(async (writer, index) => {
          for (let batch = 0; batch < 6; batch++) {
            const rows = rowsOf(`w${index}b${batch}n`, 20);
            await writer.apply(rows, [bad(`w${index}b${batch}`), bad('all have this')]);
            await writer.markDeleted([`w${index}b${batch}n0`, 'unknown'], CHECKPOINT.provenAt);
            if (batch > 0) await writer.apply([row(`w${index}b${batch - 1}n0`)], []);
          }
        }),
      );
      expect(await told()).toEqual([]);
      const [overview] = await stage.target.overview();
      expect(overview).toMatchObject({ rows: 357, deletedRows: 3, rejected: 19 });
    });

    it('have one writer each, and a new one when that has gone', async () => {
      if (!isParallel) return;
      const first = await open(OLD);
      const other = await stage.open();
      const busy = { code: 'TARGET_BUSY', message: expect.stringContaining(`${process.pid}`) };
      await expect(other.openWindowWriter(FORM.id, OLD, AT_ONCE)).rejects.toMatchObject(busy);
      const waiting = other.openWindowWriter(FORM.id, OLD, { waitMs: 30_000 });
      await first.apply([row('a')], []);
      await first[Symbol.asyncDispose]();
      await expect(first.apply([row('b')], [])).rejects.toMatchObject(LOST);
      await using next = await waiting;
      expect(await sorted(next.liveIds())).toEqual(['a']);
    });

    it('stop one that was taken over while it slept', async () => {
      if (!isParallel) return;
      const { usurp } = stage.place;
      if (usurp === undefined) return;
      await using writer = await open(OLD);
      await usurp.call(stage.place, `window ..${OLD.to} of ${FORM.id}`);
      await expect(writer.apply([row('a')], [])).rejects.toMatchObject(LOST);
      await expect(writer.prepare([...FIELDS, LATE])).rejects.toMatchObject(LOST);
      await expect(writer.markDeleted(['a'], CHECKPOINT.provenAt)).rejects.toMatchObject(LOST);
      expect(await sorted((await stage.read()).liveIds())).toEqual([]);
    });

    it('are written for the pass that holds the form, and for no later one', async () => {
      if (!isParallel) return;
      await using writer = await open(OLD);
      await writer.apply([row('a')], []);
      await form[Symbol.asyncDispose]();
      // Nobody has taken the form over: what was seen may still be stored.
      await writer.apply([row('b')], []);
      await using next = await (await stage.open()).openWriter(FORM, AT_ONCE);
      await expect(writer.apply([row('c')], [])).rejects.toMatchObject(LOST);
      expect(await sorted(next.liveIds())).toEqual(['a', 'b']);
    });

    it('have no writer once the full pass has ended', async () => {
      if (!isParallel) return;
      await using writer = await open(OLD);
      await finishFull();
      await expect(writer.apply([row('a')], [])).rejects.toMatchObject(LOST);
    });

    it('have no writer before the form was written to', async () => {
      if (!isParallel) return;
      const opening = stage.target.openWindowWriter('frm_other', OLD, AT_ONCE);
      await expect(opening).rejects.toMatchObject(LOST);
    });

    it('L9: share columns that any of them adds or widens', async () => {
      if (!isParallel) return;
      await using one = await open(OLD);
      await using two = await open(NEWER);
      await Promise.all([
        form.apply(rowsOf('form', 5), []),
        one.apply(rowsOf('one', 5, 'unknown'), []),
        two.apply(rowsOf('two', 5, 2), []),
      ]);
      const both = await Promise.all([one, two].map((writer) => writer.prepare([...FIELDS, LATE])));
      expect(both.flatMap(({ added }) => added)).toEqual(['Late']);
      await two.apply([row('late', { field_9_z: 'x', field_2_b: 'old' })], []);
      await form.apply([row('form9', { field_2_b: 'text, too' })], []);
      expect(await stage.cellsOf('late')).toMatchObject({ field_9_z: 'x', field_2_b: 'old' });
      expect(await stage.cellsOf('form9')).toMatchObject({ field_2_b: 'text, too' });
      // A number or its text: whoever came first has decided what the column holds.
      expect(sameCell((await stage.cellsOf('form0'))['field_2_b'] ?? null, 1)).toBe(true);
      expect(await told()).toEqual([]);
    });

    it('L9: leave labels to the writer of the form', async () => {
      if (!isParallel) return;
      await using one = await open(OLD);
      const old = { ...NAME, label: 'An older name' };
      expect(await one.prepare([old])).toEqual({ added: [], relabelled: [], removed: [] });
      expect((await one.prepare([old, LATE])).relabelled).toEqual([]);
      const fields = await (await stage.read()).fields();
      expect(fields.map(({ label, removedAt }) => [label, removedAt])).toEqual([
        ['Full name', null],
        ['Age', null],
        ['Late', null],
      ]);
    });

    it('L6: keep what they listed when the pass ends', async () => {
      if (!isParallel) return;
      await form.apply([], [{ submissionId: 'over', reason: 'is bad', stored: false }]);
      await form[Symbol.asyncDispose]();
      form = await stage.target.openWriter(FORM, AT_ONCE);
      await using one = await open(OLD);
      await one.apply([], [{ submissionId: 'still', reason: 'is bad', stored: false }]);
      await finishFull();
      const { items } = await (await stage.read()).rejections(10);
      expect(items.map(({ submissionId }) => submissionId)).toEqual(['still']);
      expect(await told()).toEqual([]);
    });

    it('L18: keep what is forgotten meanwhile away', async () => {
      if (!isParallel) return;
      await using one = await open(OLD);
      const stored = Array.from({ length: 10 }, (_, index) => one.apply([row(`f${index}`)], []));
      const [erasure] = await Promise.all([
        form.forget(['f3', 'f9'], CHECKPOINT.provenAt),
        ...stored,
      ]);
      expect(erasure.rows).toBeLessThanOrEqual(2);
      expect(await sorted((await stage.read()).liveIds())).toEqual([
        'f0',
        'f1',
        'f2',
        'f4',
        'f5',
        'f6',
        'f7',
        'f8',
      ]);
      expect(await told()).toEqual([]);
    });

    it('L17: what they store while a loss is made good is counted once', async () => {
      if (!isParallel) return;
      const { damage } = stage.place;
      await form.apply(rowsOf('a', 4), []);
      await finishFull();
      await damage?.deleteRows(['a0', 'a1']);
      await form[Symbol.asyncDispose]();
      form = await stage.target.openWriter(FORM, AT_ONCE);
      await form.prepare(FIELDS);
      expect(await form.losses()).toEqual([{ what: 'rows', missing: 2 }]);
      await using one = await open(OLD);
      await using two = await open(NEWER);
      await Promise.all([one.apply(rowsOf('a', 4), []), two.apply(rowsOf('b', 3), [])]);
      // Deleted after it was stored, so that the next pass has to find it.
      await damage?.deleteRows(['b1']);
      await finishFull();
      expect(await told()).toEqual([{ what: 'rows', missing: 1 }]);
    });

    it('are written without waiting for each other for ever, whatever they share', async () => {
      if (!isParallel) return;
      await using one = await open(OLD);
      await using two = await open(NEWER);
      // Windows share no submission; a source that moves dates may show one in both all the same.
      const turns = 4;
      const idsOf = (turn: number) => Array.from({ length: 1_000 }, (_, n) => `t${turn}n${n}`);
      await form.apply(rowsOf('first', 1), []);
      const store = (writer: WindowWriter, order: (ids: string[]) => string[], name: string) =>
        Promise.all(
          Array.from({ length: turns }, async (_, turn) => {
            const ids = order(idsOf(turn));
            const listings = ids.map((submissionId) => ({ ...ODD, submissionId }));
            await Promise.all([
              writer.apply([], listings),
              writer.apply(
                ids.map((id) => row(id, { field_1_a: name })),
                listings,
              ),
            ]);
          }),
        );
      await Promise.all([
        store(one, (ids) => ids, 'one'),
        store(two, (ids) => ids.toReversed(), 'two'),
        store(form, (ids) => ids.sort(), 'form'),
      ]);
      expect(await told()).toEqual([]);
      const expected = { rows: turns * 1_000 + 1, rejected: turns * 1_000 };
      expect(await stage.target.overview()).toMatchObject([expected]);
    });
  });
}
