import { expect } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { readStatus } from '../../src/queue/queue-status.ts';
import { pollNow } from '../../src/queue/scheduler.ts';
import { RUNS_AT_ONCE } from '../../src/sync/target.ts';
import { comparison, FakeHandlers, Gate, ordinary } from '../queue/fake-handlers.ts';
import { produceAt, QUICK } from '../queue/harness.ts';
import { answered, depthsOf, idle, soon } from '../queue/waits.ts';
import type { QueueIt } from './queue.ts';

const HOUR_MS = 3_600_000;

/** A busy machine may delay a process: then nothing is taken over, and no poll is overdue. */
const UNHURRIED = { ...QUICK, lockDurationMs: HOUR_MS, heartbeatMs: HOUR_MS };

/** When polls come, what they add, and how several targets and processes share the work. */
export function describeSchedule(it: QueueIt): void {
  it('L16: polls come at an interval, and its jobs run in the targets that it names', async ({
    start,
  }) => {
    const handlers = new FakeHandlers(['new', 'old', 'quiet'], ['a', 'b']);
    const syncs = [
      { ...ordinary('new', 'b'), polled: { atMs: 5, statuses: { NEW: 1 } } },
      comparison('old'),
    ];
    handlers.found = () => ({ syncs: [...syncs, ordinary('new', 'gone')], writeBacks: [] });
    const both = { schedule: { everyMs: 200 }, targets: ['a', 'b'], writesBack: true };
    const more = { ...both, timings: UNHURRIED };
    const queue = await start(handlers, more);
    await soon(() => {
      expect(handlers.polls).toBeGreaterThanOrEqual(3);
      expect(handlers.count('a')).toBeGreaterThanOrEqual(2);
      expect(handlers.count('b')).toBeGreaterThanOrEqual(2);
    });
    for (const order of handlers.syncs) expect(syncs).toContainEqual(order);
    expect(queue.ended.find(({ step }) => step === 'poll')).toMatchObject({
      target: null,
      formId: null,
      code: null,
      willRetry: false,
    });
    expect(queue.errors).toEqual([]);
  });

  it('polls come by a cron expression in a time zone', async ({ start }) => {
    const timeZone = 'Asia/Kathmandu';
    const handlers = new FakeHandlers();
    const schedule = { cron: '45 2 * * *', timeZone };
    const nightly = await start(handlers, { schedule });
    const { nextPollAt } = await answered(nightly);
    const local = new Date(nextPollAt ?? '').toLocaleTimeString('en-GB', { timeZone });
    expect(local).toBe('02:45:00');
    await nightly.stop();
    expect(handlers.polls).toBe(0);
    await start(handlers, { schedule: { cron: '* * * * * *', timeZone } });
    await soon(() => expect(handlers.polls).toBeGreaterThanOrEqual(2));
  });

  it('a poll begins at once, also after a restart, and nothing is left of an earlier interval', async ({
    start,
  }) => {
    const handlers = new FakeHandlers();
    const fast = await start(handlers, { schedule: { everyMs: 10 } });
    await soon(() => expect(handlers.polls).toBeGreaterThanOrEqual(4));
    await fast.stop();
    const before = handlers.polls;
    const slow = await start(handlers, { schedule: { everyMs: HOUR_MS } });
    await soon(() => expect(handlers.polls).toBeGreaterThan(before));
    await idle(slow, 'poll');
    const { nextPollAt, problem } = await answered(slow);
    expect(Date.parse(nextPollAt ?? '') - Date.now()).toBeGreaterThan(HOUR_MS / 2);
    expect(problem).toBeNull();
  });

  it('a poll that no worker takes is reported', async ({ place }) => {
    await using producer = await produceAt(place);
    await pollNow(producer);
    expect(await readStatus(producer)).toMatchObject({ problem: null });
    const clock = { ...systemClock, now: () => Date.now() + HOUR_MS };
    const problem = { code: 'QUEUE_FAILED', message: expect.stringContaining('has not begun') };
    expect(await readStatus({ ...producer, clock })).toMatchObject({ problem });
  });

  it('polls continue after the clock was set back', async ({ start }) => {
    const handlers = new FakeHandlers();
    let aheadMs = 1_000 * HOUR_MS;
    const clock = { ...systemClock, now: () => Date.now() + aheadMs };
    await start(handlers, { schedule: { everyMs: 300 }, clock });
    await soon(() => expect(handlers.polls).toBeGreaterThan(1));
    aheadMs = 0;
    const before = handlers.polls;
    await soon(() => expect(handlers.polls).toBeGreaterThan(before + 1));
  });

  it('L12: a slow target delays no other, a comparison delays no newcomer, and no jobs accumulate behind either', async ({
    start,
  }) => {
    const forms = Array.from({ length: RUNS_AT_ONCE + 1 }, (_, index) => `f${index}`);
    const handlers = new FakeHandlers(forms, ['a', 'b']);
    const gate = new Gate();
    handlers.found = () => ({
      syncs: forms.flatMap((id) => [ordinary(id, 'a'), ordinary(id, 'b'), comparison(id, 'b')]),
      writeBacks: [],
    });
    handlers.script = (order, signal) =>
      order.target === 'a' || order.isComparison ? gate.wait(signal) : 'ok';
    const more = { schedule: { everyMs: 60 }, targets: ['a', 'b'], timings: UNHURRIED };
    const queue = await start(handlers, more);
    await soon(() => expect(handlers.count('b', false)).toBeGreaterThanOrEqual(2 * forms.length));
    await soon(() => expect(handlers.polls).toBeGreaterThanOrEqual(15));
    // A few concurrent runs in a target, one comparison; the others wait, each once.
    expect([handlers.count('a'), handlers.count('b', true)]).toEqual([RUNS_AT_ONCE, 1]);
    const depths = await depthsOf(queue);
    expect(depths.get('sync.a')).toEqual({ waiting: 1, active: RUNS_AT_ONCE, delayed: 0 });
    const waiting = forms.length - 1;
    expect(depths.get('comparison.b')).toEqual({ waiting, active: 1, delayed: 0 });
    gate.open();
    await soon(() => expect(handlers.count('a')).toBeGreaterThanOrEqual(2 * forms.length));
    expect(handlers.mostAtOnce).toBe(1);
  });

  it('two processes share the work: no run is made twice at once, and none is lost', async ({
    start,
    server,
    skip,
  }) => {
    if (!server.shared) return skip('one process holds this store');
    const forms = Array.from({ length: 12 }, (_, index) => `f${index}`);
    const handlers = new FakeHandlers(forms, ['a', 'b']);
    const syncs = forms.flatMap((id) => [
      ordinary(id, 'a'),
      ordinary(id, 'b'),
      comparison(id, 'a'),
    ]);
    handlers.found = () => ({ syncs, writeBacks: [] });
    const both = { schedule: { everyMs: 100 }, targets: ['a', 'b'], writesBack: true };
    const more = { ...both, timings: UNHURRIED };
    const one = await start(handlers, more);
    const two = await start(handlers, { ...more, role: 'worker' });
    await soon(() => {
      for (const formId of forms) {
        const runs = handlers.syncs.filter((order) => order.formId === formId);
        expect(runs.length).toBeGreaterThanOrEqual(12);
        expect(handlers.writtenBack.filter((id) => id === formId).length).toBeGreaterThan(3);
      }
      // Chance decides which of the two takes a run, because one may start late.
      for (const { ended } of [one, two]) expect(ended.length).toBeGreaterThan(10);
    });
    expect(handlers.mostAtOnce).toBe(1);
    expect([one.errors, two.errors]).toEqual([[], []]);
  });

  it('nothing is left of jobs that ended', async ({ place, start, server }) => {
    const handlers = new FakeHandlers();
    handlers.script = () => (handlers.syncs.length % 2 === 0 ? 'ok' : 'gone');
    const more = { schedule: { everyMs: 15 }, writesBack: true };
    const queue = await start(handlers, more);
    await soon(() => expect(handlers.writtenBack.length).toBeGreaterThan(15));
    await queue.stop();
    const stored = await server.stored(place);
    // At most one waiting job: the next poll, or a job that it would have added.
    for (const name of ['poll', 'sync.a', 'write-back']) {
      const jobs = stored.filter((key) => key.startsWith(name) && /:(form-|poll$)/.test(key));
      expect(jobs.length).toBeLessThanOrEqual(2);
    }
    expect(stored.length).toBeLessThan(1_200);
  });
}
