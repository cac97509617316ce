import { plural } from '../base/format.ts';

/*
 * The text of messages, before a channel lays it out. Names are as people and forms wrote them; anything that a chat or a mail
 * would interpret is made harmless by the functions here. A message holds no answer and no secret (L11, L15).
 */

/** A message to people. */
export interface Message {
  /** `ok`: a problem is over. `info`: new answers, or a test. */
  readonly level: 'error' | 'warning' | 'ok' | 'info';
  /** One line: the subject and the event. */
  readonly headline: string;
  /** Sentences; may be empty. */
  readonly body: string;
  readonly remedy: string | null;
  /** The command line that does it. */
  readonly command: string | null;
  readonly link: { readonly title: string; readonly url: string } | null;
  /** None: it is about all. */
  readonly forms: readonly { readonly name: string; readonly target: string }[];
  /** Since the epoch. */
  readonly atMs: number;
}

/** A message that a person asked for, to see whether one arrives. */
export const testMessage = (atMs: number, link: Message['link']): Message => ({
  level: 'info',
  headline: 'forms-mirror: a test',
  body: 'A person sent this message to see whether it arrives. Nothing is wrong, and there is nothing to do.',
  remedy: null,
  command: null,
  link,
  forms: [],
  atMs,
});

/** The link to the status page; null where STATUS_URL is not set. */
export const pageLink = (statusUrl: string | undefined): Message['link'] =>
  statusUrl === undefined ? null : { title: 'Status page', url: statusUrl };

/** The start of a message, which shows its kind at a glance. */
export const SIGNS = { error: '🔴', warning: '🟠', ok: '🟢', info: '🔵' } as const;

/** Without what breaks a line, hides the rest of it or turns it around, and well-formed. */
export const clean = (text: string): string =>
  text.toWellFormed().replaceAll(/[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]+/gu, ' ');

/** At most `max` UTF-16 units, which is never more than a chat counts; a longer text ends in an ellipsis. */
export const cut = (text: string, max: number): string =>
  text.length <= max ? text : `${text.slice(0, max - 1).toWellFormed()}…`;

/** A form's name as part of a sentence: the text after it must fit into the part that a channel shows. */
export const shortName = (name: string): string => cut(name, 140);

/**
 * A text in which no chat finds a command: `<!channel>` and `@here` call everybody, `](` hides a link behind other words, and
 * `{{DATE(…)}}` is computed in a Teams card.
 */
export const defused = (text: string): string =>
  clean(text)
    .replaceAll('<', '‹')
    .replaceAll('>', '›')
    .replaceAll('@', '@\u200B')
    .replaceAll('](', '] (')
    .replaceAll('{{', '{\u200B{');

/** The first forms of a message about several, and how many are left out. The headline names a single one. */
export function formLines(forms: Message['forms'], most: number): string[] {
  if (forms.length === 1) return [];
  const named = forms.slice(0, most).map(({ name, target }) => `${shortName(name)} → ${target}`);
  const left = forms.length - named.length;
  return left === 0 ? named : [...named, `and ${plural(left, 'other')}`];
}

/** Discord takes 2,000 characters, other chats more. */
const MAX_TEXT = 2_000;

/** The whole message in one line, for what shows nothing but a text. */
export function plainText(message: Message): string {
  const { level, headline, body, forms, remedy, command, link } = message;
  const names = forms.length < 2 ? '' : `They are: ${formLines(forms, 5).join(', ')}.`;
  const parts = [`${headline}.`, body, names, [remedy, command].filter(Boolean).join(' ')];
  const text = defused(`${SIGNS[level]} ${parts.filter((part) => part !== '').join(' ')}`);
  const end = link === null ? '' : ` ${link.url}`;
  return `${cut(text, MAX_TEXT - end.length)}${end}`;
}
