import { expect, vi } from 'vitest';
import { addPasses } from '../../src/queue/flows.ts';
import type { FoundWork, PlannedForm } from '../../src/queue/handlers.ts';
import { FakeHandlers } from '../queue/fake-handlers.ts';
import { NEVER, produceAt, startAt } from '../queue/harness.ts';
import { SOON } from '../queue/waits.ts';
import type { QueueIt } from './queue.ts';

const schedules = { marking: true, targets: ['a', 'b'] };
const pass = (target: string, compareCounts = false): FoundWork['passes'][number] => {
  return { target, compareCounts };
};
const form = (formId: string, passes: FoundWork['passes'], mark = false): PlannedForm => {
  return { formId, targets: ['a', 'b'], found: { passes, mark } };
};

/** What a look found to do becomes jobs, and nothing else does. */
export function describeLooks(it: QueueIt): void {
  it('L16: the passes that a look found are run, and no others', async ({ place, use }) => {
    const handlers = new FakeHandlers([
      form('quiet', []),
      form('new', [pass('b')]),
      form('differs', [pass('a', true), pass('b', true)]),
    ]);
    const queue = use(await startAt(place, handlers, schedules));
    await queue.runNow('incremental');
    await vi.waitFor(() => expect(handlers.marks.toSorted()).toEqual(['differs', 'new']), SOON);
    const kind = 'incremental';
    expect(
      handlers.passes.toSorted((x, y) => (x.formId + x.target < y.formId + y.target ? -1 : 1)),
    ).toEqual([
      { formId: 'differs', target: 'a', kind, compareCounts: true },
      { formId: 'differs', target: 'b', kind, compareCounts: true },
      { formId: 'new', target: 'b', kind },
    ]);
  });

  it('L7: a form is marked without a pass where rows wait, again at each tick', async ({
    place,
    use,
  }) => {
    const handlers = new FakeHandlers([form('quiet', []), form('waits', [], true)]);
    const queue = use(await startAt(place, handlers, schedules));
    await vi.waitFor(async () => {
      await queue.runNow('incremental');
      expect(handlers.marks.length).toBeGreaterThanOrEqual(2);
    }, SOON);
    expect([handlers.passes, new Set(handlers.marks)]).toEqual([[], new Set(['waits'])]);
  });

  it('a mark that waits is not added twice, nor beside a pass that one follows', async ({
    place,
  }) => {
    await using producer = await produceAt(place, { ...NEVER, ...schedules });
    const forms = [form('waits', [], true), form('new', [pass('a')], true)];
    for (let n = 0; n < 3; n++) await addPasses(producer, forms, 'incremental');
    const counts = await producer.queues.mark.getJobCounts();
    expect([counts['waiting'], counts['waiting-children']]).toEqual([1, 1]);
  });
}
