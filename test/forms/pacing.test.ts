import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/base/clock.ts';
import { Pacing, type RateNotice } from '../../src/forms/pacing.ts';
import { propertyRuns } from '../support/property.ts';
import { TestClock } from '../support/test-clock.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const MINUTE_MS = 60_000;
const never = new AbortController().signal;

const pacingOf = (
  clock: Clock,
  perMinute: number | null,
  concurrency = 4,
  onNotice?: (notice: RateNotice) => void,
): Pacing => new Pacing({ concurrency, perMinute, clock, onNotice });

/** Lets every promise that can go on do so. */
const settle = (): Promise<void> => new Promise((done) => setImmediate(done));

describe('requests in flight', () => {
  it.each([0, 2, 4])(
    'pass a place on that comes at the moment of an abort (%i ticks before)',
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

/** A process that sends as fast as it may, four requests at a time, each of which takes 50 ms. */
class Sender {
  readonly sentMs: number[] = [];
  readonly notices: RateNotice[] = [];
  readonly pacing: Pacing;
  readonly #clock: Clock;

  constructor(clock: Clock, perMinute: number | null, lanes = 4) {
    this.#clock = clock;
    this.pacing = pacingOf(clock, perMinute, lanes, (notice) => this.notices.push(notice));
    for (let lane = 0; lane < lanes; lane++) void this.#run();
  }

  async #run(): Promise<never> {
    for (;;) {
      await this.pacing.run(never, async () => {
        this.sentMs.push(this.#clock.now());
        await this.#clock.sleep(50);
      });
    }
  }

  within(fromMs: number, toMs: number): number {
    return this.sentMs.filter((at) => at >= fromMs && at < toMs).length;
  }
}

function mostInAMinute(times: readonly number[]): number {
  let [most, first] = [0, 0];
  for (const [index, at] of times.entries()) {
    while (at - (times[first] ?? 0) >= MINUTE_MS) first++;
    most = Math.max(most, index - first + 1);
  }
  return most;
}

/** Some requests at once, after a rest; each is woken late. */
const burst = fc.record({
  restMs: fc.oneof(fc.nat(50), fc.nat(3_000), fc.nat(40_000)),
  requests: fc.integer({ min: 1, max: 32 }),
  lateMs: fc.oneof(fc.constant(0), fc.nat(5_000)),
});

describe('the rate of requests', () => {
  it('is kept in every minute, whoever asks for how much, and however late anybody wakes', async () => {
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

  it.each([600, null])(
    'is lowered by a 429 (set: %s), after the time that it names, and recovers',
    async (perMinute) => {
      const clock = new VirtualClock();
      const sender = new Sender(clock, perMinute, 2);
      await clock.advance(MINUTE_MS);
      const refusedMs = clock.now();
      const sent = (fromMs: number, toMs: number): number =>
        sender.within(refusedMs + fromMs, refusedMs + toMs);
      const before = sent(-10_000, 0);
      sender.pacing.refused(20_000);
      await clock.advance(20 * MINUTE_MS);
      // Nobody sends before the time that the source named.
      expect(sent(1, 20_000)).toBe(0);
      expect(sent(20_000, 30_000)).toBeGreaterThan(0.3 * before);
      expect(sent(20_000, 30_000)).toBeLessThanOrEqual(0.7 * before);
      expect(sent(19 * MINUTE_MS, 19 * MINUTE_MS + 10_000)).toBeGreaterThan(0.95 * before);
      expect(sender.pacing.perMinute).toBe(perMinute);
      expect(sender.notices).toHaveLength(1);
    },
  );

  it('holds nobody up when the clock is set back', async () => {
    const time = new VirtualClock();
    let offMs = 0;
    const clock: Clock = {
      now: () => time.now() + offMs,
      sleep: (ms, signal) => time.sleep(ms, signal),
    };
    const sender = new Sender(clock, 60);
    await time.advance(MINUTE_MS);
    const before = sender.sentMs.length;
    offMs = -3_600_000;
    await time.advance(MINUTE_MS);
    expect(sender.sentMs.length - before).toBeGreaterThan(0.8 * 60);
    expect(sender.sentMs.length - before).toBeLessThanOrEqual(60);
  });
});
