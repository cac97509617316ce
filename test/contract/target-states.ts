import { beforeEach, describe, expect, it } from 'vitest';
import { NAME, row, sorted, type TargetStage } from './target-harness.ts';

/** Rejections, deletions, marking (L6, L7, L8). */
export function describeStates(stage: TargetStage): void {
  describe('L6: rejections', () => {
    const bad = { submissionId: 'bad', reason: 'has no data', stored: false };
    const odd = { submissionId: 'odd', reason: 'has a broken date', stored: true };

    it('are listed with when they were first and last met', async () => {
      const result = await stage.write(async (writer) => {
        await writer.prepare([NAME]);
        return writer.apply([row('odd'), row('ok')], [bad, odd]);
      });
      expect(result.outcomes).toEqual(['inserted', 'inserted']);
      expect(result.newRejections).toBe(2);
      const { total, items } = await (await stage.read()).rejections(10);
      expect(total).toBe(2);
      expect(items.map((item) => item.submissionId).sort()).toEqual(['bad', 'odd']);
      for (const item of items) {
        expect(item).toMatchObject(item.submissionId === 'bad' ? bad : odd);
        expect(item.firstSeenAt).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
        expect(item.lastSeenAt >= item.firstSeenAt).toBe(true);
      }
    });

    it('are not new the second time, and can be read in part', async () => {
      await stage.write(async (writer) => {
        await writer.prepare([NAME]);
        await writer.apply([], [bad, odd]);
        expect((await writer.apply([], [bad, odd])).newRejections).toBe(0);
      });
      const { total, items } = await (await stage.read()).rejections(1);
      expect([total, items.length]).toEqual([2, 1]);
    });

    it('end when the row is stored without one', async () => {
      await stage.write(async (writer) => {
        await writer.prepare([NAME]);
        await writer.apply([row('odd')], [bad, odd, { ...odd, reason: 'is too long' }]);
        await writer.apply([row('odd')], [{ ...odd, reason: 'is too long' }]);
      });
      expect(
        (await (await stage.read()).rejections(10)).items.map((item) => item.reason).sort(),
      ).toEqual(['has no data', 'is too long']);
      await stage.write(async (writer) => {
        await writer.prepare([NAME]);
        await writer.apply([row('odd'), row('bad')], []);
      });
      expect(await (await stage.read()).rejections(10)).toEqual({ total: 0, items: [] });
    });

    it('keep a submission from being confirmed and from being marked', async () => {
      await stage.write(async (writer) => {
        await writer.prepare([NAME]);
        await writer.apply([row('odd'), row('ok')], [odd]);
      });
      const reader = await stage.read();
      expect(await reader.confirm(['odd', 'ok', 'nobody'])).toEqual(new Set(['ok']));
      expect(await sorted(reader.markCandidates(['NEW']))).toEqual(['ok']);
    });

    it('of any ID and any reason can be listed and asked for', async () => {
      const id = `x${'y'.repeat(5_000)}\0\ud800`;
      await stage.write(async (writer) => {
        await writer.prepare([NAME]);
        await writer.apply(
          [],
          [{ submissionId: id, reason: `${'z'.repeat(5_000)}\0`, stored: false }],
        );
      });
      const reader = await stage.read();
      expect((await reader.rejections(10)).total).toBe(1);
      expect(await reader.confirm([id, '', '\0'])).toEqual(new Set());
      expect((await reader.rows([id, '', '\0'])).size).toBe(0);
      expect(await reader.refusals(id)).toEqual([]);
    });
  });

  describe('L8: deletions', () => {
    const AT = '2026-03-05T10:00:00.000Z';
    beforeEach(async () => {
      await stage.write(async (writer) => {
        await writer.prepare([NAME]);
        await writer.apply([row('a', { field_1_a: 'x' }), row('b'), row('c')], []);
      });
    });

    it('mark rows and keep them', async () => {
      const marked = await stage.write((writer) => writer.markDeleted(['a', 'b', 'nobody'], AT));
      expect(marked).toBe(2);
      const reader = await stage.read();
      expect(await sorted(reader.liveIds())).toEqual(['c']);
      expect((await reader.rows(['a'])).get('a')).toMatchObject({ deletedAt: AT });
      expect(await stage.cellsOf('a')).toEqual({ field_1_a: 'x' });
      expect(await reader.confirm(['a', 'c'])).toEqual(new Set(['c']));
      expect(await sorted(reader.markCandidates(['NEW']))).toEqual(['c']);
      expect(await stage.target.overview()).toMatchObject([{ rows: 1, deletedRows: 2 }]);
    });

    it('keep the time of the first mark', async () => {
      await stage.write(async (writer) => {
        await writer.markDeleted(['a'], AT);
        expect(await writer.markDeleted(['a', 'b'], '2026-04-01T00:00:00.000Z')).toBe(1);
      });
      expect((await (await stage.read()).rows(['a'])).get('a')?.deletedAt).toBe(AT);
    });

    it('are undone when the submission is back, changed or not', async () => {
      await stage.write(async (writer) => {
        await writer.prepare([NAME]);
        await writer.markDeleted(['a', 'b'], AT);
        const { outcomes } = await writer.apply(
          [row('a', { field_1_a: 'x' }), row('b', { field_1_a: 'new' }), row('c')],
          [],
        );
        expect(outcomes).toEqual(['restored', 'restored', 'unchanged']);
      });
      expect(await sorted((await stage.read()).liveIds())).toEqual(['a', 'b', 'c']);
    });
  });

  describe('L7: marking', () => {
    beforeEach(async () => {
      await stage.write(async (writer) => {
        await writer.prepare([NAME]);
        await writer.apply(
          [row('a'), row('b'), row('c', {}, { status: 'PAID' }), row('d', {}, { status: 'DONE' })],
          [],
        );
      });
    });

    it('shows statuses that were set, and only those', async () => {
      await stage.write((writer) =>
        writer.setStatuses(
          new Map([
            ['a', 'DONE'],
            ['b', 'NEW'],
            ['nobody', 'DONE'],
          ]),
        ),
      );
      const rows = await (await stage.read()).rows(['a', 'b', 'c', 'nobody']);
      const statuses = [...rows.values()].map(({ id, status }) => [id, status]);
      expect(Object.fromEntries(statuses)).toEqual({
        a: 'DONE',
        b: 'NEW',
        c: 'PAID',
      });
    });

    it('proposes live rows of the given statuses', async () => {
      const reader = await stage.read();
      expect(await sorted(reader.markCandidates(['NEW']))).toEqual(['a', 'b']);
      expect(await sorted(reader.markCandidates(['NEW', 'PAID', 'NEW']))).toEqual(['a', 'b', 'c']);
      expect(await sorted(reader.markCandidates([]))).toEqual([]);
    });

    it('remembers what was refused while the status stays', async () => {
      const refusal = {
        submissionId: 'a',
        status: 'NEW',
        wanted: 'DONE',
        reason: 'transition not allowed',
        at: '2026-03-05T10:00:00.000Z',
      };
      const later = { ...refusal, wanted: 'PAID', at: '2026-03-06T10:00:00.000Z' };
      await stage.write((writer) => writer.recordRefusals([refusal, later]));
      const reader = await stage.read();
      expect(await sorted(reader.markCandidates(['NEW']))).toEqual(['b']);
      expect(await reader.refusals('a')).toEqual([later, refusal]);
      expect(await reader.refusals('b')).toEqual([]);
      await stage.write((writer) => writer.setStatuses(new Map([['a', 'PAID']])));
      expect(await sorted(reader.markCandidates(['NEW', 'PAID']))).toEqual(['a', 'b', 'c']);
    });
  });
}
