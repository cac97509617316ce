import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { withinTime } from '../../src/base/deadline.ts';
import { ManualClock } from '../health/manual-clock.ts';

const never = new Promise<never>(() => {});

describe('a deadline', () => {
  it('gives what comes in time, and leaves no timer behind', async () => {
    const clock = new ManualClock();
    expect(await withinTime(Promise.resolve(1), 1_000, clock)).toBe(1);
    expect(clock.sleepers).toBe(0);
  });

  it('goes by the clock that it was given', async () => {
    const clock = new ManualClock();
    const waiting = withinTime(never, 1_000, clock);
    await clock.advance(999);
    expect(clock.sleepers).toBe(1);
    await clock.advance(1);
    expect(await waiting).toBeUndefined();
  });

  it('passes a failure on, and lets go of its timer', async () => {
    const clock = new ManualClock();
    await expect(withinTime(Promise.reject(new Error('no')), 1_000, clock)).rejects.toThrow('no');
    expect(clock.sleepers).toBe(0);
  });

  it('ignores a failure that comes late', async () => {
    const work = Promise.withResolvers<void>();
    expect(await withinTime(work.promise, 1, systemClock)).toBeUndefined();
    // An unhandled rejection would fail this file.
    work.reject(new Error('late'));
  });
});
