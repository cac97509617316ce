import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { MirrorError } from '../../src/base/errors.ts';
import { systemClock } from '../../src/base/clock.ts';
import { createLogger, silentLogger, withLogFields } from '../../src/base/logger.ts';
import { STOP_MS } from '../../src/alerts/delivery-queue.ts';
import { Alerts } from '../../src/alerts/alerts.ts';
import { GROUP_INTERVAL_MS } from '../../src/alerts/gathering.ts';
import { OUTAGE_GRACE_MS, SETTLE_MS } from '../../src/alerts/persistence.ts';
import { alertMessage } from '../../src/alerts/message.ts';
import { alertNotice } from '../../src/alerts/notice.ts';
import { scratchFolder } from '../support/scratch.ts';
import { TestClock } from '../support/test-clock.ts';
import { freePort } from '../support/servers.ts';
import { NOW, passRecord } from '../health/fake-source.ts';
import { failedPass, healthOf } from '../health/health-of.ts';
import { type Webhook, startWebhook } from './webhook-stand-in.ts';

const HELD = [passRecord(9_000, { kind: 'full', outcome: 'withheld', withheld: 30 })];
const FAILED = failedPass(60_000, 'TARGET_FULL', 'No room left.');
const FAILING = healthOf({ 'db frm_a': [FAILED] });
const HEALTHY = healthOf({ 'db frm_a': [FAILED, passRecord(-OUTAGE_GRACE_MS)] });
/** What is announced at once, and its end. */
const WITHHELD = healthOf({ 'db frm_b': HELD });
const RELEASED = healthOf({ 'db frm_b': [...HELD, passRecord(0, { kind: 'full' })] });

type Health = typeof FAILING;

/** A state as it is later. */
const after = (ms: number, health: Health): Health => ({ ...health, nowMs: NOW + ms });

/** A folder for one test; gone when it has finished. */
function ownFolder(): string {
  const folder = scratchFolder('alerts');
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

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

/** A failure that lasts, until it is announced. */
const LASTING = [FAILING, after(OUTAGE_GRACE_MS, FAILING)];
/** Its end, until that is. */
const ENDED = [
  after(OUTAGE_GRACE_MS + 1, HEALTHY),
  after(OUTAGE_GRACE_MS + 1 + SETTLE_MS, HEALTHY),
];

/** Looks at `views` one after the other, and waits until `deliveries` have come and are answered. */
async function look(
  alerts: Alerts,
  webhook: Webhook,
  deliveries: number,
  views: readonly Health[],
): Promise<void> {
  for (const health of views) alerts.evaluate(health, true);
  await webhook.came(deliveries);
  await vi.waitFor(() => expect(alerts.isSending).toBe(false));
}

/** Looks at `views` one after the other, and sends what is to be sent before it stops. */
async function sendAll(alerts: Alerts, ...views: Health[]): Promise<void> {
  for (const health of views) alerts.evaluate(health, true);
  await alerts.stop();
}

describe('alerts over a webhook', () => {
  it('say what happened, to which form and target, and what to do; and that it is over', async () => {
    await using webhook = await startWebhook();
    const alerts = await openAlerts(webhook);
    await look(alerts, webhook, 1, [...LASTING, ...LASTING]);
    await sendAll(alerts, ...ENDED);
    expect(webhook.bodies).toEqual([
      {
        text: '🔴 forms-mirror, Form A → db: The last pass failed. No room left. Make room in the target. The next run continues where this one stopped.',
        level: 'error',
        form: { id: 'frm_a', name: 'Form A' },
        target: 'db',
        code: 'TARGET_FULL',
        remedy: 'Make room in the target. The next run continues where this one stopped.',
        at: new Date(NOW + OUTAGE_GRACE_MS).toISOString(),
      },
      {
        text: '🟢 forms-mirror, Form A → db: resolved (was: The last pass failed).',
        level: 'ok',
        form: { id: 'frm_a', name: 'Form A' },
        target: 'db',
        code: 'TARGET_FULL',
        remedy: null,
        at: new Date(NOW + OUTAGE_GRACE_MS + 1 + SETTLE_MS).toISOString(),
      },
    ]);
  });

  it('carry the command that releases withheld deletions', async () => {
    await using webhook = await startWebhook();
    await sendAll(await openAlerts(webhook), WITHHELD);
    expect(webhook.bodies[0]?.remedy).toContain(
      'sync --full --accept-deletes --form frm_b --target db',
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
    for (const health of [WITHHELD, ...LASTING]) alerts.evaluate(health, true);
    expect(webhook.requests).toBe(0);
    await webhook.came(4);
    await alerts.stop();
    const levels = webhook.bodies.map(({ level }) => level);
    expect(levels).toEqual(['warning', 'warning', 'warning', 'error']);
    expect(clock.sleeps.slice(0, 2)).toEqual([7_000, 7_000]);
  });

  it('that are refused are reported once in the log and on the page, without the secret in the address (L15)', async () => {
    await using webhook = await startWebhook();
    webhook.answer = (_request, response) => response.writeHead(404).end('no such hook');
    const { lines, logger } = logLines();
    const alerts = await openAlerts(webhook, { logger });
    await look(alerts, webhook, 2, [WITHHELD, ...LASTING]);
    const later = GROUP_INTERVAL_MS;
    await look(alerts, webhook, 3, [after(later, RELEASED), after(later, WITHHELD)]);
    await alerts.stop();
    expect(webhook.requests).toBe(3);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('answers 404');
    expect(lines[0]).not.toContain('S3CRET');
    expect(alerts.deliveryProblem).toMatch(
      /^Alerts are not delivered: 127\.0\.0\.1:\d+ answers 404\./,
    );
  });

  it('that are refused are no line of the pass whose end they tell of', async () => {
    await using webhook = await startWebhook();
    webhook.answer = (_request, response) => response.writeHead(404).end();
    const { lines, logger } = logLines();
    const alerts = await openAlerts(webhook, { logger });
    await withLogFields({ passId: 'p1', jobId: 'j1' }, () => look(alerts, webhook, 1, [WITHHELD]));
    await alerts.stop();
    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toMatch(/passId|jobId/);
  });

  it('that nobody takes are given up after some tries, and are no trouble once one arrives', async () => {
    await using webhook = await startWebhook();
    let up = false;
    webhook.answer = (_request, response) => response.writeHead(up ? 200 : 503).end();
    const { lines, logger } = logLines();
    const alerts = await openAlerts(webhook, { logger });
    await look(alerts, webhook, 8, [WITHHELD]);
    up = true;
    await look(alerts, webhook, 9, LASTING);
    await alerts.stop();
    expect(webhook.requests).toBe(9);
    expect(lines.map((one) => (JSON.parse(one) as { msg: string }).msg)).toEqual([
      expect.stringContaining('Alerts are not delivered'),
      'The alert webhook takes alerts again.',
    ]);
    expect(alerts.deliveryProblem).toBeNull();
  });

  it('that did not arrive before their cause was over are not sent any more, nor is its end', async () => {
    await using webhook = await startWebhook();
    webhook.answer = (_request, response) => response.writeHead(503).end();
    const clock = new HastyClock(NOW);
    const alerts = await openAlerts(webhook, { clock });
    alerts.evaluate(WITHHELD, true);
    await webhook.came(1);
    webhook.answer = (_request, response) => response.end();
    alerts.evaluate(RELEASED, true);
    await look(alerts, webhook, 2, LASTING);
    await alerts.stop();
    expect(webhook.bodies.map(({ code }) => code)).toEqual(['DELETIONS_HELD', 'TARGET_FULL']);
    expect(alerts.deliveryProblem).toBeNull();
  });

  it('are not sent on to another address', async () => {
    await using webhook = await startWebhook();
    await using other = await startWebhook();
    webhook.answer = (_request, response) => response.writeHead(307, { location: other.url }).end();
    await sendAll(await openAlerts(webhook), WITHHELD);
    expect([webhook.requests, other.requests]).toEqual([1, 0]);
  });

  it('can be tried by hand, and a channel that fails says so', async () => {
    await using webhook = await startWebhook();
    const alerts = await openAlerts(webhook, { clock: systemClock });
    const told = await alerts.test();
    webhook.answer = (_request, response) => response.writeHead(503).end();
    const refused = await alerts.test();
    await alerts.stop();
    expect(told).toEqual([
      {
        channel: expect.stringMatching(/^webhook \(plain JSON, 127\.0\.0\.1:\d+\)$/),
        ok: true,
        message: 'A test message was taken.',
      },
    ]);
    expect(refused).toMatchObject([{ ok: false, message: expect.stringContaining('answers 503') }]);
    // Tried once each, and no trouble of the alerts.
    expect(webhook.requests).toBe(2);
    expect(alerts.deliveryProblem).toBeNull();
  });

  it('by a channel that is away hold up no other', async () => {
    await using webhook = await startWebhook();
    const server = {
      host: '127.0.0.1',
      port: await freePort(),
      secure: false,
      login: undefined,
      isTrusted: true,
    };
    const email = { server, from: 'mirror@example.com', to: ['ops@example.com'] };
    const alerts = await openAlerts(webhook, { email, clock: new HastyClock(NOW) });
    alerts.evaluate(WITHHELD, true);
    await webhook.came(1);
    for (const health of LASTING) alerts.evaluate(health, true);
    await webhook.came(2);
    // The mail waits to be tried again.
    expect(alerts.isSending).toBe(true);
    await alerts.stop();
  });

  it('to an address where nobody listens end with the program', async () => {
    const url = `http://127.0.0.1:${await freePort()}/hook`;
    const alerts = await openAlerts({ url }, { clock: new HastyClock(NOW) });
    alerts.evaluate(WITHHELD, true);
    await alerts.stop();
    alerts.evaluate(RELEASED, true);
    expect(alerts.deliveryProblem).toBeNull();
  });
});

describe('the state of alerts', () => {
  it('is kept over a restart', async () => {
    await using webhook = await startWebhook();
    const stateFile = join(ownFolder(), 'data', 'alerts.json');
    // The grace goes on over a restart, or a program that dies every minute would never be heard of.
    await sendAll(await openAlerts(webhook, { stateFile }), LASTING[0]!);
    await sendAll(await openAlerts(webhook, { stateFile }), LASTING[1]!);
    await sendAll(await openAlerts(webhook, { stateFile }), ...LASTING, ...ENDED);
    expect(webhook.bodies.map(({ level }) => level)).toEqual(['error', 'ok']);
    expect(readFileSync(stateFile, 'utf8')).not.toContain('No room left');
  });

  it('does not count what never arrived', async () => {
    await using webhook = await startWebhook();
    const stateFile = join(ownFolder(), 'alerts.json');
    webhook.answer = () => {};
    const clock = new HastyClock(NOW);
    const hung = await openAlerts(webhook, { stateFile, clock });
    hung.evaluate(WITHHELD, true);
    await webhook.came(1);
    hung.evaluate(WITHHELD, true);
    await hung.stop();
    webhook.answer = (_request, response) => response.end();
    await sendAll(await openAlerts(webhook, { stateFile }), WITHHELD);
    expect(webhook.bodies.map(({ level }) => level)).toEqual(['warning', 'warning']);
  });

  it('starts empty when its file is broken, and is kept in memory when it cannot be written', async () => {
    await using webhook = await startWebhook();
    const folder = ownFolder();
    const stateFile = join(folder, 'alerts.json');
    writeFileSync(stateFile, '{"version":1,"subj');
    const { lines, logger } = logLines();
    await sendAll(await openAlerts(webhook, { stateFile, logger }), WITHHELD);
    expect(lines).toHaveLength(1);
    const blocked = join(folder, 'folder.json');
    mkdirSync(blocked);
    const unkept = await openAlerts(webhook, { stateFile: blocked, logger });
    await look(unkept, webhook, 2, [WITHHELD]);
    await sendAll(unkept, RELEASED);
    expect(lines.map((one) => (JSON.parse(one) as { msg: string }).msg)).toEqual([
      'The alert state file is broken; a new one is begun.',
      'The alert state file cannot be read.',
      'The alert state file cannot be written.',
    ]);
    expect(webhook.requests).toBe(3);
  });

  it.each(['{"version":99}', '{"version":2,"subjects":{}}', '{}'])(
    'of another schema is refused with what to do, and left as it is: %s',
    async (text) => {
      const stateFile = join(ownFolder(), 'alerts.json');
      writeFileSync(stateFile, text);
      const opening = Alerts.open({ stateFile, clock: new HastyClock(NOW), logger: silentLogger });
      const message = expect.stringMatching(
        /alerts\.json was written by another build of forms-mirror \((no schema|schema \d+), this one needs \d+\)\. Nothing in it was changed\. Delete it, or choose another DATA_DIR, and run again\./,
      ) as string;
      await expect(opening).rejects.toMatchObject({ code: 'OTHER_SCHEMA', message });
      expect(readFileSync(stateFile, 'utf8')).toBe(text);
    },
  );
});

describe('the text for a chat', () => {
  it('notifies no channel and hides no link, whatever a form is called', () => {
    const name = '<!channel> @here [free](https://evil.example)\n\u202Etxt';
    const { text, form } = alertMessage(
      alertNotice({
        status: 'firing',
        key: 'k',
        opens: true,
        forms: 0,
        subject: { form: { id: 'f', name }, target: 'db' },
        problem: {
          level: 'error',
          code: 'TARGET_FULL',
          title: 'T',
          message: 'M.',
          remedy: null,
          command: null,
          since: null,
        },
        atMs: NOW,
        openedAtMs: NOW,
      }),
    );
    expect(text).not.toMatch(/[<>\n\u202E]|@here|\]\(/);
    expect(form?.name).toBe(name);
  });

  it('stays within what chats take', () => {
    const { text } = alertMessage(
      alertNotice({
        status: 'firing',
        key: 'k',
        opens: true,
        forms: 0,
        subject: { form: null, target: null },
        problem: {
          level: 'error',
          code: 'TARGET_FULL',
          title: 'T',
          message: '🏕'.repeat(5_000),
          remedy: null,
          command: null,
          since: null,
        },
        atMs: NOW,
        openedAtMs: NOW,
      }),
    );
    expect(text.length).toBeLessThanOrEqual(2_000);
    expect(text.isWellFormed()).toBe(true);
  });
});
