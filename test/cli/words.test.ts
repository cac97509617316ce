import { describe, expect, it } from 'vitest';
import { ago, count, plural, timeSpan } from '../../src/cli/words.ts';

describe('words', () => {
  it.each([
    [0, '0.0 s'],
    [420, '0.4 s'],
    [9_960, '10.0 s'],
    [12_300, '12 s'],
    [60_000, '1 m'],
    [200_400, '3 m 20 s'],
    [3_600_000, '1 h'],
    [3_605_000, '1 h'],
    [187_200_000, '2 d 4 h'],
  ])('%d ms is %s', (ms, text) => {
    expect(timeSpan(ms)).toBe(text);
  });

  it('numbers are grouped, and words agree with them', () => {
    expect([
      count(1_250),
      plural(1, 'form'),
      plural(0, 'form'),
      plural(2, 'pass', 'passes'),
    ]).toEqual(['1,250', '1 form', '0 forms', '2 passes']);
  });

  it('times are told from now', () => {
    const now = Date.parse('2026-11-20T12:00:00Z');
    expect(ago(null, now)).toBe('never');
    expect(ago('2026-11-20T11:59:59.900Z', now)).toBe('just now');
    expect(ago('2026-11-20T11:56:40Z', now)).toBe('3 m 20 s ago');
  });
});
