import { setTimeout as wait } from 'node:timers/promises';
import { FakeHandlers, Gate } from './fake-handlers.ts';
import { QUICK, type QueuePlace, startAt } from './harness.ts';

// A worker process for tests: prints when a run begins, and lets it last until it must stop. Run with: node
// test/queue/child-worker.ts <place> [<lock duration, ms>]
const place = JSON.parse(process.argv[2] ?? '{}') as QueuePlace;
const handlers = new FakeHandlers(['f1']);
const never = new Gate();
handlers.script = async ({ formId }, signal) => {
  console.log(`began ${formId}`);
  try {
    return await never.wait(signal);
  } finally {
    await wait(100);
    console.log(`finished the batch of ${formId}`);
  }
};
const lockDurationMs = Number(process.argv[3] ?? QUICK.lockDurationMs);
const queue = await startAt(place, handlers, { timings: { ...QUICK, lockDurationMs } });
await queue.pollNow();
process.once('SIGTERM', () => {
  void queue.stop();
});
