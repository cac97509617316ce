import { setTimeout as wait } from 'node:timers/promises';
import { systemClock } from '../../src/base/clock.ts';
import { MirrorError } from '../../src/base/errors.ts';
import { FakeWork, Gate } from './fake-work.ts';
import { type QueuePlace, startAt } from './harness.ts';

// A worker process for tests: says when a pass begins, and lets it last until it is told to stop.
const place = JSON.parse(process.argv[2] ?? '{}') as QueuePlace;
const work = new FakeWork([{ formId: 'f1', targets: ['a'] }]);
const never = new Gate();
work.script = async ({ formId }, signal) => {
  console.log(`began ${formId}`);
  await never.wait(signal).catch(() => undefined);
  await wait(100);
  console.log(`finished the batch of ${formId}`);
  throw new MirrorError('CANCELLED', 'Stopped on request.');
};
const queue = await startAt(place, work, {}, { clock: systemClock });
await queue.runNow('incremental');
process.once('SIGTERM', () => {
  void queue.stop();
});
