import { setTimeout as wait } from 'node:timers/promises';
import { systemClock } from '../../src/base/clock.ts';
import { MirrorError } from '../../src/base/errors.ts';
import { FakeHandlers, Gate } from './fake-handlers.ts';
import { QUICK, type QueuePlace, startAt } from './harness.ts';

// A worker process for tests: says when a pass begins, and lets it last until it is asked to stop.
// Run with: node test/queue/child-worker.ts <place> [<lock duration, ms>]
const place = JSON.parse(process.argv[2] ?? '{}') as QueuePlace;
const handlers = new FakeHandlers([{ formId: 'f1', targets: ['a'] }]);
const never = new Gate();
handlers.script = async ({ formId }, signal) => {
  console.log(`began ${formId}`);
  await never.wait(signal).catch(() => undefined);
  await wait(100);
  console.log(`finished the batch of ${formId}`);
  throw new MirrorError('CANCELLED', 'Stopped on request.');
};
const lockDurationMs = Number(process.argv[3] ?? QUICK.lockDurationMs);
const timings = { ...QUICK, lockDurationMs };
const queue = await startAt(place, handlers, {}, { clock: systemClock, timings });
await queue.runNow('incremental');
process.once('SIGTERM', () => {
  void queue.stop();
});
