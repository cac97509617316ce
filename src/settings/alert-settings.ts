import { z } from 'zod';
import { chatOf } from '../alerts/chats/chats.ts';
import type { EmailSettings, SmtpServer } from '../alerts/email.ts';
import { decoded, isLoopback, plainHost } from '../base/transport.ts';
import { readPlaintextHosts } from './plaintext.ts';
import type { SettingsReader } from './settings-reader.ts';
import type { SettingName } from './settings-table.ts';
import { list } from './value-schemas.ts';

/** How people are told, besides ALERT_WEBHOOK_URL. */
export interface TellSettings {
  /** Undefined: no mail. */
  readonly email: EmailSettings | undefined;
  /** Undefined: none is called. */
  readonly heartbeatUrl: string | undefined;
  /** Where people find the status page; undefined: not said. */
  readonly statusUrl: string | undefined;
}

const text = z.string();

/**
 * All of them, and ALERT_WEBHOOK_URL. Complains about what is missing; `warnings` is told of what does nothing, and of an address
 * that takes nothing any more.
 */
export function readTelling(
  reader: SettingsReader,
  warnings: string[],
): { readonly alertUrl: string | undefined; readonly telling: TellSettings } {
  const alertUrl = readAlertUrl(reader, warnings);
  const email = readEmail(reader, warnings);
  const telling = {
    email,
    heartbeatUrl: readSafeAddress(reader, 'HEARTBEAT_URL'),
    statusUrl: reader.read('STATUS_URL', pageAddress),
  };
  return { alertUrl, telling };
}

function readAlertUrl(reader: SettingsReader, warnings: string[]): string | undefined {
  const url = readSafeAddress(reader, 'ALERT_WEBHOOK_URL');
  const retired = url === undefined ? undefined : retiredAddress(url);
  if (retired !== undefined) warnings.push(`ALERT_WEBHOOK_URL ${retired}.`);
  return url;
}

/** Why nothing that is sent to a webhook arrives any more; goes on after its name. Undefined: nothing is known against it. */
export const retiredAddress = (url: string): string | undefined => {
  return chatOf(url).retired?.(new URL(url));
};

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

function readEmail(reader: SettingsReader, warnings: string[]): EmailSettings | undefined {
  const to = reader.read('ALERT_EMAIL_TO', mailboxes);
  const server = readServer(reader);
  const given = reader.read('ALERT_EMAIL_FROM', sender);
  const isGiven = (name: SettingName): boolean => reader.isGiven(name);
  if (isGiven('ALERT_EMAIL_TO') && !isGiven('ALERT_SMTP_URL')) {
    reader.complain('ALERT_SMTP_URL', 'is missing: the mail server for ALERT_EMAIL_TO');
  }
  if (isGiven('ALERT_SMTP_URL') && !isGiven('ALERT_EMAIL_TO')) {
    warnings.push('ALERT_SMTP_URL does nothing without ALERT_EMAIL_TO.');
  }
  if (to === undefined || server === undefined) return undefined;
  const from = given ?? [server.login?.user ?? ''].find((user) => MAILBOX.test(user));
  if (from === undefined && !isGiven('ALERT_EMAIL_FROM')) {
    const why =
      'the user name in ALERT_SMTP_URL is not an e-mail address that could be used for it';
    reader.complain('ALERT_EMAIL_FROM', `is missing: ${why}`);
  }
  return from === undefined ? undefined : { server, from, to };
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
