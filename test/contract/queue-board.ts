import { expect, vi } from 'vitest';
import { FakeHandlers, Gate } from '../queue/fake-handlers.ts';
import { startAt, type TestQueue } from '../queue/harness.ts';
import { SOON, answered } from '../queue/waits.ts';
import type { QueueIt } from './queue.ts';

interface Board {
  readonly queues: readonly {
    readonly name: string;
    readonly readOnlyMode: boolean;
    readonly jobs: readonly { readonly id: string; readonly data: unknown }[];
  }[];
}

async function read<T>(queue: TestQueue, path: string): Promise<T> {
  const { status, body } = await queue.board(path);
  expect(status).toBe(200);
  return JSON.parse(body.toString()) as T;
}

/** What people are shown of jobs and workers. */
export function describeBoard(it: QueueIt): void {
  it('L11: shows queues, jobs and schedules, and of a job neither payload nor result nor stack', async ({
    place,
    use,
  }) => {
    const handlers = new FakeHandlers([{ formId: 'form-with-payload', targets: ['a'] }]);
    const [begun, gate] = [Promise.withResolvers<void>(), new Gate()];
    handlers.script = (_order, signal) => {
      begun.resolve();
      return gate.wait(signal);
    };
    const queue = use(await startAt(place, handlers));
    await queue.runNow('full');
    await begun.promise;
    const page = await queue.board('/queue');
    expect([page.status, page.type]).toEqual([200, expect.stringContaining('text/html')]);
    const all = await read<Board>(queue, '/queue/api/queues?page=1&jobsPerPage=10');
    const names = all.queues.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining([expect.stringMatching(/\bfull\.a$/)]));
    expect(names).toHaveLength(4);
    expect(all.queues.every(({ readOnlyMode }) => readOnlyMode)).toBe(true);
    const name = names.find((one) => one.endsWith('full.a')) ?? '';
    const path = `/queue/api/queues?activeQueue=${encodeURIComponent(name)}&status=active&page=1&jobsPerPage=10`;
    const { queues } = await read<Board>(queue, path);
    const jobs = queues.flatMap((one) => one.jobs);
    expect(jobs).toMatchObject([{ id: 'form-form-with-payload', data: 'not shown' }]);
    const job = '/queue/api/queues/' + encodeURIComponent(name) + '/form-form-with-payload';
    expect(JSON.stringify(await read(queue, job))).not.toContain('"formId"');
    const schedules = JSON.stringify(await read(queue, '/queue/api/job-schedulers'));
    expect(schedules).toContain('plan');
    expect(schedules).not.toContain('targets');
    const server = await read<{ backend: string }>(queue, '/queue/api/redis/stats');
    const { backend } = await answered(queue);
    expect(server.backend).toBe(backend === 'redis' ? 'redis' : 'postgres');
    gate.open();
  });

  it('tells which process runs a pass, and which take jobs', async ({ place, use }) => {
    const handlers = new FakeHandlers([{ formId: 'f', targets: ['a'] }]);
    const [begun, gate] = [Promise.withResolvers<void>(), new Gate()];
    handlers.script = (_order, signal, onProgress) => {
      onProgress({ seen: 3, total: 9 });
      begun.resolve();
      return gate.wait(signal);
    };
    const queue = use(await startAt(place, handlers));
    await queue.runNow('full');
    await begun.promise;
    const own = expect.stringMatching(new RegExp(`-${process.pid}$`));
    await vi.waitFor(async () => {
      const { running, workers } = await answered(queue);
      const progress = { seen: 3, total: 9, atMs: expect.any(Number) };
      expect(running).toMatchObject([{ formId: 'f', target: 'a', kind: 'full', progress }]);
      expect(running.map(({ worker }) => worker)).toEqual([own]);
      expect(workers).toEqual([own]);
    }, SOON);
    gate.open();
  });
}
