import { describe, expect, it } from 'vitest';
import {
  type RateAsk,
  type RateShare,
  type RateState,
  shareRate,
} from '../../src/forms/rate-share.ts';
import { type RateNotice, RequestRate, type RateStore } from '../../src/forms/request-rate.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const MINUTE_MS = 60_000;
const never = new AbortController().signal;

/** What processes share, in memory. It can be slow, or gone. */
class MemoryStore implements RateStore {
  state: RateState | null = null;
  asks = 0;
  takesMs = 5;
  fails: 'rejects' | 'hangs' | undefined;
  readonly #clock: VirtualClock;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  async share(ask: RateAsk): Promise<RateShare> {
    this.asks++;
    if (this.fails === 'rejects') throw new Error('gone');
    if (this.fails === 'hangs') return new Promise(() => {});
    await this.#clock.sleep(this.takesMs / 2);
    const { state, share } = shareRate(this.state, this.#clock.now(), ask);
    this.state = state;
    await this.#clock.sleep(this.takesMs / 2);
    return share;
  }
}

/** A process that sends as fast as it may, four requests at a time, each of which takes 50 ms. */
class Sender {
  readonly sentMs: number[] = [];
  readonly notices: RateNotice[] = [];
  readonly rate: RequestRate;
  /** Whether the source refuses a request that was sent now. */
  refuses: (atMs: number) => number | undefined = () => undefined;
  readonly #clock: VirtualClock;

  constructor(clock: VirtualClock, perMinute: number | null, store?: RateStore) {
    this.#clock = clock;
    this.rate = new RequestRate({
      perMinute,
      clock,
      onNotice: (notice) => this.notices.push(notice),
    });
    if (store !== undefined) this.rate.shareWith(store);
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

function mostInAMinute(senders: readonly Sender[]): number {
  const all = senders.flatMap(({ sentMs }) => sentMs).toSorted((a, b) => a - b);
  let [most, first] = [0, 0];
  for (const [index, at] of all.entries()) {
    while (at - all[first]! >= MINUTE_MS) first++;
    most = Math.max(most, index - first + 1);
  }
  return most;
}

describe('the rate of requests', () => {
  it('without a limit nobody waits', async () => {
    const clock = new VirtualClock();
    const sender = new Sender(clock, null).start();
    await clock.run(1_000);
    expect(sender.sentMs.length).toBe(84);
  });

  it.each([6, 60, 600])(
    'one process alone keeps to %i a minute, and uses most of it',
    async (perMinute) => {
      const clock = new VirtualClock();
      const sender = new Sender(clock, perMinute).start();
      await clock.run(3 * MINUTE_MS);
      expect(mostInAMinute([sender])).toBeLessThanOrEqual(perMinute);
      expect(sender.sentMs.length).toBeGreaterThan(0.85 * 3 * perMinute);
    },
  );

  it('three processes keep to it together, each with its part, and ask the store about once a second', async () => {
    const clock = new VirtualClock();
    const store = new MemoryStore(clock);
    const senders = [1, 2, 3].map(() => new Sender(clock, 600, store).start());
    await clock.run(3 * MINUTE_MS);
    expect(mostInAMinute(senders)).toBeLessThanOrEqual(600);
    const sent = senders.map(({ sentMs }) => sentMs.length);
    expect(Math.min(...sent)).toBeGreaterThan(0.8 * Math.max(...sent));
    expect(sent.reduce((sum, one) => sum + one)).toBeGreaterThan(0.85 * 3 * 600);
    expect(store.asks).toBeLessThan(3 * 180 * 1.5);
  });

  it.each(['rejects', 'hangs'] as const)(
    'a store that %s stops nobody: each keeps to a fair part, and returns to the others',
    async (fails) => {
      const clock = new VirtualClock();
      const store = new MemoryStore(clock);
      const senders = [1, 2].map(() => new Sender(clock, 600, store).start());
      await clock.run(MINUTE_MS);
      store.fails = fails;
      const lostMs = clock.now();
      await clock.run(2 * MINUTE_MS);
      for (const sender of senders) {
        const alone = sender.within(lostMs + 10_000, lostMs + 70_000);
        expect(alone).toBeLessThanOrEqual(300);
        expect(alone).toBeGreaterThan(250);
        expect(sender.notices.map(({ what }) => what)).toEqual(['alone']);
      }
      if (fails === 'hangs') return;
      store.fails = undefined;
      const backMs = clock.now();
      await clock.run(2 * MINUTE_MS);
      expect(senders[0]?.notices.map(({ what }) => what)).toEqual(['alone', 'together']);
      const both = senders.reduce(
        (sum, one) => sum + one.within(backMs + 10_000, backMs + 70_000),
        0,
      );
      expect(both).toBeLessThanOrEqual(600);
      expect(both).toBeGreaterThan(500);
    },
  );

  it.each([
    { processes: 1, lastsMs: 3_000, at: [60_000], fails: 'rejects' },
    { processes: 3, lastsMs: 3_000, at: [60_000], fails: 'rejects' },
    { processes: 3, lastsMs: 3_000, at: [60_000, 72_000, 84_000, 96_000], fails: 'rejects' },
    { processes: 3, lastsMs: 90_000, at: [60_000, 180_000], fails: 'rejects' },
    { processes: 3, lastsMs: 20_000, at: [60_000, 100_000], fails: 'hangs' },
    { processes: 4, lastsMs: 300, at: [60_000, 66_000, 72_000, 78_000], fails: 'rejects' },
  ] as const)(
    'no minute holds more than it may while the store goes and comes back ($processes, $lastsMs ms, $fails)',
    async ({ processes, lastsMs, at, fails }) => {
      const clock = new VirtualClock();
      const store = new MemoryStore(clock);
      const senders = Array.from({ length: processes }, () =>
        new Sender(clock, 600, store).start(),
      );
      let ranMs = 0;
      for (const atMs of at) {
        await clock.run(atMs - ranMs);
        store.fails = fails;
        await clock.run(lastsMs);
        store.fails = undefined;
        ranMs = atMs + lastsMs;
      }
      await clock.run(90_000);
      expect(mostInAMinute(senders)).toBeLessThanOrEqual(600);
      const sent = senders.reduce((sum, { sentMs }) => sum + sentMs.length, 0);
      expect(sent).toBeGreaterThan(0.8 * 600 * ((ranMs + 90_000) / MINUTE_MS));
    },
  );

  it('a process that has never met the store takes so little that the others may go on', async () => {
    const clock = new VirtualClock();
    const store = new MemoryStore(clock);
    const senders = [1, 2, 3].map(() => new Sender(clock, 600, store).start());
    await clock.run(70_000);
    store.fails = 'rejects';
    await clock.run(70_000);
    const late = new Sender(clock, 600, store).start();
    const fromMs = clock.now();
    await clock.run(2 * MINUTE_MS);
    expect(late.within(fromMs, clock.now())).toBeGreaterThan(2 * 40);
    store.fails = undefined;
    await clock.run(2 * MINUTE_MS);
    expect(mostInAMinute([...senders, late])).toBeLessThanOrEqual(600);
    expect(late.within(clock.now() - MINUTE_MS, clock.now())).toBeGreaterThan(60);
  });

  it('a slow store holds requests up for two seconds at most, once', async () => {
    const clock = new VirtualClock();
    const store = new MemoryStore(clock);
    const sender = new Sender(clock, 6_000, store).start();
    await clock.run(5_000);
    store.takesMs = 30_000;
    const slowMs = clock.now();
    await clock.run(20_000);
    const gaps = sender.sentMs
      .filter((at) => at >= slowMs)
      .map((at, index, all) => at - (all[index - 1] ?? slowMs));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(2_100);
    expect(gaps.filter((gap) => gap > 1_000).length).toBe(1);
  });

  it('a 429 holds all processes back for as long as it says, and lowers the rate of all; it recovers', async () => {
    const clock = new VirtualClock();
    const store = new MemoryStore(clock);
    const senders = [1, 2].map(() => new Sender(clock, 600, store).start());
    await clock.run(MINUTE_MS);
    const refusedMs = clock.now();
    senders[0]?.rate.refused(20_000);
    await clock.run(20 * MINUTE_MS);
    const both = (fromMs: number, toMs: number): number =>
      senders.reduce((sum, one) => sum + one.within(refusedMs + fromMs, refusedMs + toMs), 0);
    // What the other had been given before: for a second at most.
    expect(both(2_000, 20_000)).toBe(0);
    expect(both(20_000, 30_000)).toBeGreaterThan(0);
    expect(both(20_000, 50_000)).toBeLessThanOrEqual(180);
    const minutes = [1, 2, 19].map((minute) => both(minute * MINUTE_MS, (minute + 1) * MINUTE_MS));
    expect(minutes[0]).toBeLessThan(0.9 * (minutes[1] ?? 0));
    expect(minutes.at(-1)).toBeGreaterThan(500);
    expect(senders[0]?.notices.map(({ what }) => what)).toContain('refused');
  });

  it('without a limit, too, a 429 slows all for a while', async () => {
    const clock = new VirtualClock();
    const store = new MemoryStore(clock);
    const senders = [1, 2].map(() => new Sender(clock, null, store).start(1));
    await clock.run(MINUTE_MS);
    const before = senders.map((one) => one.within(clock.now() - 10_000, clock.now()));
    const refusedMs = clock.now();
    senders[0]?.rate.refused(0);
    await clock.run(15 * MINUTE_MS);
    const both = (fromMs: number, toMs: number): number =>
      senders.reduce((sum, one) => sum + one.within(refusedMs + fromMs, refusedMs + toMs), 0);
    const all = before.reduce((sum, one) => sum + one, 0);
    expect(both(5_000, 15_000)).toBeLessThanOrEqual(0.6 * all);
    expect(both(5_000, 15_000)).toBeGreaterThan(0.3 * all);
    expect(both(14 * MINUTE_MS, 14 * MINUTE_MS + 10_000)).toBeGreaterThan(0.95 * all);
  });

  it('settles below a quota of the source that it does not know', async () => {
    const clock = new VirtualClock();
    const store = new MemoryStore(clock);
    const senders = [1, 2].map(() => new Sender(clock, null, store).start());
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
