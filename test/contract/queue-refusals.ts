import { expect } from 'vitest';
import { createLogger } from '../../src/base/logger.ts';
import { comparison, FakeHandlers, ordinary } from '../queue/fake-handlers.ts';
import { produceAt } from '../queue/harness.ts';
import { idle, soon } from '../queue/waits.ts';
import type { QueueIt } from './queue.ts';

const FINE = ordinary('f1');
const targets = ['a', 'b'];
/** Jobs as a foreign program would add them, with unlimited attempts. */
const STUBBORN = { attempts: 1_000, removeOnFail: true };

/** Jobs that another program or version wrote. */
export function describeRefusals(it: QueueIt): void {
  it.for([
    ["another target than its queue's", ordinary('f1', 'b')],
    ["a comparison's", comparison('f1')],
    ['an extra property', { ...FINE, fields: '*' }],
    ['nothing', null],
  ] as const)(
    'a run with %s is ended at once, logged, and does nothing',
    async ([, data], { place, start }) => {
      const handlers = new FakeHandlers(['f1'], targets);
      const lines: string[] = [];
      const logger = createLogger('warn', { write: (line) => void lines.push(line) });
      const refusals = (): string[] => lines.filter((line) => line.includes('A job is refused'));
      {
        await using producer = await produceAt(place, targets);
        const { queue } =
          producer.queues.find(({ kind, target }) => kind === 'sync' && target === 'a') ?? {};
        await queue?.add('sync', data, { ...STUBBORN, jobId: 'odd-1' });
        await queue?.add('sync', data, { ...STUBBORN, jobId: 'odd-2' });
        await queue?.add('sync', FINE, { jobId: 'form-f1', removeOnComplete: true });
      }
      const queue = await start(handlers, { targets, logger });
      await soon(() => {
        expect(handlers.syncs).toHaveLength(1);
        expect(refusals()).not.toEqual([]);
      });
      await idle(queue);
      // L12: the correct job beside them was done.
      expect(handlers.syncs).toEqual([FINE]);
      expect(refusals()).toHaveLength(2);
      expect(queue.ended.map(({ code }) => code)).toEqual([null]);
    },
  );
}
