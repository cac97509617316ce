/*
 * Makes texts for people safe: names, labels, IDs and statuses come from the source, and a control character in them could move the
 * cursor, ring the bell, rename the window or reorder a line.
 */

/** Line breaks and tabs in any notation: a name is one line. */
const BREAKS = /\r\n|[\t\n\v\f\r\u0085\u2028\u2029]/g;

/** Characters that control a terminal or reorder a line. Scripts and emoji need the other characters without a shape. */
const CONTROLS = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu;

/** `text` on one line, without characters that control a terminal or reorder a line. */
export const printable = (text: string): string =>
  text.toWellFormed().replaceAll(BREAKS, ' ').replaceAll(CONTROLS, '\uFFFD');

/** Like {@link printable}, for a text of several lines. */
export const printableLines = (text: string): string => text.split('\n').map(printable).join('\n');

/** JSON text that can be shown: the same value, with such characters as escapes. Line breaks between values stay. */
export const printableJson = (json: string): string =>
  json.replaceAll(CONTROLS, (character) =>
    character === '\n' ? '\n' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
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
