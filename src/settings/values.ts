import { CronExpressionParser } from 'cron-parser';
import { z } from 'zod';
import { wordList } from '../base/format.ts';
import { AddressError, decoded, isLoopback, plainHost } from '../base/transport.ts';

/*
 * The values of settings. A message states the mistake, as the rest of a sentence after the setting's name. None quotes the value,
 * because people paste keys and passwords into the wrong line (L15).
 */

/** A schema from a parser, which returns undefined or throws for a wrong text. Its own `problem` is the better message. */
export function parsed<T>(parse: (text: string) => T | undefined, message: string) {
  return z.string().transform((text, context): T => {
    let problem = message;
    try {
      const value = parse(text);
      if (value !== undefined) return value;
    } catch (error) {
      if (error instanceof AddressError) ({ problem } = error);
    }
    context.addIssue({ code: 'custom', message: problem });
    return z.NEVER;
  });
}

/** Any text. */
export const text = z.string();

const UNITS_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** `30s`, `1m`, `6h`, `1d` as milliseconds, from one second to a year. */
export const duration = parsed((value) => {
  const [, number, unit = ''] = /^(\d+)([smhd])$/.exec(value) ?? [];
  return number === undefined ? undefined : Number(number) * (UNITS_MS[unit] ?? 0);
}, 'takes a number with a unit: 30s, 1m, 6h or 1d')
  .refine((ms) => ms > 0, 'is too short')
  .refine((ms) => ms <= 366 * 86_400_000, 'is longer than a year');

/** A whole number within bounds. */
export const wholeNumber = (min: number, max: number) => {
  const message = `takes a whole number from ${min} to ${max}`;
  return z.coerce.number<string>(message).int(message).min(min, message).max(max, message);
};

const A_FRACTION = 'takes a number from 0 to 1, such as 0.2 for a fifth';

/** A fraction: 0 to 1. */
export const fraction = z.coerce.number<string>(A_FRACTION).min(0, A_FRACTION).max(1, A_FRACTION);

/** One of a few words. */
export const oneOf = <const T extends string>(words: readonly T[]) =>
  z.enum(words, `takes ${wordList(words, 'or')}`);

/** Entries between commas, white space or line breaks, each once. */
export const list = parsed((value) => {
  const entries = value.split(/[\s,]+/).filter((entry) => entry !== '');
  return entries.length > 0 ? [...new Set(entries)] : undefined;
}, 'is an empty list');

/** A list whose entries are each read by `read`. */
export const listOf = <T>(read: (entry: string) => T | undefined, message: string) =>
  list.transform((entries, context): T[] => {
    const found = entries.map(read).filter((entry) => entry !== undefined);
    if (found.length < entries.length) context.addIssue({ code: 'custom', message });
    return found;
  });

/** A list of some of these words. */
export const wordsOf = <const T extends string>(words: readonly T[]) =>
  list.pipe(z.array(z.enum(words, `takes ${wordList(words, 'or')}, with commas between them`)));

/** A secret of at least `least` characters, because a shorter one can be found by trial and error. `command` makes a good one. */
export const secretOf = (least: number, command: string) =>
  text.min(
    least,
    `is shorter than ${least} characters, so it can be guessed. Make one with: ${command}`,
  );

/** A key that an HTTP header can contain (RFC 9110, 5.5), apart from white space. */
export const headerToken = text.regex(
  /^[\u0021-\u007e]+$/,
  'holds spaces or characters that no key has: copy the whole key again, and nothing else',
);

/** A cron expression of five fields, or `@hourly` and the like. No seconds: more requests would gain nothing. */
export const cronPattern = parsed((value) => {
  if (value.split(/\s+/).length !== 5 && !/^@(?!secondly)/i.test(value)) return undefined;
  CronExpressionParser.parse(value).next();
  return value;
}, 'is not a cron expression, or its time never comes: write minute hour day month weekday');

/** A name of the IANA time zone database, in its own spelling. */
export const timeZone = parsed(
  (value) =>
    /^[+-]/.test(value)
      ? undefined
      : new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone,
  'is not a known time zone: write a name such as Europe/Prague',
);

const webUrl = (value: string): URL | undefined => {
  const url = URL.parse(value);
  return url !== null && /^https?:$/.test(url.protocol) ? url : undefined;
};

/** The address of an API, without a slash at its end: https, or http for a loopback host. */
export const apiAddress = parsed((value) => {
  const url = webUrl(value);
  const isSafe = url?.protocol === 'https:' || isLoopback(url?.hostname ?? '');
  const isBare = url?.username === '' && url.password === '' && !/[?#]/.test(value);
  return isSafe && isBare ? value.replace(/\/+$/, '') : undefined;
}, 'is not the address of an API: write it whole, beginning with https:// (http:// is for a loopback host only), without user name, password, ? and #');

/** An API on this machine. */
export const localAddress = apiAddress.refine(
  (address) => isLoopback(URL.parse(address)?.hostname ?? ''),
  'is not on this machine: write a loopback address',
);

/** An address that is called and may contain a secret. ALLOW_PLAINTEXT decides whether it may be http. */
export const calledAddress = parsed(
  webUrl,
  'is not a web address: write it whole, beginning with https://',
);

/** A link that no chat markup can break, without a slash at its end. */
export const pageAddress = parsed((value) => {
  const url = webUrl(value);
  if (url === undefined || value.length > 500 || url.username !== '' || url.password !== '')
    return undefined;
  const escaped = url.href.replaceAll(/[()|<>]/g, (mark) => `%${mark.charCodeAt(0).toString(16)}`);
  return escaped.replace(/\/$/, '');
}, 'is not the address of a page: write it whole, beginning with https://');

/** As curl and others accept it: also only host and port. */
export const proxyAddress = parsed(
  (value) => webUrl(/^[\w.-]+:\d+$/.test(value) ? `http://${value}` : value),
  'is not the address of an http proxy: write http://host:port',
);

/** Hosts, in lower case. */
export const hostList = list.transform((entries) => entries.map(plainHost));

/** Google's key: JSON, plain or in base64. Its content is checked when it is used. */
export const googleKey = parsed((value) => {
  const json = value.startsWith('{') ? value : Buffer.from(value, 'base64').toString('utf8');
  return typeof JSON.parse(json) === 'object' ? value : undefined;
}, 'does not hold JSON: paste the whole file that Google gave you with the key, plain or in base64');

const MAILBOX = /^[^\s@<>,;"]+@[^\s@<>,;"]+$/;

/** An e-mail address, or undefined for anything else. */
export const mailbox = (value: string): string | undefined =>
  MAILBOX.test(value) ? value : undefined;

/** E-mail addresses. */
export const mailboxes = listOf(
  mailbox,
  'holds something that is not an e-mail address: write only addresses, with commas between them',
);

/** An e-mail address, with or without a name. */
export const sender = parsed((value) => {
  const [, named = value] = /^[^<>@"\p{Cc}]*<([^<>]*)>$/u.exec(value) ?? [];
  return MAILBOX.test(named) ? value : undefined;
}, 'is not an e-mail address: write mirror@example.com, or Forms mirror <mirror@example.com>');

/** A mail server: `smtps://user:password@host`, or `smtp://` for a server with STARTTLS. */
export const mailServer = parsed((value) => {
  const url = URL.parse(value);
  const isServer = url !== null && /^smtps?:$/.test(url.protocol) && url.hostname !== '';
  if (!isServer || !/^\/?$/.test(url.pathname) || url.search !== '' || url.hash !== '')
    return undefined;
  const [user, password] = [decoded(url.username), decoded(url.password)];
  if ((user === '') !== (password === '')) return undefined;
  const secure = url.protocol === 'smtps:';
  return {
    host: plainHost(decoded(url.hostname)),
    port: Number(url.port) || (secure ? 465 : 587),
    secure,
    login: user === '' ? undefined : { user, password },
  };
}, 'is not the address of a mail server: write smtps://user:password@host, or smtp:// for one with STARTTLS; special characters in a password are written as %40 and the like');
