import { type Clock, systemClock, throwIfAborted } from '../../src/base/clock.ts';

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

/** Google takes a request a second for each spreadsheet. */
const SHEETS_PAUSE_MS = 1_000;

/**
 * The real time, but that the pauses between two requests to a spreadsheet take none, and that one may go on to a later time.
 * For commands that run in this process against an emulator, which counts no requests.
 */
export class SheetsClock implements Clock {
  #lateMs = 0;

  now(): number {
    return Date.now() + this.#lateMs;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms > SHEETS_PAUSE_MS) return systemClock.sleep(ms, signal);
    throwIfAborted(signal);
    this.goOn(ms);
  }

  goOn(ms: number): void {
    this.#lateMs += ms;
  }
}
