import { type Clock, systemClock, throwIfAborted } from '../../src/base/clock.ts';

/** A clock that never waits: sleeping advances it at once and is recorded. */
export class TestClock implements Clock {
  /** The sleeps, in order. */
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

/** The real time, which can be set to a later one. */
export class LateClock implements Clock {
  #lateMs = 0;

  now(): number {
    return Date.now() + this.#lateMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return systemClock.sleep(ms, signal);
  }

  goOn(ms: number): void {
    this.#lateMs += ms;
  }
}
