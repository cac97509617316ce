import { describe, expect, it } from 'vitest';
import { canonicalTime } from '../../src/mirror/canonical-time.ts';
import { boundsOf, isWithin, WHOLE_FORM } from '../../src/mirror/window.ts';

const MARCH = { from: '2026-03-01T00:00:00.000Z', to: '2026-04-01T00:00:00.000Z' };

/** As the source may write a date. */
const within = (date: string): boolean => isWithin(MARCH, canonicalTime(date));

describe('a window of a form', () => {
  it('asks with its first instant and the last millisecond before its end', () => {
    expect(boundsOf(MARCH)).toEqual({ dateFrom: MARCH.from, dateTo: '2026-03-31T23:59:59.999Z' });
    expect(boundsOf({ ...MARCH, to: null })).toEqual({ dateFrom: MARCH.from });
    expect(boundsOf(WHOLE_FORM)).toEqual({});
  });

  it('has what is dated within it, however that is written', () => {
    expect(within('2026-03-01')).toBe(true);
    expect(within('2026-02-28T23:59:59.999999Z')).toBe(false);
    expect(within('2026-03-01T00:30:00+01:00')).toBe(false);
    expect(within('2026-02-28T23:30:00-01:00')).toBe(true);
    expect(within('2026-03-31T23:59:59.999900Z')).toBe(true);
    expect(within('2026-04-01T00:00:00Z')).toBe(false);
  });

  it('is not contradicted by a submission without a readable date', () => {
    expect(within('yesterday')).toBe(true);
  });
});
