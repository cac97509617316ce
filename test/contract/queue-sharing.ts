import { hostname } from 'node:os';
import { expect, vi } from 'vitest';
import { addFlow, addPasses, removeOrphans } from '../../src/queue/flows.ts';
import { removeTargetQueues } from '../../src/queue/queues.ts';
import { applySchedules, repairSchedules } from '../../src/queue/scheduler.ts';
import { systemClock } from '../../src/base/clock.ts';
import { stopReason } from '../../src/base/errors.ts';
import { FakeHandlers, Gate } from '../queue/fake-handlers.ts';
import { NEVER, type Producer, QUICK, produceAt, startAt } from '../queue/harness.ts';
import { SOON } from '../queue/waits.ts';
import type { QueueIt } from './queue.ts';

const marked = { ...NEVER, marking: true, targets: ['a', 'b'] };
const twelve = Array.from({ length: 12 }, (_, index) => ({
  formId: `f${index}`,
  targets: ['a', 'b'],
}));

const HOUR_MS = 3_600_000;

async function waitingMarks(producer: Producer): Promise<number> {
  return (await producer.queues.mark.getJobCounts('waiting-children'))['waiting-children'] ?? 0;
}

async function waitingPasses(producer: Producer): Promise<number> {
  const { queues } = producer;
  const a = await queues.passes('incremental', 'a')?.getWaitingCount();
  const b = await queues.passes('incremental', 'b')?.getWaitingCount();
  return (a ?? 0) + (b ?? 0);
}

/** Several planners, workers and schedulers at once, and what they could leave behind. */
export function describeSharing(it: QueueIt): void {
  it('two planners at the same moment add each pass once, and no mark that waits for ever', async ({
    place,
  }) => {
    await using producer = await produceAt(place, marked);
    const add = (): Promise<number> => addPasses(producer, twelve, 'incremental');
    await Promise.all([add(), add(), add()]);
    expect(await waitingPasses(producer)).toBe(24);
    await removeOrphans(producer, 0);
    // Each remaining mark has a pass of its own.
    const marks = await waitingMarks(producer);
    expect(marks).toBeGreaterThanOrEqual(12);
    expect(marks).toBeLessThanOrEqual(24);
    expect(await removeOrphans(producer, 0)).toBe(0);
  });

  it('a mark whose passes all belong to another is removed, others stay', async ({ place }) => {
    await using producer = await produceAt(place, marked);
    await addPasses(producer, twelve, 'incremental');
    // What a planner does that looked at the same moment: every pass is refused, and nothing would release the mark.
    const passes = ['a', 'b'].map((target) => ({
      formId: 'f0',
      target,
      kind: 'incremental' as const,
      compareCounts: false,
      busy: 0,
      failed: 0,
      againAt: null,
    }));
    await addFlow(producer, passes, 'f0', 'incremental');
    expect(await waitingMarks(producer)).toBe(13);
    expect(await removeOrphans(producer, 60_000)).toBe(0);
    expect(await removeOrphans(producer, 0)).toBe(1);
    expect(await waitingMarks(producer)).toBe(12);
    expect(await waitingPasses(producer)).toBe(24);
  });

  it("a removed target's passes let go of the marks that wait for them", async ({ place }) => {
    await using producer = await produceAt(place, marked);
    await addPasses(producer, twelve, 'incremental');
    await removeTargetQueues(producer.backend, 'b', producer.onError);
    expect(await waitingMarks(producer)).toBe(12);
    await removeTargetQueues(producer.backend, 'a', producer.onError);
    expect(await waitingMarks(producer)).toBe(0);
    expect(await producer.queues.mark.getWaitingCount()).toBe(12);
  });

  it('an overdue schedule is reported, and not repaired while its job exists', async ({
    place,
  }) => {
    const later = { ...systemClock, now: () => Date.now() + 10 * 86_400_000 };
    const every = { ...NEVER, incremental: { everyMs: 60_000 } };
    await using producer = await produceAt(place, every, later);
    await applySchedules({ ...producer, clock: systemClock });
    await repairSchedules(producer);
    expect(producer.emitted.map(({ event }) => event)).toMatchObject([
      { kind: 'incremental', repaired: false },
    ]);
  });

  it('a schedule whose job was lost is created again when it is overdue', async ({
    place,
    use,
    server,
    skip,
  }) => {
    if (server.dropTicks === undefined) return skip('this store cannot be reached from outside');
    const handlers = new FakeHandlers([{ formId: 'f1', targets: ['a'] }]);
    const every = { ...NEVER, incremental: { everyMs: 300 } };
    await using producer = await produceAt(place, every);
    // The tick of a schedule that is made anew would run at once, and there would be nothing to drop.
    const rule = { every: 300, startDate: Date.now() + HOUR_MS };
    const template = { name: 'plan', data: { kind: 'incremental', targets: every.targets } };
    await producer.queues.plan.upsertJobScheduler('incremental', rule, template);
    await server.dropTicks(place);
    let aheadMs = 2 * HOUR_MS;
    const clock = { ...systemClock, now: () => Date.now() + aheadMs };
    const queue = use(await startAt(place, handlers, every, { clock }));
    const overdue = {
      name: 'schedule.overdue',
      event: expect.objectContaining({ kind: 'incremental', repaired: true }) as unknown,
    };
    await vi.waitFor(() => expect(queue.emitted).toContainEqual(overdue), SOON);
    aheadMs = 0;
    const before = handlers.passes.length;
    await vi.waitFor(() => expect(handlers.passes.length).toBeGreaterThan(before + 1), SOON);
  });

  it('L17: a pass whose lock was lost is aborted with that reason, and run again by whoever takes it', async ({
    place,
    use,
    server,
    skip,
  }) => {
    if (server.dropLocks === undefined) return skip('this store cannot be reached from outside');
    const handlers = new FakeHandlers([{ formId: 'f1', targets: ['a'] }]);
    const gate = new Gate();
    const ends: string[] = [];
    handlers.script = async (_order, signal) => {
      if (handlers.passes.length > 1) return 'ok';
      await gate.wait(signal).catch(() => ends.push(stopReason(signal).message));
      return 'cancelled';
    };
    // As in production, it hears that its lock is lost, at the next renewal, before anybody takes the pass.
    const timings = { ...QUICK, lockDurationMs: 1_000, stalledIntervalMs: 2_000 };
    const queue = use(await startAt(place, handlers, {}, { timings }));
    await queue.runNow('incremental');
    await vi.waitFor(() => expect(handlers.passes).toHaveLength(1), SOON);
    await server.dropLocks(place);
    await vi.waitFor(() => expect(handlers.passes.length).toBeGreaterThanOrEqual(2), SOON);
    await vi.waitFor(() => expect(ends).toHaveLength(1), SOON);
    expect(ends[0]).toMatch(/^Stopped, as the queue has given this job to another worker/);
  });

  it('two processes share the work: no pass runs twice at once, none is lost', async ({
    place,
    use,
    server,
    skip,
  }) => {
    if (!server.shared) return skip('one process holds this store');
    const handlers = new FakeHandlers(twelve);
    const busy = { ...marked, incremental: { everyMs: 100 } };
    handlers.compareAll();
    const one = use(await startAt(place, handlers, busy));
    const two = use(await startAt(place, handlers, busy, { role: 'worker' }));
    await vi.waitFor(() => {
      for (const { formId } of twelve) {
        const passes = handlers.passes.filter((order) => order.formId === formId);
        expect(passes.length).toBeGreaterThanOrEqual(12);
        expect(handlers.marks.filter((id) => id === formId).length).toBeGreaterThanOrEqual(4);
      }
      // Which of the two takes a pass is up to chance: one may be late to start.
      for (const { emitted } of [one, two]) {
        const began = emitted.filter(({ event }) => 'step' in event && event.step === 'sync');
        expect(began.length).toBeGreaterThan(10);
      }
    }, SOON);
    expect(handlers.mostAtOnce).toBe(1);
    for (const queue of [one, two]) {
      expect(queue.emitted.filter(({ name }) => name === 'queue.error')).toEqual([]);
    }
  });

  it('how far a running pass has come shows in every process that looks: IDs and numbers', async ({
    place,
    use,
    server,
  }) => {
    const handlers = new FakeHandlers([{ formId: 'f1', targets: ['a'] }]);
    const gate = new Gate();
    handlers.script = async (_order, signal, onProgress) => {
      onProgress({ seen: 12_000, total: 40_000 });
      return gate.wait(signal);
    };
    const one = use(await startAt(place, handlers, NEVER));
    // Either process may take the pass, so both do the same.
    const other = server.shared
      ? use(await startAt(place, handlers, NEVER, { role: 'worker' }))
      : one;
    await one.runNow('incremental');
    await vi.waitFor(async () => {
      expect((await other.status()).running).toEqual([
        {
          formId: 'f1',
          target: 'a',
          kind: 'incremental',
          startedAtMs: expect.any(Number),
          progress: { atMs: expect.any(Number), seen: 12_000, total: 40_000 },
          worker: `${hostname()}-${process.pid}`,
        },
      ]);
    }, SOON);
    gate.open();
    await vi.waitFor(async () => expect((await other.status()).running).toEqual([]), SOON);
  });
}
