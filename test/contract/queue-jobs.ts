import { expect } from 'vitest';
import { MirrorError, stopReason } from '../../src/base/errors.ts';
import { comparison, FakeHandlers, Gate, ordinary } from '../queue/fake-handlers.ts';
import { QUICK, type TestQueue } from '../queue/harness.ts';
import { idle, soon } from '../queue/waits.ts';
import type { QueueIt } from './queue.ts';

const refused = new MirrorError('FORMS_UNAUTHORIZED', 'The key was refused.');
const away = new MirrorError('TARGET_UNREACHABLE', 'No answer.');

/** The failures of a step so far (null: none), and whether the job must run again. */
const endings = ({ ended }: TestQueue, step = 'sync') =>
  ended.filter((one) => one.step === step).map(({ code, willRetry }) => [code, willRetry]);

/** The steps of the running jobs. */
const steps = async (queue: TestQueue) => (await queue.status()).running.map(({ step }) => step);

/** The ends of jobs (done, tried again, given up, postponed, put back) and their consequences. */
export function describeJobs(it: QueueIt): void {
  it('a retryable failure is tried several times; then the next poll adds the job again', async ({
    start,
  }) => {
    const handlers = new FakeHandlers();
    handlers.script = () => {
      throw away;
    };
    const queue = await start(handlers);
    for (const round of [1, 2]) {
      await queue.pollNow();
      await soon(() => expect(endings(queue)).toHaveLength(round * QUICK.attempts));
      await idle(queue);
    }
    const again = ['TARGET_UNREACHABLE', true];
    const last = ['TARGET_UNREACHABLE', false];
    expect(endings(queue)).toEqual([again, again, last, again, again, last]);
    expect(queue.ended.at(-1)).toMatchObject({ target: 'a', formId: 'f1', step: 'sync' });
  });

  it('a failure that no retry can correct is tried once', async ({ start }) => {
    const handlers = new FakeHandlers();
    handlers.script = () => {
      throw refused;
    };
    const queue = await start(handlers);
    await queue.runNow([ordinary('f1'), comparison('f1')]);
    await soon(() => expect(endings(queue)).toHaveLength(2));
    await idle(queue);
    const once = ['FORMS_UNAUTHORIZED', false];
    expect(endings(queue)).toEqual([once, once]);
  });

  it('L11, L15: an error text that no store accepts is made storable, and a foreign one is not repeated', async ({
    start,
  }) => {
    const handlers = new FakeHandlers(['f1', 'f2']);
    handlers.script = ({ formId }) => {
      if (formId === 'f1') throw new MirrorError('FORMS_REFUSED', 'nul \0 and half \ud800');
      throw new TypeError('answer was "Jana Nováková"');
    };
    const queue = await start(handlers);
    await queue.pollNow();
    await soon(() => expect(endings(queue)).toHaveLength(2));
    expect(JSON.stringify(queue.ended)).not.toContain('Jana');
    // The job IDs are free again: neither job stays in the store.
    await idle(queue);
    await queue.pollNow();
    await soon(() => expect(handlers.syncs).toHaveLength(4));
    expect(queue.errors).toEqual([]);
  });

  it('a run that met another one is tried again', async ({ start }) => {
    const handlers = new FakeHandlers();
    handlers.script = () => {
      if (handlers.syncs.length === 1) throw new MirrorError('TARGET_BUSY', 'Another is at work.');
      return 'ok';
    };
    const queue = await start(handlers);
    await queue.runNow([ordinary('f1')]);
    await soon(() => expect(endings(queue)).toHaveLength(2));
    expect(endings(queue)).toEqual([
      [null, true],
      [null, false],
    ]);
  });

  it('stopping aborts a run, and the next worker makes it', async ({ start }) => {
    const handlers = new FakeHandlers();
    const gate = new Gate();
    handlers.script = (_order, signal) => gate.wait(signal);
    const queue = await start(handlers);
    await queue.runNow([ordinary('f1')]);
    await soon(() => expect(handlers.syncs).toHaveLength(1));
    await queue.stop();
    expect(endings(queue)[0]).toEqual([null, true]);
    gate.open();
    const next = await start(handlers);
    await soon(() => expect(endings(next)).toEqual([[null, false]]));
  });

  it('stopping does not wait without limit for work that does not stop', async ({ start }) => {
    const handlers = new FakeHandlers();
    const gate = new Gate();
    handlers.script = () => gate.wait(new AbortController().signal);
    const queue = await start(handlers, { timings: { ...QUICK, stopMs: 200 } });
    await queue.runNow([ordinary('f1')]);
    await soon(() => expect(handlers.syncs).toHaveLength(1));
    await queue.stop();
    gate.open();
  });

  it('L17: a run whose lock was lost is aborted with that reason, and another worker takes it', async ({
    place,
    start,
    server,
    skip,
  }) => {
    if (server.dropLocks === undefined) return skip('this store cannot be reached from outside');
    const handlers = new FakeHandlers();
    const gate = new Gate();
    const reasons: string[] = [];
    handlers.script = async (_order, signal) => {
      if (handlers.syncs.length > 1) return 'ok';
      return gate.wait(signal).catch((error: unknown) => {
        reasons.push(stopReason(signal).message);
        throw error;
      });
    };
    // As in production, it learns at the next renewal that its lock is lost, before another worker takes the run.
    const timings = { ...QUICK, lockDurationMs: 1_000, stalledIntervalMs: 2_000 };
    const queue = await start(handlers, { timings });
    await queue.runNow([ordinary('f1')]);
    await soon(() => expect(handlers.syncs).toHaveLength(1));
    await server.dropLocks(place);
    await soon(() => expect(endings(queue)).toContainEqual([null, false]));
    expect(reasons).toEqual([
      expect.stringMatching(/^Stopped, as the queue has given this job to another worker/),
    ]);
  });

  it('L7: a form is written back after a run that stored everything, and when a poll requests it', async ({
    start,
  }) => {
    const handlers = new FakeHandlers(['ok', 'held', 'incomplete', 'paused', 'failed', 'waits']);
    handlers.found = () => ({ syncs: [], writeBacks: ['waits'] });
    handlers.script = ({ formId }) => {
      if (formId === 'failed') throw refused;
      return formId as 'ok';
    };
    const queue = await start(handlers, { writesBack: true });
    await queue.pollNow();
    await queue.runNow(['ok', 'held', 'incomplete', 'paused', 'failed'].map((id) => ordinary(id)));
    await soon(() => expect(endings(queue)).toHaveLength(5));
    await soon(() => expect(handlers.writtenBack.toSorted()).toEqual(['held', 'ok', 'waits']));
    await idle(queue);
    expect(handlers.writtenBack).toHaveLength(3);
  });

  it.for([
    ['run', ordinary('f1')],
    ['comparison', comparison('f1')],
  ] as const)(
    'L16: a write-back must leave the form to a waiting %s, and comes again after it',
    async ([, order], { start }) => {
      const handlers = new FakeHandlers();
      handlers.found = () => ({ syncs: [], writeBacks: ['f1'] });
      let isHeld = true;
      handlers.script = async () => {
        if (isHeld) throw new MirrorError('TARGET_BUSY', 'Another run writes to the form.');
        // Until then, a write-back cannot be added again.
        await soon(async () => expect(await steps(queue)).not.toContain('write-back'));
        return 'ok' as const;
      };
      const heard: boolean[] = [];
      handlers.writeBackScript = async (_signal, isAwaited) => {
        if (handlers.writtenBack.length > 1) return;
        heard.push(await isAwaited());
        await queue.runNow([ordinary('other'), order]);
        await soon(() => expect(handlers.count('a')).toBeGreaterThan(1));
        heard.push(await isAwaited());
        isHeld = false;
      };
      const timings = { ...QUICK, attempts: 12 };
      const queue = await start(handlers, { writesBack: true, timings });
      await queue.pollNow();
      await soon(() => expect(handlers.writtenBack.filter((id) => id === 'f1')).toHaveLength(2));
      expect(heard).toEqual([false, true]);
      await idle(queue);
    },
  );
}
