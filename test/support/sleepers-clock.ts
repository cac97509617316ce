import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../src/base/clock.ts';
import { MirrorError } from '../../src/base/errors.ts';

/** Time that passes only during a sleep: a sleeper wakes at once, later. */
export class SleepersClock implements Clock {
  #now: number;

  constructor(start = '2026-03-02T08:00:00.000Z') {
    this.#now = Date.parse(start);
  }

  now(): number {
    return this.#now;
  }

  advance(ms: number): void {
    this.#now += ms;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) throw new MirrorError('CANCELLED', 'Stopped on request.');
    this.#now += ms;
    // Others get their turn, as they would.
    await delay(0);
  }
}
