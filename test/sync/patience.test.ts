import { describe, expect, it } from 'vitest';
import type { PassRecord } from '../../src/mirror/types.ts';
import { LONGEST_WAIT_MS, patienceOf, withLook } from '../../src/sync/patience.ts';
import { isLag, type Suspect } from '../../src/sync/suspects.ts';
import { passRecord } from '../health/fake-source.ts';

const NOW = Date.parse('2026-06-01T12:00:00Z');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Two passes, or `count`, that ended at the same time. */
const passes = (endedAgoMs: number, lengthMs = 0, count = 2): PassRecord[] =>
  Array.from({ length: count }, () => ({
    ...passRecord(0),
    startedAt: new Date(NOW - endedAgoMs - lengthMs).toISOString(),
    endedAt: new Date(NOW - endedAgoMs).toISOString(),
  }));
const defaults = { incrementalMs: MINUTE, fullMs: 6 * HOUR };

describe('how long a difference may be lag', () => {
  it('two ticks, and twice as long as passes take', () => {
    expect(patienceOf(defaults, passes(30_000), NOW)).toEqual({
      explainedMs: 2 * MINUTE,
      waitMs: 2 * MINUTE,
    });
    expect(patienceOf(defaults, passes(30_000, 15_000), NOW).waitMs).toBe(2 * MINUTE + 30_000);
  });

  it('full passes count where they are frequent', () => {
    const often = { incrementalMs: 5_000, fullMs: MINUTE };
    expect(patienceOf(often, passes(5_000), NOW).waitMs).toBe(2 * MINUTE);
  });

  it('nobody waits for an hourly schedule, unless asked to; what is new is explained by it all the same', () => {
    const hourly = { incrementalMs: HOUR, fullMs: 6 * HOUR };
    expect(patienceOf(hourly, passes(HOUR / 2), NOW)).toEqual({
      explainedMs: 2 * HOUR,
      waitMs: LONGEST_WAIT_MS,
    });
    expect(patienceOf(hourly, passes(HOUR / 2), NOW, 3 * HOUR).waitMs).toBe(3 * HOUR);
    expect(patienceOf(hourly, passes(HOUR / 2), NOW, 0).waitMs).toBe(0);
  });

  it('where passes ended long ago, or never, nothing is explained and nothing waited for', () => {
    for (const recorded of [[], passes(3 * HOUR)]) {
      expect(patienceOf(defaults, recorded, NOW)).toEqual({ explainedMs: 0, waitMs: 0 });
      expect(patienceOf(defaults, recorded, NOW, MINUTE).waitMs).toBe(MINUTE);
    }
  });

  it('after passes that are late by more than the schedule explains, no other is waited for', () => {
    expect(patienceOf(defaults, passes(3 * MINUTE), NOW)).toEqual({
      explainedMs: 2 * MINUTE,
      waitMs: 0,
    });
  });

  it('after a single pass, which may have been a person’s, no other is waited for', () => {
    expect(patienceOf(defaults, passes(30_000, 0, 1), NOW)).toEqual({
      explainedMs: 2 * MINUTE,
      waitMs: 0,
    });
  });
});

describe('lag', () => {
  const suspect = (facts: Partial<Suspect>): Suspect => ({
    id: 'sub',
    item: null,
    result: { columns: ['status'], fieldIds: [], isPlain: false },
    createdAtMs: NOW - HOUR,
    seenAtMs: NOW - 2 * MINUTE,
    lookedAtMs: NOW,
    changedAtMs: null,
    ...facts,
  });
  const patience = { explainedMs: 2 * MINUTE, waitMs: 2 * MINUTE };

  it.each([
    ['stood unchanged while it was looked at', {}, false],
    ['changed a moment ago', { changedAtMs: NOW - 1_000 }, true],
    ['changed longer ago than passes need', { changedAtMs: NOW - 2 * MINUTE }, false],
    ['missing, and created a moment ago', { result: 'missing', createdAtMs: NOW - 1_000 }, true],
    [
      'missing, and created by a clock that is fast',
      { result: 'missing', createdAtMs: NOW + 1_000 },
      true,
    ],
    ['missing, and dated tomorrow', { result: 'missing', createdAtMs: NOW + 24 * HOUR }, false],
    ['missing, without a date', { result: 'missing', createdAtMs: null }, false],
    ['created a moment ago, but its row is wrong', { createdAtMs: NOW - 1_000 }, false],
  ] as const)('%s', (_what, facts, lag) => {
    expect(isLag(suspect(facts), patience, NOW)).toBe(lag);
    expect(isLag(suspect(facts), { ...patience, explainedMs: 0 }, NOW)).toBe(false);
  });

  it('takes looks some time after the last pass for work that goes on', () => {
    const at = (agoMs: number): string => new Date(NOW - agoMs).toISOString();
    const old = passes(3 * 60 * MINUTE);
    expect(patienceOf(defaults, old, NOW)).toEqual({ explainedMs: 0, waitMs: 0 });
    expect(patienceOf(defaults, withLook(old, at(20_000)), NOW).waitMs).toBeGreaterThan(MINUTE);
    // A look of hours ago shows nothing; nor does the one that a person's own pass followed.
    expect(patienceOf(defaults, withLook(old, at(2 * 60 * MINUTE)), NOW).explainedMs).toBe(0);
    expect(withLook(passes(20_000), at(25_000))).toHaveLength(2);
    expect(withLook([], at(20_000))).toEqual([]);
    expect(withLook(old, null)).toBe(old);
  });
});
