import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { openBackend, parseQueueUrl } from '../../src/queue/backends.ts';

/** A sentinel that calls this address the master. */
async function sentinelOf(host: string, port: number) {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.setEncoding('utf8').on('data', (text: string) => {
      for (const command of text.split(/^(?=\*\d+\r\n)/m)) {
        const master = `*2\r\n$${host.length}\r\n${host}\r\n$${String(port).length}\r\n${port}\r\n`;
        const isMaster = /get-master-addr-by-name/i.test(command);
        const isList = /\bsentinels\b/i.test(command);
        socket.write(isMaster ? master : isList ? '*0\r\n' : '+OK\r\n');
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, stop: () => server.close() };
}

it('L15: a sentinel on this machine that names a master on another one gets it no password in plain text', async () => {
  // An address for documentation: nothing answers there, and nobody is to ask.
  const sentinel = await sentinelOf('192.0.2.1', 6_379);
  try {
    const opening = openBackend('worker', {
      url: parseQueueUrl(`redis+sentinel://:kZ4vQ1mW@127.0.0.1:${sentinel.port}/mirror`),
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
        /^QUEUE_URL asks for no TLS, and .* on another one.*ALLOW_PLAINTEXT\.$/,
      ),
    });
  } finally {
    sentinel.stop();
  }
});
