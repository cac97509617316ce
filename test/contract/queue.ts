import { type TestAPI, afterAll, beforeAll, describe, it } from 'vitest';
import type { JobHandlers } from '../../src/queue/runtime.ts';
import type { QueueOptions } from '../../src/queue/runtime.ts';
import { type QueuePlace, type QueueServer, startAt, type TestQueue } from '../queue/harness.ts';
import { describeJobs } from './queue-jobs.ts';
import { describeOutages } from './queue-outages.ts';
import { describePeople } from './queue-people.ts';
import { describeRefusals } from './queue-refusals.ts';
import { describeSchedule } from './queue-schedule.ts';

/** What a contract test gets from its context. */
export interface QueueTest {
  /** A fresh, empty place in the store. */
  readonly place: QueuePlace;
  /** Starts a queue there, which is stopped after the test, however it ends. */
  readonly start: (handlers: JobHandlers, more?: Partial<QueueOptions>) => Promise<TestQueue>;
  readonly server: QueueServer;
}

/** Declares a test of the contract. */
export type QueueIt = TestAPI<QueueTest>;

/** The promises of the queue, by subject. */
const PROMISES = {
  schedule: describeSchedule,
  jobs: describeJobs,
  people: describePeople,
  refusals: describeRefusals,
  outages: describeOutages,
};

interface QueueContract {
  /** Tests mostly wait for polls, so they run concurrently, unless each has a database in this process. */
  readonly concurrent?: boolean;
  /** BullMQ hides the store: on one store all promises are tested, on the others only those that a store can break. */
  readonly about?: readonly (keyof typeof PROMISES)[];
}

/** The promises of the queue on a store: Redis, PostgreSQL, embedded PGlite. */
export function describeQueue(
  name: string,
  open: () => Promise<QueueServer>,
  {
    concurrent = true,
    about = Object.keys(PROMISES) as (keyof typeof PROMISES)[],
  }: QueueContract = {},
): void {
  describe(`the queue on ${name}`, () => {
    let server: QueueServer | undefined;
    beforeAll(async () => {
      server = await open();
    });
    afterAll(async () => {
      await server?.close();
    });
    const test = it.extend<QueueTest>({
      server: async ({ task }, provide) => {
        if (server === undefined) throw new Error(`${task.name}: the server is not running`);
        await provide(server);
      },
      place: async ({ server, onTestFinished }, provide) => {
        const place = await server.newPlace();
        onTestFinished(() => server.remove?.(place));
        await provide(place);
      },
      start: async ({ place, onTestFinished }, provide) => {
        await provide(async (handlers, more) => {
          const queue = await startAt(place, handlers, more);
          onTestFinished(() => queue.stop());
          return queue;
        });
      },
    });
    for (const promise of about) {
      // Outages stop the server for all other tests.
      const describeThem = concurrent && promise !== 'outages' ? describe.concurrent : describe;
      describeThem(promise, () => PROMISES[promise](test));
    }
  });
}
