import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FormWindow, isWithin } from '../../src/mirror/window.ts';
import { cutWindows, type Cutting } from '../../src/sync/cut-windows.ts';
import { propertyRuns } from '../support/property.ts';

const DAY_MS = 24 * 60 * 60_000;
const NEWEST = Date.parse('2026-11-21T15:00:00Z');

/** Dates so many days old, newest first. */
const dated = (ages: readonly number[]): string[] =>
  ages
    .map((days) => new Date(NEWEST - days * DAY_MS).toISOString())
    .toSorted((a, b) => (a < b ? 1 : -1));

async function cut(
  dates: readonly string[],
  aim: number,
  {
    from = null,
    isShared = false,
    likely = null,
  }: Partial<Pick<Cutting, 'from' | 'isShared' | 'likely'>> = {},
) {
  let requests = 0;
  const within = (window: FormWindow): number =>
    dates.filter((date) => isWithin(window, date)).length;
  const windows = await cutWindows({
    from,
    total: within({ from, to: null }),
    newest: dates[0] ?? '',
    likely,
    aim,
    isShared,
    count: async (window) => {
      requests++;
      return within(window);
    },
  });
  return { windows, sizes: windows.map(within), requests };
}

describe('cutting a form into windows', () => {
  it('makes windows of at most so many, of which the newest is open-ended', async () => {
    const year = dated(Array.from({ length: 1_000 }, (_, at) => at * 0.365));
    const { windows, sizes, requests } = await cut(year, 100);
    expect(sizes.reduce((sum, size) => sum + size)).toBe(1_000);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(100);
    expect(windows.length).toBeLessThan(20);
    expect(windows[0]?.from).toBeNull();
    expect(windows.at(-1)?.to).toBeNull();
    expect(requests).toBeLessThan(60);
    expect(windows[1]?.from).toMatch(/T00:00:00\.000Z$/);
  });

  it('leaves a day as it is, however many it has', async () => {
    const { sizes } = await cut(dated([...Array(50).fill(3), 400, 0]), 10);
    expect(sizes).toEqual([1, 50, 1]);
  });

  it('cuts nothing where one day has it all, or bounds are ignored', async () => {
    expect((await cut(dated(Array(50).fill(0)), 10)).windows).toHaveLength(1);
    let requests = 0;
    const newest = new Date(NEWEST).toISOString();
    const ignored = { from: null, total: 90, newest, aim: 10, isShared: false, likely: null };
    const windows = await cutWindows({ ...ignored, count: async () => (requests++, 90) });
    expect(windows).toEqual([{ from: null, to: null, total: 90 }]);
    expect(requests).toBeLessThan(30);
  });

  it('cuts the newest window alone', async () => {
    const all = dated(Array.from({ length: 300 }, (_, at) => at));
    const from = '2026-06-01T00:00:00.000Z';
    const { windows, sizes } = await cut(all, 50, { from });
    expect(windows[0]?.from).toBe(from);
    expect(sizes.reduce((sum, size) => sum + size)).toBe(174);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(50);
  });

  it('makes smaller ones towards the newest where workers share them', async () => {
    const years = dated(Array.from({ length: 2_000 }, (_, at) => at * 0.5));
    const { sizes, requests } = await cut(years, 400, { isShared: true });
    expect(sizes.reduce((sum, size) => sum + size)).toBe(2_000);
    expect(Math.max(...sizes)).toBeGreaterThan(200);
    let left = 2_000;
    for (const size of sizes) {
      expect(size).toBeLessThanOrEqual(Math.max(20, left / 3));
      left -= size;
    }
    // It is read alone.
    expect(sizes.at(-1)).toBeLessThanOrEqual(20);
    expect(requests).toBeLessThan(50);
  });

  it('costs a request a window where submissions come evenly between the dates that are likely', async () => {
    const years = dated(Array.from({ length: 2_000 }, (_, at) => 90 + at * 0.5));
    const { sizes, requests } = await cut(years, 400, { likely: [years.at(-1)!, years[0]!] });
    expect(sizes.reduce((sum, size) => sum + size)).toBe(2_000);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(400);
    expect(requests).toBeLessThanOrEqual(sizes.length + 2);
  });

  it('keeps every submission in just one window, wherever they lie', async () => {
    const ages = fc.array(fc.oneof(fc.nat(3), fc.double({ min: 0, max: 5_000, noNaN: true })), {
      minLength: 1,
      maxLength: 200,
    });
    const aims = fc.integer({ min: 1, max: 40 });
    const shares = fc.boolean();
    const age = fc.integer({ min: -10, max: 6_000 });
    const guesses = fc.option(fc.tuple(age, age));
    const run = fc.asyncProperty(
      ages,
      aims,
      shares,
      guesses,
      async (days, aim, isShared, guess) => {
        const dates = dated(days);
        const [newest = '', oldest = ''] = dated(guess ?? []);
        const likely = guess && ([oldest, newest] as const);
        const { windows, sizes } = await cut(dates, aim, { isShared, likely });
        expect(sizes.reduce((sum, size) => sum + size)).toBe(dates.length);
        expect(sizes.at(-1)).toBeGreaterThan(0);
        expect(windows.slice(1).map(({ from }) => from)).toEqual(
          windows.slice(0, -1).map(({ to }) => to),
        );
        const large = windows.filter((_, at) => (sizes[at] ?? 0) > aim);
        for (const window of large) {
          const inIt = dates.filter((date) => isWithin(window, date));
          expect(new Set(inIt.map((date) => date.slice(0, 10))).size).toBe(1);
        }
      },
    );
    await fc.assert(run, propertyRuns(200));
  });
});
