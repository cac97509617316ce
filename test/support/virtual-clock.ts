import { type Clock, throwIfAborted } from '../../src/base/clock.ts';
import { MirrorError } from '../../src/base/errors.ts';

interface Sleeper {
  readonly wakeMs: number;
  readonly wake: () => void;
}

/** A clock for many sleepers: time advances from one awakening to the next, in order, when a test lets it. */
export class VirtualClock implements Clock {
  #nowMs: number;
  #sleepers: Sleeper[] = [];

  constructor(nowMs = Date.UTC(2026, 0, 1)) {
    this.#nowMs = nowMs;
  }

  now(): number {
    return this.#nowMs;
  }

  /** The number of sleepers. */
  get sleepers(): number {
    return this.#sleepers.length;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    throwIfAborted(signal);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const sleeper = { wakeMs: this.#nowMs + ms, wake: resolve };
    this.#sleepers.push(sleeper);
    const cancel = (): void => {
      this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
      reject(new MirrorError('CANCELLED', 'Stopped on request.'));
    };
    signal?.addEventListener('abort', cancel, { once: true });
    await promise.finally(() => signal?.removeEventListener('abort', cancel));
  }

  /** Lets `ms` pass. Each sleeper wakes in time, and the consequences happen before time continues. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    for (;;) {
      await settle();
      const wakeMs = Math.min(...this.#sleepers.map((sleeper) => sleeper.wakeMs));
      const next = this.#sleepers.find((sleeper) => sleeper.wakeMs === wakeMs);
      if (next === undefined || wakeMs > endMs) break;
      this.#nowMs = Math.max(this.#nowMs, wakeMs);
      this.#sleepers = this.#sleepers.filter((other) => other !== next);
      next.wake();
    }
    this.#nowMs = endMs;
  }
}

/** Lets everything happen that needs only promises. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((done) => setImmediate(done));
}
