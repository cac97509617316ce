import { expect, vi } from 'vitest';
import { MirrorError } from '../../src/base/errors.ts';
import { FakeHandlers, Gate } from '../queue/fake-handlers.ts';
import { type TestQueue, startAt } from '../queue/harness.ts';
import { SOON, answered } from '../queue/waits.ts';
import type { QueueIt } from './queue.ts';

const schedules = { marking: true, targets: ['a', 'b'] };

async function waitingMarks(queue: TestQueue): Promise<number | undefined> {
  const { queues } = await answered(queue);
  return queues.find(({ step }) => step === 'mark')?.waitingForPasses;
}

/** Flows: marking comes after the passes, whatever became of them. */
export function describeMarking(it: QueueIt): void {
  const both = (): FakeHandlers => new FakeHandlers([{ formId: 'f1', targets: ['a', 'b'] }]);

  it('comes once, after the passes into all targets', async ({ place, use }) => {
    const handlers = both();
    const gate = new Gate();
    handlers.script = (order, signal) => (order.target === 'b' ? gate.wait(signal) : 'ok');
    const queue = use(await startAt(place, handlers, schedules));
    await queue.runNow('incremental');
    await vi.waitFor(() => expect(handlers.passes).toHaveLength(2), SOON);
    expect(handlers.marks).toEqual([]);
    gate.open();
    await vi.waitFor(() => expect(handlers.marks).toEqual(['f1']), SOON);
  });

  it('comes also when a pass failed for good, so that no mark waits for ever', async ({
    place,
    use,
  }) => {
    const handlers = both();
    handlers.script = (order) => {
      if (order.target === 'a') throw new MirrorError('TARGET_DENIED', 'Wrong password.');
      return 'ok';
    };
    const queue = use(await startAt(place, handlers, schedules));
    // A run that is asked for while another is ending is that one.
    await vi.waitFor(async () => {
      await queue.runNow('incremental');
      expect(handlers.marks.length).toBeGreaterThanOrEqual(2);
    }, SOON);
    await vi.waitFor(async () => expect(await waitingMarks(queue)).toBe(0), SOON);
  });

  it('L12: goes on for the passes of one target while another is stuck', async ({ place, use }) => {
    const handlers = both();
    const gate = new Gate();
    handlers.script = (order, signal) => (order.target === 'a' ? gate.wait(signal) : 'ok');
    const everyMs = 100;
    const queue = use(await startAt(place, handlers, { ...schedules, incremental: { everyMs } }));
    await vi.waitFor(() => expect(handlers.count('b')).toBeGreaterThanOrEqual(4), SOON);
    await vi.waitFor(() => expect(handlers.marks.length).toBeGreaterThanOrEqual(3), SOON);
    expect(handlers.count('a')).toBe(1);
    // The mark that was added with the stuck pass, and at most one for a pass of b in flight.
    expect(await waitingMarks(queue)).toBeLessThanOrEqual(2);
    gate.open();
    await vi.waitFor(() => expect(handlers.count('a')).toBeGreaterThanOrEqual(3), SOON);
  });

  it('a mark that failed for a passing reason is tried again', async ({ place, use }) => {
    const handlers = both();
    handlers.markScript = () => {
      if (handlers.marks.length < 3) throw new MirrorError('FORMS_FAILED', 'It kept failing.');
    };
    const queue = use(await startAt(place, handlers, schedules));
    await queue.runNow('incremental');
    await vi.waitFor(() => expect(handlers.marks).toHaveLength(3), SOON);
  });

  it('left over when it was switched off, does nothing', async ({ place, use }) => {
    const handlers = both();
    const gate = new Gate();
    handlers.script = (_order, signal) => gate.wait(signal);
    const on = use(await startAt(place, handlers, schedules));
    await on.runNow('incremental');
    await vi.waitFor(() => expect(handlers.passes).toHaveLength(2), SOON);
    await on.stop();
    gate.open();
    const off = use(await startAt(place, handlers, { ...schedules, marking: false }));
    await vi.waitFor(() => {
      const ended = { name: 'job.completed', event: { step: 'mark', outcome: 'off' } };
      expect(off.emitted).toMatchObject(
        expect.arrayContaining([
          expect.objectContaining({
            name: ended.name,
            event: expect.objectContaining(ended.event),
          }),
        ]),
      );
    }, SOON);
    expect(handlers.marks).toEqual([]);
  });
}
