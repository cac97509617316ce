/*
 * Makes texts for people safe: names, labels, IDs and statuses come from the source, and a control character in them could move the
 * cursor, ring the bell, rename the window or reorder a line.
 */

/** Line breaks and tabs in any notation: a name is one line. */
const BREAKS = /\r\n|[\t\n\v\f\r\u0085\u2028\u2029]/g;

/**
 * Characters without a shape of their own, except those that scripts and emoji need: joiners, direction marks (which end with their
 * word), and the tags of a flag.
 */
const HIDDEN =
  /[\p{Cc}\u2028\u2029]|(?![\u00AD\u061C\u200C-\u200F])(?!(?<=\u{1F3F4}[\u{E0020}-\u{E007F}]*)[\u{E0020}-\u{E007F}])\p{Cf}/gu;

/** `text` on one line, without characters that control a terminal or reorder a line: each is replaced by a visible one. */
export const printable = (text: string): string =>
  text.toWellFormed().replaceAll(BREAKS, ' ').replaceAll(HIDDEN, shapeOf);

/** Like {@link printable}, for a text of several lines. */
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

/* Parts of command lines that are printed for a person to copy. Their texts may come from the source. */

/**
 * An argument for a POSIX shell: exactly `text`, of which nothing is executed. Characters that cannot be shown are replaced as in
 * {@link printable}; names are found by the result, too.
 */
export function shellWord(text: string): string {
  const shown = printable(text);
  return /^[\w.:@/-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", "'\\''")}'`;
}

/** `--form contact`; `--form=-x` if the value would be taken for an option. */
export const shellOption = (option: string, value: string): string =>
  `${option}${value.startsWith('-') ? '=' : ' '}${shellWord(value)}`;

/** `TARGET_FIELDS='a,b'`, valid in `.env` and in a shell, with names as in the API. */
export const settingLine = (variable: string, value: string): string => `${variable}='${value}'`;
