import { describe, expect, it } from 'vitest';
import { ago, count, duration, exact, lasting, plural, soon, span } from '../../src/base/format.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const before = (ms: number): string => new Date(NOW - ms).toISOString();
const NUMBERS = [0, 7, -7, 100, 999, 1_000, -1_000, 99_999, 123_456, -123_456, 2 ** 53 - 1];
const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];

describe('formatting for people', () => {
  it.each([
    [-5, '0 s'],
    [59_999, '59 s'],
    [3 * MINUTE + 59_000, '3 min'],
    [2 * HOUR, '2 h'],
    [2 * HOUR + 5 * MINUTE, '2 h 5 min'],
    [3 * DAY + 4 * HOUR, '3 d 4 h'],
    [1_234 * DAY, '1,234 d'],
  ])('%d ms are %s', (ms, words) => expect(span(ms)).toBe(words));

  it.each([
    [0, '0.0 s'],
    [432, '0.4 s'],
    [9_960, '10.0 s'],
    [12_400, '12 s'],
    [200_400, '3 min'],
  ])('%d ms took %s', (ms, words) => expect(duration(ms)).toBe(words));

  it('say how long ago and how soon something is', () => {
    expect(ago(before(2 * SECOND), NOW)).toBe('just now');
    expect(ago(before(42 * SECOND), NOW)).toBe('42 s ago');
    // Clocks differ a little.
    expect(ago(before(-2 * MINUTE), NOW)).toBe('just now');
    expect(ago(before(-3 * MINUTE), NOW)).toBe('3 min from now (check the clock)');
    expect(lasting(before(0), NOW)).toBe('for 0 s');
    expect(lasting(before(42 * SECOND), NOW)).toBe('for 42 s');
    expect(soon(before(-40 * SECOND), NOW)).toBe('in 40 s');
    expect(soon(before(10 * SECOND), NOW)).toBe('now');
    expect(soon(before(5 * MINUTE), NOW)).toBe('5 min late');
    expect(exact('2026-11-20T14:03:12.345Z')).toBe('2026-11-20 14:03:12 UTC');
    expect(exact('broken')).toBe('broken');
    expect(count(1_250)).toBe('1,250');
    for (const number of NUMBERS) expect(count(number)).toBe(number.toLocaleString('en-US'));
    expect(plural(0, 'form')).toBe('0 forms');
    expect(plural(1_250, 'form')).toBe('1,250 forms');
    expect(plural(1, 'pass', 'passes')).toBe('1 pass');
  });
});
