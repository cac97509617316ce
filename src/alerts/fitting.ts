/*
 * Texts within the limits of channels. A limit counts UTF-16 units, which is never more lenient than the characters or
 * code points that a chat may count.
 */

/** Without what breaks a line, hides the rest of it or turns it around, and well-formed. */
export const clean = (text: string): string =>
  text.toWellFormed().replaceAll(/[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]+/gu, ' ');

/** At most `max` long; what is longer ends in an ellipsis. */
export function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1).toWellFormed()}…`;
}

/** Names are as long as people like; what is said of them comes behind, and has to be within what a channel shows. */
const LONGEST_NAME = 140;

/** A form's name as part of a sentence. */
export const shortName = (name: string): string => cut(name, LONGEST_NAME);

/** `text` as `escape` writes it, at most `max` long: cut before it is escaped, so that no escape is cut in two. */
export function fitted(text: string, max: number, escape: (text: string) => string): string {
  let length = Math.min(text.length, max);
  let written = escape(cut(text, length));
  while (written.length > max) {
    length = Math.floor(length * 0.9);
    written = escape(cut(text, length));
  }
  return written;
}

/** The longest that a single line of a list may be. */
const MAX_LINE = 300;

/**
 * As many lines as fit into `max` together, `most` at most, each as `write` writes it, with a line break between; then how
 * many are left. Empty for none.
 */
export function fittedLines(
  lines: readonly string[],
  max: number,
  write: (line: string) => string,
  most = Number.POSITIVE_INFINITY,
): string {
  const shown: string[] = [];
  let room = max - MORE_LENGTH;
  for (const line of lines) {
    const written = fitted(line, MAX_LINE, write);
    room -= written.length + 1;
    if (room < 0 || shown.length >= most) break;
    shown.push(written);
  }
  const left = lines.length - shown.length;
  return [...shown, ...(left === 0 ? [] : [`… and ${left} more`])].join('\n');
}

const MORE_LENGTH = 30;
