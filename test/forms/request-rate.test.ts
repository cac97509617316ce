import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/base/clock.ts';
import { type RateNotice, RequestRate } from '../../src/forms/request-rate.ts';
import { propertyRuns } from '../support/property.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const MINUTE_MS = 60_000;
const never = new AbortController().signal;

/** A process that sends as fast as it may, four requests at a time, each of which takes 50 ms. */
class Sender {
  readonly sentMs: number[] = [];
  readonly notices: RateNotice[] = [];
  readonly rate: RequestRate;
  /** Whether the source refuses a request that was sent now. */
  refuses: (atMs: number) => number | undefined = () => undefined;
  readonly #clock: Clock;

  constructor(clock: Clock, perMinute: number | null) {
    this.#clock = clock;
    this.rate = new RequestRate({
      perMinute,
      clock,
      onNotice: (notice) => this.notices.push(notice),
    });
  }

  start(lanes = 4): this {
    for (let lane = 0; lane < lanes; lane++) void this.#run();
    return this;
  }

  async #run(): Promise<never> {
    for (;;) {
      await this.rate.turn(never);
      const atMs = this.#clock.now();
      this.sentMs.push(atMs);
      const refusedForMs = this.refuses(atMs);
      await this.#clock.sleep(50);
      if (refusedForMs !== undefined) this.rate.refused(refusedForMs);
    }
  }

  within(fromMs: number, toMs: number): number {
    return this.sentMs.filter((at) => at >= fromMs && at < toMs).length;
  }
}

function mostInAMinute(times: readonly number[]): number {
  const all = times.toSorted((a, b) => a - b);
  let [most, first] = [0, 0];
  for (const [index, at] of all.entries()) {
    while (at - all[first]! >= MINUTE_MS) first++;
    most = Math.max(most, index - first + 1);
  }
  return most;
}

/** Some requests at once, after a rest; each is late by a part of what a slot lasts, or sleeps through it. */
const burst = fc.record({
  restMs: fc.oneof(fc.nat(50), fc.nat(3_000), fc.nat(40_000)),
  requests: fc.integer({ min: 1, max: 32 }),
  lateMs: fc.oneof(fc.constant(0), fc.nat(5_000), fc.nat(8_000)),
});

describe('the rate of requests', () => {
  it('without a limit nobody waits', async () => {
    const clock = new VirtualClock();
    const sender = new Sender(clock, null).start();
    await clock.run(1_000);
    expect(sender.sentMs.length).toBe(84);
  });

  it.each([6, 60, 600])(
    'a process keeps to %i a minute, and uses most of it',
    async (perMinute) => {
      const clock = new VirtualClock();
      const sender = new Sender(clock, perMinute).start();
      await clock.run(3 * MINUTE_MS);
      expect(mostInAMinute(sender.sentMs)).toBeLessThanOrEqual(perMinute);
      expect(sender.sentMs.length).toBeGreaterThan(0.85 * 3 * perMinute);
    },
  );

  it('no minute holds more requests than it may, whoever asks for how much and whenever slots are used', async () => {
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
          const rate = new RequestRate({ perMinute, clock: late });
          const sentMs: number[] = [];
          for (const { restMs, requests, lateMs: nextLateMs } of bursts) {
            await time.run(restMs);
            lateMs = nextLateMs;
            for (let n = 0; n < requests; n++) {
              void rate.turn(never).then(() => sentMs.push(time.now()));
            }
          }
          await time.run(2 * MINUTE_MS);
          expect(mostInAMinute(sentMs)).toBeLessThanOrEqual(perMinute);
        },
      ),
      propertyRuns(300),
    );
  });

  it('a 429 holds the process back for as long as it says, and lowers its rate; it recovers', async () => {
    const clock = new VirtualClock();
    const sender = new Sender(clock, 600).start();
    await clock.run(MINUTE_MS);
    const refusedMs = clock.now();
    sender.rate.refused(20_000);
    await clock.run(20 * MINUTE_MS);
    const sent = (fromMs: number, toMs: number): number =>
      sender.within(refusedMs + fromMs, refusedMs + toMs);
    expect(sent(0, 20_000)).toBe(0);
    expect(sent(20_000, 30_000)).toBeGreaterThan(0);
    expect(sent(20_000, 50_000)).toBeLessThanOrEqual(180);
    const minutes = [1, 2, 19].map((minute) => sent(minute * MINUTE_MS, (minute + 1) * MINUTE_MS));
    expect(minutes[0]).toBeLessThan(0.9 * (minutes[1] ?? 0));
    expect(minutes.at(-1)).toBeGreaterThan(500);
    expect(sender.notices.map(({ what }) => what)).toContain('refused');
  });

  it('without a limit, too, a 429 slows the process for a while', async () => {
    const clock = new VirtualClock();
    const sender = new Sender(clock, null).start(2);
    await clock.run(MINUTE_MS);
    const before = sender.within(clock.now() - 10_000, clock.now());
    const refusedMs = clock.now();
    sender.rate.refused(0);
    await clock.run(15 * MINUTE_MS);
    const sent = (fromMs: number, toMs: number): number =>
      sender.within(refusedMs + fromMs, refusedMs + toMs);
    expect(sent(5_000, 15_000)).toBeLessThanOrEqual(0.6 * before);
    expect(sent(5_000, 15_000)).toBeGreaterThan(0.3 * before);
    expect(sent(14 * MINUTE_MS, 14 * MINUTE_MS + 10_000)).toBeGreaterThan(0.95 * before);
  });

  it('after any refusals the rate rises to what is set, and without one to no limit', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.option(fc.integer({ min: 1, max: 100_000 })),
        fc.array(fc.record({ restMs: fc.nat(120_000), sent: fc.nat(40), forMs: fc.nat(120_000) }), {
          maxLength: 10,
        }),
        async (perMinute, refusals) => {
          const clock = new VirtualClock();
          const rate = new RequestRate({ perMinute, clock });
          let [resumesMs, early] = [Number.NEGATIVE_INFINITY, 0];
          for (const { restMs, sent, forMs } of refusals) {
            for (let n = 0; n < sent; n++) {
              void rate.turn(never).then(() => (early += clock.now() < resumesMs ? 1 : 0));
            }
            await clock.run(restMs);
            rate.refused(forMs);
            resumesMs = Math.max(resumesMs, clock.now() + forMs);
            expect(rate.perMinute).not.toBeNull();
            expect(rate.perMinute).toBeLessThanOrEqual(perMinute ?? Infinity);
          }
          let last = 0;
          for (let step = 0; step < 120; step++) {
            await clock.run(30_000);
            const now = rate.perMinute ?? Infinity;
            expect(now).toBeGreaterThanOrEqual(last);
            last = now;
          }
          expect(last).toBe(perMinute ?? Infinity);
          // Nobody sends before the time that the source named.
          expect(early).toBe(0);
        },
      ),
      propertyRuns(40),
    );
  });

  it('settles below a quota of the source that it does not know', async () => {
    const clock = new VirtualClock();
    const senders = [1, 2].map(() => new Sender(clock, null).start());
    const taken: number[] = [];
    let refused = 0;
    for (const sender of senders) {
      sender.refuses = (atMs) => {
        const lately = taken.filter((at) => at > atMs - MINUTE_MS).length;
        if (lately < 300) {
          taken.push(atMs);
          return undefined;
        }
        refused++;
        return 5_000;
      };
    }
    await clock.run(10 * MINUTE_MS);
    expect(taken.length).toBeGreaterThan(10 * 100);
    const early = refused;
    refused = 0;
    await clock.run(10 * MINUTE_MS);
    expect(early).toBeLessThan(200);
    expect(refused).toBeLessThan(60);
  });

  it('gives up at once when its signal aborts, and leaves its turn to the next', async () => {
    const clock = new VirtualClock();
    const rate = new RequestRate({ perMinute: 6, clock });
    const abort = new AbortController();
    await rate.turn(never);
    const given = rate.turn(abort.signal);
    let next: number | undefined;
    void rate.turn(never).then(() => (next = clock.now()));
    await clock.run(5_000);
    const ended = given.then(
      () => undefined,
      (error: unknown) => error,
    );
    abort.abort();
    expect(await ended).toMatchObject({ code: 'CANCELLED' });
    await clock.run(60_000);
    expect(next).toBeDefined();
  });

  it('a clock that is set back holds nobody up', async () => {
    const time = new VirtualClock();
    let offMs = 0;
    const clock: Clock = {
      now: () => time.now() + offMs,
      sleep: (ms, signal) => time.sleep(ms, signal),
    };
    const sender = new Sender(clock, 60).start();
    await time.run(MINUTE_MS);
    const before = sender.sentMs.length;
    offMs = -3_600_000;
    await time.run(MINUTE_MS);
    expect(sender.sentMs.length - before).toBeGreaterThan(0.8 * 60);
    expect(sender.sentMs.length - before).toBeLessThanOrEqual(60);
  });

  it('says once a minute that a request waits long for its turn', async () => {
    const clock = new VirtualClock();
    const sender = new Sender(clock, 3).start(2);
    await clock.run(5 * MINUTE_MS);
    const said = sender.notices.filter(({ what }) => what === 'turn');
    expect(said.length).toBeGreaterThanOrEqual(4);
    expect(said.length).toBeLessThanOrEqual(6);
    expect(said[0]?.waitMs).toBeGreaterThan(10_000);
  });
});
