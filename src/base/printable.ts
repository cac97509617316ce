/*
 * Every text for a person goes through here: names, labels, IDs and statuses come from the source, and a control
 * character among them would move the cursor, ring, rename the window or reorder a line.
 */

/** Line breaks and tabs, however they are written: a name is one line. */
const BREAKS = /\r\n|[\t\n\v\f\r\u0085\u2028\u2029]/g;

/**
 * Characters without a shape of their own, except those that scripts and emoji need: joiners, marks of
 * direction (which end with the word they are in), and the tags of a flag.
 */
const HIDDEN =
  /[\p{Cc}\u2028\u2029]|(?![\u00AD\u061C\u200C-\u200F])(?!(?<=\u{1F3F4}[\u{E0020}-\u{E007F}]*)[\u{E0020}-\u{E007F}])\p{Cf}/gu;

/** `text` on one line, without characters that control a terminal or reorder a line: each is replaced visibly. */
export const printable = (text: string): string =>
  text.toWellFormed().replaceAll(BREAKS, ' ').replaceAll(HIDDEN, shapeOf);

/** As {@link printable}, for text of several lines. */
export const printableLines = (text: string): string => text.split('\n').map(printable).join('\n');

/** `␛` for ESC; U+FFFD for a character without such a picture. */
function shapeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  return code === 0x7f ? '\u2421' : '\uFFFD';
}

/** JSON text that can be shown: the same value, with such characters as escapes. Line breaks between values stay. */
export const printableJson = (json: string): string =>
  json.replaceAll(/(?!\n)[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  );

/*
 * Parts of command lines that are printed for a person to copy. Their texts may come from the source.
 */

/**
 * An argument as a POSIX shell takes it: exactly `text`, and nothing of it is run. Characters that can't be shown are
 * replaced as {@link printable} does; names are found by that, too.
 */
export function shellWord(text: string): string {
  const shown = printable(text);
  return /^[\w.:@/-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", "'\\''")}'`;
}

/** `--form contact`; `--form=-x` where the value would be taken for an option. */
export const shellOption = (option: string, value: string): string =>
  `${option}${value.startsWith('-') ? '=' : ' '}${shellWord(value)}`;

/** `TARGET_FIELDS='a,b'` for `.env` and a shell alike, of names as the API has them. */
export const settingLine = (variable: string, value: string): string => `${variable}='${value}'`;
