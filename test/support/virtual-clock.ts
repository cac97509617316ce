import { type Clock, throwIfAborted } from '../../src/base/clock.ts';
import { MirrorError } from '../../src/base/errors.ts';

interface Sleeper {
  readonly wakeMs: number;
  readonly wake: () => void;
}

/** A clock for many who sleep at once: time goes on from one awakening to the next, in order, when it is told to run. */
export class VirtualClock implements Clock {
  #nowMs: number;
  #sleepers: Sleeper[] = [];

  constructor(nowMs = Date.UTC(2026, 0, 1)) {
    this.#nowMs = nowMs;
  }

  now(): number {
    return this.#nowMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    throwIfAborted(signal);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const wake = (): void => {
      signal?.removeEventListener('abort', cancel);
      resolve();
    };
    const sleeper = { wakeMs: this.#nowMs + ms, wake };
    this.#sleepers.push(sleeper);
    const cancel = (): void => {
      this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
      reject(new MirrorError('CANCELLED', 'Stopped on request.'));
    };
    signal?.addEventListener('abort', cancel, { once: true });
    return promise;
  }

  /** Lets `ms` go by. Each sleeper wakes in time, and the consequences happen before time goes on. */
  async run(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    for (;;) {
      await settled();
      const next = this.#sleepers.toSorted((a, b) => a.wakeMs - b.wakeMs)[0];
      if (next === undefined || next.wakeMs > endMs) break;
      this.#nowMs = Math.max(this.#nowMs, next.wakeMs);
      this.#sleepers = this.#sleepers.filter((other) => other !== next);
      next.wake();
    }
    this.#nowMs = endMs;
  }
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((done) => setImmediate(done));
}
