import { expect, vi } from 'vitest';
import type { QueueStatus } from '../../src/queue/queue-status.ts';
import type { TestQueue } from './harness.ts';

/** How long tests wait for what is to come: no promise of speed. */
export const SOON = { timeout: 100_000, interval: 20 };

/** What a queue says of itself; on a busy machine its store may not answer in time at first. */
export async function answered(queue: TestQueue): Promise<QueueStatus> {
  return vi.waitFor(async () => {
    const status = await queue.status();
    expect(status.reachable).toBe(true);
    return status;
  }, SOON);
}

/** Resolves when no pass is left in the store: one whose end was told may hold its job ID for a moment longer. */
export async function idle(queue: TestQueue): Promise<void> {
  await vi.waitFor(async () => {
    const { queues } = await answered(queue);
    const passes = queues.filter(({ step }) => step === 'sync');
    expect(passes.length).toBeGreaterThan(0);
    expect(passes.filter((one) => one.active + one.waiting + one.delayed > 0)).toEqual([]);
  }, SOON);
}
