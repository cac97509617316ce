import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { MirrorError } from '../../src/base/errors.ts';
import { createLogger, silentLogger } from '../../src/base/logger.ts';
import { STOP_MS } from '../../src/status/alert-sender.ts';
import { Alerts } from '../../src/status/alerts.ts';
import { alertBody } from '../../src/status/alert-text.ts';
import { scratchFolder } from '../support/scratch.ts';
import { TestClock } from '../support/test-clock.ts';
import { freePort } from '../support/servers.ts';
import { NOW, passRecord } from './fake-source.ts';
import { failedPass, viewOf } from './view-of.ts';
import { startWebhook } from './webhook.ts';

const ILL = viewOf({ 'db frm_a': [failedPass(60_000, 'TARGET_FULL', 'No room left.')] });
const WELL = viewOf({ 'db frm_a': [failedPass(60_000, 'TARGET_FULL'), passRecord(0)] });

function logLines(): { lines: string[]; logger: ReturnType<typeof createLogger> } {
  const lines: string[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString('utf8'));
      done();
    },
  });
  return { lines, logger: createLogger('info', sink) };
}

/** Waits for nothing but the end of what is being sent. */
class PatientClock extends TestClock {
  override sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return ms === STOP_MS ? untilAborted(signal) : super.sleep(ms, signal);
  }
}

/** Is impatient at the stop, and stands still otherwise. */
class HastyClock extends TestClock {
  override sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return ms === STOP_MS ? Promise.resolve() : untilAborted(signal);
  }
}

function untilAborted(signal: AbortSignal | undefined): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  signal?.addEventListener('abort', () => reject(new MirrorError('CANCELLED', 'Stopped.')));
  return promise;
}

function openAlerts(
  webhook: { url: string },
  changes: Partial<Parameters<typeof Alerts.open>[0]> = {},
) {
  const clock = new PatientClock(NOW);
  return Alerts.open({
    url: webhook.url,
    clock,
    logger: silentLogger,
    random: () => 0,
    ...changes,
  });
}

/** Sends `views` one after the other and waits until each is delivered. */
async function told(alerts: Alerts, ...views: (typeof ILL)[]): Promise<void> {
  for (const view of views) alerts.consider(view);
  await alerts.stop();
}

describe('alerts over a webhook', () => {
  it('say what happened, to which form and target, and what to do; and that it is over', async () => {
    await using webhook = await startWebhook();
    await told(await openAlerts(webhook), ILL, ILL, WELL);
    expect(webhook.bodies).toEqual([
      {
        text: '🔴 forms-mirror, Form A → db: The last pass failed. No room left. Make room in the target; the next pass takes up where this one stopped.',
        level: 'error',
        form: { id: 'frm_a', name: 'Form A' },
        target: 'db',
        code: 'TARGET_FULL',
        remedy: 'Make room in the target; the next pass takes up where this one stopped.',
        at: new Date(NOW).toISOString(),
      },
      {
        text: '🟢 forms-mirror, Form A → db: well again (was: The last pass failed).',
        level: 'ok',
        form: { id: 'frm_a', name: 'Form A' },
        target: 'db',
        code: 'TARGET_FULL',
        remedy: null,
        at: new Date(NOW).toISOString(),
      },
    ]);
  });

  it('carry the command that releases withheld deletions', async () => {
    await using webhook = await startWebhook();
    const held = [passRecord(9_000, { kind: 'full', outcome: 'withheld', withheld: 30 })];
    await told(await openAlerts(webhook), viewOf({ 'db frm_a': held }));
    expect(webhook.bodies[0]?.remedy).toContain(
      'sync --full --accept-deletes --form frm_a --target db',
    );
  });

  it('come in order, with a wait when the webhook is busy, and return to whoever sends at once', async () => {
    await using webhook = await startWebhook();
    let refusals = 2;
    webhook.answer = (_request, response) => {
      const isBusy = refusals-- > 0;
      response.writeHead(isBusy ? 429 : 204, isBusy ? { 'retry-after': '7' } : {}).end();
    };
    const clock = new PatientClock(NOW);
    const alerts = await openAlerts(webhook, { clock });
    alerts.consider(ILL);
    alerts.consider(WELL);
    expect(webhook.requests).toBe(0);
    await webhook.came(4);
    await alerts.stop();
    expect(webhook.bodies.map(({ level }) => level)).toEqual(['error', 'error', 'error', 'ok']);
    expect(clock.sleeps.slice(0, 2)).toEqual([7_000, 7_000]);
  });

  it('that are refused are told once in the log and on the page, without the secret in the address (L15)', async () => {
    await using webhook = await startWebhook();
    webhook.answer = (_request, response) => response.writeHead(404).end('no such hook');
    const { lines, logger } = logLines();
    const alerts = await openAlerts(webhook, { logger });
    await told(alerts, ILL, WELL, ILL);
    expect(webhook.requests).toBe(3);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('answers 404');
    expect(lines[0]).not.toContain('S3CRET');
    expect(alerts.trouble).toMatch(/^Alerts are not delivered: 127\.0\.0\.1:\d+ answers 404\./);
  });

  it('that nobody takes are given up after some tries, and are no trouble once one arrives', async () => {
    await using webhook = await startWebhook();
    let up = false;
    webhook.answer = (_request, response) => response.writeHead(up ? 200 : 503).end();
    const { lines, logger } = logLines();
    const alerts = await openAlerts(webhook, { logger });
    alerts.consider(ILL);
    await webhook.came(8);
    up = true;
    alerts.consider(WELL);
    await webhook.came(9);
    await alerts.stop();
    expect(webhook.requests).toBe(9);
    expect(lines.map((one) => (JSON.parse(one) as { msg: string }).msg)).toEqual([
      expect.stringContaining('Alerts are not delivered'),
      'The alert webhook takes alerts again.',
    ]);
    expect(alerts.trouble).toBeNull();
  });

  it('are not sent on to another address', async () => {
    await using webhook = await startWebhook();
    await using other = await startWebhook();
    webhook.answer = (_request, response) => response.writeHead(307, { location: other.url }).end();
    await told(await openAlerts(webhook), ILL);
    expect([webhook.requests, other.requests]).toEqual([1, 0]);
  });

  it('to an address where nobody listens end with the program', async () => {
    const url = `http://127.0.0.1:${await freePort()}/hook`;
    const alerts = await openAlerts({ url }, { clock: new HastyClock(NOW) });
    alerts.consider(ILL);
    await alerts.stop();
    alerts.consider(WELL);
    expect(alerts.trouble).toBeNull();
  });
});

describe('what was told', () => {
  it('is kept over a restart', async () => {
    await using webhook = await startWebhook();
    const memoryFile = join(scratchFolder('alerts'), 'data', 'alerts.json');
    await told(await openAlerts(webhook, { memoryFile }), ILL);
    await told(await openAlerts(webhook, { memoryFile }), ILL, WELL);
    expect(webhook.bodies.map(({ level }) => level)).toEqual(['error', 'ok']);
    expect(readFileSync(memoryFile, 'utf8')).not.toContain('No room left');
  });

  it('is not taken for told when it never arrived', async () => {
    await using webhook = await startWebhook();
    const memoryFile = join(scratchFolder('alerts'), 'alerts.json');
    webhook.answer = () => {};
    const clock = new HastyClock(NOW);
    const hung = await openAlerts(webhook, { memoryFile, clock });
    hung.consider(ILL);
    await webhook.came(1);
    hung.consider(ILL);
    await hung.stop();
    webhook.answer = (_request, response) => response.end();
    await told(await openAlerts(webhook, { memoryFile }), ILL);
    expect(webhook.bodies.map(({ level }) => level)).toEqual(['error', 'error']);
  });

  it('begins anew when its file is broken, and does without when it cannot be written', async () => {
    await using webhook = await startWebhook();
    const folder = scratchFolder('alerts');
    const memoryFile = join(folder, 'alerts.json');
    writeFileSync(memoryFile, '{"version":1,"subj');
    const { lines, logger } = logLines();
    await told(await openAlerts(webhook, { memoryFile, logger }), ILL);
    expect(lines).toHaveLength(1);
    const blocked = join(folder, 'folder.json');
    mkdirSync(blocked);
    await told(await openAlerts(webhook, { memoryFile: blocked, logger }), ILL, WELL);
    expect(lines.map((one) => (JSON.parse(one) as { msg: string }).msg)).toEqual([
      'The file of alerts is broken; it is begun anew.',
      'The file of alerts cannot be read.',
      'The file of alerts cannot be written.',
    ]);
    expect(webhook.requests).toBe(3);
  });
});

describe('the text for a chat', () => {
  it('calls no channel and hides no link, whatever a form is called', () => {
    const name = '<!channel> @here [free](https://evil.example)\n\u202Etxt';
    const { text, form } = alertBody({
      turn: 'bad',
      subject: { form: { id: 'f', name }, target: 'db' },
      problem: {
        level: 'error',
        code: 'TARGET_FULL',
        title: 'T',
        message: 'M.',
        remedy: null,
        command: null,
      },
      atMs: NOW,
    });
    expect(text).not.toMatch(/[<>\n\u202E]|@here|\]\(/);
    expect(form?.name).toBe(name);
  });

  it('stays within what chats take', () => {
    const { text } = alertBody({
      turn: 'bad',
      subject: { form: null, target: null },
      problem: {
        level: 'error',
        code: 'TARGET_FULL',
        title: 'T',
        message: '🏕'.repeat(5_000),
        remedy: null,
        command: null,
      },
      atMs: NOW,
    });
    expect(text.length).toBeLessThanOrEqual(2_000);
    expect(text.isWellFormed()).toBe(true);
  });
});
