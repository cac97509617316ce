import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareTimes } from '../../src/mirror/canonical-time.ts';
import type { LookRecord } from '../../src/mirror/look-record.ts';
import type { TimeGrain, TimeSpan } from '../../src/mirror/time-counts.ts';
import type { Row } from '../../src/mirror/types.ts';
import { propertyRuns } from '../support/property.ts';
import { CHECKPOINT, pass, row, sorted, type TargetStage } from './target-harness.ts';

const ALWAYS: TimeSpan = { from: null, to: null };
const AT = '2026-03-05T00:00:00.000Z';

const dated = (id: string, createdAt: string | null, status = 'NEW'): Row =>
  row(id, {}, { createdAt, status });

/** Rows around midnight, some of them finer than milliseconds, one without a date. */
const ROWS = [
  dated('a', '2026-03-01T23:59:59.999999Z'),
  dated('b', '2026-03-02T00:00:00.000Z', 'DONE'),
  dated('c', '2026-03-02T00:00:00.0005Z'),
  dated('d', '2026-03-02T05:59:59.999Z', '__proto__'),
  dated('e', '2026-03-02T05:07:00.000Z'),
  dated('f', null),
  dated('g', '2026-03-03T00:00:00.000Z', 'DONE'),
];

/** Counts and looks: what is asked of a copy so that nothing has to be read of it. */
export function describeCounts(stage: TargetStage): void {
  const store = (rows: readonly Row[] = ROWS): Promise<unknown> =>
    stage.write(async (writer) => {
      await writer.prepare([]);
      await writer.apply(rows, []);
    });

  describe('counts of rows', () => {
    it('L16: are by status, of what is not marked deleted', async () => {
      await store();
      await stage.write(async (writer) => {
        await writer.prepare([]);
        await writer.markDeleted(['a'], AT);
        await writer.setStatuses(new Map([['e', 'PAID']]));
        const held = new Map([
          ['NEW', 2],
          ['DONE', 2],
          ['__proto__', 1],
          ['PAID', 1],
        ]);
        expect(await writer.statusCounts()).toEqual(held);
        await writer.finish(pass(), { checkpoint: CHECKPOINT });
        expect(await (await stage.read()).statusCounts()).toEqual(held);
      });
    });

    it('are none of a form that has nothing', async () => {
      await store([]);
      const reader = await stage.read();
      expect(await reader.statusCounts()).toEqual(new Map());
      expect(await reader.timeCounts(ALWAYS, 'day')).toEqual([]);
      expect(await sorted(reader.liveIdsWithin(ALWAYS))).toEqual([]);
    });

    it('L16: are by date and status, in UTC, without rows that have no date', async () => {
      await store([...ROWS, dated('gone', '2026-03-02T05:07:00.000Z')]);
      await stage.write((writer) => writer.markDeleted(['gone'], AT));
      const reader = await stage.read();
      const counts = async (grain: TimeGrain, span = ALWAYS): Promise<unknown[]> =>
        (await reader.timeCounts(span, grain))
          .map(({ start, status, rows }) => `${start} ${status} ${rows}`)
          .sort();
      expect(await counts('day')).toEqual([
        '2026-03-01T00:00:00.000Z NEW 1',
        '2026-03-02T00:00:00.000Z DONE 1',
        '2026-03-02T00:00:00.000Z NEW 2',
        '2026-03-02T00:00:00.000Z __proto__ 1',
        '2026-03-03T00:00:00.000Z DONE 1',
      ]);
      const second = { from: '2026-03-02T00:00:00.000Z', to: '2026-03-03T00:00:00.000Z' };
      expect(await counts('hour', second)).toEqual([
        '2026-03-02T00:00:00.000Z DONE 1',
        '2026-03-02T00:00:00.000Z NEW 1',
        '2026-03-02T05:00:00.000Z NEW 1',
        '2026-03-02T05:00:00.000Z __proto__ 1',
      ]);
      expect(await counts('minute', { ...second, from: '2026-03-02T05:00:00.000Z' })).toEqual([
        '2026-03-02T05:07:00.000Z NEW 1',
        '2026-03-02T05:59:00.000Z __proto__ 1',
      ]);
      expect(await counts('second', { from: null, to: second.from })).toEqual([
        '2026-03-01T23:59:59.000Z NEW 1',
      ]);
    });

    it('L16: name the rows within bounds, the first of them included', async () => {
      await store();
      await stage.write((writer) => writer.markDeleted(['e'], AT));
      const reader = await stage.read();
      const [from, to] = ['2026-03-02T00:00:00.000Z', '2026-03-03T00:00:00.000Z'];
      expect(await sorted(reader.liveIdsWithin({ from, to }))).toEqual(['b', 'c', 'd']);
      expect(await sorted(reader.liveIdsWithin({ from, to: null }))).toEqual(['b', 'c', 'd', 'g']);
      expect(await sorted(reader.liveIdsWithin({ from: null, to: from }))).toEqual(['a']);
      expect(await sorted(reader.liveIdsWithin({ from, to: null }, 'DONE'))).toEqual(['b', 'g']);
      expect(await sorted(reader.liveIdsWithin(ALWAYS, '__proto__'))).toEqual(['d']);
      expect(await sorted(reader.liveIdsWithin(ALWAYS))).toEqual(['a', 'b', 'c', 'd', 'g']);
    });

    it('L14: name many rows in chunks, each once', async () => {
      const many = Array.from({ length: 12_000 }, (_, index) =>
        // Many of one instant: a chunk ends among them.
        dated(`id-${index}`, `2026-03-0${1 + (index % 3)}T00:00:00.000Z`),
      );
      await stage.write(async (writer) => {
        await writer.prepare([]);
        for (let start = 0; start < many.length; start += stage.target.batchRows) {
          await writer.apply(many.slice(start, start + stage.target.batchRows), []);
        }
      });
      const reader = await stage.read();
      const sizes: number[] = [];
      const met = new Set<string>();
      for await (const ids of reader.liveIdsWithin({
        from: '2026-03-02T00:00:00.000Z',
        to: null,
      })) {
        sizes.push(ids.length);
        for (const id of ids) met.add(id);
      }
      expect(met.size).toBe(8_000);
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(8_000);
      expect(Math.max(...sizes)).toBeLessThanOrEqual(5_000);
    });

    it('add up, whatever the bounds', async () => {
      await store();
      const reader = await stage.read();
      const bound = fc.constantFrom(
        null,
        ...['01T23:59:59.999', '02T00:00:00.000', '02T05:07:00.000', '03T00:00:00.000'].map(
          (time) => `2026-03-${time}Z`,
        ),
      );
      await fc.assert(
        fc.asyncProperty(bound, bound, async (from, to) => {
          const within = ROWS.filter(
            ({ createdAt }) =>
              createdAt !== null &&
              (from === null || compareTimes(createdAt, from) >= 0) &&
              (to === null || compareTimes(createdAt, to) < 0),
          ).map(({ id }) => id);
          expect(await sorted(reader.liveIdsWithin({ from, to }))).toEqual(within);
          const counts = await reader.timeCounts({ from, to }, 'minute');
          expect(counts.reduce((sum, { rows }) => sum + rows, 0)).toBe(within.length);
        }),
        propertyRuns(10),
      );
    });
  });

  describe('looks', () => {
    const look = (at: string, rest: Partial<LookRecord> = {}): LookRecord => ({
      at,
      open: [],
      others: null,
      ...rest,
    });
    const FIRST = look('2026-03-02T08:00:00.000Z', {
      open: ['frm_2', '__proto__'].sort(),
      others: {
        total: 3,
        statuses: new Map([['__proto__', 1]]),
        besides: 'a1b2',
        newest: { digests: new Set(['Ab-_09', 'zzzzzz']), oldest: '2026-03-02T07:00:00.000Z' },
      },
    });
    const later = (minutes: number): string =>
      new Date(Date.parse(FIRST.at) + minutes * 60_000).toISOString();

    it('L16: are kept, the newest one, and known to other processes', async () => {
      expect(await stage.target.lastLook()).toBeNull();
      await stage.target.recordLook(FIRST);
      expect(await stage.target.lastLook()).toEqual(FIRST);
      expect(await (await stage.open()).lastLook()).toEqual(FIRST);
      const next = look(later(1));
      await stage.target.recordLook(next);
      await stage.target.recordLook(FIRST);
      expect(await stage.target.lastLook()).toEqual(next);
      expect(await (await stage.open()).lastLook()).toEqual(next);
    });

    it('by a clock that was wrong are replaced', async () => {
      await stage.target.recordLook(look('2036-03-02T08:00:00.000Z'));
      await stage.target.recordLook(FIRST);
      expect(await stage.target.lastLook()).toEqual(FIRST);
    });

    it('L13: are kept by several at once, the newest of them', async () => {
      const others = await Promise.all([stage.open(), stage.open(), stage.open()]);
      await Promise.all(
        others.map((target, index) =>
          target.recordLook(look(later([5, 15, 10][index]!), { open: [`frm_${index}`] })),
        ),
      );
      expect((await (await stage.open()).lastLook())?.at).toBe(later(15));
    });

    it('L13: are kept beside a pass, and hold it up as little as it them', async () => {
      await stage.write(async (writer) => {
        await writer.prepare([]);
        await stage.target.recordLook(FIRST);
        await (await stage.open()).recordLook(look(later(1)));
        await writer.apply(ROWS, []);
        await writer.finish(pass(), { checkpoint: CHECKPOINT });
      });
      await stage.target.recordLook(look(later(2)));
      expect((await stage.target.lastLook())?.at).toBe(later(2));
      expect((await (await stage.read()).statusCounts()).get('DONE')).toBe(2);
    });
  });
}
