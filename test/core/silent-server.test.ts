import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { parseTargetUrl } from '../../src/targets/target-kinds.ts';

it('L12: gives up a PostgreSQL server that accepts a connection and never answers', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const store = await parseTargetUrl(`postgres://u:p@127.0.0.1:${port}/d`).open('default');
  const asked = store.states().catch((error: unknown) => error);
  const [socket] = (await once(server, 'connection')) as [Socket];
  const closed = once(socket.resume(), 'close');
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await asked).toMatchObject({ code: 'TARGET_UNREACHABLE' });
  await store[Symbol.asyncDispose]();
  await closed;
});
