import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Heartbeat } from '../../src/alerts/heartbeat.ts';
import { testNotice } from '../../src/alerts/notice.ts';
import { Webhook } from '../../src/alerts/webhook.ts';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';

const clock = systemClock;

/** Says who calls, by `Authorization`. */
async function startReceiver(): Promise<{ host: string; logins: (string | undefined)[] }> {
  const logins: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    logins.push(request.headers.authorization);
    response.end('ok');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, logins };
}

const EXPECTED = `Basic ${Buffer.from('me@x:p:ss wörd').toString('base64')}`;

describe('an address with a user name and a password', () => {
  it('is called with them, by the webhook and the heartbeat; one without is not', async () => {
    const { host, logins } = await startReceiver();
    const named = `http://me%40x:p%3Ass%20w%C3%B6rd@${host}/hook`;
    const { signal } = new AbortController();
    for (const url of [named, `http://${host}/hook`]) {
      const webhook = new Webhook({ url, clock });
      await webhook.send(testNotice(0), signal);
      expect(webhook.name).toBe(`webhook (plain JSON, ${host})`);
      await webhook.close();
    }
    const heartbeat = new Heartbeat({ url: named, clock, logger: silentLogger });
    heartbeat.beat(true);
    await vi.waitFor(() => expect(logins).toEqual([EXPECTED, undefined, EXPECTED]));
    await heartbeat.stop();
  });
});
