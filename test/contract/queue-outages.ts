import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { FakeHandlers, Gate } from '../queue/fake-handlers.ts';
import { QUICK, type QueuePlace, startAt } from '../queue/harness.ts';
import { SOON } from '../queue/waits.ts';
import { Child, type Finally } from '../support/child.ts';
import type { QueueIt } from './queue.ts';

/** Longer than any test. */
const FOR_EVER_MS = 3_600_000;
const WORKER = join(import.meta.dirname, '../queue/child-worker.ts');

/** What is taken over here may run twice: nothing is lost where a busy machine holds a process up for longer. */
const SHORT_LOCK = { ...QUICK, lockDurationMs: 2_000, stalledIntervalMs: 500 };

/** A worker in a process of its own, whose passes last until their signal aborts; resolves when one has begun. */
async function startWorker(
  place: QueuePlace,
  onFinished: Finally,
  lockDurationMs = QUICK.lockDurationMs,
): Promise<Child> {
  const args = [JSON.stringify(place), String(lockDurationMs)];
  const child = new Child(WORKER, args).killedAfter(onFinished);
  await child.shows(/^began f1$/m);
  return child;
}

/** Kills, stops, and stores that forget. */
export function describeOutages(it: QueueIt): void {
  const one = (): FakeHandlers => new FakeHandlers([{ formId: 'f1', targets: ['a'] }]);

  it("L5: a killed worker's pass is taken over", async ({ place, use, onTestFinished }) => {
    const child = await startWorker(place, onTestFinished, SHORT_LOCK.lockDurationMs);
    await child.end('SIGKILL');
    const handlers = one();
    const queue = use(await startAt(place, handlers));
    // More than one where its planning was cut short, too: that is taken over at the same moment, and adds what has just ended.
    await vi.waitFor(() => expect(handlers.passes.length).toBeGreaterThan(0), SOON);
    const pass = { formId: 'f1', target: 'a', kind: 'incremental' };
    for (const each of handlers.passes) expect(each).toEqual(pass);
    await vi.waitFor(async () => {
      const sync = (await queue.status()).queues.filter(({ step }) => step === 'sync');
      expect(sync.map(({ active, waiting }) => active + waiting)).toEqual([0, 0]);
    }, SOON);
  });

  it('SIGTERM lets the batch in hand end, puts the pass back and exits with 0', async ({
    place,
    use,
    onTestFinished,
  }) => {
    const child = await startWorker(place, onTestFinished, FOR_EVER_MS);
    expect(await child.end('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(child.lines).toContain('finished the batch of f1');
    const handlers = one();
    use(await startAt(place, handlers));
    // At once, not only when a lock has run out.
    await vi.waitFor(() => expect(handlers.passes).toHaveLength(1), SOON);
  });

  it('schedules come back by themselves when the store has lost everything', async ({
    place,
    use,
    server,
    skip,
  }) => {
    if (server.wipe === undefined) return skip('this store cannot be wiped from outside');
    const handlers = one();
    use(await startAt(place, handlers, { incremental: { everyMs: 200 } }));
    await vi.waitFor(() => expect(handlers.passes.length).toBeGreaterThanOrEqual(2), SOON);
    await server.wipe(place);
    const before = handlers.passes.length;
    await vi.waitFor(() => expect(handlers.passes.length).toBeGreaterThanOrEqual(before + 4), SOON);
  });

  it('work goes on when the server was killed and started again', async ({
    place,
    use,
    server,
    skip,
  }) => {
    if (!server.kill || !server.restart) return skip('this store is no server of ours');
    const handlers = one();
    const everyMs = 200;
    const every = { incremental: { everyMs } };
    const queue = use(await startAt(place, handlers, every, { timings: SHORT_LOCK }));
    await vi.waitFor(() => expect(handlers.passes.length).toBeGreaterThanOrEqual(2), SOON);
    await server.kill();
    await server.restart();
    const before = handlers.passes.length;
    await vi.waitFor(() => expect(handlers.passes.length).toBeGreaterThanOrEqual(before + 4), SOON);
    await vi.waitFor(async () => expect((await queue.status()).reachable).toBe(true), SOON);
  });

  it('status and stop end in time although the server is away', async ({
    place,
    use,
    server,
    skip,
  }) => {
    if (!server.kill || !server.restart) return skip('this store is no server of ours');
    const handlers = one();
    const gate = new Gate();
    handlers.script = (_order, signal) => gate.wait(signal);
    const timings = { ...SHORT_LOCK, stopMs: 300 };
    const queue = use(await startAt(place, handlers, {}, { timings }));
    await queue.runNow('incremental');
    await vi.waitFor(() => expect(handlers.passes).toHaveLength(1), SOON);
    await server.kill();
    expect(await queue.status()).toMatchObject({ reachable: false, schedules: [], queues: [] });
    await queue.stop();
    await server.restart();
    // And whoever comes next takes over.
    const next = one();
    use(await startAt(place, next));
    await vi.waitFor(() => expect(next.passes).toHaveLength(1), SOON);
  });
}
