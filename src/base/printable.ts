/*
 * Whatever is shown to a person goes through here: names, labels, IDs and statuses come from the source, and a control
 * character among them would move the cursor, ring, rename the window or reorder a line.
 */

/** Line breaks and tabs, however they are written: a name is one line. */
const BREAKS = /\r\n|[\t\n\v\f\r\u0085\u2028\u2029]/g;

/**
 * Characters without a shape of their own, but for those that scripts and emoji are written with: joiners, marks of
 * direction (which end with the word they stand in), and the tags of a flag.
 */
const HIDDEN =
  /[\p{Cc}\u2028\u2029]|(?![\u00AD\u061C\u200C-\u200F])(?!(?<=\u{1F3F4}[\u{E0020}-\u{E007F}]*)[\u{E0020}-\u{E007F}])\p{Cf}/gu;

/** `text` on one line, without characters that control a terminal or reorder a line: each is replaced visibly. */
export const printable = (text: string): string =>
  text.toWellFormed().replaceAll(BREAKS, ' ').replaceAll(HIDDEN, shapeOf);

/** As {@link printable}, for text of several lines. */
export const printableLines = (text: string): string => text.split('\n').map(printable).join('\n');

/** `␛` for ESC; the replacement character for what has no picture. */
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
