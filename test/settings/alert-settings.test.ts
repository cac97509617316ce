import { describe, expect, it } from 'vitest';
import { SOURCE, load, onlyProblem, problemsOf } from '../support/settings.ts';

const SMTP = 'smtps://mirror%40example.com:p%40ss-S3CRET@smtp.example.com';
const MAIL = { ALERT_EMAIL_TO: 'ops@example.com, jo@example.com', ALERT_SMTP_URL: SMTP };

const notify = (env: Record<string, string> = {}) => load({ ...SOURCE, ...env }).notify;

describe('where notifications go', () => {
  it('is nowhere if nothing is set', () => {
    const { receivers, ...others } = notify();
    const all = [...Object.values(receivers), ...Object.values(others)];
    expect(new Set(all)).toEqual(new Set([undefined]));
  });

  it('reads who gets mail, and from which server', () => {
    expect(notify(MAIL).receivers['ALERT_EMAIL_TO']).toEqual({
      to: ['ops@example.com', 'jo@example.com'],
      from: 'mirror@example.com',
      server: {
        host: 'smtp.example.com',
        port: 465,
        secure: true,
        login: { user: 'mirror@example.com', password: 'p@ss-S3CRET' },
        isTrusted: false,
      },
    });
  });

  it('reads where new answers are sent: a webhook, and mail from the same server', () => {
    const { receivers } = notify({
      NOTIFY_NEW_URL: 'https://hooks.example.com/S3CRET',
      NOTIFY_NEW_EMAIL_TO: 'sales@example.com',
      ALERT_SMTP_URL: SMTP,
    });
    expect(receivers).toMatchObject({
      NOTIFY_NEW_URL: new URL('https://hooks.example.com/S3CRET'),
      NOTIFY_NEW_EMAIL_TO: { to: ['sales@example.com'], from: 'mirror@example.com' },
    });
    expect(receivers['ALERT_EMAIL_TO']).toBeUndefined();
  });

  it.each([
    ['smtp://localhost:25', {}, { port: 25, secure: false, isTrusted: true }],
    ['smtp://[::1]', {}, { host: '::1', port: 587, isTrusted: true }],
    ['smtp://mail', { ALLOW_PLAINTEXT: 'mail' }, { host: 'mail', isTrusted: true }],
    ['smtp://mail', { ALLOW_PLAINTEXT: 'other' }, { host: 'mail', isTrusted: false }],
  ])('%s with %j', (url, env, server) => {
    const from = { ALERT_EMAIL_FROM: 'Forms mirror <mirror@example.com>' };
    expect(
      notify({ ...MAIL, ...from, ...env, ALERT_SMTP_URL: url }).receivers['ALERT_EMAIL_TO'],
    ).toMatchObject({
      from: 'Forms mirror <mirror@example.com>',
      server: { ...server, login: undefined },
    });
  });

  it.each([
    [{ ALERT_EMAIL_TO: 'ops@example.com' }, 'ALERT_SMTP_URL is missing'],
    [{ NOTIFY_NEW_EMAIL_TO: 'sales@example.com' }, 'ALERT_SMTP_URL is missing'],
    [{ NOTIFY_NEW_URL: 'http://hooks.example.com/S3CRET' }, 'NOTIFY_NEW_URL is plain http'],
    [
      { ...MAIL, ALERT_EMAIL_TO: 'ops' },
      'ALERT_EMAIL_TO holds something that is not an e-mail address',
    ],
    [{ ...MAIL, ALERT_EMAIL_FROM: 'a@b\nBcc: x@y' }, 'ALERT_EMAIL_FROM is not an e-mail address'],
    [
      { ...MAIL, ALERT_SMTP_URL: 'smtps://key:S3CRET@smtp.example.com' },
      'ALERT_EMAIL_FROM is missing',
    ],
    [
      { ...MAIL, ALERT_SMTP_URL: 'https://a:S3CRET@b' },
      'ALERT_SMTP_URL is not the address of a mail',
    ],
    [{ ...MAIL, ALERT_SMTP_URL: 'smtps://a:S3CRET/x@b' }, 'ALERT_SMTP_URL '],
    [
      { ...MAIL, ALERT_SMTP_URL: 'smtps://S3CRET@b' },
      'ALERT_SMTP_URL is not the address of a mail',
    ],
    [{ HEARTBEAT_URL: 'http://ping.example.com/S3CRET' }, 'HEARTBEAT_URL is plain http'],
    [{ STATUS_URL: 'mirror.example.com' }, 'STATUS_URL is not the address of a page'],
    [
      { STATUS_URL: 'https://ann:S3CRET@mirror.example.com' },
      'STATUS_URL is not the address of a page',
    ],
  ])('%j is refused, and nothing secret is quoted', (env, message) => {
    const problem = onlyProblem(env);
    expect(problem).toContain(message);
    expect(problem).not.toContain('S3CRET');
  });

  it('accepts plain http if the settings trust the host', () => {
    const env = { ALLOW_PLAINTEXT: 'kuma', HEARTBEAT_URL: 'http://kuma:3001/api/push/x' };
    expect(notify(env).heartbeatUrl?.href).toBe(env.HEARTBEAT_URL);
    expect(problemsOf({ ...SOURCE, HEARTBEAT_URL: 'http://127.0.0.1:3001/x' })).toEqual([]);
  });

  it('contains links with nothing that a chat could break', () => {
    const { statusUrl } = notify({ STATUS_URL: 'https://mirror.example.com/a(b)|c/' });
    expect(statusUrl).toBe('https://mirror.example.com/a%28b%29%7cc');
  });
});
