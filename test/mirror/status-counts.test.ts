import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  countsFrom,
  countsText,
  minusCounts,
  plusCounts,
  sameCounts,
  totalOf,
} from '../../src/mirror/status-counts.ts';
import { propertyRuns } from '../support/property.ts';

const counts = fc
  .array(fc.tuple(fc.constantFrom('NEW', 'DONE', '__proto__', ''), fc.integer({ min: 1, max: 9 })))
  .map((pairs) => new Map(pairs));

describe('counts by status', () => {
  it('are added, compared, written and read again', () => {
    fc.assert(
      fc.property(counts, counts, (a, b) => {
        const both = plusCounts(a, b);
        expect(totalOf(both)).toBe(totalOf(a) + totalOf(b));
        expect(sameCounts(minusCounts(both, b), a)).toBe(true);
        expect(sameCounts(a, b)).toBe(countsText(a) === countsText(b));
        expect(countsFrom(countsText(a))).toEqual(a);
      }),
      propertyRuns(100),
    );
  });

  it('leave out what nothing has, and show what is missing as less than none', () => {
    const [some, more] = [new Map([['NEW', 2]]), new Map([['NEW', 5]])];
    expect(minusCounts(some, some)).toEqual(new Map());
    expect(minusCounts(some, more)).toEqual(new Map([['NEW', -3]]));
  });

  it('have one text, whatever the order', () => {
    const one = new Map([
      ['NEW', 1],
      ['DONE', 2],
    ]);
    const text = countsText(new Map([...one].reverse()));
    expect(countsText(one)).toBe(text);
    expect(text).toBe('[["DONE",2],["NEW",1]]');
  });

  it.each([null, '', 'nonsense', '{}', '[["NEW"]]', '[["NEW","1"]]', '[["NEW",1.5]]', '7'])(
    'are not known from what is none: %s',
    (text) => {
      expect(countsFrom(text)).toBeNull();
    },
  );
});
