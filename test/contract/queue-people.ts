import { expect } from 'vitest';
import { MirrorError } from '../../src/base/errors.ts';
import { comparison, FakeHandlers, Gate, ordinary } from '../queue/fake-handlers.ts';
import { QUICK, type TestQueue } from '../queue/harness.ts';
import { answered, depthOf, soon } from '../queue/waits.ts';
import type { QueueIt } from './queue.ts';

/** Waits of many minutes. */
const LATER = { ...QUICK, retryMs: 600_000 };

interface Board {
  readonly queues: readonly {
    readonly name: string;
    readonly readOnlyMode: boolean;
    readonly jobs: readonly { readonly id: string; readonly data: unknown }[];
  }[];
}

async function read<T>(queue: TestQueue, path: string): Promise<T> {
  const { statusCode, body } = await queue.board(path);
  expect(statusCode).toBe(200);
  return JSON.parse(body) as T;
}

/** Orders of people, and the responses. */
export function describePeople(it: QueueIt): void {
  it('ordered runs begin at once, in the targets of the order, and not for a foreign target', async ({
    start,
  }) => {
    const handlers = new FakeHandlers(['one', 'two'], ['a', 'b']);
    const queue = await start(handlers, { targets: ['a', 'b'] });
    const orders = [
      ordinary('one', 'b'),
      comparison('two'),
      { ...comparison('one'), acceptDeletes: 30 },
    ];
    expect(await queue.runNow([...orders, ordinary('one', 'gone')])).toEqual(orders);
    await soon(() => expect(new Set(handlers.syncs)).toEqual(new Set(orders)));
  });

  it('a run that waits to be tried again begins now, in place of the other', async ({ start }) => {
    const handlers = new FakeHandlers(['one']);
    handlers.script = () => {
      throw new MirrorError('TARGET_FAILED', 'Broken.');
    };
    const queue = await start(handlers, { timings: LATER });
    await queue.runNow([comparison('one')]);
    await soon(async () => expect((await depthOf(queue, 'comparison.a'))?.delayed).toBe(1));
    handlers.script = () => 'ok';
    expect(await queue.runNow([comparison('one')])).toEqual([comparison('one')]);
    await soon(() => expect(handlers.syncs.length).toBe(2));
    await soon(async () => expect((await depthOf(queue, 'comparison.a'))?.delayed).toBe(0));
  });

  it('a run in progress stays; a waiting one is replaced', async ({ start }) => {
    const handlers = new FakeHandlers(['one', 'two']);
    const gate = new Gate();
    handlers.script = (_order, signal) => gate.wait(signal);
    const queue = await start(handlers);
    await queue.runNow([comparison('one')]);
    await soon(() => expect(handlers.syncs).toHaveLength(1));
    await queue.runNow([comparison('two')]);
    const more = [comparison('one'), { ...comparison('two'), acceptDeletes: 5 }];
    expect(await queue.runNow(more)).toEqual([more[1]]);
    gate.open();
    await soon(() => expect(handlers.syncs).toEqual([comparison('one'), more[1]]));
  });

  it('every process shows which runs are in progress, how far they are and who runs them', async ({
    start,
    server,
  }) => {
    const handlers = new FakeHandlers();
    const gate = new Gate();
    handlers.script = (_order, signal, onProgress) => {
      onProgress(12_000, 40_000);
      return gate.wait(signal);
    };
    handlers.writeBackScript = (signal) => gate.wait(signal).then(() => 'done' as const);
    handlers.found = () => ({ syncs: [comparison('f1')], writeBacks: ['f1'] });
    const one = await start(handlers, { writesBack: true });
    // Either process may take the run, so both do the same.
    const more = { writesBack: true, role: 'worker' } as const;
    const other = server.shared ? await start(handlers, more) : one;
    await one.pollNow();
    const common = { formId: 'f1', startedAt: expect.any(String) };
    await soon(async () => {
      const { running, active } = await answered(other);
      expect(running).toEqual([
        { ...common, step: 'write-back', target: null, seen: 0, total: 0 },
        { ...common, step: 'sync', target: 'a', seen: 12_000, total: 40_000 },
      ]);
      expect(active).toBe(2);
    });
    gate.open();
    await soon(async () => expect((await answered(other)).running).toEqual([]));
  });

  it('L11: the board shows queues and jobs, but neither payload nor result nor stack of a job', async ({
    start,
  }) => {
    const handlers = new FakeHandlers(['with-payload']);
    const gate = new Gate();
    handlers.script = (_order, signal) => gate.wait(signal);
    const queue = await start(handlers);
    await queue.runNow([comparison('with-payload')]);
    await soon(() => expect(handlers.syncs).toHaveLength(1));
    const page = await queue.board('/queue');
    expect([page.statusCode, page.headers['content-type']]).toEqual([
      200,
      expect.stringContaining('text/html'),
    ]);
    const all = await read<Board>(queue, '/queue/api/queues?page=1&jobsPerPage=10');
    expect(all.queues).toHaveLength(4);
    expect(all.queues.every(({ readOnlyMode }) => readOnlyMode)).toBe(true);
    const name = all.queues.find((one) => one.name.endsWith('comparison.a'))?.name ?? '';
    const path = `/queue/api/queues?activeQueue=${encodeURIComponent(name)}&status=active&page=1&jobsPerPage=10`;
    const { queues } = await read<Board>(queue, path);
    const jobs = queues.flatMap((one) => one.jobs);
    expect(jobs).toMatchObject([{ id: 'form-with-payload', data: 'not shown' }]);
    const job = `/queue/api/queues/${encodeURIComponent(name)}/form-with-payload`;
    expect(JSON.stringify(await read(queue, job))).not.toContain('"formId"');
    const server = await read<{ backend: string }>(queue, '/queue/api/redis/stats');
    const { backend } = await answered(queue);
    expect(server.backend).toBe(backend === 'redis' ? 'redis' : 'postgres');
    gate.open();
  });
}
