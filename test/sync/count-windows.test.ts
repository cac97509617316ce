import { describe, expect, it } from 'vitest';
import type { FormWindow } from '../../src/mirror/window.ts';
import { countOlder, countWindows } from '../../src/sync/count-windows.ts';

const MAY = '2026-05-01T00:00:00.000Z';
const JUNE = '2026-06-01T00:00:00.000Z';
const WINDOWS: readonly FormWindow[] = [
  { from: null, to: MAY },
  { from: MAY, to: JUNE },
  { from: JUNE, to: null },
];

/** A source of so many in each window, and as many outside of all. `happens` before each count. */
function source(each: number[], outside: number, happens: (requests: number) => void = () => {}) {
  let requests = 0;
  const count = async ({ from, to }: FormWindow): Promise<number> => {
    happens(++requests);
    if (from === null && to === null) return each.reduce((sum, one) => sum + one, outside);
    return each[WINDOWS.findIndex((window) => window.from === from)] ?? 0;
  };
  return { count, asked: () => requests };
}

describe('counting a form by windows', () => {
  it('says how many there are in each where they add up', async () => {
    const { count, asked } = source([3, 4, 5], 0);
    expect(await countWindows(WINDOWS, count)).toEqual({ each: [3, 4, 5], whole: 12 });
    expect(asked()).toBe(5);
  });

  it('L3: says that windows leave something out, or show it twice', async () => {
    for (const outside of [1, -1]) {
      const { count, asked } = source([3, 4, 5], outside);
      expect(await countWindows(WINDOWS, count)).toBe('contradiction');
      expect(asked()).toBeLessThan(30);
    }
  });

  it('L3: counts what arrives meanwhile, for as long as it takes', async () => {
    const each = [3, 4, 5];
    const { count } = source(each, 0, (requests) => {
      if (requests < 12) each[2]!++;
    });
    expect(await countWindows(WINDOWS, count)).toMatchObject({ whole: 23 });
  });

  it('L2: is not deceived by a form in which something is always missing, however that moves', async () => {
    const each = [3, 4, 5];
    const { count } = source(each, 1, (requests) => {
      if (requests % 2 === 0) each[2]!++;
    });
    expect(typeof (await countWindows(WINDOWS, count))).toBe('string');
  });

  it('says nothing of one in which more is deleted with each request', async () => {
    const each = [300, 400, 500];
    const { count } = source(each, 0, (requests) => {
      each[requests % 2]!--;
    });
    expect(await countWindows(WINDOWS, count)).toBe('moving');
  });

  it('does not count the newest where what was just proven of it adds up', async () => {
    const { count, asked } = source([3, 4, 5], 0);
    const first = { ...(await countOlder(WINDOWS, count)), newest: 5 };
    expect(await countWindows(WINDOWS, count, first)).toEqual({ each: [3, 4, 5], whole: 12 });
    expect(asked()).toBe(4);
  });

  it('L3: counts it where that does not add up, or the form has become smaller', async () => {
    const arrived = source([3, 4, 6], 0);
    const proven = { ...(await countOlder(WINDOWS, arrived.count)), newest: 5 };
    const counts = await countWindows(WINDOWS, arrived.count, proven);
    expect(counts).toEqual({ each: [3, 4, 6], whole: 13 });
    const deleted = source([3, 4, 5], 0);
    const before = { whole: 13, older: [3, 4], newest: 5 };
    expect(await countWindows(WINDOWS, deleted.count, before)).toMatchObject({ whole: 12 });
    expect(deleted.asked()).toBeGreaterThan(1);
  });

  it('L3: says that windows leave something out, whatever was proven of the newest', async () => {
    const { count } = source([3, 4, 5], 1);
    const first = { ...(await countOlder(WINDOWS, count)), newest: 5 };
    expect(await countWindows(WINDOWS, count, first)).toBe('contradiction');
  });

  it('asks for no more counts at once than it is to, and loses none of them', async () => {
    const many = Array.from({ length: 9 }, (_, at) => ({ from: `${at}`, to: `${at + 1}` }));
    let [running, most] = [0, 0];
    const count = async ({ from }: FormWindow): Promise<number> => {
      most = Math.max(most, ++running);
      await new Promise((done) => setImmediate(done));
      running--;
      return from === null ? 36 : Number(from);
    };
    const { older } = await countOlder(many, count, { atOnce: 3 });
    expect(older).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(most).toBe(3);
  });
});
