import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { PROBLEMS } from '../../src/base/catalogue.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { DataDir } from '../../src/health/data-dir.ts';
import type { Report } from '../../src/health/report.ts';
import { HEARTBEAT_MS } from '../../src/notify/heartbeat.ts';
import type { EmailSettings, SmtpServer } from '../../src/notify/mail.ts';
import {
  type NotifySettings,
  openNotifier,
  receiversOf,
  sendTest,
  STOP_MS,
} from '../../src/notify/notifier.ts';
import { TEST_AUTHORITY } from '../support/connect-proxy.ts';
import { scratchFolder } from '../support/scratch.ts';
import { freePort } from '../support/servers.ts';
import { TestClock } from '../support/test-clock.ts';
import { NOW, form, forms, problem, report } from './reports.ts';
import { SMTP_PASSWORD, type SmtpReceiver, startSmtp } from './smtp-receiver.ts';
import { startWebhook } from './webhook-receiver.ts';

const MINUTE = 60_000;
/** Stopped until the test lets time pass. */
class Clock extends TestClock {
  offsetMs = 0;
  override now(): number {
    return super.now() + this.offsetMs;
  }
}

/** Receivers and other settings, as tests name them. */
interface Receiving extends Pick<NotifySettings, 'statusUrl'> {
  readonly alertUrl?: string;
  readonly heartbeatUrl?: string;
  readonly alertEmail?: EmailSettings;
}
const settingsOf = ({ alertUrl, alertEmail, heartbeatUrl, statusUrl }: Receiving) => ({
  statusUrl,
  heartbeatUrl: urlOf(heartbeatUrl),
  receivers: { ALERT_WEBHOOK_URL: urlOf(alertUrl), ALERT_EMAIL_TO: alertEmail },
});
const urlOf = (text: string | undefined): URL | undefined => (text ? new URL(text) : undefined);

async function open(settings: Receiving, folder = newFolder(), fetch?: typeof globalThis.fetch) {
  const clock = new Clock(NOW);
  const options = {
    ...settingsOf(settings),
    dataDir: new DataDir(folder),
    clock,
    fetch,
    logger: silentLogger,
  };
  const notifier = await openNotifier(options);
  onTestFinished(() => notifier.stop());
  return {
    notifier,
    clock,
    /** Resolves when everything that is due was tried. */
    look: (seen: Partial<Report> = {}): Promise<void> => notifier.look(report(seen)),
    pass: (ms: number): void => void (clock.offsetMs += ms),
  };
}

const held = (count = 1): Partial<Report> => ({
  forms: forms(count, { problems: [problem('DELETIONS_HELD')] }),
});
/** `🟠 Deletions are held` */
const shortOf = (text: string): string =>
  /^(\S+) .*?: (?:resolved .* \(was: )?(.*?)[.)]/u.exec(text)?.slice(1).join(' ') ?? text;
const delivered = (webhook: { bodies: readonly { text: string }[] }): string[] =>
  webhook.bodies.map(({ text }) => shortOf(text));
const newFolder = (): string => join(scratchFolder('notify'), 'data');

beforeAll(() => {
  const own = readFileSync(TEST_AUTHORITY, 'utf8');
  setDefaultCACertificates([...getCACertificates('default'), own]);
});

describe('a webhook', () => {
  it('gets JSON in which no chat finds a command, and follows no redirect', async () => {
    await using webhook = await startWebhook();
    let login: string | undefined;
    webhook.handler = ({ headers }, response) => {
      login = headers.authorization;
      response
        .writeHead(webhook.requests.length === 1 ? 302 : 200, { location: webhook.url })
        .end();
    };
    const url = webhook.url.replace('//', '//me%40x:p%3Ass@');
    const { look, pass, notifier } = await open({
      alertUrl: url,
      statusUrl: 'https://mirror.example.com',
    });
    const evil = form(0, {
      problems: [
        problem('DELETIONS_HELD', { remedy: 'Accept them:', command: 'forms-mirror sync' }),
      ],
    });
    const name = '<!channel> @here [x](https://evil.example) {{DATE(1)}}\n\u202E';
    await look({ forms: [{ ...evil, form: { ...evil.form, name } }] });
    expect(notifier.deliveryProblem).toMatch(/answers 302\. Check ALERT_WEBHOOK_URL\.$/);
    expect(notifier.deliveryProblem).not.toContain('S3CRET');
    pass(10 * MINUTE);
    await look({ forms: [{ ...evil, form: { ...evil.form, name } }] });
    expect(webhook.bodies[1]).toEqual({
      text: '🟠 forms-mirror, ‹!channel› @\u200Bhere [x] (https://evil.example) {\u200B{DATE(1)}} \uFFFD → db: Deletions are held. It happened: DELETIONS_HELD. Accept them: forms-mirror sync https://mirror.example.com',
    });
    expect(login).toBe(`Basic ${Buffer.from('me@x:p:ss').toString('base64')}`);
    expect(notifier.deliveryProblem).toBeNull();
  });

  it.each([
    ['https://hooks.slack.com/services/T/B/x', '/services/T/B/x', ['text']],
    ['https://discord.com/api/webhooks/1/x/slack', '/api/webhooks/1/x/slack', ['text']],
    [
      'https://chat.googleapis.com/v1/spaces/x/messages?key=k',
      '/v1/spaces/x/messages?key=k',
      ['text'],
    ],
    ['https://x.logic.azure.com/workflows/x', '/workflows/x', ['type', 'attachments']],
  ])('%s gets the format that it accepts', async (alertUrl, path, keys) => {
    const posts: { url: string; body: object }[] = [];
    const fetch = ((url: URL, { body }: { body: string }) => {
      posts.push({ url: `${url.pathname}${url.search}`, body: JSON.parse(body) as object });
      return Promise.resolve(new Response('ok'));
    }) as unknown as typeof globalThis.fetch;
    const { look, notifier } = await open({ alertUrl }, undefined, fetch);
    await look(held());
    await notifier.stop();
    expect(posts.map(({ url, body }) => [url, Object.keys(body)])).toEqual([[path, keys]]);
    const texts = JSON.stringify(posts[0]?.body).match(/"type":"\w*Block"/g) ?? [];
    // A TextBlock would interpret Markdown.
    expect(new Set(texts)).toEqual(new Set(keys.length > 1 ? ['"type":"RichTextBlock"'] : []));
  });
});

describe('delivery', () => {
  const [WRONG, HELD] = [PROBLEMS.SETTINGS.title, PROBLEMS.DELETIONS_HELD.title];
  /**
   * Checks after each of these times (ms), with a receiver in this process: the codes of its posts, and their number after each
   * check.
   */
  async function posts(waitsMs: readonly number[], answer: (code: string, at: number) => Response) {
    const codes: string[] = [];
    const fetch = (_url: URL, { body }: { body: string }): Promise<Response> => {
      const code = shortOf((JSON.parse(body) as { text: string }).text).slice(3);
      return Promise.resolve(answer(code, codes.push(code)));
    };
    const alertUrl = 'https://hooks.example.com/x';
    const { look, pass, notifier } = await open({ alertUrl }, undefined, fetch as never);
    const counts: number[] = [];
    for (const ms of waitsMs) {
      pass(ms);
      await look({ problems: [problem('SETTINGS')], ...held() });
      counts.push(codes.length);
    }
    return { codes, counts, notifier };
  }

  it('is tried at once, and again at growing intervals, one message after another', async () => {
    const { codes, counts } = await posts(
      [0, 5_000, 5_000, 20_000, 40_000],
      (_code, at) => new Response(null, { status: at < 4 ? 503 : 200 }),
    );
    expect(codes).toEqual([WRONG, HELD, WRONG, HELD, WRONG]);
    expect(counts).toEqual([1, 1, 2, 3, 5]);
  });

  it('of a message that is refused delays no other, and is tried again at growing intervals', async () => {
    const waits = Array.from({ length: 32 }, (_, at) => (at === 0 ? 0 : MINUTE / 2));
    const { codes, counts } = await posts(
      waits,
      (code) => new Response(null, { status: code === WRONG ? 400 : 200 }),
    );
    expect(codes.slice(0, 3)).toEqual([WRONG, HELD, WRONG]);
    expect(codes.filter((code) => code !== WRONG)).toEqual([HELD]);
    const tries = counts.flatMap((count, at) => (count > (counts[at - 1] ?? 0) ? [at / 2] : []));
    // In minutes; after the other message has arrived, at once.
    expect(tries).toEqual([0, 0.5, 1, 1.5, 2.5, 4, 7, 12]);
  });

  it('of one channel does not wait for another', async () => {
    await using hanging = await startWebhook();
    hanging.handler = () => undefined;
    await using smtp = await startSmtp();
    const { look } = await open({ alertUrl: hanging.url, alertEmail: mail(smtp) });
    void look(held());
    await expect.poll(() => smtp.mails.length).toBe(1);
    expect(hanging.requests.length).toBe(1);
  });

  it('is remembered across a restart', async () => {
    await using webhook = await startWebhook();
    const folder = newFolder();
    const first = await open({ alertUrl: webhook.url }, folder);
    await first.look(held());
    await first.notifier.stop();
    const second = await open({ alertUrl: webhook.url }, folder);
    await second.look(held());
    expect(webhook.requests.length).toBe(1);
    await second.look({});
    second.pass(MINUTE);
    await second.look({});
    await second.notifier.stop();
    expect(delivered(webhook)).toEqual(['🟠 Deletions are held', '🟢 Deletions are held']);
  });

  it('in progress delays a stop only for a moment', async () => {
    await using webhook = await startWebhook();
    webhook.handler = () => undefined;
    const { look, notifier, clock } = await open({ alertUrl: webhook.url });
    void look(held());
    await expect.poll(() => webhook.requests.length).toBe(1);
    await notifier.stop();
    expect(clock.sleeps).toEqual([STOP_MS]);
  });
});

const LOGIN = { user: 'mirror@example.com', password: SMTP_PASSWORD };

const mail = (
  { port }: Pick<SmtpReceiver, 'port'>,
  server: Partial<SmtpServer> = {},
  to: readonly string[] = ['ops@example.com'],
): EmailSettings => {
  const plain = { host: '127.0.0.1', port, secure: false, login: undefined, isTrusted: true };
  return { server: { ...plain, ...server }, from: 'Mirror <mirror@example.com>', to };
};

/** Why a test message does not arrive at the first receiver; null if it does. */
async function tested(
  receiving: Receiving,
  fetch?: typeof globalThis.fetch,
): Promise<string | null> {
  const settings = settingsOf(receiving);
  const [first] = receiversOf(settings, fetch);
  const problem = await sendTest(first!, settings);
  return problem && problem.replace(SMTP_PASSWORD, 'the password!');
}
const mailed = (alertEmail: EmailSettings): Promise<string | null> => tested({ alertEmail });

describe('mail', () => {
  it('says what happened and what to do', async () => {
    await using smtp = await startSmtp();
    const settings = { alertEmail: mail(smtp, {}, ['ops@example.com', 'jo@example.com']) };
    const { look, pass } = await open({ ...settings, statusUrl: 'https://mirror.example.com' });
    const own = problem('DELETIONS_HELD', {
      remedy: 'Accept them:',
      command: 'forms-mirror sync --form a',
    });
    const name = 'Přihláška\r\nBcc: all@example.com';
    const { form: identity } = form(0);
    await look({ forms: [form(0, { problems: [own], form: { ...identity, name } })] });
    expect(smtp.mails.length).toBe(1);
    for (const ms of [0, MINUTE]) {
      pass(ms);
      await look();
    }
    expect(smtp.mails.length).toBe(2);
    const [first, last] = smtp.mails.map(({ heads }) => heads);
    expect(smtp.mails[0]?.to).toEqual(['ops@example.com', 'jo@example.com']);
    expect(first?.get('subject')).toBe(
      '🟠 forms-mirror, Přihláška Bcc: all@example.com → db: Deletions are held',
    );
    expect(first?.has('bcc')).toBe(false);
    expect(first?.get('content-type')).toContain('text/plain');
    expect(first?.get('auto-submitted')).toBe('auto-generated');
    expect(smtp.mails[0]?.text.trim()).toBe(
      `forms-mirror, Přihláška Bcc: all@example.com → db: Deletions are held.

It happened: DELETIONS_HELD.

Accept them:

forms-mirror sync --form a

Status page: https://mirror.example.com`,
    );
    expect(last?.get('subject')).toMatch(/^🟢 .*: resolved after/u);
  });

  it.each([true, false])(
    'is sent over TLS with its certificate checked (from the first byte: %s)',
    async (secure) => {
      await using smtp = await startSmtp({ secure });
      const server = { secure, isTrusted: false, login: LOGIN };
      // The certificate is another host's: no password is sent.
      expect(await mailed(mail(smtp, { ...server, host: '127.0.0.2' }))).toContain(
        '127.0.0.2 offers no safe connection',
      );
      expect(smtp.mails).toEqual([]);
      await mailed(mail(smtp, { ...server, host: 'localhost' }));
      await mailed(mail(smtp, { ...server, host: '127.0.0.2', isTrusted: true }));
      expect(smtp.mails.map((each) => [each.secure, each.user])).toEqual([
        [true, LOGIN.user],
        [true, LOGIN.user],
      ]);
    },
  );

  it('is not sent to a server without TLS, unless the settings trust its network', async () => {
    await using smtp = await startSmtp({ disabledCommands: ['STARTTLS'], allowInsecureAuth: true });
    expect(await mailed(mail(smtp, { login: LOGIN, isTrusted: false }))).toContain(
      'no safe connection',
    );
    expect(smtp.mails).toEqual([]);
    expect(await mailed(mail(smtp, { login: LOGIN }))).toBeNull();
  });

  it('that is refused is reported with the reason, without the password', async () => {
    await using smtp = await startSmtp({ allowInsecureAuth: true });
    expect(await mailed(mail(smtp, { login: { ...LOGIN, password: `x${SMTP_PASSWORD}` } }))).toBe(
      'Notifications are not delivered by e-mail: 127.0.0.1 refuses the message (EAUTH, 535). Check ALERT_SMTP_URL, ALERT_EMAIL_FROM and ALERT_EMAIL_TO.',
    );
    expect(await mailed(mail({ port: await freePort() }))).toContain('127.0.0.1 cannot be reached');
  });

  it('with one refused address reaches the other, once', async () => {
    await using smtp = await startSmtp({
      onRcptTo: ({ address }, _session, done) =>
        done(address === 'gone@example.com' ? new Error('no such mailbox') : null),
    });
    const to = ['gone@example.com', 'ops@example.com'];
    const { look, notifier } = await open({ alertEmail: mail(smtp, {}, to) });
    await look(held());
    expect(notifier.deliveryProblem).toContain('refuses 1 of 2 addresses');
    await look(held());
    expect(smtp.mails.map((each) => each.to)).toEqual([['ops@example.com']]);
  });
});

describe('the heartbeat', () => {
  /** A service that expects calls. */
  async function startMonitor() {
    const webhook = await startWebhook();
    let [status, body] = [200, 'OK'];
    const calls: string[] = [];
    webhook.handler = ({ method, url }, response) => {
      calls.push(`${method} ${url}`);
      response.writeHead(status).end(body);
    };
    onTestFinished(() => webhook[Symbol.asyncDispose]());
    const answer = (now: number, text: string): void => void ([status, body] = [now, text]);
    return { url: webhook.url, calls, answer };
  }

  it('is called once a minute as long as nothing has failed', async () => {
    const { url, calls } = await startMonitor();
    const { look, pass, notifier } = await open({ heartbeatUrl: url });
    for (const [ms, state] of [
      [0, 'attention'],
      [HEARTBEAT_MS / 2, 'ok'],
      [HEARTBEAT_MS / 2, 'failed'],
      [0, 'working'],
    ] as const) {
      pass(ms);
      await look({ state });
    }
    expect(calls).toEqual(['GET /hooks/T0P-S3CRET', 'GET /hooks/T0P-S3CRET']);
    expect(notifier.deliveryProblem).toBeNull();
  });

  it('stops only as long as a message is not delivered', async () => {
    const { url, calls } = await startMonitor();
    await using webhook = await startWebhook();
    webhook.handler = (_request, response) => response.writeHead(410).end();
    const { look, pass, notifier } = await open({ heartbeatUrl: url, alertUrl: webhook.url });
    await look(held());
    expect(notifier.deliveryProblem).toContain('answers 410');
    pass(2 * HEARTBEAT_MS);
    await look(held());
    // The call that began together with the message.
    expect(calls).toHaveLength(1);
    // The message's problem is over: nobody expects the message, while the receiver is still unreachable.
    await look();
    pass(HEARTBEAT_MS);
    await look();
    expect(calls).toHaveLength(2);
  });

  it('counts as not delivered if the service refuses it, and is tried again', async () => {
    const { url, answer } = await startMonitor();
    answer(404, 'not found');
    const { look, pass, notifier } = await open({ heartbeatUrl: url });
    await look();
    expect(notifier.deliveryProblem).toContain('answers 404');
    expect(notifier.deliveryProblem).not.toContain('S3CRET');
    answer(200, 'OK');
    pass(HEARTBEAT_MS);
    await look();
    expect(notifier.deliveryProblem).toBeNull();
  });
});
