import { safeText } from '../base/errors.ts';
import { printable } from '../base/printable.ts';
/*
 * The text of messages, before a channel formats it. Names are as people and forms wrote them; the functions here disarm anything
 * that a chat or a mail program would interpret. A message contains no answer and no secret (L11, L15).
 */

/** A message to people. */
export interface Message {
  /** `ok`: a problem is over. `info`: new answers, or a test. */
  readonly level: 'error' | 'warning' | 'ok' | 'info';
  /** One line: the subject and the event. */
  readonly headline: string;
  /** Paragraphs of sentences: what happened, to which forms, what to do; may be empty. The last one may be a command line. */
  readonly body: readonly string[];
  readonly link: { readonly title: string; readonly url: string } | null;
}

/** A test message that a person asked for. */
export const testMessage = (link: Message['link']): Message => ({
  level: 'info',
  headline: 'forms-mirror: a test',
  body: [
    'A person sent this message to see whether it arrives. Nothing is wrong, and there is nothing to do.',
  ],
  link,
});

/** The link to the status page; null if STATUS_URL is not set. */
export const pageLink = (statusUrl: string | undefined): Message['link'] =>
  statusUrl === undefined ? null : { title: 'Status page', url: statusUrl };

/** The start of a message, which shows its kind at a glance. */
export const SIGNS = { error: '🔴', warning: '🟠', ok: '🟢', info: '🔵' } as const;

/** A form's name as part of a sentence. Several names, and the text after them, must fit into what a channel shows. */
export const shortName = (name: string): string => safeText(name, 80);

/**
 * A text in which no chat finds a command: `<!channel>` and `@here` notify everybody, `](` hides a link behind other words, and a
 * Teams card evaluates `{{DATE(…)}}`.
 */
export const defused = (text: string): string =>
  printable(text)
    .replaceAll('<', '‹')
    .replaceAll('>', '›')
    .replaceAll('@', '@\u200B')
    .replaceAll('](', '] (')
    .replaceAll('{{', '{\u200B{');

/** Discord allows 2,000 characters, other chats more. */
const MAX_TEXT = 2_000;

/** The whole message in one line, for channels that show only text. */
export function plainText({ level, headline, body, link }: Message): string {
  const text = defused([SIGNS[level], `${headline}.`, ...body].join(' '));
  const end = link === null ? '' : ` ${link.url}`;
  return `${safeText(text, MAX_TEXT - end.length)}${end}`;
}
