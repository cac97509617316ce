import { expect, vi } from 'vitest';
import { MirrorError } from '../../src/base/errors.ts';
import type { PlannedForm } from '../../src/queue/handlers.ts';
import { FakeHandlers } from '../queue/fake-handlers.ts';
import { QUICK, startAt } from '../queue/harness.ts';
import { SOON } from '../queue/waits.ts';
import type { QueueIt } from './queue.ts';

const form = (formId: string, targets: string[]): PlannedForm => ({ formId, targets });
const schedules = { targets: ['a', 'b'] };

/** Passes that a person asks for. */
export function describeOrders(it: QueueIt): void {
  it('begin at once where they are ordered, and nowhere else', async ({ place, use }) => {
    const handlers = new FakeHandlers([form('one', ['a', 'b']), form('two', ['a', 'b'])]);
    const queue = use(await startAt(place, handlers, schedules));
    const places = [{ formId: 'one', target: 'b' }];
    expect(await queue.runPasses({ kind: 'incremental', places })).toEqual({
      begun: places,
      underWay: [],
    });
    const kind = 'incremental';
    const passes = [{ formId: 'one', target: 'b', kind, compareCounts: true }];
    await vi.waitFor(() => expect(handlers.passes).toEqual(passes), SOON);
  });

  it('of a form that is none of ours are refused, like any job', async ({ place, use }) => {
    const handlers = new FakeHandlers([form('one', ['a', 'b'])]);
    const queue = use(await startAt(place, handlers, schedules));
    const places = ['none', 'one'].map((formId) => ({ formId, target: 'a' }));
    await queue.runPasses({ kind: 'full', places });
    await vi.waitFor(() => expect(handlers.passes.length).toBe(1), SOON);
    expect(handlers.passes).toEqual([
      { formId: 'one', target: 'a', kind: 'full', compareCounts: true },
    ]);
  });

  it('say what deletions a person has accepted, to that pass alone', async ({ place, use }) => {
    const handlers = new FakeHandlers([form('one', ['a'])]);
    const queue = use(await startAt(place, handlers, schedules));
    const places = [{ formId: 'one', target: 'a' }];
    await queue.runPasses({ kind: 'full', places, acceptDeletes: 30 });
    await vi.waitFor(() => expect(handlers.passes.length).toBe(1), SOON);
    await vi.waitFor(async () => {
      expect(await queue.runPasses({ kind: 'full', places })).toMatchObject({ begun: places });
    }, SOON);
    await vi.waitFor(() => expect(handlers.passes.length).toBe(2), SOON);
    expect(handlers.passes.map(({ acceptDeletes }) => acceptDeletes)).toEqual([30, undefined]);
  });

  it('take the place of one that failed and waits to be tried again', async ({ place, use }) => {
    const handlers = new FakeHandlers([form('one', ['a'])]);
    handlers.script = () => {
      throw new MirrorError('TARGET_FULL', 'There is no room.');
    };
    const later = { ...QUICK.retry.full, attempts: 9, baseDelayMs: 600_000, maxDelayMs: 600_000 };
    const timings = { retry: { ...QUICK.retry, full: later } };
    const queue = use(
      await startAt(place, handlers, { ...schedules, full: { everyMs: 3_600_000 } }, { timings }),
    );
    const places = [{ formId: 'one', target: 'a' }];
    await queue.runPasses({ kind: 'full', places });
    await vi.waitFor(async () => expect((await queue.status()).retries.length).toBe(1), SOON);
    handlers.script = () => 'ok';
    expect(await queue.runPasses({ kind: 'full', places })).toEqual({
      begun: places,
      underWay: [],
    });
    await vi.waitFor(() => expect(handlers.passes.length).toBe(2), SOON);
    await vi.waitFor(async () => expect((await queue.status()).retries).toEqual([]), SOON);
  });

  it('have a look that failed, and waits to be tried again, begin now', async ({ place, use }) => {
    const handlers = new FakeHandlers([form('one', ['a'])]);
    const later = {
      ...QUICK.retry.incremental,
      attempts: 9,
      baseDelayMs: 600_000,
      maxDelayMs: 600_000,
      jitter: 'equal' as const,
    };
    const timings = { retry: { ...QUICK.retry, incremental: later } };
    const queue = use(
      await startAt(
        place,
        handlers,
        { ...schedules, incremental: { everyMs: 3_600_000 } },
        { timings },
      ),
    );
    const delayed = async (): Promise<number | undefined> =>
      (await queue.status()).queues.find(({ step }) => step === 'plan')?.delayed;
    await vi.waitFor(() => expect(handlers.plans.length).toBe(1), SOON);
    await vi.waitFor(async () => expect(await delayed()).toBe(1), SOON);
    handlers.planScript = () => {
      throw new MirrorError('FORMS_UNREACHABLE', 'Nobody answers.');
    };
    await queue.runNow('incremental');
    await vi.waitFor(async () => expect(await delayed()).toBe(2), SOON);
    handlers.planScript = () => {};
    await queue.runNow('incremental');
    await vi.waitFor(async () => expect(await delayed()).toBe(1), SOON);
    expect(handlers.plans.length).toBe(3);
  });

  it('leave one alone that runs', async ({ place, use }) => {
    const handlers = new FakeHandlers([form('one', ['a'])]);
    const end = Promise.withResolvers<void>();
    handlers.script = () => end.promise.then(() => 'ok' as const);
    const queue = use(await startAt(place, handlers, schedules));
    const order = { kind: 'full', places: [{ formId: 'one', target: 'a' }] } as const;
    await queue.runPasses(order);
    await vi.waitFor(() => expect(handlers.passes.length).toBe(1), SOON);
    for (const acceptDeletes of [undefined, 5]) {
      expect(await queue.runPasses({ ...order, acceptDeletes })).toEqual({
        begun: [],
        underWay: order.places,
      });
    }
    end.resolve();
    expect(handlers.passes.length).toBe(1);
  });

  it('wait for their turn, and it is known how many do, and since when', async ({ place, use }) => {
    const forms = ['one', 'two', 'three', 'four'];
    const handlers = new FakeHandlers(forms.map((formId) => form(formId, ['a'])));
    const end = Promise.withResolvers<void>();
    handlers.script = () => end.promise.then(() => 'ok' as const);
    const queue = use(await startAt(place, handlers, { targets: ['a'] }));
    const waits = async () => {
      const { queues } = await queue.status();
      const depth = queues.find(({ step, kind }) => step === 'sync' && kind === 'full');
      return [depth?.waiting, depth?.waitingSinceMs] as const;
    };
    const order = (...formIds: string[]) =>
      queue.runPasses({
        kind: 'full',
        places: formIds.map((formId) => ({ formId, target: 'a' })),
      });
    expect(await waits()).toEqual([0, null]);
    await order('one');
    await vi.waitFor(() => expect(handlers.passes.length).toBe(1), SOON);
    expect(await waits()).toEqual([0, null]);
    const beforeMs = Date.now();
    await order('two');
    const [waiting, sinceMs = null] = await waits();
    expect(waiting).toBe(1);
    expect(sinceMs).toBeGreaterThanOrEqual(beforeMs);
    expect(sinceMs).toBeLessThanOrEqual(Date.now());
    // What comes later does not hide how long the first of them has waited.
    await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(sinceMs ?? 0), SOON);
    await order('three', 'four');
    expect(await waits()).toEqual([3, sinceMs]);
    end.resolve();
    const passes = () => handlers.passes.map(({ formId }) => formId);
    await vi.waitFor(() => expect(passes()).toEqual(forms), SOON);
    expect(await waits()).toEqual([0, null]);
  });
}
