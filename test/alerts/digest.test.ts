import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Alerts } from '../../src/alerts/alerts.ts';
import { changesSince } from '../../src/alerts/digest-text.ts';
import { silentLogger } from '../../src/base/logger.ts';
import type { MirrorHealth } from '../../src/health/mirror-health.ts';
import type { PassRecord } from '../../src/mirror/types.ts';
import { nextDigestMs } from '../../src/settings/alert-settings.ts';
import { NOW, formOverview, passRecord } from '../health/fake-source.ts';
import { FORM_A, FORM_B, failedPass, healthOf, reading } from '../health/health-of.ts';
import { scratchFolder } from '../support/scratch.ts';
import { TestClock } from '../support/test-clock.ts';
import { type Webhook, startWebhook } from './webhook-stand-in.ts';

const DAY = 86_400_000;

/** The mirror `ms` after NOW, with so many rows of form A. */
function later(ms: number, rows = 100, passes: Parameters<typeof healthOf>[0] = {}): MirrorHealth {
  const forms = [formOverview(FORM_A, { rows, rejected: ms < DAY ? 0 : 2 }), formOverview(FORM_B)];
  const targets = [reading({ overview: { kind: 'postgres', address: 'x', forms } })];
  return { ...healthOf(passes, { targets }), nowMs: NOW + ms };
}

const RECORDED: Readonly<Record<string, readonly PassRecord[]>> = {
  frm_a: [
    passRecord(-3 * DAY, { inserted: 1_200, updated: 30 }),
    passRecord(-2 * DAY, { inserted: 34, deleted: 5, kind: 'full' }),
    failedPass(-DAY, 'TARGET_FAILED'),
    // Told of by the digest before.
    passRecord(DAY, { inserted: 9_999 }),
  ],
};

interface Opened {
  readonly alerts: Alerts;
  readonly look: (health: MirrorHealth) => Promise<void>;
}

async function open(webhook: Webhook, file?: string, everyMs = 7 * DAY): Promise<Opened> {
  const clock = new TestClock(NOW);
  const digest = {
    // Once a week, at the time of NOW, unless said otherwise.
    nextMs: (afterMs: number) => NOW + everyMs * (Math.floor((afterMs - NOW) / everyMs) + 1),
    passes: async (_target: string, form: string) => RECORDED[form] ?? [],
    file,
  };
  const alerts = await Alerts.open({ url: webhook.url, digest, clock, logger: silentLogger });
  return {
    alerts,
    look: async (health) => {
      alerts.evaluate(health, true);
      await new Promise((done) => setTimeout(done, 30));
      await expect.poll(() => alerts.isSending).toBe(false);
    },
  };
}

function ownFile(): string {
  const folder = mkdtempSync(join(scratchFolder('digest'), 'x'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'digest.json');
}

/** Of what came, the digests. */
const digests = ({ bodies }: Webhook): Webhook['bodies'] =>
  bodies.filter(({ code }) => code === 'DIGEST');

describe('the digest', () => {
  it('tells each form’s state, rows and changes since the last one', async () => {
    await using webhook = await startWebhook();
    const { alerts, look } = await open(webhook);
    for (const ms of [0, 6 * DAY]) await look(later(ms));
    expect(digests(webhook)).toEqual([]);
    await look(later(7 * DAY + 20_000, 1_329));
    await look(later(7 * DAY + 50_000, 1_329));
    await alerts.stop();
    expect(digests(webhook)).toHaveLength(1);
    expect(digests(webhook)[0]).toMatchObject({ level: 'ok', code: 'DIGEST', form: null });
    expect(digests(webhook)[0]?.text).toMatch(
      /^🟢 forms-mirror, the last 7 d: 1,234 new, 30 changed, 5 marked deleted, 1 pass failed\. Now: Up to date: .* 2 forms in one target\. /,
    );
    expect(digests(webhook)[0]?.lines).toEqual([
      expect.stringMatching(
        /^Form A → db: Up to date \(.*\); 1,329 rows \(\+1,229\); 1,234 new, 30 changed, 5 marked deleted, 1 pass failed; 2 rejected$/,
      ),
      expect.stringMatching(
        /^Form B → db: Up to date .*; 100 rows; 0 new, 0 changed, 0 marked deleted$/,
      ),
    ]);
  });

  it('calls nothing well that has failed, and names it first', async () => {
    await using webhook = await startWebhook();
    const { alerts, look } = await open(webhook);
    await look(later(0));
    await look(later(7 * DAY, 100, { 'db frm_b': [failedPass(1_000, 'TARGET_FULL')] }));
    await alerts.stop();
    const [digest] = digests(webhook);
    expect(digest).toMatchObject({ level: 'error' });
    expect(digest?.lines?.[0]).toMatch(/^Form B → db: Failed; /);
  });

  it('comes once over restarts, and late where nothing ran when it was due', async () => {
    await using webhook = await startWebhook();
    const file = ownFile();
    const run = async (...views: MirrorHealth[]): Promise<number> => {
      const { alerts, look } = await open(webhook, file);
      for (const health of views) await look(health);
      await alerts.stop();
      return digests(webhook).length;
    };
    expect(await run(later(0))).toBe(0);
    expect(await run(later(9 * DAY), later(9 * DAY + 60_000))).toBe(1);
    expect(digests(webhook)[0]?.text).toContain('the last 9 d');
    expect(await run(later(10 * DAY), later(13 * DAY))).toBe(1);
    expect(await run(later(14 * DAY))).toBe(2);
  });

  it('that nobody took comes again an hour later, with all that it covers', async () => {
    await using webhook = await startWebhook();
    webhook.answer = (_request, response) => response.writeHead(404).end();
    const { alerts, look } = await open(webhook);
    for (const ms of [0, 7 * DAY, 7 * DAY + 60_000]) await look(later(ms));
    expect(digests(webhook)).toHaveLength(1);
    webhook.answer = (_request, response) => response.end();
    await look(later(7 * DAY + 3_700_000));
    await look(later(7 * DAY + 8_000_000));
    await alerts.stop();
    expect(digests(webhook).map(({ text }) => /the last (.*?):/.exec(text)?.[1])).toEqual([
      '7 d',
      '7 d 1 h',
    ]);
  });

  it('comes as often as it is asked for, however often that is', async () => {
    await using webhook = await startWebhook();
    const { alerts, look } = await open(webhook, undefined, 60_000);
    for (const ms of [0, 60_000, 90_000, 120_000]) await look(later(ms));
    await alerts.stop();
    expect(digests(webhook)).toHaveLength(2);
  });

  it('says “at least” where a target may have dropped passes of that time', () => {
    const passes = (count: number) =>
      Array.from({ length: count }, () => passRecord(0, { inserted: 1 }));
    const told = (count: number, kind: string | null) =>
      changesSince(passes(count), NOW - 1, kind).isAll;
    expect([told(999, 'postgres'), told(1_000, 'postgres')]).toEqual([true, false]);
    expect([told(7, 'google-sheets'), told(8, 'google-sheets')]).toEqual([true, false]);
    expect(told(1, null)).toBe(false);
  });

  it('says “at least” where rows came that no recorded pass wrote: it was killed, or cut off by a pause', async () => {
    await using webhook = await startWebhook();
    const { alerts, look } = await open(webhook);
    await look(later(0));
    await look(later(7 * DAY, 1_335));
    await alerts.stop();
    expect(digests(webhook)[0]?.text).toContain('the last 7 d: at least 1,234 new');
    expect(digests(webhook)[0]?.lines?.[0]).toContain('1,335 rows (+1,235); at least 1,234 new');
  });

  it('leaves a pass that ends while it is made to the next one', () => {
    const passes = [passRecord(0, { inserted: 1 }), passRecord(-1, { inserted: 2 })];
    const told = (fromMs: number, untilMs: number) =>
      changesSince(passes, fromMs, 'postgres', untilMs).inserted;
    expect([told(NOW - 1, NOW), told(NOW, NOW + 1)]).toEqual([1, 2]);
  });

  it('is due on Mondays at eight, by the clock on the wall', () => {
    const weekly = { cron: '0 8 * * 1', timeZone: 'Europe/Prague' };
    const next = (iso: string) => new Date(nextDigestMs(weekly, Date.parse(iso))).toISOString();
    expect(next('2026-10-20T00:00:00Z')).toBe('2026-10-26T07:00:00.000Z');
    expect(next('2026-10-14T00:00:00Z')).toBe('2026-10-19T06:00:00.000Z');
  });
});
