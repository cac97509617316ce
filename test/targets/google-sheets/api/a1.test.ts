import { describe, expect, it } from 'vitest';
import { columnName, quotedTitle, spansOf } from '../../../../src/targets/google-sheets/api/a1.ts';

describe('A1 notation', () => {
  it('names columns as Google does', () => {
    expect([0, 25, 26, 51, 701, 702, 18_277].map(columnName)).toEqual([
      'A',
      'Z',
      'AA',
      'AZ',
      'ZZ',
      'AAA',
      'ZZZ',
    ]);
  });

  it('doubles quotes in titles', () => {
    expect(quotedTitle("Ann's")).toBe("'Ann''s'");
  });

  it('joins numbers into spans', () => {
    expect(spansOf([1, 2, 3, 7, 8, 20])).toEqual([
      { start: 1, end: 4 },
      { start: 7, end: 9 },
      { start: 20, end: 21 },
    ]);
    expect(spansOf([])).toEqual([]);
  });
});
