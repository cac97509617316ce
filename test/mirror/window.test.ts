import { describe, expect, it } from 'vitest';
import { canonicalTime } from '../../src/mirror/canonical-time.ts';
import {
  boundsOf,
  isCut,
  isWithin,
  oldestProof,
  uncutForm,
  unreadWindow,
  WHOLE_FORM,
} from '../../src/mirror/window.ts';

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

  it('has been proven when it was; a form since the oldest of its windows was', () => {
    const [older, newer] = [unreadWindow({ from: null, to: MARCH.to }, 5), unreadWindow(MARCH, 7)];
    const [first, second] = ['2026-05-01T00:00:00.000Z', '2026-05-02T00:00:00.000Z'];
    expect(oldestProof([{ ...older, provenAt: second }, newer])).toBeNull();
    expect(
      oldestProof([
        { ...older, provenAt: second },
        { ...newer, provenAt: first },
      ]),
    ).toBe(first);
    expect([isCut([older, newer]), isCut([uncutForm(12, first)]), isCut([])]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('is not contradicted by a submission without a readable date', () => {
    expect(within('yesterday')).toBe(true);
  });
});
