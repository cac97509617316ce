import { describe, expect, it } from 'vitest';
import { openSqlite } from '../../src/targets/sql/sqlite/sqlite-database.ts';
import { lifeOf, newest } from '../soak/quiet-life.ts';
import { refused } from '../soak/stand-in.ts';

describe('a list that double entries push submissions off', () => {
  it.each(['total', 'pages'] as const)(
    'L1, L2: where it ends after `total` (%s): its other end shows them, or it is not called complete',
    async (ends) => {
      const counts = { honoured: 200, ignored: 199, refused: 199 };
      for (const reversal of ['honoured', 'ignored', 'refused'] as const) {
        await using target = openSqlite('a', ':memory:');
        const life = lifeOf(200, { ends, reversal });
        life.source.repeat(newest(life.source, 7), 2);
        for (const kind of ['full', 'full'] as const) {
          const report = await life.pass(target, kind);
          const said = expect.stringContaining('push others off its end') as unknown;
          const end =
            reversal === 'honoured'
              ? { outcome: 'ok', error: null }
              : { outcome: 'incomplete', error: said };
          expect(report).toMatchObject({ ...end, distinct: counts[reversal] });
          expect(report.requests).toBeLessThanOrEqual(40);
        }
        const { outcome } = await life.verify(target);
        expect(outcome).toBe(reversal === 'honoured' ? 'same' : 'unproven');
        expect(life.breaches).toEqual([]);
      }
    },
  );

  it.each([
    [422, 'FORMS_REFUSED'],
    [500, 'FORMS_FAILED'],
  ] as const)(
    'L3: an API that answers its other end with %s has not failed',
    async (status, code) => {
      await using target = openSqlite('a', ':memory:');
      const life = lifeOf(200, { totalCounts: 'entries' });
      life.source.repeat(newest(life.source, 7), 2);
      const list = life.source.listSubmissions;
      life.source.listSubmissions = async (query) => {
        if (query.sortOrder === 'asc') throw refused(status, code);
        return list(query);
      };
      const report = await life.pass(target, 'full');
      expect(report).toMatchObject({ outcome: 'incomplete', distinct: 200 });
      expect(report.error).toContain('push others off its end');
    },
  );

  it.each(['total', 'pages'] as const)(
    'L1, L2: in one page, too; where it ends after `total` (%s)',
    async (ends) => {
      await using target = openSqlite('a', ':memory:');
      const life = lifeOf(50, { ends, limit: ends === 'pages' ? 50 : 100 });
      for (const nth of [7, 8, 9]) life.source.repeat(newest(life.source, nth), 2);
      expect(await life.pass(target, 'full')).toMatchObject({ outcome: 'ok', distinct: 50 });
    },
  );

  it('L1: where each end shows others twice, the same submissions on both prove it', async () => {
    await using target = openSqlite('a', ':memory:');
    const life = lifeOf(250, { totalCounts: 'entries' });
    const [head, tail] = [newest(life.source, 5), newest(life.source, 244)];
    const list = life.source.listSubmissions;
    life.source.listSubmissions = async (query) => {
      const isHead = query.sortOrder !== 'asc';
      life.source.repeat(head, isHead ? 2 : 1);
      life.source.repeat(tail, isHead ? 1 : 2);
      return list(query);
    };
    expect(await life.pass(target, 'full')).toMatchObject({ outcome: 'ok', distinct: 250 });
  });

  it('L2: what is sorted after it was cut to a page is not seen from its other end', async () => {
    await using target = openSqlite('a', ':memory:');
    const life = lifeOf(50, { ends: 'total', reversal: 'ignored' });
    life.source.repeat(newest(life.source, 7), 2);
    const list = life.source.listSubmissions;
    life.source.listSubmissions = async (query) => {
      const page = await list(query);
      return query.sortOrder === 'asc' ? { ...page, items: page.items.toReversed() } : page;
    };
    expect(await life.pass(target, 'full')).toMatchObject({ outcome: 'incomplete', distinct: 49 });
  });
});
