import { join } from 'node:path';
import { expect } from 'vitest';
import { FakeHandlers, Gate, ordinary } from '../queue/fake-handlers.ts';
import { QUICK, type QueuePlace } from '../queue/harness.ts';
import { idle, soon } from '../queue/waits.ts';
import { Child, type Finally } from '../support/child.ts';
import type { QueueIt } from './queue.ts';

/** Longer than any test. */
const FOR_EVER_MS = 3_600_000;
const WORKER = join(import.meta.dirname, '../queue/child-worker.ts');

/**
 * Jobs that are taken over here may run twice: it does no harm if a busy machine delays a process for longer than this.
 */
const SHORT_LOCK = { ...QUICK, lockDurationMs: 2_000, stalledIntervalMs: 500 };

/** A worker in its own process, whose runs last until their signal aborts. Resolves when a run has begun. */
async function startWorker(
  place: QueuePlace,
  onFinished: Finally,
  lockDurationMs: number,
): Promise<Child> {
  const args = [JSON.stringify(place), String(lockDurationMs)];
  const child = new Child(WORKER, args).killedAfter(onFinished);
  await child.shows(/^began f1$/m);
  return child;
}

/** Kills, stops, and stores that lose data. */
export function describeOutages(it: QueueIt): void {
  it("L5: a killed worker's run is taken over", async ({ place, start, onTestFinished }) => {
    const child = await startWorker(place, onTestFinished, SHORT_LOCK.lockDurationMs);
    await child.end('SIGKILL');
    const handlers = new FakeHandlers();
    const queue = await start(handlers);
    // More than one if its poll was interrupted, too: it is taken over at the same moment, and adds the jobs that have just ended.
    await soon(() => expect(handlers.syncs.length).toBeGreaterThan(0));
    for (const each of handlers.syncs) expect(each).toEqual(ordinary('f1'));
    await idle(queue);
  });

  it('SIGTERM lets the batch in progress end, puts the run back and exits with 0', async ({
    place,
    start,
    onTestFinished,
  }) => {
    const child = await startWorker(place, onTestFinished, FOR_EVER_MS);
    expect(await child.end('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(child.lines).toContain('finished the batch of f1');
    const handlers = new FakeHandlers();
    await start(handlers);
    // Soon, not only when a lock has expired.
    await soon(() => expect(handlers.syncs).toHaveLength(1));
  });

  it('polls come back without help when the store has lost everything', async ({
    place,
    start,
    server,
    skip,
  }) => {
    if (server.wipe === undefined) return skip('this store cannot be wiped from outside');
    const handlers = new FakeHandlers();
    await start(handlers, { schedule: { everyMs: 200 } });
    await soon(() => expect(handlers.syncs.length).toBeGreaterThanOrEqual(2));
    // PostgreSQL ends the wiping statement if it waits for a worker that waits for it.
    await soon(() => server.wipe?.(place));
    const before = handlers.syncs.length;
    await soon(() => expect(handlers.syncs.length).toBeGreaterThanOrEqual(before + 4));
  });

  it('work continues after the server was killed and started again', async ({
    start,
    server,
    skip,
  }) => {
    if (!server.kill || !server.restart) return skip('this store is no server of ours');
    const handlers = new FakeHandlers();
    const more = { schedule: { everyMs: 200 }, timings: SHORT_LOCK };
    const queue = await start(handlers, more);
    await soon(() => expect(handlers.syncs.length).toBeGreaterThanOrEqual(2));
    await server.kill();
    await server.restart();
    const before = handlers.syncs.length;
    await soon(() => expect(handlers.syncs.length).toBeGreaterThanOrEqual(before + 4));
    await soon(async () => expect((await queue.status()).isReachable).toBe(true));
  });

  it('status and stop end in time although the server is unreachable', async ({
    start,
    server,
    skip,
  }) => {
    if (!server.kill || !server.restart) return skip('this store is no server of ours');
    const handlers = new FakeHandlers();
    const gate = new Gate();
    handlers.script = (_order, signal) => gate.wait(signal);
    const timings = { ...SHORT_LOCK, stopMs: 300 };
    const queue = await start(handlers, { timings });
    await queue.runNow([ordinary('f1')]);
    await soon(() => expect(handlers.syncs).toHaveLength(1));
    await server.kill();
    const nothing = {
      isReachable: false,
      nextPollAt: null,
      running: [],
    };
    expect(await queue.status()).toMatchObject(nothing);
    await queue.stop();
    await server.restart();
    // And the next worker takes over.
    const next = new FakeHandlers();
    await start(next);
    await soon(() => expect(next.syncs).toHaveLength(1));
  });
}
