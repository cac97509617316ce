import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { openBackend, parseQueueUrl } from '../../src/queue/backends.ts';

/** An address for documentation: nothing answers there, and nobody is to ask. */
const AWAY = '192.0.2.1';

/** A sentinel that sends to a server on another machine. */
async function pointer(): Promise<AsyncDisposable & { readonly port: number }> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.setEncoding('utf8').on('data', (text: string) => {
      for (const command of text.split(/^(?=\*\d+\r\n)/m)) socket.write(answerTo(command));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { port, [Symbol.asyncDispose]: async () => void server.close() };
}

function answerTo(command: string): string {
  if (/get-master-addr-by-name/i.test(command)) {
    return `*2\r\n$${AWAY.length}\r\n${AWAY}\r\n$4\r\n6379\r\n`;
  }
  return /\bsentinels\b/i.test(command) ? '*0\r\n' : '+OK\r\n';
}

it('L15: a sentinel on this machine that sends us to another one gets it no password in plain text', async () => {
  await using server = await pointer();
  const opening = openBackend('worker', {
    url: parseQueueUrl(`redis+sentinel://:kZ4vQ1mW@127.0.0.1:${server.port}/mirror`),
    dataDir: '/nonexistent',
    workers: 0,
    upkeepMs: 60_000,
    clock: systemClock,
    logger: silentLogger,
    onError: () => {},
  });
  await expect(opening).rejects.toMatchObject({
    code: 'SETTINGS',
    message: expect.stringMatching(
      /^QUEUE_URL asks for no TLS, and .* to one on another.*ALLOW_PLAINTEXT\.$/,
    ),
  });
});
