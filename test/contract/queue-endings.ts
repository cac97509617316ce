import { expect, vi } from 'vitest';
import { MirrorError } from '../../src/base/errors.ts';
import { FakeHandlers, Gate } from '../queue/fake-handlers.ts';
import { QUICK, startAt } from '../queue/harness.ts';
import { SOON, answered, idle } from '../queue/waits.ts';
import { deep } from './queue-schedules.ts';
import type { QueueIt } from './queue.ts';

/** How a job ends: done, tried again, given up, put off, put back. */
export function describeEndings(it: QueueIt): void {
  const only = (): FakeHandlers => new FakeHandlers([{ formId: 'f1', targets: ['a'] }]);
  const saw = (name: string, event: object) =>
    expect.objectContaining(deep({ name, event })) as unknown;

  it('a retryable failure is tried again with growing waits, the tries being counted', async ({
    place,
    use,
  }) => {
    const handlers = only();
    handlers.script = () => {
      if (handlers.passes.length < 3) throw new MirrorError('TARGET_UNREACHABLE', 'No answer.');
      return 'ok';
    };
    const queue = use(await startAt(place, handlers));
    await queue.runNow('incremental');
    await vi.waitFor(
      () =>
        expect(queue.emitted).toContainEqual(saw('job.completed', { step: 'sync', outcome: 'ok' })),
      SOON,
    );
    expect(handlers.passes).toHaveLength(3);
    expect(queue.emitted).toContainEqual(
      saw('job.failed', { code: 'TARGET_UNREACHABLE', willRetry: true, target: 'a' }),
    );
  });

  it('a failure that stays is given up, and the next tick tries again', async ({ place, use }) => {
    const handlers = only();
    handlers.script = () => {
      throw new MirrorError('TARGET_UNREACHABLE', 'No answer.');
    };
    const queue = use(await startAt(place, handlers));
    for (const round of [1, 2]) {
      await queue.runNow('incremental');
      await vi.waitFor(() => {
        const given = queue.emitted.filter(
          ({ name, event }) => name === 'job.failed' && 'willRetry' in event && !event.willRetry,
        );
        expect(given).toHaveLength(round);
      }, SOON);
      expect(handlers.passes).toHaveLength(round * QUICK.retry.incremental.attempts);
      await idle(queue);
    }
  });

  it('a failure that no retry can mend is tried once', async ({ place, use }) => {
    const handlers = only();
    handlers.script = () => {
      throw new MirrorError('FORMS_UNAUTHORIZED', 'The key was refused.');
    };
    const queue = use(await startAt(place, handlers));
    for (const round of [1, 2]) {
      await queue.runNow('incremental');
      await vi.waitFor(
        () => expect(queue.emitted.filter(({ name }) => name === 'job.failed').length).toBe(round),
        SOON,
      );
      await idle(queue);
      expect(handlers.passes).toHaveLength(round);
    }
    expect(queue.emitted).toContainEqual(saw('job.failed', { willRetry: false }));
  });

  it('L11, L15: an error text that no store takes is made storable, and a foreign one is not repeated', async ({
    place,
    use,
  }) => {
    const handlers = new FakeHandlers([
      { formId: 'f1', targets: ['a'] },
      { formId: 'f2', targets: ['a'] },
    ]);
    handlers.script = ({ formId }) => {
      if (formId === 'f1') throw new MirrorError('FORMS_REFUSED', 'nul \0 and half \ud800');
      throw new TypeError('answer was "Jana Nováková"');
    };
    const queue = use(await startAt(place, handlers));
    await queue.runNow('incremental');
    await vi.waitFor(
      () => expect(queue.emitted.filter(({ name }) => name === 'job.failed')).toHaveLength(2),
      SOON,
    );
    expect(JSON.stringify(queue.emitted)).not.toContain('Jana');
    // The job IDs are free again: neither job hangs in the store.
    await idle(queue);
    await queue.runNow('incremental');
    await vi.waitFor(() => expect(handlers.passes).toHaveLength(4), SOON);
    expect(queue.emitted.filter(({ name }) => name === 'queue.error')).toEqual([]);
  });

  it('a busy form is tried again without using up its tries', async ({ place, use }) => {
    const handlers = only();
    let met = 0;
    handlers.script = () => {
      met++;
      if (met === 1) return 'busy';
      if (met === 2) throw new MirrorError('TARGET_BUSY', 'Another pass is at work.');
      if (met <= 5) throw new MirrorError('TARGET_FAILED', 'Broken.');
      return 'ok';
    };
    const queue = use(await startAt(place, handlers));
    await queue.runNow('full');
    await vi.waitFor(
      () =>
        expect(queue.emitted).toContainEqual(saw('job.completed', { step: 'sync', outcome: 'ok' })),
      SOON,
    );
    // Three failures of four tries, besides two waits.
    expect(met).toBe(6);
    expect(queue.emitted.filter(({ name }) => name === 'job.postponed')).toHaveLength(2);
  });

  it('a form that stays busy is given up until the next tick', async ({ place, use }) => {
    const handlers = only();
    handlers.script = () => 'busy';
    const queue = use(await startAt(place, handlers));
    await queue.runNow('incremental');
    await vi.waitFor(
      () =>
        expect(queue.emitted).toContainEqual(
          saw('job.failed', { code: 'TARGET_BUSY', willRetry: false }),
        ),
      SOON,
    );
    expect(handlers.passes).toHaveLength(QUICK.busy.attempts);
  });

  it('a full pass without proof gets another try or two, an incremental one does not', async ({
    place,
    use,
  }) => {
    const handlers = only();
    handlers.script = () => 'incomplete';
    const queue = use(await startAt(place, handlers));
    await queue.runNow('incremental');
    await vi.waitFor(
      () => expect(queue.emitted).toContainEqual(saw('job.completed', { outcome: 'incomplete' })),
      SOON,
    );
    expect(handlers.passes).toHaveLength(1);
    await queue.runNow('full');
    await vi.waitFor(
      () =>
        expect(queue.emitted).toContainEqual(
          saw('job.completed', { kind: 'full', outcome: 'incomplete' }),
        ),
      SOON,
    );
    expect(handlers.count('a', 'full')).toBe(3);
  });

  it('a full pass that failed is tried until it succeeds, over a restart, and says when', async ({
    place,
    use,
  }) => {
    const handlers = only();
    let isRefused = true;
    handlers.script = () => {
      if (isRefused) throw new MirrorError('FORMS_UNAUTHORIZED', 'The key was refused.');
      if (handlers.passes.length <= 2 * QUICK.retry.full.attempts) {
        throw new MirrorError('TARGET_UNREACHABLE', 'No answer.');
      }
      return 'ok';
    };
    const slow = {
      ...QUICK,
      retry: { ...QUICK.retry, full: { ...QUICK.retry.full, maxDelayMs: 1_500 } },
    };
    const first = use(await startAt(place, handlers, {}, { timings: slow }));
    await first.runNow('full');
    await vi.waitFor(async () => {
      const { retries } = await first.status();
      expect(retries).toEqual([
        { formId: 'f1', target: 'a', at: expect.stringMatching(/^\d{4}-.*Z$/) as unknown },
      ]);
    }, SOON);
    await first.stop();
    isRefused = false;
    const second = use(await startAt(place, handlers));
    await vi.waitFor(
      () =>
        expect(second.emitted).toContainEqual(
          saw('job.completed', { kind: 'full', outcome: 'ok' }),
        ),
      SOON,
    );
    expect(handlers.passes.length).toBeGreaterThan(2 * QUICK.retry.full.attempts);
    await vi.waitFor(async () => expect((await answered(second)).retries).toEqual([]), SOON);
  });

  it('a full pass that failed or met another waits no longer than its interval', async ({
    place,
    use,
  }) => {
    const handlers = only();
    handlers.script = ({ kind }) => {
      if (kind === 'incremental') return 'ok';
      const met = handlers.count('a', 'full');
      if (met === 1) return 'busy';
      if (met === 2) throw new MirrorError('FORMS_UNAUTHORIZED', 'The key was refused.');
      return 'ok';
    };
    const hour = { baseDelayMs: 3_600_000, maxDelayMs: 3_600_000, maxServerDelayMs: 3_600_000 };
    const timings = {
      ...QUICK,
      retry: { ...QUICK.retry, full: { attempts: 4, ...hour } },
      busy: { attempts: 4, ...hour },
    };
    // Chance that is never zero: it is the interval that bounds the wait.
    const more = { timings, random: () => 1 };
    handlers.compareAll();
    const schedules = { incremental: { everyMs: 100 }, full: { everyMs: 300 } };
    use(await startAt(place, handlers, schedules, more));
    await vi.waitFor(() => expect(handlers.count('a', 'full')).toBeGreaterThanOrEqual(4), SOON);
  });

  it('a full pass that waits for another try is removed when its form is planned no more', async ({
    place,
    use,
  }) => {
    const handlers = only();
    handlers.script = () => {
      throw new MirrorError('FORMS_UNAUTHORIZED', 'The key was refused.');
    };
    const timings = {
      ...QUICK,
      retry: { ...QUICK.retry, full: { ...QUICK.retry.full, maxDelayMs: 3_600_000 } },
    };
    const queue = use(await startAt(place, handlers, {}, { timings }));
    await queue.runNow('full');
    const retries = async (): Promise<number> => (await answered(queue)).retries.length;
    await vi.waitFor(async () => expect(await retries()).toBe(1), SOON);
    handlers.forms = [];
    await queue.runNow('incremental');
    await vi.waitFor(async () => expect(await retries()).toBe(0), SOON);
  });

  it('stopping aborts a pass, which is put back and costs no try', async ({ place, use }) => {
    const handlers = only();
    const gate = new Gate();
    handlers.script = (_order, signal) => gate.wait(signal);
    // More stops than tries.
    for (let stops = 1; stops <= QUICK.retry.incremental.attempts + 1; stops++) {
      const queue = use(await startAt(place, handlers));
      if (stops === 1) await queue.runNow('incremental');
      await vi.waitFor(() => expect(handlers.passes).toHaveLength(stops), SOON);
      await queue.stop();
    }
    gate.open();
    const last = use(await startAt(place, handlers));
    await vi.waitFor(
      () =>
        expect(last.emitted).toContainEqual(saw('job.completed', { step: 'sync', outcome: 'ok' })),
      SOON,
    );
  });

  it('stopping does not wait for ever for work that does not stop', async ({ place, use }) => {
    const handlers = only();
    const gate = new Gate();
    handlers.script = () => gate.wait(new AbortController().signal);
    const queue = use(await startAt(place, handlers, {}, { timings: { ...QUICK, stopMs: 200 } }));
    await queue.runNow('incremental');
    await vi.waitFor(() => expect(handlers.passes).toHaveLength(1), SOON);
    await queue.stop();
    gate.open();
  });
}
