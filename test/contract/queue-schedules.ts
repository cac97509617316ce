import { expect, vi } from 'vitest';
import type { ComparisonUnderWay } from '../../src/queue/handlers.ts';
import { FakeHandlers, Gate } from '../queue/fake-handlers.ts';
import { systemClock } from '../../src/base/clock.ts';
import { applySchedules } from '../../src/queue/scheduler.ts';
import { NEVER, QUICK, produceAt, startAt } from '../queue/harness.ts';
import { SOON, answered } from '../queue/waits.ts';
import type { QueueIt } from './queue.ts';

const form = (targets: string[], formId = 'f1') => ({ formId, targets });

/** The queue's schedules: when ticks come, what they add, what they leave behind. */
export function describeSchedules(it: QueueIt): void {
  it('tick at an interval, and compare what is due at a tick, in the targets it is due in', async ({
    place,
    use,
  }) => {
    const handlers = new FakeHandlers([form(['a', 'b']), form(['a', 'b'], 'f2')]);
    handlers.due = () => (handlers.plans.length < 3 ? [] : [{ formId: 'f2', target: 'b' }]);
    const targets = ['a', 'b'];
    use(await startAt(place, handlers, { incremental: { everyMs: 200 }, targets }));
    await vi.waitFor(() => expect(handlers.count('b', 'full')).toBeGreaterThanOrEqual(2), SOON);
    const compared = handlers.passes.filter((order) => order.kind === 'full');
    expect(new Set(compared.map(({ formId, target }) => `${formId} ${target}`))).toEqual(
      new Set(['f2 b']),
    );
    expect(handlers.count('a')).toBeGreaterThanOrEqual(2);
    expect(handlers.mostAtOnce).toBe(1);
  });

  it('tell what is being compared, and since when, when they ask what is due', async ({
    place,
    use,
  }) => {
    const handlers = new FakeHandlers([form(['a'])]);
    const gate = new Gate();
    handlers.script = (order, signal) => (order.kind === 'full' ? gate.wait(signal) : 'ok');
    const began = Date.now();
    const told: (readonly ComparisonUnderWay[])[] = [];
    handlers.due = (underWay) => {
      told.push(underWay);
      return [{ formId: 'f1', target: 'a' }];
    };
    const queue = use(await startAt(place, handlers, { incremental: { everyMs: 100 } }));
    await vi.waitFor(() => expect(told.at(-1)).toHaveLength(1), SOON);
    expect(told[0]).toEqual([]);
    expect(told.at(-1)).toEqual([{ formId: 'f1', target: 'a', sinceMs: expect.any(Number) }]);
    const sinceMs = told.at(-1)?.[0]?.sinceMs ?? 0;
    expect(sinceMs).toBeGreaterThanOrEqual(began - 1_000);
    expect(sinceMs).toBeLessThanOrEqual(Date.now() + 1_000);
    expect(handlers.count('a', 'full')).toBe(1);
    await queue.stop();
  });

  it('compare windows of a large form, which holds up no incremental pass for good', async ({
    place,
    use,
  }) => {
    const handlers = new FakeHandlers([form(['a'])]);
    const gate = new Gate();
    const windows = [
      { from: null, to: '2026-01-01T00:00:00.000Z' },
      { from: '2026-02-01T00:00:00.000Z', to: null },
    ];
    let [met, isHeld] = [0, false];
    handlers.script = (order, signal) => {
      if (order.kind === 'compare') return gate.wait(signal);
      if (!isHeld) return 'ok';
      // As a pass does that finds the form's lock taken.
      if (met++ < 2) return 'busy';
      isHeld = false;
      gate.open();
      return 'ok';
    };
    const told: (readonly ComparisonUnderWay[])[] = [];
    handlers.due = (underWay) => {
      told.push(underWay);
      return [{ formId: 'f1', target: 'a', windows }];
    };
    const queue = use(await startAt(place, handlers, { incremental: { everyMs: 3_600_000 } }));
    await vi.waitFor(() => expect(handlers.count('a', 'compare')).toBe(1), SOON);
    expect(handlers.passes.find(({ kind }) => kind === 'compare')).toMatchObject({ windows });
    await vi.waitFor(() => expect(handlers.count('a', 'incremental')).toBe(1), SOON);
    isHeld = true;
    await queue.runNow('incremental');
    await vi.waitFor(() => expect(told.at(-1)).toMatchObject([{ formId: 'f1', windows }]), SOON);
    await vi.waitFor(() => expect(met).toBe(3), SOON);
    const outcomes = queue.emitted.map(({ event }) => 'outcome' in event && event.outcome);
    expect(outcomes).not.toContain('superseded');
  });

  it('remove a schedule that is none of theirs from the store', async ({ place, use }) => {
    {
      await using producer = await produceAt(place, NEVER);
      await producer.queues.plan.upsertJobScheduler(
        'full',
        { every: 300, startDate: Date.now() + 3_600_000 },
        { name: 'plan', data: { kind: 'full', targets: ['a'] } },
      );
    }
    const handlers = new FakeHandlers([form(['a'])]);
    const queue = use(await startAt(place, handlers, { incremental: { everyMs: 100 } }));
    const { schedules, queues } = await answered(queue);
    expect(schedules.map(({ kind }) => kind)).toEqual(['incremental']);
    expect(queues.find(({ step }) => step === 'plan')?.delayed).toBeLessThanOrEqual(1);
    await vi.waitFor(() => expect(handlers.plans.length).toBeGreaterThanOrEqual(3), SOON);
    await queue.stop();
    await using producer = await produceAt(place, NEVER);
    const stored = await producer.queues.plan.getJobSchedulers(0, -1, true);
    expect(stored.map(({ key }) => key)).toEqual(['incremental']);
    const ticks = await producer.queues.plan.getJobs(['waiting', 'delayed']);
    expect(ticks.map(({ data }) => data)).toEqual([{ kind: 'incremental', targets: ['a'] }]);
  });

  it('tick by a cron expression in a time zone', async ({ place, use }) => {
    const cron = (pattern: string) => ({
      incremental: { cron: pattern, timeZone: 'Asia/Kathmandu' },
    });
    const handlers = new FakeHandlers([form(['a'])]);
    const nightly = use(await startAt(place, handlers, cron('45 2 * * *')));
    const { schedules } = await answered(nightly);
    const next = schedules.find((schedule) => schedule.kind === 'incremental')?.nextRunAt ?? '';
    const local = new Intl.DateTimeFormat('en-GB', {
      timeZone: 'Asia/Kathmandu',
      hour: '2-digit',
      minute: '2-digit',
    }).format(new Date(next));
    expect(local).toBe('02:45');
    await nightly.stop();
    use(await startAt(place, handlers, cron('* * * * * *')));
    await vi.waitFor(() => expect(handlers.passes.length).toBeGreaterThanOrEqual(2), SOON);
  });

  it('refuse a cron expression or time zone that does not exist', async ({ place, use }) => {
    const handlers = new FakeHandlers([]);
    for (const [cron, timeZone] of [
      ['every day', 'UTC'],
      ['0 0 * * *', 'Europe/Atlantis'],
    ] as const) {
      const started = startAt(place, handlers, { incremental: { cron, timeZone } });
      await expect(started).rejects.toMatchObject({ code: 'SETTINGS' });
    }
    // Nothing is left half open: the same place starts with right settings.
    use(await startAt(place, handlers));
  });

  it('follow a changed interval without leaving the old one behind', async ({ place, use }) => {
    const handlers = new FakeHandlers([form(['a'])]);
    const slow = use(await startAt(place, handlers, { incremental: { everyMs: 3_600_000 } }));
    await vi.waitFor(() => expect(handlers.passes).toHaveLength(1), SOON);
    await slow.stop();
    const fast = use(await startAt(place, handlers, { incremental: { everyMs: 1_000 } }));
    await vi.waitFor(() => expect(handlers.passes.length).toBeGreaterThanOrEqual(4), SOON);
    await fast.stop();
    const idle = use(await startAt(place, handlers, { incremental: { everyMs: 3_600_000 } }));
    await vi.waitFor(async () => {
      const plan = (await idle.status()).queues.find((queue) => queue.step === 'plan');
      // One job of the schedule, and none of an older one.
      expect(plan).toMatchObject({ delayed: 1, waiting: 0, active: 0 });
    }, SOON);
  });

  it('keep their rhythm over a restart, which looks for new submissions at once', async ({
    place,
    use,
  }) => {
    const handlers = new FakeHandlers([form(['a'])]);
    const everyMs = 3_600_000;
    const first = use(await startAt(place, handlers, { incremental: { everyMs } }));
    await vi.waitFor(() => expect(handlers.passes).toHaveLength(1), SOON);
    const { schedules } = await answered(first);
    await first.stop();
    const second = use(await startAt(place, handlers, { incremental: { everyMs } }));
    expect((await answered(second)).schedules).toEqual(schedules);
    await vi.waitFor(() => expect(handlers.passes).toHaveLength(2), SOON);
    expect(handlers.count('a', 'full')).toBe(0);
  });

  it('keep their rhythm after a tick that was late by more than an interval', async ({
    place,
    use,
  }) => {
    const everyMs = 2_000;
    const schedules = { ...NEVER, incremental: { everyMs } };
    const phase = (): number => Date.now() % everyMs;
    // A schedule late in its slot, and a worker that comes early in one, more than an interval later.
    await vi.waitFor(() => expect(phase()).toBeGreaterThan(0.6 * everyMs), SOON);
    const scheduled = async (): Promise<number> => {
      await using producer = await produceAt(place, schedules);
      await applySchedules(producer);
      return (await producer.queues.plan.getJobScheduler('incremental'))?.next ?? 0;
    };
    const due = await scheduled();
    await vi.waitFor(() => {
      expect(Date.now() - due).toBeGreaterThan(1.2 * everyMs);
      expect(phase()).toBeLessThan(0.2 * everyMs);
    }, SOON);
    const handlers = new FakeHandlers([]);
    const next = Promise.withResolvers<{ readonly at: number; readonly from: number }>();
    const queue = use(
      await startAt(place, handlers, schedules, { timings: { ...QUICK, heartbeatMs: 3_600_000 } }),
    );
    await vi.waitFor(async () => {
      const { schedules: states } = await queue.status();
      const at = Date.parse(states.find(({ kind }) => kind === 'incremental')?.nextRunAt ?? '');
      // The look at the start and the late one: the next run is set, and set right, before a look begins.
      expect(handlers.plans.length).toBeGreaterThanOrEqual(2);
      expect(at).toBeGreaterThan(due);
      next.resolve({ at, from: Date.now() });
    }, SOON);
    const { at, from } = await next.promise;
    expect(at - from).toBeLessThanOrEqual(everyMs);
    expect((at - due) % everyMs).toBe(0);
  });

  it('call no tick missing while a look is under way, however slow the source is', async ({
    place,
    use,
  }) => {
    const handlers = new FakeHandlers([]);
    const gate = new Gate();
    handlers.planScript = async (signal) => void (await gate.wait(signal));
    const later = { ...systemClock, now: () => Date.now() + 3_600_000 };
    const every = { incremental: { everyMs: 500 } };
    const queue = use(await startAt(place, handlers, every, { clock: later }));
    await vi.waitFor(async () => {
      const { schedules, queues } = await answered(queue);
      expect(queues.find(({ step }) => step === 'plan')?.active).toBe(1);
      expect(schedules.find(({ kind }) => kind === 'incremental')?.overdue).toBe(false);
    }, SOON);
    expect(queue.emitted.filter(({ name }) => name === 'schedule.overdue')).toEqual([]);
    gate.open();
  });

  it('leave no queue of a removed target behind', async ({ place, use, server }) => {
    const handlers = new FakeHandlers(['f1', 'f2', 'f3'].map((id) => form(['a', 'gone'], id)));
    const gate = new Gate();
    handlers.script = (order, signal) => (order.target === 'gone' ? gate.wait(signal) : 'ok');
    const targets = ['a', 'gone'];
    const before = use(await startAt(place, handlers, { targets, marking: true }));
    await before.runNow('incremental');
    await before.runNow('full');
    await vi.waitFor(() => expect(handlers.count('gone')).toBe(3), SOON);
    await before.stop();
    const after = use(await startAt(place, handlers, { targets: ['a'], marking: true }));
    // The marks that waited for it go on.
    await vi.waitFor(async () => {
      const mark = (await after.status()).queues.find((queue) => queue.step === 'mark');
      expect(mark).toMatchObject({ waitingForPasses: 0, waiting: 0, active: 0 });
      expect(handlers.marks.length).toBeGreaterThanOrEqual(4);
    }, SOON);
    await after.stop();
    const stored = await server.stored(place);
    expect(stored.length).toBeGreaterThan(0);
    expect(stored.filter((name) => name.includes('gone'))).toEqual([]);
  });

  it('do not pile up behind a run that is slower than its period', async ({ place, use }) => {
    const handlers = new FakeHandlers([form(['a'])]);
    const gate = new Gate();
    handlers.script = (_order, signal) => gate.wait(signal);
    const fast = { incremental: { everyMs: 60 } };
    handlers.compareAll();
    const queue = use(await startAt(place, handlers, fast));
    await vi.waitFor(() => expect(handlers.plans.length).toBeGreaterThanOrEqual(15), SOON);
    // Once it has begun, nothing waits beside it.
    await vi.waitFor(async () => {
      const { queues } = await answered(queue);
      for (const { active, waiting, delayed } of queues.filter(({ step }) => step === 'sync')) {
        expect({ active, waiting, delayed }).toEqual({ active: 1, waiting: 0, delayed: 0 });
      }
    }, SOON);
    expect(handlers.mostAtOnce).toBe(1);
    gate.open();
    // And it goes on afterwards.
    await vi.waitFor(() => expect(handlers.passes.length).toBeGreaterThanOrEqual(6), SOON);
  });

  it('leave an incremental pass out while a full one is at work', async ({ place, use }) => {
    const handlers = new FakeHandlers([form(['a'])]);
    const gate = new Gate();
    handlers.script = (order, signal) => (order.kind === 'full' ? gate.wait(signal) : 'ok');
    const queue = use(await startAt(place, handlers));
    await queue.runNow('full');
    await vi.waitFor(() => expect(handlers.count('a', 'full')).toBe(1), SOON);
    await queue.runNow('incremental');
    const superseded = { name: 'job.completed', event: { step: 'sync', outcome: 'superseded' } };
    await vi.waitFor(
      () => expect(queue.emitted).toContainEqual(expect.objectContaining(deep(superseded))),
      SOON,
    );
    expect(handlers.count('a', 'incremental')).toBe(0);
  });

  it('keep a slow target from delaying another', async ({ place, use }) => {
    const handlers = new FakeHandlers(['f1', 'f2', 'f3'].map((id) => form(['a', 'b'], id)));
    const gate = new Gate();
    handlers.script = (order, signal) => (order.target === 'a' ? gate.wait(signal) : 'ok');
    const schedules = { incremental: { everyMs: 100 }, targets: ['a', 'b'] };
    use(await startAt(place, handlers, schedules));
    await vi.waitFor(() => expect(handlers.count('b')).toBeGreaterThanOrEqual(6), SOON);
    expect(handlers.count('a')).toBe(2);
  });

  it('run two passes of a target at once', async ({ place, use }) => {
    const handlers = new FakeHandlers(['f1', 'f2', 'f3', 'f4'].map((id) => form(['a', 'b'], id)));
    const gate = new Gate();
    handlers.script = (_order, signal) => gate.wait(signal);
    const queue = use(await startAt(place, handlers, { targets: ['a', 'b'] }));
    await queue.runNow('incremental');
    await vi.waitFor(
      () => expect([handlers.count('a'), handlers.count('b')]).toEqual([2, 2]),
      SOON,
    );
    gate.open();
    await vi.waitFor(() => expect(handlers.passes.length).toBeGreaterThanOrEqual(8), SOON);
  });

  it('keep long full passes from delaying incremental ones of other forms', async ({
    place,
    use,
  }) => {
    const handlers = new FakeHandlers(['f1', 'f2', 'f3', 'f4'].map((id) => form(['a'], id)));
    const gate = new Gate();
    handlers.script = (order, signal) => (order.kind === 'full' ? gate.wait(signal) : 'ok');
    const queue = use(await startAt(place, handlers));
    await queue.runNow('full');
    await vi.waitFor(() => expect(handlers.count('a', 'full')).toBe(1), SOON);
    await queue.runNow('incremental');
    await vi.waitFor(() => expect(handlers.count('a', 'incremental')).toBe(3), SOON);
  });

  it('leave no heap of finished jobs behind', async ({ place, use, server }) => {
    const handlers = new FakeHandlers([form(['a'])]);
    const queue = use(
      await startAt(place, handlers, { incremental: { everyMs: 15 }, marking: true }),
    );
    await vi.waitFor(() => expect(handlers.marks.length).toBeGreaterThan(65), SOON);
    await queue.stop();
    const stored = await server.stored(place);
    const count = (what: RegExp): number => stored.filter((name) => what.test(name)).length;
    // Fifty are kept for whoever looks, and the next one waits.
    expect(count(/^plan:(job:)?repeat:incremental:\d+$/)).toBeLessThanOrEqual(52);
    expect(count(/^mark:(job:)?[\da-f-]{36}$/)).toBeLessThanOrEqual(52);
    expect(count(/^mark:(job:)?[\da-f-]{36}$/)).toBeGreaterThan(10);
    expect(count(/^(sync|full)\.a:(job:)?form-/)).toBeLessThanOrEqual(1);
    expect(stored.length).toBeLessThan(1_500);
  });
}

/** `expected` as a matcher that allows more properties at each level. */
export function deep(expected: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(expected).map(([key, value]) => [
      key,
      typeof value === 'object' && value !== null
        ? (expect.objectContaining(deep(value as Record<string, unknown>)) as unknown)
        : value,
    ]),
  );
}
