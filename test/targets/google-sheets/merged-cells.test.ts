import { afterEach, describe, expect, it } from 'vitest';
import type { Cell, Row } from '../../../src/mirror/types.ts';
import { SheetMirror } from './sheet-mirror.ts';

/* Columns of the tab: Submitted at, Status, Name, Age, Removed, Submission ID. Row 2 shows s0. */
const [ID, STATUS, NAME, AGE] = [5, 1, 2, 3];
const FORM_ID = 'frm_contact';
const FORM = { id: FORM_ID, slug: 'contact', name: 'Contact' };

function raise(): never {
  throw new Error('There is no such row.');
}

describe.each(['kept', 'dropped'] as const)(
  'values under merged cells, where Google has them %s',
  (coveredCells) => {
    let mirror: SheetMirror;
    afterEach(() => mirror[Symbol.asyncDispose]());
    const begin = async (): Promise<void> => {
      mirror = await SheetMirror.begin(12, { coveredCells });
      await mirror.pass('full');
    };
    const listed = async (): Promise<string[]> => {
      const reader = await mirror.target.reader(FORM_ID);
      const { items } = (await reader?.rejections(100)) ?? { items: [] };
      return items.map(({ submissionId, reason }) => `${submissionId}: ${reason}`).toSorted();
    };
    /** A pass that finds all as it was reads as much as any other, and writes nothing. */
    const expectQuiet = async (): Promise<void> => {
      const before = mirror.grid();
      mirror.place.sandbox.requests.clear();
      const report = await mirror.pass('full');
      expect(report).toMatchObject({ outcome: 'ok', updated: 0, inserted: 0 });
      expect(mirror.place.sandbox.requests.counts()).toEqual({ reads: 2, writes: 0 });
      expect(mirror.grid()).toEqual(before);
    };

    it('L4, L17: answers of a row: the rest is kept up to date, the pass is quiet, the cells are named', async () => {
      await begin();
      const at = mirror.placeOf('s3');
      mirror.person.merge({ top: at, bottom: at + 1, left: NAME, right: AGE + 1 });
      mirror.store.setStatus('s3', 'PAID');
      expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', updated: 1, rejected: 1 });
      expect(mirror.rowOf('s3')?.[STATUS]).toBe('PAID');
      expect(await listed()).toEqual([
        's3: "Age" of its row cannot be written because of merged cells (C5:D5).',
      ]);
      expect((await mirror.overview())?.notices).toMatchObject([
        {
          code: 'CELLS_MERGED',
          message: expect.stringContaining('On the tab "Contact" merged cells (C5:D5) keep'),
          remedy: expect.stringContaining('Unmerge them'),
        },
      ]);
      expect(mirror.shown().flat().join('\n')).toContain('merged cells (C5:D5)');
      await expectQuiet();
      await expectQuiet();
      expect(await mirror.verify()).toMatchObject({ outcome: 'same', listed: 1 });
      mirror.person.unmerge({ top: at, bottom: at + 1, left: NAME, right: AGE + 1 });
      expect(await mirror.pass()).toMatchObject({ kind: 'full', updated: 1, rejected: 0 });
      expect(mirror.rowOf('s3')?.[AGE]).toBe(23);
      expect(await listed()).toEqual([]);
      expect((await mirror.overview())?.notices).toEqual([]);
      expect(await mirror.verify()).toMatchObject({ outcome: 'same', listed: 0 });
    });

    it('statuses of several rows: no pass rewrites them, and looks are not told that they agree', async () => {
      await begin();
      const at = mirror.placeOf('s3');
      mirror.person.merge({ top: at, bottom: at + 3, left: STATUS, right: STATUS + 1 });
      expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', updated: 0, rejected: 2 });
      expect(await listed()).toEqual([
        's4: "Status" of its row cannot be written because of merged cells (B5:B7).',
        's5: "Status" of its row cannot be written because of merged cells (B5:B7).',
      ]);
      await expectQuiet();
      mirror.submit(12);
      expect(await mirror.pass()).toMatchObject({ outcome: 'ok', inserted: 1 });
      mirror.person.unmerge({ top: at, bottom: at + 3, left: STATUS, right: STATUS + 1 });
      expect(await mirror.pass()).toMatchObject({ kind: 'full', updated: 2, rejected: 0 });
      expect(['s4', 's5'].map((id) => mirror.rowOf(id)?.[STATUS])).toEqual(['NEW', 'DONE']);
      expect(await mirror.verify()).toMatchObject({ outcome: 'same', listed: 0 });
    });

    it('merged between read and write: the next comparison names what was lost, and no pass rewrites it', async () => {
      await begin();
      const at = mirror.placeOf('s3');
      const reader = await mirror.target.reader(FORM_ID);
      const [stored] = ((await reader?.rows(['s3'])) ?? new Map<string, Row>()).values();
      const fields = (await reader?.fields()) ?? [];
      mirror.clock.advance(60_000);
      {
        await using writer = await mirror.target.openWriter(FORM, { waitMs: 200_000 });
        await writer.prepare(
          fields.map(({ id, label, position }) => {
            return { id, label, position, type: 'text', inSchema: true, hashed: false };
          }),
        );
        mirror.person.merge({ top: at, bottom: at + 1, left: NAME, right: AGE + 1 });
        const { id, status, createdAt } = stored ?? raise();
        const cells = new Map<string, Cell>([
          ['field_name', 'Anew'],
          ['field_age', 99],
        ]);
        await writer.apply([{ id, status, createdAt, cells }], []);
      }
      mirror.store.setAnswers('s3', { field_name: 'Anew', field_age: 99 });
      expect(mirror.rowOf('s3')?.slice(NAME, AGE + 1)).toEqual([
        'Anew',
        coveredCells === 'kept' ? 99 : null,
      ]);
      expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', updated: 0 });
      expect(await listed()).toEqual(
        coveredCells === 'kept'
          ? []
          : ['s3: "Age" of its row cannot be written because of merged cells (C5:D5).'],
      );
      await expectQuiet();
    });

    it('rows that are sorted under merged cells: each row has its own cells again once they are unmerged', async () => {
      await begin();
      const at = mirror.placeOf('s3');
      mirror.person.merge({ top: at, bottom: at + 1, left: NAME, right: AGE + 1 });
      await mirror.pass('full');
      mirror.person.sortSheet(ID, 'DESCENDING');
      await mirror.pass('full');
      expect(mirror.rowOf('s3')?.[AGE]).toBe(23);
      await expectQuiet();
      mirror.person.unmerge({ top: at, bottom: at + 1, left: NAME, right: AGE + 1 });
      await mirror.pass('full');
      expect(await mirror.verify()).toMatchObject({ outcome: 'same', listed: 0 });
    });

    it('merged cells across the place for new rows: they go below', async () => {
      await begin();
      mirror.person.merge({ top: 12, bottom: 15, left: NAME, right: NAME + 1 });
      for (const index of [12, 13, 14]) mirror.submit(index);
      expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', inserted: 3 });
      expect(new Set(mirror.grid().flatMap((row) => row[ID] ?? [])).size).toBe(1 + 15);
      await expectQuiet();
      mirror.person.unmerge({ top: 12, bottom: 15, left: NAME, right: NAME + 1 });
      await mirror.pass();
      expect(await mirror.verify()).toMatchObject({ outcome: 'same', listed: 0 });
    });

    it('L18: what is under merged cells is erased with the rest', async () => {
      await begin();
      const at = mirror.placeOf('s3');
      mirror.person.merge({ top: at, bottom: at + 1, left: NAME, right: AGE + 1 });
      mirror.clock.advance(60_000);
      await using writer = await mirror.target.openWriter(FORM, { waitMs: 200_000 });
      expect(await writer.forget(['s3'], '2026-03-02T09:00:00.000Z')).toMatchObject({ rows: 1 });
      expect(JSON.stringify(mirror.grid())).not.toContain('Person 3"');
    });
  },
);
