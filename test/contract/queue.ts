import { type TestAPI, afterAll, beforeAll, describe, it } from 'vitest';
import type { QueuePlace, QueueServer, TestQueue } from '../queue/harness.ts';
import { describeAssists } from './queue-assists.ts';
import { describeBoard } from './queue-board.ts';
import { describeEndings } from './queue-endings.ts';
import { describeLooks } from './queue-looks.ts';
import { describeMarking } from './queue-marking.ts';
import { describeOrders } from './queue-orders.ts';
import { describeOutages } from './queue-outages.ts';
import { describeRefusals } from './queue-refusals.ts';
import { describeSchedules } from './queue-schedules.ts';
import { describeSharing } from './queue-sharing.ts';

/** What a test of the contract gets from its context. */
export interface QueueTest {
  /** A fresh, empty place in the store. */
  readonly place: QueuePlace;
  /** Has a queue stopped after the test, whatever happens. */
  readonly use: (queue: TestQueue) => TestQueue;
  readonly server: QueueServer;
}

/** Declares a test of the contract. */
export type QueueIt = TestAPI<QueueTest>;

/** The promises of the queue, the same on every backend: Redis, PostgreSQL, embedded PGlite. */
export function describeQueue(
  name: string,
  open: () => Promise<QueueServer>,
  { concurrent = true, refusals = true }: { concurrent?: boolean; refusals?: boolean } = {},
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
      use: async ({ onTestFinished }, provide) => {
        await provide((queue) => {
          onTestFinished(() => queue.stop());
          return queue;
        });
      },
    });
    // Most of the time is spent waiting for ticks.
    const describeMany = concurrent ? describe.concurrent : describe;
    describeMany('schedules', () => {
      describeSchedules(test);
    });
    describeMany('endings', () => {
      describeEndings(test);
    });
    describeMany('sharing', () => {
      describeSharing(test);
    });
    describeMany('helping', () => {
      describeAssists(test);
    });
    describeMany('to people', () => {
      describeBoard(test);
    });
    describeMany('looks', () => {
      describeLooks(test);
    });
    describeMany('orders of people', () => {
      describeOrders(test);
    });
    describeMany('marking', () => {
      describeMarking(test);
    });
    if (refusals) {
      describeMany('refusals', () => {
        describeRefusals(test);
      });
    }
    // Not these: they take the server away.
    describe('outages', () => {
      describeOutages(test);
    });
  });
}
