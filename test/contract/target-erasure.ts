import { beforeEach, describe, expect, it } from 'vitest';
import { NOTHING_ERASED } from '../../src/mirror/erasure.ts';
import type { StoredRow } from '../../src/mirror/target.ts';
import { AGE, CHECKPOINT, NAME, pass, row, sorted, type TargetStage } from './target-harness.ts';

const FIELDS = [NAME, AGE];
const AT = '2026-03-05T10:00:00.000Z';
const ROWS = ['sub_0a', 'sub_0b', 'sub_0c'].map((id) =>
  row(id, { field_1_a: `name of ${id}`, field_2_b: 7 }),
);
const BAD = { submissionId: 'sub_0b', reason: 'has a broken date', stored: true };
/** What there is of a submission; how much history differs from target to target. */
const ONE_OF_EACH = { rows: 1, listings: 1, refusals: 1, history: expect.any(Number) as number };
const REFUSED = { submissionId: 'sub_0b', status: 'NEW', wanted: 'DONE', reason: 'No.', at: AT };

/** Erasure (L18): what was forgotten leaves, and stays away whatever a pass brings. */
export function describeErasure(stage: TargetStage): void {
  describe('L18: what is forgotten', () => {
    const rowsOf = async (...ids: string[]): Promise<Map<string, StoredRow>> =>
      (await stage.read()).rows(ids);
    const losses = (): Promise<unknown> =>
      stage.write(async (writer) => {
        await writer.prepare(FIELDS);
        return writer.losses();
      });
    const forget = (...ids: string[]): Promise<unknown> =>
      stage.write((writer) => writer.forget(ids, AT));

    beforeEach(() =>
      stage.write(async (writer) => {
        await writer.prepare(FIELDS);
        await writer.losses();
        await writer.apply(ROWS, [BAD]);
        await writer.recordRefusals([REFUSED]);
        await writer.finish(pass({ kind: 'full', code: 'FORMS_FAILED', error: 'sub_0b failed.' }), {
          checkpoint: CHECKPOINT,
        });
      }),
    );

    it('leaves rows, listings, refusals and messages; nothing else changes', async () => {
      const before = await rowsOf('sub_0a', 'sub_0c');
      expect(await (await stage.read()).traces(['sub_0b', 'sub_0x'])).toEqual({
        ...ONE_OF_EACH,
      });
      expect(await forget('sub_0b')).toEqual({ ...ONE_OF_EACH, left: [] });
      const reader = await stage.read();
      expect(await sorted(reader.liveIds())).toEqual(['sub_0a', 'sub_0c']);
      expect(await rowsOf('sub_0a', 'sub_0b', 'sub_0c')).toEqual(before);
      expect(await reader.rejections(10)).toEqual({ total: 0, items: [] });
      expect(await reader.refusals('sub_0b')).toEqual([]);
      expect(JSON.stringify(await reader.passes(10))).not.toContain('sub_0b');
      // The source counts it all the same.
      const unstored = new Map([...CHECKPOINT.unstored, ['NEW', 1]]);
      expect(await reader.checkpoint()).toEqual({ ...CHECKPOINT, unstored });
      const [overview] = await stage.target.overview();
      expect(overview).toMatchObject({ rows: 2, deletedRows: 0, rejected: 0, forgotten: 1 });
    });

    it.each(['A12', '1', 'jana.novak@example.com', 'Jana Nováková', 'a "quoted" one'])(
      'leaves messages, however its ID %s stands in them',
      async (id) => {
        const error = `1 row, A123: PATCH /submissions/${encodeURIComponent(id)}/status failed (${id}).`;
        await stage.write(async (writer) => {
          await writer.finish(pass({ kind: 'incremental', code: 'FORMS_FAILED', error }), {});
          await writer.recordMarking({ since: AT, code: 'FORMS_FAILED', error, refused: 0 });
        });
        await forget(id);
        const reader = await stage.read();
        const said = [(await reader.passes(1))[0]?.error, (await reader.marking())?.error];
        const one = id === '1' ? '(forgotten)' : '1';
        const rest = `${one} row, A123: PATCH /submissions/(forgotten)/status failed ((forgotten)).`;
        expect(said).toEqual([rest, rest]);
      },
    );

    it('does not come back by a marker that was at work on it', async () => {
      await forget('sub_0b');
      const error = 'The first: PATCH /submissions/sub_0b/status answered 500.';
      await stage.write(async (writer) => {
        await writer.recordRefusals([REFUSED, { ...REFUSED, submissionId: 'sub_0a' }]);
        await writer.recordMarking({ since: AT, code: 'FORMS_FAILED', error, refused: 1 }, [
          'sub_0b',
        ]);
      });
      const reader = await stage.read();
      expect(await reader.refusals('sub_0b')).toEqual([]);
      expect(await reader.refusals('sub_0a')).toHaveLength(1);
      expect((await reader.marking())?.error).toBe(
        'The first: PATCH /submissions/(forgotten)/status answered 500.',
      );
    });

    it('is no loss', async () => {
      await forget('sub_0b');
      expect(await losses()).toEqual([]);
      await stage.write((writer) => writer.markDeleted(['sub_0a'], AT));
      await forget('sub_0a', 'sub_0x');
      expect(await losses()).toEqual([]);
      expect((await stage.target.overview())[0]).toMatchObject({ rows: 1, deletedRows: 0 });
    });

    it('does not come back, nor is it listed, in any process, while the others are stored', async () => {
      await forget('sub_0b', 'sub_never_seen');
      const other = await stage.open();
      await using writer = await other.openWriter(
        { id: 'frm_1', slug: 'contact-form', name: 'Contact form' },
        { waitMs: 0 },
      );
      await writer.prepare(FIELDS);
      const odd = { submissionId: 'sub_never_seen', reason: 'has no data', stored: false };
      const result = await writer.apply([...ROWS, row('sub_0d')], [BAD, odd]);
      expect(result).toMatchObject({
        outcomes: ['unchanged', 'forgotten', 'unchanged', 'inserted'],
        rejections: [],
        newlyListed: new Set(),
        forgotten: new Set(['sub_0b', 'sub_never_seen']),
      });
      expect(await sorted(writer.liveIds())).toEqual(['sub_0a', 'sub_0c', 'sub_0d']);
      expect((await writer.rejections(10)).total).toBe(0);
    });

    it('is kept as a hash that shows no ID, with when it was', async () => {
      await forget('sub_0b');
      const reader = await stage.read();
      expect(await reader.forgotten(['sub_0a', 'sub_0b'])).toEqual(new Map([['sub_0b', AT]]));
      await stage.write((writer) => writer.forget(['sub_0b'], '2026-04-01T00:00:00.000Z'));
      expect(await (await stage.read()).forgotten(['sub_0b'])).toEqual(new Map([['sub_0b', AT]]));
      expect((await stage.target.overview())[0]?.forgotten).toBe(1);
    });

    it('is found in no other form', async () => {
      await forget('sub_0b');
      const other = { id: 'frm_2', slug: 'other', name: 'Other' };
      const result = await stage.write(async (writer) => {
        await writer.prepare([NAME]);
        return writer.apply([row('sub_0b')], []);
      }, other);
      expect(result.outcomes).toEqual(['inserted']);
    });

    it('comes back once that is taken back, by a pass that reads everything', async () => {
      await forget('sub_0a', 'sub_0b');
      expect(await stage.write((writer) => writer.remember(['sub_0b', 'sub_0x']))).toBe(1);
      expect(await (await stage.read()).checkpoint()).toBeUndefined();
      const result = await stage.write(async (writer) => {
        await writer.prepare(FIELDS);
        await writer.losses();
        const applied = await writer.apply(ROWS, []);
        await writer.finish(pass({ kind: 'full' }), { checkpoint: CHECKPOINT });
        return applied;
      });
      expect(result.outcomes).toEqual(['forgotten', 'inserted', 'unchanged']);
      expect(await losses()).toEqual([]);
      expect((await stage.target.overview())[0]?.forgotten).toBe(1);
    });

    it('L5: may be forgotten again, and what nobody ever saw, too', async () => {
      await forget('sub_0b');
      expect(await forget('sub_0b')).toEqual(NOTHING_ERASED);
      const never = { id: 'frm_9', slug: 'never', name: 'Never' };
      expect(await stage.write((writer) => writer.forget(['sub_0z'], AT), never)).toMatchObject({
        rows: 0,
      });
      const result = await stage.write(async (writer) => {
        await writer.prepare([NAME]);
        return writer.apply([row('sub_0z')], []);
      }, never);
      expect(result.outcomes).toEqual(['forgotten']);
      expect(await stage.write((writer) => writer.remember(['sub_0z']), never)).toBe(1);
    });
  });

  describe('L18: purging', () => {
    beforeEach(() =>
      stage.write(async (writer) => {
        await writer.prepare(FIELDS);
        await writer.losses();
        await writer.apply([...ROWS, row('sub_0d')], [{ ...BAD, submissionId: 'sub_0a' }]);
        await writer.markDeleted(['sub_0a'], '2026-03-05T10:00:00.000Z');
        await writer.markDeleted(['sub_0b'], '2026-03-06T10:00:00.000Z');
        await writer.finish(pass({ kind: 'full' }), { checkpoint: CHECKPOINT });
      }),
    );

    it('removes rows that were marked deleted before some time, and no other', async () => {
      const before = '2026-03-06T00:00:00.000Z';
      expect(await (await stage.read()).countDeleted(before)).toBe(1);
      expect(await stage.write((writer) => writer.purgeDeleted(before))).toMatchObject({
        rows: 1,
        listings: 1,
      });
      expect(await (await stage.read()).countDeleted(before)).toBe(0);
      const rows = await (await stage.read()).rows(['sub_0a', 'sub_0b', 'sub_0c', 'sub_0d']);
      expect([...rows.keys()].sort()).toEqual(['sub_0b', 'sub_0c', 'sub_0d']);
      expect((await stage.target.overview())[0]).toMatchObject({ rows: 2, deletedRows: 1 });
      const result = await stage.write(async (writer) => {
        await writer.prepare(FIELDS);
        expect(await writer.losses()).toEqual([]);
        return writer.apply([row('sub_0a')], []);
      });
      // One that comes back is a row like any other.
      expect(result.outcomes).toEqual(['inserted']);
    });

    it('empties the columns of fields that it is told, and no other; the columns stay', async () => {
      const filled = async (): Promise<unknown> =>
        (await stage.target.overview())[0]?.filledFields.map(({ id, label }) => [id, label]);
      expect(await filled()).toEqual([
        [NAME.id, NAME.label],
        [AGE.id, AGE.label],
      ]);
      expect(await (await stage.read()).countFilled([AGE.id])).toBe(3);
      expect(await stage.write((writer) => writer.emptyFields([AGE.id], AT))).toBe(3);
      expect(await (await stage.read()).countFilled([AGE.id])).toBe(0);
      expect(await filled()).toEqual([[NAME.id, NAME.label]]);
      expect(await stage.cellsOf('sub_0c')).toEqual({
        field_1_a: 'name of sub_0c',
        field_2_b: null,
      });
      expect((await (await stage.read()).fields()).map(({ id }) => id)).toEqual([NAME.id, AGE.id]);
      expect(await stage.write((writer) => writer.emptyFields([AGE.id, 'field_x'], AT))).toBe(0);
    });

    it('has an emptied column filled again once its field is picked again', async () => {
      await stage.write((writer) => writer.emptyFields([AGE.id], AT));
      await stage.write((writer) => writer.prepare([NAME]));
      expect(await (await stage.read()).checkpoint()).toEqual(CHECKPOINT);
      await stage.write((writer) => writer.prepare(FIELDS));
      expect(await (await stage.read()).checkpoint()).toBeUndefined();
      await stage.write(async (writer) => {
        await writer.prepare(FIELDS);
        await writer.apply(ROWS, []);
      });
      expect(await stage.cellsOf('sub_0c')).toEqual({ field_1_a: 'name of sub_0c', field_2_b: 7 });
      const [overview] = await stage.target.overview();
      expect(overview?.filledFields.map(({ id }) => id)).toEqual([NAME.id, AGE.id]);
    });

    it('has it filled again even where no pass came in between', async () => {
      await stage.write((writer) => writer.emptyFields([AGE.id], AT));
      await stage.write((writer) => writer.prepare(FIELDS));
      expect(await (await stage.read()).checkpoint()).toBeUndefined();
    });
  });
}
