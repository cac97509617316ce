import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import type { QueueStatus } from '../../src/queue/queue-status.ts';
import type { QueueRuntime } from '../../src/queue/runtime.ts';
import { type RedisGroup, startSentinels } from '../support/redis-groups.ts';
import { redisMissing } from '../support/servers.ts';
import { FakeHandlers } from './fake-handlers.ts';
import { startAt } from './harness.ts';

const SOON = { timeout: 60_000, interval: 50 };
const FORMS = ['a', 'b', 'c'];

/** A queue at work, with runs every moment. */
interface Work extends AsyncDisposable {
  readonly handlers: FakeHandlers;
  readonly queue: QueueRuntime;
}

async function atWork({ url }: RedisGroup): Promise<Work> {
  const handlers = new FakeHandlers(FORMS);
  const place = { queueUrl: url, dataDir: '/nonexistent' };
  const queue = await startAt(place, handlers, { schedule: { everyMs: 200 } });
  const work = { handlers, queue, [Symbol.asyncDispose]: () => queue.stop() };
  expect((await next(work)).address).not.toContain('kZ4v');
  return work;
}

/** The next runs, and what the queue says of itself afterwards. */
async function next({ handlers, queue }: Work): Promise<QueueStatus> {
  const then = handlers.syncs.length;
  await vi.waitFor(() => expect(handlers.syncs.length).toBeGreaterThan(then + 12), SOON);
  return vi.waitUntil(async () => {
    const status = await queue.status();
    return status.isReachable && status;
  }, SOON);
}

/** A server that takes connections and never says a word. */
async function startSilent(): Promise<AsyncDisposable & { readonly place: string }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket));
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', done);
  });
  return {
    place: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => {
        server.close(done);
      });
    },
  };
}

/** The group's address with another server before the others. */
const namedFirst = ({ url }: RedisGroup, place: string): string =>
  url.replace(/@([\d.:]+)(\S*?)\?(?=\S)/, `@${place}$2?sentinel=$1&`);

describe.skipIf(redisMissing())('a Redis that sentinels watch', () => {
  it('goes on when the master is killed, though the sentinel that is named first is silent', async () => {
    await using silent = await startSilent();
    await using started = await startSentinels();
    const group = { ...started, url: namedFirst(started, silent.place) };
    await using work = await atWork(group);
    await group.killMaster();
    expect(await next(work)).toMatchObject({ isReachable: true });
  });
});
