import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { Alerts } from '../../src/alerts/alerts.ts';
import { HEARTBEAT_MS } from '../../src/alerts/heartbeat.ts';
import { silentLogger } from '../../src/base/logger.ts';
import type { MirrorHealth } from '../../src/health/mirror-health.ts';
import { NOW, QUEUE, passRecord } from '../health/fake-source.ts';
import { failedPass, healthOf, reading } from '../health/health-of.ts';
import { TestClock } from '../support/test-clock.ts';
import { startWebhook } from './webhook-stand-in.ts';

/** A service that waits for calls, and answers as a test wants it. */
async function startMonitor() {
  const calls: string[] = [];
  const server = createServer(({ method, url }, response) => {
    calls.push(`${method} ${url}`);
    response.writeHead(monitor.status).end(monitor.body);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const monitor = {
    url: `http://127.0.0.1:${port}/ping/T0P-S3CRET`,
    calls,
    status: 200,
    body: 'OK',
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
  return monitor;
}

/** Only moves when told to. */
class StandingClock extends TestClock {
  nowMs = NOW;
  override now(): number {
    return this.nowMs;
  }
  override sleep(_ms: number, signal?: AbortSignal): Promise<void> {
    const { promise, reject } = Promise.withResolvers<void>();
    signal?.addEventListener('abort', () => reject(new Error('stopped')));
    return promise;
  }
}

async function openHeart(heartbeatUrl: string, url?: string) {
  const clock = new StandingClock();
  const alerts = await Alerts.open({ heartbeatUrl, url, clock, logger: silentLogger });
  return {
    alerts,
    /** Looks at the mirror `atMs` after NOW, and waits until a call that follows from it has been answered. */
    look: async (
      atMs: number,
      health: MirrorHealth = healthOf(),
      isFresh = true,
    ): Promise<void> => {
      clock.nowMs = NOW + atMs;
      alerts.evaluate({ ...health, nowMs: clock.nowMs }, isFresh);
      await new Promise((done) => setTimeout(done, 50));
    },
  };
}

const WITHHELD = [passRecord(9_000, { kind: 'full', outcome: 'withheld', withheld: 30 })];

describe('the heartbeat', () => {
  it('is called once a minute while all is well', async () => {
    await using monitor = await startMonitor();
    const { alerts, look } = await openHeart(monitor.url);
    for (const atMs of [0, 30_000, HEARTBEAT_MS, HEARTBEAT_MS + 30_000]) await look(atMs);
    await alerts.stop();
    expect(monitor.calls).toEqual(['GET /ping/T0P-S3CRET', 'GET /ping/T0P-S3CRET']);
    expect(alerts.deliveryProblem).toBeNull();
  });

  it.each([
    ['a form fails', healthOf({ 'db frm_a': [failedPass(1_000, 'TARGET_FULL')] })],
    ['the queue does not answer', healthOf({}, { queue: { ...QUEUE, reachable: false } })],
    [
      'a target was not read, be it for the first time',
      healthOf(
        {},
        {
          targets: [
            reading({
              failure: { code: 'TARGET_UNREACHABLE', message: 'x', sinceMs: NOW },
              failures: 1,
            }),
          ],
        },
      ),
    ],
  ])('is not called while %s, and again when it is over', async (_what, ill) => {
    await using monitor = await startMonitor();
    const { alerts, look } = await openHeart(monitor.url);
    for (const atMs of [0, 70_000, 140_000]) await look(atMs, ill);
    expect(monitor.calls).toEqual([]);
    await look(150_000);
    await alerts.stop();
    expect(monitor.calls).toHaveLength(1);
  });

  it('goes on while something needs a person, and nothing has failed', async () => {
    await using monitor = await startMonitor();
    const { alerts, look } = await openHeart(monitor.url);
    const health = healthOf({ 'db frm_b': WITHHELD });
    expect(health.state).toBe('attention');
    await look(0, health);
    await alerts.stop();
    expect(monitor.calls).toHaveLength(1);
  });

  it('does not follow from a pass that ended: the rest was not asked', async () => {
    await using monitor = await startMonitor();
    const { alerts, look } = await openHeart(monitor.url);
    await look(0, healthOf(), false);
    await alerts.stop();
    expect(monitor.calls).toEqual([]);
  });

  it('stops while alerts are not delivered: silence is what can still be noticed', async () => {
    await using monitor = await startMonitor();
    await using webhook = await startWebhook();
    webhook.answer = (_request, response) => response.writeHead(410).end();
    const { alerts, look } = await openHeart(monitor.url, webhook.url);
    await look(0, healthOf({ 'db frm_b': WITHHELD }));
    await expect.poll(() => alerts.deliveryProblem).toContain('answers 410');
    expect(monitor.calls).toHaveLength(1);
    for (const atMs of [70_000, 140_000]) await look(atMs);
    expect(monitor.calls).toHaveLength(1);
    await alerts.stop();
  });

  it.each([
    [404, 'not found', 'answers 404'],
    [200, 'OK (not found)', 'does not know the address'],
    [200, '{"ok":false,"msg":"Monitor not found."}', 'does not know the address'],
  ])(
    'that is answered %i %j is said not to arrive, without its secret',
    async (status, body, why) => {
      await using monitor = await startMonitor();
      Object.assign(monitor, { status, body });
      const { alerts, look } = await openHeart(monitor.url);
      await look(0);
      await expect.poll(() => alerts.deliveryProblem).toContain(why);
      expect(alerts.deliveryProblem).not.toContain('S3CRET');
      Object.assign(monitor, { status: 200, body: 'OK' });
      await look(70_000);
      await expect.poll(() => alerts.deliveryProblem).toBeNull();
      await alerts.stop();
    },
  );
});
