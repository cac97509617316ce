import type { Clock } from '../../src/base/clock.ts';
import { MirrorError } from '../../src/base/errors.ts';
import { NOW } from './facts.ts';

/** A clock that moves only when a test moves it. Who sleeps wakes when it has moved far enough. */
export class ManualClock implements Clock {
  #nowMs: number;
  #sleepers: { readonly wakeMs: number; readonly wake: () => void }[] = [];

  constructor(nowMs = NOW) {
    this.#nowMs = nowMs;
  }

  now(): number {
    return this.#nowMs;
  }

  /** How many are asleep. */
  get sleepers(): number {
    return this.#sleepers.length;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const wake = (): void => {
      signal?.removeEventListener('abort', cancel);
      resolve();
    };
    const sleeper = { wakeMs: this.#nowMs + ms, wake };
    const cancel = (): void => {
      this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
      reject(new MirrorError('CANCELLED', 'Stopped on request.'));
    };
    if (signal?.aborted === true) cancel();
    else this.#sleepers.push(sleeper);
    signal?.addEventListener('abort', cancel, { once: true });
    return promise;
  }

  /** Moves on, wakes those whose time has come, and lets what follows happen. */
  async advance(ms: number): Promise<void> {
    this.#nowMs += ms;
    const due = this.#sleepers.filter(({ wakeMs }) => wakeMs <= this.#nowMs);
    this.#sleepers = this.#sleepers.filter(({ wakeMs }) => wakeMs > this.#nowMs);
    for (const { wake } of due) wake();
    await settle();
  }
}

/** Lets everything that needs no more than promises happen. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((done) => setImmediate(done));
}
