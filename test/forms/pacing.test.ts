import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/base/clock.ts';
import { Pacing } from '../../src/forms/pacing.ts';
import { propertyRuns } from '../support/property.ts';
import { TestClock } from '../support/test-clock.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const MINUTE_MS = 60_000;
const never = new AbortController().signal;

const pacingOf = (clock: Clock, perMinute: number | null, concurrency = 4): Pacing =>
  new Pacing({ concurrency, perMinute, clock });

/** Lets every promise settle that can. */
const settle = (): Promise<void> => new Promise((done) => setImmediate(done));

describe('concurrent requests', () => {
  it.each([0, 2, 4])(
    'pass on a slot that becomes free at the moment of an abort (%i ticks before)',
    async (ticks) => {
      const pacing = pacingOf(new TestClock(), null, 1);
      const abort = new AbortController();
      const end = Promise.withResolvers<void>();
      const first = pacing.run(never, () => end.promise);
      const second = pacing.run(abort.signal, () => Promise.resolve('second'));
      const third = pacing.run(never, () => Promise.resolve('third'));
      await settle();
      end.resolve();
      for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
      abort.abort();
      await Promise.allSettled([first, second]);
      expect(await third).toBe('third');
      expect(await pacing.run(never, () => Promise.resolve('fourth'))).toBe('fourth');
    },
  );
});

function mostInAMinute(times: readonly number[]): number {
  let [most, first] = [0, 0];
  for (const [index, at] of times.entries()) {
    while (at - (times[first] ?? 0) >= MINUTE_MS) first++;
    most = Math.max(most, index - first + 1);
  }
  return most;
}

/** Some concurrent requests after a pause; each is woken late. */
const burst = fc.record({
  restMs: fc.oneof(fc.nat(50), fc.nat(3_000), fc.nat(40_000)),
  requests: fc.integer({ min: 1, max: 32 }),
  lateMs: fc.oneof(fc.constant(0), fc.nat(5_000)),
});

describe('the rate of requests', () => {
  it('is kept in every minute, regardless of who asks for how much, and of late timers', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3_000 }),
        fc.array(burst, { minLength: 1, maxLength: 25 }),
        async (perMinute, bursts) => {
          const time = new VirtualClock();
          let lateMs = 0;
          const late: Clock = {
            now: () => time.now(),
            sleep: (ms, signal) => time.sleep(ms + lateMs, signal),
          };
          const pacing = pacingOf(late, perMinute, 32);
          const sentMs: number[] = [];
          for (const { restMs, requests, lateMs: nextLateMs } of bursts) {
            await time.advance(restMs);
            lateMs = nextLateMs;
            for (let n = 0; n < requests; n++)
              void pacing.run(never, async () => void sentMs.push(time.now()));
          }
          await time.advance(2 * MINUTE_MS);
          expect(mostInAMinute(sentMs)).toBeLessThanOrEqual(perMinute);
        },
      ),
      propertyRuns(200),
    );
  });
});
