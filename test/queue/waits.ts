import { expect, vi } from 'vitest';
import type { QueueDepth, QueueStatus } from '../../src/queue/queue-status.ts';
import type { TestQueue } from './harness.ts';

/** How long tests wait for an event: not a promise of speed. */
export const SOON = { timeout: 100_000, interval: 20 };

/** Waits until `check` passes. */
export const soon = <T>(check: () => T): Promise<Awaited<T>> =>
  vi.waitFor(check, SOON) as Promise<Awaited<T>>;

/** What a queue says of itself; on a busy machine its store may not answer in time at first. */
export const answered = (queue: TestQueue): Promise<QueueStatus> =>
  soon(async () => {
    const status = await queue.status();
    expect(status.isReachable).toBe(true);
    return status;
  });

/** The jobs of one queue of target `a`. */
export async function depthOf(queue: TestQueue, name: QueueDepth['queue']): Promise<QueueDepth> {
  const { depths } = await answered(queue);
  const found = depths.find((one) => one.queue === name && (one.target ?? 'a') === 'a');
  if (found === undefined) throw new Error(`there is no queue ${name}`);
  return found;
}

/** Resolves when no job of a form is left in the store: one whose end was reported may hold its ID for a moment longer. */
export const idle = (queue: TestQueue): Promise<void> =>
  soon(async () => {
    const { depths } = await answered(queue);
    const ours = depths.filter((one) => one.queue !== 'poll');
    expect(ours.filter((one) => one.active + one.waiting + one.delayed > 0)).toEqual([]);
  });
