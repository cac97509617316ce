import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  areaText,
  columnIndex,
  columnName,
  parseRange,
  spansOf,
  wholeRow,
} from '../../../../src/targets/google-sheets/api/a1.ts';
import { propertyRuns } from '../../../support/property.ts';

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

  it('reads its own names', () => {
    fc.assert(
      fc.property(fc.nat(18_277), (index) => {
        expect(columnIndex(columnName(index))).toBe(index);
      }),
      propertyRuns(300),
    );
  });

  it('reads what it wrote, whatever the tab is called', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, maxLength: 20 }),
        fc.nat(1_000),
        fc.integer({ min: 1, max: 50 }),
        fc.nat(1_000),
        fc.integer({ min: 1, max: 50 }),
        (title, startRow, rows, startColumn, columns) => {
          const area = {
            startRow,
            endRow: startRow + rows,
            startColumn,
            endColumn: startColumn + columns,
          };
          expect(parseRange(areaText(title, area))).toEqual(area);
        },
      ),
      propertyRuns(300),
    );
  });

  it('reads ranges as Google answers them', () => {
    expect(parseRange("'My ''tab''!'!C1:C1000")).toEqual({
      startRow: 0,
      endRow: 1_000,
      startColumn: 2,
      endColumn: 3,
    });
    expect(parseRange('Sheet1!A5:Z5')).toMatchObject({ startRow: 4, endRow: 5 });
    expect(parseRange('Sheet1!B7')).toEqual({
      startRow: 6,
      endRow: 7,
      startColumn: 1,
      endColumn: 2,
    });
    expect(parseRange('Sheet1!A:A')).toMatchObject({ startRow: 0, endRow: undefined });
    expect(parseRange('Sheet1!3:4')).toMatchObject({
      startRow: 2,
      endRow: 4,
      endColumn: undefined,
    });
    expect(parseRange('What is this?!')).toBeUndefined();
  });

  it('doubles quotes in titles', () => {
    expect(wholeRow("It's", 2)).toBe("'It''s'!3:3");
  });

  it('joins numbers into spans, with gaps as wide as asked', () => {
    expect(spansOf([1, 2, 3, 7, 8, 20])).toEqual([
      { start: 1, end: 4 },
      { start: 7, end: 9 },
      { start: 20, end: 21 },
    ]);
    expect(spansOf([1, 2, 3, 7, 8, 20], 3)).toEqual([
      { start: 1, end: 9 },
      { start: 20, end: 21 },
    ]);
    expect(spansOf([])).toEqual([]);
  });
});
