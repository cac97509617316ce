import { describe, expect, it } from 'vitest';
import { longestGapMs, nextRunMs } from '../../src/queue/schedule.ts';

const HOUR_MS = 3_600_000;
const every = { everyMs: 60_000 };
const office = { cron: '*/5 8-17 * * 1-5', timeZone: 'Europe/Prague' };
/** A Friday. */
const FRIDAY = Date.parse('2026-11-20T16:57:00Z');

describe('the next run', () => {
  it('is due one interval after the last', () => {
    expect(nextRunMs(every, FRIDAY)).toBe(FRIDAY + 60_000);
  });

  it('is due at the times of the cron expression, in its time zone', () => {
    const next = nextRunMs(office, FRIDAY);
    expect(new Date(next).toISOString()).toBe('2026-11-23T07:00:00.000Z');
  });
});

describe('the longest interval of a schedule', () => {
  it('is its interval, or the weekend with office hours', () => {
    expect(longestGapMs(every, FRIDAY)).toBe(60_000);
    const friday = Date.parse('2026-11-20T16:55:00Z');
    expect(longestGapMs(office, FRIDAY - 5 * 24 * HOUR_MS)).toBe(
      Date.parse('2026-11-23T07:00:00Z') - friday,
    );
  });
});
