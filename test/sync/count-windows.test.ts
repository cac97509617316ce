import { describe, expect, it } from 'vitest';
import type { FormWindow } from '../../src/mirror/window.ts';
import { countWindows } from '../../src/sync/count-windows.ts';

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
});
