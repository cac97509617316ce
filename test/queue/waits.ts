import { expect, vi } from 'vitest';
import type { QueueState } from '../../src/health/report.ts';
import type { TestQueue } from './harness.ts';

/** How long tests wait for an event: not a promise of speed. */
export const SOON = { timeout: 100_000, interval: 20 };

/** Waits until `check` passes. */
export const soon = <T>(check: () => T): Promise<Awaited<T>> =>
  vi.waitFor(check, SOON) as Promise<Awaited<T>>;

/** The status of a queue; on a busy machine its store may not answer in time at first. */
export const answered = (queue: TestQueue): Promise<QueueState> =>
  soon(async () => {
    const status = await queue.status();
    expect(status.isReachable).toBe(true);
    return status;
  });

/** The jobs of a queue, as the board counts them. */
interface Depth {
  readonly waiting: number;
  readonly active: number;
  /** Waiting for another attempt, for another run to end, or (polls) for their time. */
  readonly delayed: number;
}

/** The jobs of each queue, by its name. */
export const depthsOf = (queue: TestQueue): Promise<ReadonlyMap<string, Depth>> =>
  soon(async () => {
    const { statusCode, body } = await queue.board('/queue/api/queues');
    expect(statusCode).toBe(200);
    const { queues } = JSON.parse(body) as {
      queues: readonly { readonly name: string; readonly counts: Partial<Depth> }[];
    };
    return new Map(
      queues.map(({ name, counts: { waiting = 0, active = 0, delayed = 0 } }) => [
        // PostgreSQL's names begin with the place.
        name.replace(/^t\d+[.]/, ''),
        { waiting, active, delayed },
      ]),
    );
  });

/** The jobs of one queue. */
export const depthOf = async (queue: TestQueue, name: string): Promise<Depth | undefined> =>
  (await depthsOf(queue)).get(name);

/** Resolves when no job, or only a poll, is left in the store: a job whose end was reported may keep its ID for a moment longer. */
export const idle = (queue: TestQueue, only?: string): Promise<void> =>
  soon(async () => {
    const ours = [...(await depthsOf(queue))].filter(([name]) =>
      only === undefined ? name !== 'poll' : name === only,
    );
    const left = ours.filter(([, one]) => one.active + one.waiting + one.delayed > 0);
    expect(left).toEqual([]);
  });
