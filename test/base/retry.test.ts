import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MirrorError } from '../../src/base/errors.ts';
import { Events } from '../../src/base/events.ts';
import { withRetry, DEFAULT_RETRY, parseRetryAfter, retryDelayMs } from '../../src/base/retry.ts';
import { propertyRuns } from '../support/property.ts';
import { TestClock } from '../support/test-clock.ts';

const always = () => ({ retry: true });

describe('the wait before another try', () => {
  it('is a whole number, at least what the server asked for, and at most the sum of both', () => {
    const delays = fc.property(
      fc.integer({ min: 1, max: 40 }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      fc.option(fc.nat(500_000), { nil: undefined }),
      (attempt, chance, serverMs) => {
        const ms = retryDelayMs(DEFAULT_RETRY, attempt, () => chance, serverMs);
        const floor = serverMs ?? 0;
        expect(Number.isInteger(ms)).toBe(true);
        expect(ms).toBeGreaterThanOrEqual(floor);
        expect(ms).toBeLessThanOrEqual(floor + DEFAULT_RETRY.maxDelayMs);
      },
    );
    fc.assert(delays, propertyRuns(300));
  });

  it('grows, and is at least half of the maximum', () => {
    const most = [1, 2, 3].map((attempt) => retryDelayMs(DEFAULT_RETRY, attempt, () => 1));
    expect(most).toEqual([250, 500, 1_000]);
    expect([0, 0.5].map((chance) => retryDelayMs(DEFAULT_RETRY, 2, () => chance))).toEqual([
      250, 375,
    ]);
  });

  it('reads Retry-After as seconds or as a date, two minutes at most', () => {
    const now = Date.UTC(2026, 0, 1);
    expect(parseRetryAfter('2', now)).toBe(2_000);
    expect(parseRetryAfter('3600', now)).toBe(120_000);
    expect(parseRetryAfter(new Date(now + 5_000).toUTCString(), now)).toBe(5_000);
    expect(parseRetryAfter(new Date(now - 5_000).toUTCString(), now)).toBe(0);
    expect([parseRetryAfter('soon', now), parseRetryAfter(undefined, now)]).toEqual([
      undefined,
      undefined,
    ]);
  });
});

describe('the retry loop', () => {
  it('repeats what may succeed later, and ends after its last attempt with the last error', async () => {
    const tries = async (error: unknown): Promise<number> => {
      let tried = 0;
      const policy = { ...DEFAULT_RETRY, attempts: 3 };
      const work = async () => {
        tried++;
        throw error;
      };
      await expect(withRetry(work, { policy, clock: new TestClock() })).rejects.toBe(error);
      return tried;
    };
    const errors = [
      new MirrorError('FORMS_FAILED', 'x'),
      new MirrorError('SETTINGS', 'x'),
      new Error('foreign'),
    ];
    expect(await Promise.all(errors.map(tries))).toEqual([3, 1, 1]);
  });

  it('wakes up and ends when its signal aborts', async () => {
    const stop = new AbortController();
    const work = async () => {
      stop.abort();
      throw new Error('x');
    };
    const options = {
      policy: DEFAULT_RETRY,
      clock: new TestClock(),
      decide: always,
      signal: stop.signal,
    };
    await expect(withRetry(work, options)).rejects.toThrow('x');
    await expect(withRetry(async () => 1, options)).rejects.toBeInstanceOf(MirrorError);
  });
});

describe('events', () => {
  it('reach every listener, and a listener that throws does not affect the others', () => {
    const errors: unknown[] = [];
    const events = new Events<{ tick: { n: number } }>((error) => errors.push(error));
    const seen: number[] = [];
    events.on('tick', () => {
      throw new Error('listener');
    });
    events.on('tick', ({ n }) => seen.push(n));
    events.emit('tick', { n: 1 });
    events.emit('tick', { n: 2 });
    expect([seen, errors.length]).toEqual([[1, 2], 2]);
  });
});
