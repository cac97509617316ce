import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { beforeAll, describe, expect, it } from 'vitest';
import { DeliveryQueue } from '../../src/alerts/delivery-queue.ts';
import { Email, type EmailSettings, type SmtpServer } from '../../src/alerts/email.ts';
import { type Notice, alertNotice, testNotice } from '../../src/alerts/notice.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { NOW } from '../health/fake-source.ts';
import { TEST_AUTHORITY } from '../support/connect-proxy.ts';
import { freePort } from '../support/servers.ts';
import { TestClock } from '../support/test-clock.ts';
import { SMTP_PASSWORD, type SmtpReceiver, startSmtp } from './smtp-receiver.ts';

const LOGIN = { user: 'mirror@example.com', password: SMTP_PASSWORD };

function settings(
  { port }: Pick<SmtpReceiver, 'port'>,
  server: Partial<SmtpServer> = {},
  to: readonly string[] = ['ops@example.com'],
): EmailSettings {
  const plain = { host: '127.0.0.1', port, secure: false, login: undefined, isTrusted: true };
  return { server: { ...plain, ...server }, from: 'Mirror <mirror@example.com>', to };
}

/** Sends it; resolves to what is said of a failure and decided about it, or to what send says. */
async function send(to: EmailSettings, notice: Notice = testNotice(NOW)): Promise<unknown> {
  const email = new Email(to);
  try {
    return await email.send(notice, new AbortController().signal);
  } catch (error) {
    const why = email.whyNot(error).replace(SMTP_PASSWORD, 'the password!');
    return { why, retry: email.decide(error).retry };
  } finally {
    await email.close();
  }
}

const alert = {
  status: 'firing',
  key: 'passes\ndb\nfrm_a',
  opens: true,
  forms: 0,
  subject: { form: { id: 'frm_a', name: 'Přihláška\r\nBcc: all@example.com' }, target: 'db' },
  problem: {
    level: 'error',
    code: 'TARGET_FULL',
    title: 'The last pass failed',
    message: 'No room left.',
    remedy: 'Make room:',
    command: 'forms-mirror check',
    since: null,
  },
  atMs: NOW,
  openedAtMs: NOW,
} as const;

describe('mail', () => {
  beforeAll(() => {
    setDefaultCACertificates([
      ...getCACertificates('default'),
      readFileSync(TEST_AUTHORITY, 'utf8'),
    ]);
  });

  it('says what happened and what to do, as plain text with a subject that says it, too', async () => {
    await using smtp = await startSmtp();
    const to = settings(smtp, {}, ['ops@example.com', 'jo@example.com']);
    expect(await send(to, alertNotice(alert, 'https://mirror.example.com'))).toBeUndefined();
    const [mail] = smtp.mails;
    expect(mail?.to).toEqual(['ops@example.com', 'jo@example.com']);
    expect(mail?.from).toBe('mirror@example.com');
    expect(mail?.heads.get('subject')).toBe(
      '[forms-mirror] Failed: Přihláška Bcc: all@example.com → db: The last pass failed',
    );
    expect(mail?.heads.has('bcc')).toBe(false);
    // It answers nothing: it is the first of its thread.
    expect(mail?.heads.has('in-reply-to')).toBe(false);
    expect(mail?.heads.get('content-type')).toContain('text/plain');
    expect(mail?.heads.get('auto-submitted')).toBe('auto-generated');
    expect(mail?.text.trim()).toBe(
      `forms-mirror, Přihláška Bcc: all@example.com → db: The last pass failed.

No room left.

Make room:

    forms-mirror check

Status page: https://mirror.example.com

-- 
forms-mirror, 2026-05-12 09:30:00 UTC`,
    );
  });

  it('about one incident is one thread, and about the next another one', async () => {
    await using smtp = await startSmtp();
    const still = { ...alert, status: 'repeated', opens: false, atMs: NOW + 9 } as const;
    const over = { ...still, status: 'resolved', atMs: NOW + 10 } as const;
    const next = { ...alert, openedAtMs: NOW + 11, atMs: NOW + 11 };
    for (const one of [alert, still, over, next]) await send(settings(smtp), alertNotice(one));
    const heads = (name: string) => smtp.mails.map((mail) => mail.heads.get(name));
    const [first, ...others] = heads('message-id');
    expect(first).toMatch(/^<[0-9a-f]+@example\.com>$/);
    expect(new Set([first, ...others]).size).toBe(4);
    expect(heads('references')).toEqual([undefined, first, first, undefined]);
    expect(heads('in-reply-to')).toEqual([undefined, first, first, undefined]);
    expect(heads('subject')[2]).toContain('OK: ');
  });

  it.each([true, false])(
    'goes over TLS with its certificate checked (from the first byte: %s)',
    async (secure) => {
      await using smtp = await startSmtp({ secure });
      const server = { secure, isTrusted: false, login: LOGIN, host: '127.0.0.2' };
      // The certificate is of another host: no password is sent.
      expect(await send(settings(smtp, server))).toMatchObject({
        why: expect.stringContaining('127.0.0.2 offers no safe connection'),
        retry: false,
      });
      expect(smtp.mails).toEqual([]);
      expect(await send(settings(smtp, { ...server, host: 'localhost' }))).toBeUndefined();
      expect(await send(settings(smtp, { ...server, isTrusted: true }))).toBeUndefined();
      const ways = smtp.mails.map((mail) => [mail.secure, mail.user]);
      expect(ways).toEqual(Array.from({ length: 2 }, () => [true, LOGIN.user]));
    },
  );

  it('is not sent to a server that offers no TLS, unless the settings trust its network', async () => {
    await using smtp = await startSmtp({ disabledCommands: ['STARTTLS'], allowInsecureAuth: true });
    const server = { login: LOGIN, isTrusted: false };
    expect(await send(settings(smtp, server))).toMatchObject({
      why: expect.stringContaining('127.0.0.1 offers no safe connection'),
      retry: false,
    });
    expect(smtp.mails).toEqual([]);
    expect(await send(settings(smtp, { ...server, isTrusted: true }))).toBeUndefined();
    expect(smtp.mails).toHaveLength(1);
  });

  it('with a wrong password is not tried again, and says so without it', async () => {
    await using smtp = await startSmtp({ allowInsecureAuth: true });
    const login = { user: LOGIN.user, password: `x${SMTP_PASSWORD}` };
    expect(await send(settings(smtp, { login }))).toEqual({
      why: 'Alerts are not delivered by e-mail: 127.0.0.1 refuses the user name or password (535). Check ALERT_SMTP_URL.',
      retry: false,
    });
  });

  it.each([
    [550, false],
    [451, true],
  ])('whose addresses are all refused with %i', async (responseCode, retry) => {
    await using smtp = await startSmtp({
      onRcptTo: (_address, _session, done) =>
        done(Object.assign(new Error('no such mailbox'), { responseCode })),
    });
    expect(await send(settings(smtp))).toEqual({
      why: `Alerts are not delivered by e-mail: 127.0.0.1 refuses every address (${responseCode}). Check ALERT_EMAIL_TO.`,
      retry,
    });
  });

  it('of which one address is refused reaches the other, once, and that is said', async () => {
    await using smtp = await startSmtp({
      onRcptTo: ({ address }, _session, done) =>
        done(address === 'gone@example.com' ? new Error('no such mailbox') : null),
    });
    const to = settings(smtp, {}, ['gone@example.com', 'ops@example.com']);
    const queue = new DeliveryQueue(new Email(to), {
      clock: new TestClock(),
      logger: silentLogger,
    });
    queue.send({ notice: testNotice(NOW), keys: ['k'], status: 'firing', opens: true });
    await expect.poll(() => queue.isBusy).toBe(false);
    await queue.stop();
    expect(smtp.mails.map((mail) => mail.to)).toEqual([['ops@example.com']]);
    expect(queue.deliveryProblem).toBe(
      'Alerts do not reach everybody by e-mail: 127.0.0.1 refuses 1 of 2 addresses. Check ALERT_EMAIL_TO.',
    );
  });

  it('to a server that is away is tried again', async () => {
    const port = await freePort();
    expect(await send(settings({ port }))).toMatchObject({
      why: expect.stringContaining('127.0.0.1 cannot be reached'),
      retry: true,
    });
  });
});
