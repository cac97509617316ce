import { z } from 'zod';
import type { EmailSettings, SmtpServer } from '../notify/mail.ts';
import type { NotifySettings } from '../notify/notifier.ts';
import { decoded, isLoopback, plainHost } from '../base/transport.ts';
import { readPlaintextHosts } from './plaintext.ts';
import type { SettingsReader } from './settings-reader.ts';
import type { SettingName } from './settings-table.ts';
import { list } from './value-schemas.ts';

const text = z.string();

/** Where notifications go. Complains about missing settings; adds useless ones to `warnings`. */
export function readNotify(reader: SettingsReader, warnings: string[]): NotifySettings {
  const server = readServer(reader);
  const from = readSender(reader, server);
  const alertTo = readRecipients(reader, 'ALERT_EMAIL_TO');
  const newTo = readRecipients(reader, 'NOTIFY_NEW_EMAIL_TO');
  const isMailed = RECIPIENTS.some((name) => reader.isGiven(name));
  if (reader.isGiven('ALERT_SMTP_URL') && !isMailed) {
    warnings.push('ALERT_SMTP_URL does nothing without ALERT_EMAIL_TO or NOTIFY_NEW_EMAIL_TO.');
  }
  const mail = (to: readonly string[] | undefined): EmailSettings | undefined =>
    to === undefined || server === undefined || from === undefined
      ? undefined
      : { server, from, to };
  return {
    alertUrl: readSafeAddress(reader, 'ALERT_WEBHOOK_URL'),
    alertEmail: mail(alertTo),
    newUrl: readSafeAddress(reader, 'NOTIFY_NEW_URL'),
    newEmail: mail(newTo),
    heartbeatUrl: readSafeAddress(reader, 'HEARTBEAT_URL'),
    statusUrl: reader.read('STATUS_URL', pageAddress),
  };
}

/** An address that holds a secret: messages do not quote it (L15). */
function readSafeAddress(reader: SettingsReader, name: SettingName): string | undefined {
  const allowed = readPlaintextHosts(reader);
  const isSafe = (value: string): boolean => {
    const url = URL.parse(value);
    if (url?.protocol === 'https:') return true;
    const host = url?.protocol === 'http:' ? plainHost(url.hostname) : '';
    return isLoopback(host) || allowed.has(host);
  };
  const message =
    'is not an https address (http is for a loopback host, and for one that ALLOW_PLAINTEXT names)';
  return reader.read(name, text.refine(isSafe, message));
}

/** A link, in a form that no markup of a chat can break. */
const pageAddress = text.transform((value, context): string => {
  const url = URL.parse(value);
  const isPage = url !== null && /^https?:$/.test(url.protocol) && value.length <= 500;
  if (isPage && url.username === '' && url.password === '') {
    const escaped = url.href.replaceAll(
      /[()|<>]/g,
      (mark) => `%${mark.charCodeAt(0).toString(16)}`,
    );
    return escaped.replace(/\/$/, '');
  }
  const message = 'is not the address of a page: write it whole, beginning with https://';
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
});

const MAILBOX = /^[^\s@<>,;"]+@[^\s@<>,;"]+$/;
const NAMED_MAILBOX = /^[^<>@"\p{Cc}]*<([^<>]*)>$/u;

const mailboxes = list.refine(
  (entries) => entries.every((entry) => MAILBOX.test(entry)),
  'holds something that is not an e-mail address: write only addresses, with commas between them',
);

const sender = text.refine(
  (value) => MAILBOX.test(NAMED_MAILBOX.exec(value)?.[1] ?? value),
  'is not an e-mail address: write mirror@example.com, or Forms mirror <mirror@example.com>',
);

const RECIPIENTS = ['ALERT_EMAIL_TO', 'NOTIFY_NEW_EMAIL_TO'] as const;

function readRecipients(
  reader: SettingsReader,
  name: (typeof RECIPIENTS)[number],
): readonly string[] | undefined {
  if (reader.isGiven(name) && !reader.isGiven('ALERT_SMTP_URL')) {
    reader.complain('ALERT_SMTP_URL', `is missing: the mail server for ${name}`);
  }
  return reader.read(name, mailboxes);
}

function readSender(reader: SettingsReader, server: SmtpServer | undefined): string | undefined {
  const given = reader.read('ALERT_EMAIL_FROM', sender);
  const from = given ?? [server?.login?.user ?? ''].find((user) => MAILBOX.test(user));
  const isMailed = server !== undefined && RECIPIENTS.some((name) => reader.isGiven(name));
  if (from === undefined && isMailed && !reader.isGiven('ALERT_EMAIL_FROM')) {
    const why =
      'the user name in ALERT_SMTP_URL is not an e-mail address that could be used for it';
    reader.complain('ALERT_EMAIL_FROM', `is missing: ${why}`);
  }
  return from;
}

/** The mail server. Messages quote nothing of the value: it holds a password (L15). */
function readServer(reader: SettingsReader): SmtpServer | undefined {
  const allowed = readPlaintextHosts(reader);
  const schema = text.transform((value, context): SmtpServer => {
    const url = URL.parse(value);
    const wrong = complaintAbout(url);
    if (url === null || wrong !== undefined) {
      context.addIssue({ code: 'custom', message: wrong ?? 'is not an address' });
      return z.NEVER;
    }
    const host = plainHost(decoded(url.hostname));
    const secure = url.protocol === 'smtps:';
    return {
      host,
      port: Number(url.port) || (secure ? 465 : 587),
      secure,
      login:
        url.username === ''
          ? undefined
          : { user: decoded(url.username), password: decoded(url.password) },
      isTrusted: isLoopback(host) || allowed.has(host),
    };
  });
  return reader.read('ALERT_SMTP_URL', schema);
}

function complaintAbout(url: URL | null): string | undefined {
  if (url === null || !/^smtps?:$/.test(url.protocol) || url.hostname === '') {
    return 'is not the address of a mail server: write smtps://user:password@host, or smtp:// for one with STARTTLS';
  }
  if (!/^\/?$/.test(url.pathname) || url.search !== '' || url.hash !== '') {
    return 'must end after the host and its port; special characters in a password are written as %40 and the like';
  }
  const isHalf = (url.username === '') !== (url.password === '');
  return isHalf ? 'holds a user name or a password without the other' : undefined;
}
