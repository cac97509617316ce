import { beforeEach, describe, expect, it } from 'vitest';
import { CHECKPOINT, FORM, NAME, pass, row, sorted, type TargetStage } from './target-harness.ts';

/** Refusals of DONE that count in these tests. */
const RECENT = { wanted: 'DONE', since: '2026-03-05T00:00:00.000Z' };

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
      expect(result.newlyListed).toEqual(new Set(['bad', 'odd']));
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
        const other = { ...odd, submissionId: 'other' };
        const again = await writer.apply([], [bad, odd, other, { ...bad, reason: 'another' }]);
        expect(again.newlyListed).toEqual(new Set(['other']));
      });
      const { total, items } = await (await stage.read()).rejections(1);
      expect([total, items.length]).toEqual([4, 1]);
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
      expect(await sorted(reader.markCandidates(['NEW'], RECENT))).toEqual(['ok']);
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
      expect(await sorted(reader.deletedIds())).toEqual(['a', 'b']);
      expect((await reader.rows(['a'])).get('a')).toMatchObject({ deletedAt: AT });
      expect(await stage.cellsOf('a')).toEqual({ field_1_a: 'x' });
      expect(await reader.confirm(['a', 'c'])).toEqual(new Set(['c']));
      expect(await sorted(reader.markCandidates(['NEW'], RECENT))).toEqual(['c']);
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
      expect(await sorted((await stage.read()).deletedIds())).toEqual([]);
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
      expect(await sorted(reader.markCandidates(['NEW'], RECENT))).toEqual(['a', 'b']);
      expect(await sorted(reader.markCandidates(['NEW', 'PAID', 'NEW'], RECENT))).toEqual([
        'a',
        'b',
        'c',
      ]);
      expect(await sorted(reader.markCandidates([], RECENT))).toEqual([]);
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
      expect(await sorted(reader.markCandidates(['NEW'], RECENT))).toEqual(['b']);
      expect(await reader.refusals('a')).toEqual([later, refusal]);
      expect(await reader.refusals('b')).toEqual([]);
      await stage.write((writer) => writer.setStatuses(new Map([['a', 'PAID']])));
      expect(await sorted(reader.markCandidates(['NEW', 'PAID'], RECENT))).toEqual(['a', 'b', 'c']);
    });

    it('forgets a refusal when the row changes, and lists how many count', async () => {
      const at = '2026-03-06T10:00:00.000Z';
      const refusal = { submissionId: 'a', status: 'NEW', wanted: 'DONE', reason: 'no', at };
      const refuse = () =>
        stage.write((writer) =>
          writer.recordRefusals([refusal, { ...refusal, submissionId: 'b' }]),
        );
      const candidates = async (recent = RECENT) =>
        sorted((await stage.read()).markCandidates(['NEW'], recent));
      const counted = async (recent = RECENT) => (await stage.read()).countRefused(recent);
      await refuse();
      expect([await candidates(), await counted()]).toEqual([[], 2]);
      // Another status may be tried, and so may this one after a while.
      expect([await candidates({ ...RECENT, wanted: 'PAID' })]).toEqual([['a', 'b']]);
      expect(await counted({ ...RECENT, wanted: 'PAID' })).toBe(0);
      expect(await candidates({ ...RECENT, since: '2026-03-06T10:00:00.001Z' })).toEqual([
        'a',
        'b',
      ]);
      await stage.write(async (writer) => {
        await writer.prepare([NAME]);
        await writer.apply([row('a', { field_1_a: 'another' }), row('b')], []);
      });
      expect([await candidates(), await counted()]).toEqual([['a'], 1]);
      for (const status of ['PAID', 'NEW']) {
        await stage.write((writer) => writer.setStatuses(new Map([['b', status]])));
      }
      expect([await candidates(), await counted()]).toEqual([['a', 'b'], 0]);
    });

    it('remembers what was sent until a full pass finds the rows in another status', async () => {
      const sent = (submissionId: string) => {
        return { submissionId, status: 'NEW', wanted: 'DONE', at: '2026-03-06T10:00:00.000Z' };
      };
      const apply = () =>
        stage.write(async (writer) => {
          await writer.prepare([NAME]);
          await writer.apply([row('a')], []);
        });
      const tried = async (wanted = 'DONE') =>
        [...(await (await stage.read()).triedBefore(['a', 'b', 'c'], wanted))].toSorted();
      const statuses = new Map(['a', 'b'].map((id) => [id, 'DONE']));
      await stage.write((writer) => writer.setStatuses(statuses, [sent('a'), sent('b')]));
      // It is no refusal.
      const reader = await stage.read();
      expect([await tried(), await tried('PAID')]).toEqual([['a', 'b'], []]);
      expect(await reader.refusals('a')).toEqual([]);
      await apply();
      expect(await (await stage.read()).countRefused(RECENT)).toBe(0);
      expect(await sorted((await stage.read()).markCandidates(['NEW'], RECENT))).toEqual(['a']);
      // A pass that began before says nothing of it, an incremental one neither; `a` is back, so it stays.
      const later = { startedAt: '2026-03-06T11:00:00.000Z', endedAt: '2026-03-06T11:00:01.000Z' };
      const earlier = { startedAt: '2026-03-06T09:00:00.000Z', endedAt: later.endedAt };
      const finish = (changes: Parameters<typeof pass>[0]) =>
        stage.write((writer) => writer.finish(pass(changes), { checkpoint: CHECKPOINT }));
      await finish({ kind: 'full', ...earlier });
      await finish({ kind: 'incremental', ...later });
      expect(await tried()).toEqual(['a', 'b']);
      await finish({ kind: 'full', ...later });
      expect(await tried()).toEqual(['a']);
      // It was seen to go through this time.
      await stage.write((writer) => writer.setStatuses(new Map([['a', 'DONE']])));
      expect(await tried()).toEqual([]);
    });

    it('remembers what was sent of rows that a full pass did not see: withheld, or listed', async () => {
      const at = '2026-03-06T10:00:00.000Z';
      const sent = ['a', 'b'].map((submissionId) => {
        return { submissionId, status: 'NEW', wanted: 'DONE', at };
      });
      const statuses = new Map(['a', 'b'].map((id) => [id, 'DONE']));
      await stage.write((writer) => writer.setStatuses(statuses, sent));
      const tried = async () =>
        [...(await (await stage.read()).triedBefore(['a', 'b'], 'DONE'))].toSorted();
      const startedAt = '2026-03-06T11:00:00.000Z';
      const times = { kind: 'full', startedAt, endedAt: '2026-03-06T11:00:01.000Z' } as const;
      const finish = async (withheld: number, listed: readonly string[]) =>
        stage.write(async (writer) => {
          await writer.prepare([NAME]);
          const reason = 'absent from the list';
          await writer.apply(
            [],
            listed.map((submissionId) => ({ submissionId, reason, stored: true })),
          );
          await writer.finish(pass({ ...times, withheld }), { checkpoint: CHECKPOINT });
        });
      await finish(2, []);
      expect(await tried()).toEqual(['a', 'b']);
      await finish(0, ['b']);
      expect(await tried()).toEqual(['b']);
      await finish(0, []);
      expect(await tried()).toEqual([]);
    });

    it('takes a refusal in place of what was sent', async () => {
      const mark = {
        submissionId: 'a',
        status: 'NEW',
        wanted: 'DONE',
        at: '2026-03-06T10:00:00.000Z',
      };
      await stage.write((writer) => writer.setStatuses(new Map([['a', 'DONE']]), [mark]));
      await stage.write(async (writer) => {
        await writer.prepare([NAME]);
        await writer.apply([row('a')], []);
        await writer.recordRefusals([{ ...mark, reason: 'left as it was' }]);
      });
      const reader = await stage.read();
      expect(await reader.refusals('a')).toEqual([{ ...mark, reason: 'left as it was' }]);
      expect(await reader.countRefused(RECENT)).toBe(1);
      expect([...(await reader.triedBefore(['a'], 'DONE'))]).toEqual(['a']);
    });

    it('keeps what marking left to say until it has nothing to say', async () => {
      const record = {
        since: '2026-03-06T10:00:00.000Z',
        code: 'FORMS_REFUSED',
        error: 'PATCH /submissions/a/status: refused with 403.',
        refused: 3,
      } as const;
      expect(await (await stage.read()).marking()).toBeNull();
      await stage.write((writer) => writer.recordMarking(record));
      const other = await stage.open();
      expect(await (await other.reader(FORM.id))?.marking()).toEqual(record);
      expect(await other.overview()).toMatchObject([{ name: FORM.name, marking: record }]);
      await stage.write((writer) => writer.finish(pass(), { checkpoint: CHECKPOINT }));
      expect(await stage.target.overview()).toMatchObject([{ marking: record }]);
      await stage.write((writer) => writer.recordMarking(null));
      expect(await stage.target.overview()).toMatchObject([{ marking: null }]);
    });

    it('L13: has one marker at a time, whom no writer disturbs', async () => {
      const first = await stage.target.lockMarking(FORM.id);
      expect(first).toBeDefined();
      const other = await stage.open();
      expect(await other.lockMarking(FORM.id)).toBeUndefined();
      await first?.assertHeld();
      await stage.write((writer) => writer.setStatuses(new Map([['a', 'DONE']])));
      await first?.assertHeld();
      await first?.[Symbol.asyncDispose]();
      await using second = await other.lockMarking(FORM.id);
      expect(second).toBeDefined();
      await second?.assertHeld();
    });

    it('L13: a marker that was taken over while it slept is told', async () => {
      const usurp = stage.place.usurpMarking;
      if (usurp === undefined) return;
      await using lock = await stage.target.lockMarking(FORM.id);
      await lock?.assertHeld();
      await usurp.call(stage.place, FORM.id);
      await expect(lock?.assertHeld()).rejects.toMatchObject({ code: 'TARGET_LOST_LOCK' });
    });
  });
}
