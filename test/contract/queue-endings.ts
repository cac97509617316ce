import { expect, vi } from 'vitest';
import { MirrorError } from '../../src/base/errors.ts';
import { FakeWork, Gate } from '../queue/fake-work.ts';
import { QUICK, startAt } from '../queue/harness.ts';
import { deep } from './queue-schedules.ts';
import type { QueueIt } from './queue.ts';

const SOON = { timeout: 40_000, interval: 20 };

/** How a job ends: done, tried again, given up, put off, put back. */
export function describeEndings(it: QueueIt): void {
  const only = (): FakeWork => new FakeWork([{ formId: 'f1', targets: ['a'] }]);
  const saw = (name: string, event: object) =>
    expect.objectContaining(deep({ name, event })) as unknown;

  it('a retryable failure is tried again with growing waits, the tries being counted', async ({
    place,
    use,
  }) => {
    const work = only();
    work.script = () => {
      if (work.passes.length < 3) throw new MirrorError('TARGET_UNREACHABLE', 'No answer.');
      return 'ok';
    };
    const queue = use(await startAt(place, work));
    await queue.runNow('incremental');
    await vi.waitFor(
      () =>
        expect(queue.told).toContainEqual(saw('job.completed', { step: 'sync', outcome: 'ok' })),
      SOON,
    );
    expect(work.passes).toHaveLength(3);
    expect(queue.told).toContainEqual(
      saw('job.failed', { code: 'TARGET_UNREACHABLE', willRetry: true, target: 'a' }),
    );
  });

  it('a failure that stays is given up, and the next tick tries again', async ({ place, use }) => {
    const work = only();
    work.script = () => {
      throw new MirrorError('TARGET_UNREACHABLE', 'No answer.');
    };
    const queue = use(await startAt(place, work));
    for (const round of [1, 2]) {
      await queue.runNow('incremental');
      await vi.waitFor(() => {
        const given = queue.told.filter(
          ({ name, event }) => name === 'job.failed' && 'willRetry' in event && !event.willRetry,
        );
        expect(given).toHaveLength(round);
      }, SOON);
      expect(work.passes).toHaveLength(round * QUICK.retry.incremental.attempts);
    }
  });

  it('a failure that no retry can mend is tried once', async ({ place, use }) => {
    const work = only();
    work.script = () => {
      throw new MirrorError('FORMS_UNAUTHORIZED', 'The key was refused.');
    };
    const queue = use(await startAt(place, work));
    for (const round of [1, 2]) {
      await queue.runNow('incremental');
      await vi.waitFor(async () => {
        expect(queue.told.filter(({ name }) => name === 'job.failed').length).toBe(round);
        const sync = (await queue.status()).queues.filter(({ step }) => step === 'sync');
        expect(sync.map(({ active, waiting, delayed }) => active + waiting + delayed)).toEqual([
          0, 0,
        ]);
      }, SOON);
      expect(work.passes).toHaveLength(round);
    }
    expect(queue.told).toContainEqual(saw('job.failed', { willRetry: false }));
  });

  it('L11, L15: an error text that no store takes is made storable, and a foreign one is not repeated', async ({
    place,
    use,
  }) => {
    const work = new FakeWork([
      { formId: 'f1', targets: ['a'] },
      { formId: 'f2', targets: ['a'] },
    ]);
    work.script = ({ formId }) => {
      if (formId === 'f1') throw new MirrorError('FORMS_REFUSED', 'nul \0 and half \ud800');
      throw new TypeError('answer was "Jana Nováková"');
    };
    const queue = use(await startAt(place, work));
    await queue.runNow('incremental');
    await vi.waitFor(
      () => expect(queue.told.filter(({ name }) => name === 'job.failed')).toHaveLength(2),
      SOON,
    );
    expect(JSON.stringify(queue.told)).not.toContain('Jana');
    // The slots are free again: neither job hangs in the store.
    await queue.runNow('incremental');
    await vi.waitFor(() => expect(work.passes).toHaveLength(4), SOON);
    expect(queue.told.filter(({ name }) => name === 'queue.fault')).toEqual([]);
  });

  it('a busy form is tried again without using up its tries', async ({ place, use }) => {
    const work = only();
    let met = 0;
    work.script = () => {
      met++;
      if (met === 1) return 'busy';
      if (met === 2) throw new MirrorError('TARGET_BUSY', 'Another pass is at work.');
      if (met <= 5) throw new MirrorError('TARGET_FAILED', 'Broken.');
      return 'ok';
    };
    const queue = use(await startAt(place, work));
    await queue.runNow('full');
    await vi.waitFor(
      () =>
        expect(queue.told).toContainEqual(saw('job.completed', { step: 'sync', outcome: 'ok' })),
      SOON,
    );
    // Three failures of four tries, besides two waits.
    expect(met).toBe(6);
    expect(queue.told.filter(({ name }) => name === 'job.postponed')).toHaveLength(2);
  });

  it('a form that stays busy is given up until the next tick', async ({ place, use }) => {
    const work = only();
    work.script = () => 'busy';
    const queue = use(await startAt(place, work));
    await queue.runNow('incremental');
    await vi.waitFor(
      () =>
        expect(queue.told).toContainEqual(
          saw('job.failed', { code: 'TARGET_BUSY', willRetry: false }),
        ),
      SOON,
    );
    expect(work.passes).toHaveLength(QUICK.busy.attempts);
  });

  it('a full pass without proof gets another try or two, an incremental one does not', async ({
    place,
    use,
  }) => {
    const work = only();
    work.script = () => 'incomplete';
    const queue = use(await startAt(place, work));
    await queue.runNow('incremental');
    await vi.waitFor(
      () => expect(queue.told).toContainEqual(saw('job.completed', { outcome: 'incomplete' })),
      SOON,
    );
    expect(work.passes).toHaveLength(1);
    await queue.runNow('full');
    await vi.waitFor(
      () =>
        expect(queue.told).toContainEqual(
          saw('job.completed', { kind: 'full', outcome: 'incomplete' }),
        ),
      SOON,
    );
    expect(work.count('a', 'full')).toBe(3);
  });

  it('stopping aborts a pass, which is put back and costs no try', async ({ place, use }) => {
    const work = only();
    const gate = new Gate();
    work.script = (_order, signal) => gate.wait(signal);
    // More stops than tries.
    for (let stops = 1; stops <= QUICK.retry.incremental.attempts + 1; stops++) {
      const queue = use(await startAt(place, work));
      if (stops === 1) await queue.runNow('incremental');
      await vi.waitFor(() => expect(work.passes).toHaveLength(stops), SOON);
      await queue.stop();
    }
    gate.open();
    const last = use(await startAt(place, work));
    await vi.waitFor(
      () => expect(last.told).toContainEqual(saw('job.completed', { step: 'sync', outcome: 'ok' })),
      SOON,
    );
  });

  it('stopping does not wait for ever for work that does not stop', async ({ place, use }) => {
    const work = only();
    const gate = new Gate();
    work.script = () => gate.wait(new AbortController().signal);
    const queue = use(await startAt(place, work, {}, { tuning: { ...QUICK, stopMs: 200 } }));
    await queue.runNow('incremental');
    await vi.waitFor(() => expect(work.passes).toHaveLength(1), SOON);
    await queue.stop();
    gate.open();
  });
}
