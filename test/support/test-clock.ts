import { type Clock, throwIfAborted } from '../../src/base/clock.ts';

/** A clock that never waits: sleeping moves it on at once and is written down. */
export class TestClock implements Clock {
  /** What was slept, in order. */
  readonly sleeps: number[] = [];
  #nowMs: number;

  constructor(nowMs = Date.UTC(2026, 0, 1)) {
    this.#nowMs = nowMs;
  }

  now(): number {
    return this.#nowMs;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    throwIfAborted(signal);
    this.sleeps.push(ms);
    this.#nowMs += ms;
  }
}
