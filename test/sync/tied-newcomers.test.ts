import { describe, expect, it } from 'vitest';
import { openSqlite } from '../../src/targets/sql/sqlite/sqlite-database.ts';
import { lifeOf } from '../soak/quiet-life.ts';

const PAGE = 10;

describe('newcomers of the very instant of the newest submission known', () => {
  it.each(['newest', 'oldest'] as const)(
    'L2: are not missed on the page beside, while as many were deleted; list by %s',
    async (order) => {
      await using target = openSqlite('a', ':memory:');
      const life = lifeOf(50, { order, limit: PAGE });
      const { source } = life;
      const known = [source.insert(), source.insert(0, true), source.insert(0, true)];
      const lowest = known.map(({ id }) => id).toSorted()[0]!;
      expect(await life.pass(target, 'full')).toMatchObject({ outcome: 'ok', inserted: 53 });
      // Ties come by their IDs: these two are older in the list than the three known ones.
      const tied: string[] = [];
      while (tied.length < 2) {
        const { id } = source.insert(0, true);
        if (id < lowest) tied.push(id);
        else source.delete(id);
      }
      for (let n = known.length; n < PAGE; n++) source.insert();
      for (const { id } of source.items.slice(10, 12)) source.delete(id);
      const near = source.entries().map(({ id }) => id);
      const beside = order === 'newest' ? near.slice(PAGE, PAGE + 2) : near.slice(-PAGE - 2, -PAGE);
      expect(beside.toSorted()).toEqual(tied.toSorted());
      expect(await life.pass(target, 'incremental')).toMatchObject({ outcome: 'ok', inserted: 9 });
      expect(life.breaches).toEqual([]);
      const idle = await life.pass(target, 'incremental');
      expect(idle).toMatchObject({ outcome: 'ok', inserted: 0 });
      // The form, and its first and newest page.
      expect(idle.requests).toBeLessThanOrEqual(3);
    },
  );

  it.each(['newest', 'oldest'] as const)(
    'L2: are not missed where ties change places between two pages; list by %s',
    async (order) => {
      await using target = openSqlite('a', ':memory:');
      const life = lifeOf(250, { order, limit: PAGE });
      const { source } = life;
      const known = [source.insert(), source.insert(0, true), source.insert(0, true)];
      const lowest = known.map((item) => item.id).toSorted()[0]!;
      expect(await life.pass(target, 'full')).toMatchObject({ outcome: 'ok', inserted: 253 });
      const tied: string[] = [];
      while (tied.length < 2) {
        const { id } = source.insert(0, true);
        if (id < lowest) tied.push(id);
        else source.delete(id);
      }
      for (let n = known.length; n < PAGE; n++) source.insert();
      for (const { id } of source.items.slice(10, 12)) source.delete(id);
      // Each page is sorted for itself: on the page beside the newest, ties come the other way round.
      const inOrder = source.entries.bind(source);
      const beside = order === 'newest' ? 2 : 25;
      let page = 0;
      source.onRequest = (asked) => void (page = asked);
      source.entries = () => {
        const entries = inOrder();
        if (page !== beside) return entries;
        const turned: (typeof entries)[number][] = [];
        for (const entry of entries) {
          const begin = turned.findIndex(({ createdAt }) => createdAt === entry.createdAt);
          turned.splice(begin < 0 ? turned.length : begin, 0, entry);
        }
        return turned;
      };
      const pass = await life.pass(target, 'incremental');
      const reader = await target.reader(source.form.id);
      const stored = await reader!.rows(tied);
      expect(pass.outcome !== 'ok' || stored.size === 2).toBe(true);
    },
  );

  it('L2: are not missed in a list by age that a new double has made longer than `total`', async () => {
    await using target = openSqlite('a', ':memory:');
    const life = lifeOf(250, { order: 'oldest', limit: 100, ends: 'total' });
    const { source } = life;
    expect(await life.pass(target, 'full')).toMatchObject({ outcome: 'ok', inserted: 250 });
    source.repeat(source.items[220]!.id, 2);
    source.delete(source.items[100]!.id);
    const { id } = source.insert();
    const pass = await life.pass(target, 'incremental');
    const reader = await target.reader(source.form.id);
    const known = await reader!.rows([id]);
    expect(pass.outcome !== 'ok' || known.size === 1).toBe(true);
  });
});
