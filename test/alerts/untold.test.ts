import { rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Alerts } from '../../src/alerts/alerts.ts';
import { GROUP_INTERVAL_MS } from '../../src/alerts/gathering.ts';
import { UNTOLD_REST_MS } from '../../src/alerts/untold.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { NOW, passRecord } from '../health/fake-source.ts';
import { healthOf } from '../health/health-of.ts';
import { scratchFolder } from '../support/scratch.ts';
import { TestClock } from '../support/test-clock.ts';
import { type Webhook, startWebhook } from './webhook-stand-in.ts';

const HELD = [passRecord(9_000, { kind: 'full', outcome: 'withheld', withheld: 30 })];
/** What is announced at once, and its end two hours later. */
const WITHHELD = healthOf({ 'db frm_b': HELD });
const RELEASED = healthOf({ 'db frm_b': [...HELD, passRecord(-7_200_000, { kind: 'full' })] });

type Health = typeof WITHHELD;

const after = (ms: number, health: Health): Health => ({ ...health, nowMs: NOW + ms });

const down = (_request: unknown, response: ServerResponse) => response.writeHead(503).end();
const taken = (_request: unknown, response: ServerResponse) => response.end();

/** Tries of a message before it is given up. */
const TRIES = 8;

const open = (webhook: Webhook, stateFile?: string): Promise<Alerts> =>
  Alerts.open({
    url: webhook.url,
    stateFile,
    clock: new TestClock(NOW),
    logger: silentLogger,
    random: () => 0,
  });

/** Looks at a state, and waits until so many messages in all have come and are answered. */
async function look(alerts: Alerts, webhook: Webhook, all: number, health: Health): Promise<void> {
  alerts.evaluate(health, true);
  await webhook.came(all);
  await vi.waitFor(() => expect(alerts.isSending).toBe(false));
}

const levelsOf = ({ bodies }: Webhook) => bodies.map(({ level }) => level);

describe('an alert that no channel took', () => {
  it('is sent anew while it holds, and so is its end; nothing twice', async () => {
    await using webhook = await startWebhook();
    const alerts = await open(webhook);
    webhook.answer = down;
    await look(alerts, webhook, TRIES, WITHHELD);
    webhook.answer = taken;
    // A channel that is away is not asked with every look.
    await look(alerts, webhook, TRIES, after(UNTOLD_REST_MS - 1, WITHHELD));
    await look(alerts, webhook, TRIES + 1, after(UNTOLD_REST_MS, WITHHELD));
    await look(alerts, webhook, TRIES + 1, after(3 * UNTOLD_REST_MS, WITHHELD));
    webhook.answer = down;
    await look(alerts, webhook, 2 * TRIES + 1, after(4 * UNTOLD_REST_MS, RELEASED));
    webhook.answer = taken;
    await look(alerts, webhook, 2 * TRIES + 2, after(5 * UNTOLD_REST_MS, RELEASED));
    await look(alerts, webhook, 2 * TRIES + 2, after(9 * UNTOLD_REST_MS, RELEASED));
    await alerts.stop();
    const nine = <T>(level: T): T[] => Array.from({ length: TRIES + 1 }, () => level);
    expect(levelsOf(webhook)).toEqual([...nine('warning'), ...nine('ok')]);
  });

  it('is sent anew ever more rarely while nobody takes it, and as often as at first once somebody did', async () => {
    await using webhook = await startWebhook();
    const refused = (_request: unknown, response: ServerResponse) => response.writeHead(404).end();
    const alerts = await open(webhook);
    const released = [...HELD, passRecord(-48 * UNTOLD_REST_MS, { kind: 'full' })];
    const isOver = healthOf({ 'db frm_b': released });
    const told: number[] = [];
    for (let rests = 0; rests < 54; rests++) {
      const before = webhook.requests;
      webhook.answer = rests === 47 ? taken : refused;
      alerts.evaluate(after(rests * UNTOLD_REST_MS, rests < 48 ? WITHHELD : isOver), true);
      await vi.waitFor(() => expect(alerts.isSending).toBe(false));
      if (webhook.requests > before) told.push(rests);
    }
    await alerts.stop();
    expect(told).toEqual([0, 1, 3, 7, 15, 23, 31, 39, 47, 48, 49, 51]);
  });

  it('is not sent anew when it is over by then, nor is its end', async () => {
    await using webhook = await startWebhook();
    const alerts = await open(webhook);
    webhook.answer = down;
    await look(alerts, webhook, TRIES, WITHHELD);
    webhook.answer = taken;
    await look(alerts, webhook, TRIES, after(UNTOLD_REST_MS / 2, RELEASED));
    await look(alerts, webhook, TRIES, after(2 * UNTOLD_REST_MS, RELEASED));
    await alerts.stop();
    expect(webhook.requests).toBe(TRIES);
  });

  it('does not count as told after a restart', async () => {
    await using webhook = await startWebhook();
    const folder = scratchFolder('untold');
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const stateFile = join(folder, 'alerts.json');
    webhook.answer = (_request, response) => response.writeHead(404).end();
    for (const [at, answer] of [
      [0, webhook.answer],
      [GROUP_INTERVAL_MS, taken],
      [3 * GROUP_INTERVAL_MS, taken],
    ] as const) {
      webhook.answer = answer;
      const alerts = await open(webhook, stateFile);
      alerts.evaluate(after(at, WITHHELD), true);
      await vi.waitFor(() => expect(alerts.isSending).toBe(false));
      await alerts.stop();
    }
    expect(levelsOf(webhook)).toEqual(['warning', 'warning']);
  });
});
