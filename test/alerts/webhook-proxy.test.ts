import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { type Delivery, DeliveryQueue } from '../../src/alerts/delivery-queue.ts';
import { alertMessage } from '../../src/alerts/message.ts';
import { testNotice } from '../../src/alerts/notice.ts';
import { Webhook } from '../../src/alerts/webhook.ts';
import { createLogger } from '../../src/base/logger.ts';
import { startProxy, startTlsOrigin, TEST_AUTHORITY } from '../support/connect-proxy.ts';
import { TestClock } from '../support/test-clock.ts';
import { startWebhook } from './webhook-stand-in.ts';

const notice = { ...testNotice(0), headline: 'Stale' };
const delivery: Delivery = { notice, keys: ['stale'], status: 'firing', opens: true };

function channelThrough(host: string): DeliveryQueue {
  const clock = new TestClock();
  const webhook = new Webhook({
    url: 'https://hooks.test/T0P-S3CRET',
    proxy: { url: new URL(`http://ann:pr0xy-s3cret@${host}`), except: [] },
    clock,
  });
  const logger = createLogger('silent', { write: () => undefined });
  return new DeliveryQueue(webhook, { clock, logger });
}

describe('a webhook behind a proxy', () => {
  beforeAll(() => {
    setDefaultCACertificates([
      ...getCACertificates('default'),
      readFileSync(TEST_AUTHORITY, 'utf8'),
    ]);
  });

  it('is sent alerts through it, which it cannot read', async () => {
    await using webhook = await startWebhook();
    await using origin = await startTlsOrigin(Number(new URL(webhook.url).port));
    await using proxy = await startProxy(() => ({ port: origin.port }));
    const channel = channelThrough(proxy.host);
    channel.send(delivery);
    await webhook.came(1);
    await channel.stop();
    expect(webhook.bodies).toEqual([alertMessage(notice)]);
    expect(proxy.requests).toEqual(['CONNECT hooks.test:443 HTTP/1.1']);
    expect(proxy.seen()).not.toMatch(/T0P-S3CRET|Stale/);
  });

  it.each([
    ['407 Who', 1, 'refused the user name and password of HTTPS_PROXY'],
    ['502 Bad Gateway', 8, 'the proxy of HTTPS_PROXY did not connect to hooks.test:443 (502)'],
  ])('is said to be out of reach when it answers %s', async (line, tries, words) => {
    await using proxy = await startProxy(() => ({ text: `HTTP/1.1 ${line}\r\n\r\n` }));
    const channel = channelThrough(proxy.host);
    channel.send(delivery);
    await vi.waitFor(() => expect(channel.deliveryProblem).toContain(words), { timeout: 60_000 });
    await channel.stop();
    expect(channel.deliveryProblem).not.toMatch(/pr0xy-s3cret|T0P-S3CRET/);
    expect(proxy.requests).toHaveLength(tries);
  });
});
