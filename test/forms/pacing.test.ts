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

  it('delays no request for longer than two minutes if the clock is set back', async () => {
    const time = new VirtualClock();
    let offMs = 0;
    const clock: Clock = {
      now: () => time.now() + offMs,
      sleep: (ms, signal) => time.sleep(ms, signal),
    };
    const pacing = pacingOf(clock, 60);
    let sent = 0;
    // As fast as it may, four requests at a time, each of which takes 50 ms.
    const send = async (): Promise<void> => {
      sent++;
      await clock.sleep(50);
    };
    const lane = (): Promise<void> => pacing.run(never, send).then(lane);
    for (let lanes = 0; lanes < 4; lanes++) void lane();
    await time.advance(MINUTE_MS);
    offMs = -3_600_000;
    await time.advance(2 * MINUTE_MS);
    sent = 0;
    await time.advance(MINUTE_MS);
    expect(sent).toBeGreaterThan(0.8 * 60);
    expect(sent).toBeLessThanOrEqual(60);
  });
});
