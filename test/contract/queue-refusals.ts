import { expect, vi } from 'vitest';
import { createLogger } from '../../src/base/logger.ts';
import { FakeHandlers } from '../queue/fake-handlers.ts';
import { NEVER, produceAt, startAt } from '../queue/harness.ts';
import type { QueueIt } from './queue.ts';

const SOON = { timeout: 60_000, interval: 20 };
const settings = { ...NEVER, marking: true, targets: ['a', 'b'] };
const ORDER = { formId: 'f1', target: 'a', kind: 'incremental' } as const;
const FINE = { ...ORDER, compareCounts: false, busy: 0, failed: 0, againAt: null } as const;
/** As somebody would add them who wants them tried for ever. */
const STUBBORN = { attempts: 1_000, removeOnFail: true };

/** Jobs that the settings of a worker do not ask for, whoever wrote them. */
export function describeRefusals(it: QueueIt): void {
  it.for([
    ['a form outside TARGET_FORMS', 'sync', { ...FINE, formId: 'other' }],
    ['a form of another target', 'sync', { ...FINE, formId: 'f2' }],
    ['a target that is not configured', 'sync', { ...FINE, target: 'gone' }],
    ["another target than its queue's", 'sync', { ...FINE, target: 'b' }],
    ["another kind than its queue's", 'sync', { ...FINE, kind: 'full' }],
    ['an unknown kind', 'sync', { ...FINE, kind: 'everything' }],
    ['an unknown name', 'drop', FINE],
    ['no form', 'sync', { ...FINE, formId: undefined }],
    ['less than this build writes', 'sync', ORDER],
    ['a form that is no text', 'sync', { ...FINE, formId: ['f1'] }],
    ['something besides', 'sync', { ...FINE, fields: '*' }],
    ['nothing', 'sync', null],
  ] as const)(
    'a pass with %s is ended at once, said once, and does nothing',
    async ([, name, data], { place, use }) => {
      const handlers = new FakeHandlers([
        { formId: 'f1', targets: ['a', 'b'] },
        { formId: 'f2', targets: ['b'] },
      ]);
      const lines: string[] = [];
      const logger = createLogger('warn', { write: (line) => void lines.push(line) });
      const refusals = (): string[] => lines.filter((line) => line.includes('A job is refused'));
      {
        await using producer = await produceAt(place, settings);
        const queue = producer.queues.passes('incremental', 'a');
        await queue?.add(name, data, { ...STUBBORN, jobId: 'odd-1' });
        await queue?.add(name, data, { ...STUBBORN, jobId: 'odd-2' });
        await queue?.add('sync', FINE, { jobId: 'form-f1', removeOnComplete: true });
      }
      const queue = use(await startAt(place, handlers, settings, { logger }));
      await vi.waitFor(async () => {
        const { queues } = await queue.status();
        const passes = queues.filter(({ step }) => step === 'sync');
        const left = passes.map(({ active, waiting, delayed }) => active + waiting + delayed);
        expect(Math.max(...left)).toBe(0);
        expect(handlers.passes).toHaveLength(1);
        expect(refusals()).not.toEqual([]);
      }, SOON);
      // L12: the job of its own right beside them was done.
      expect(handlers.passes).toEqual([ORDER]);
      const isAboutAForm = refusals()[0]?.includes('formId') === true;
      expect(refusals()).toHaveLength(isAboutAForm ? 1 : 2);
      expect(queue.emitted.filter(({ name: event }) => event === 'job.failed')).toEqual([]);
    },
  );

  it.for([
    ['a form that no target mirrors', { formId: 'other', kind: 'full', busy: 0 }],
    ['something besides', { formId: 'f1', kind: 'full', busy: 0, status: 'DONE' }],
  ] as const)(
    'a mark with %s is ended at once and marks nothing',
    async ([, data], { place, use }) => {
      const handlers = new FakeHandlers([{ formId: 'f1', targets: ['a'] }]);
      {
        await using producer = await produceAt(place, settings);
        await producer.queues.mark.add('mark', data, STUBBORN);
        await producer.queues.mark.add('mark', { formId: 'f1', kind: 'full', busy: 0 });
      }
      const queue = use(await startAt(place, handlers, settings));
      await vi.waitFor(async () => {
        const { queues } = await queue.status();
        const marks = queues.filter(({ step }) => step === 'mark');
        expect(marks.map(({ active, waiting }) => active + waiting)).toEqual([0]);
        expect(handlers.marks).not.toEqual([]);
      }, SOON);
      expect(handlers.marks).toEqual(['f1']);
    },
  );
}
