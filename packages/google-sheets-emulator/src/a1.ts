import { unparsableRange } from './api-error.ts';

/** Part of a grid: half-open, zero-based; an absent bound is open. */
export interface Bounds {
  readonly startRowIndex?: number;
  readonly endRowIndex?: number;
  readonly startColumnIndex?: number;
  readonly endColumnIndex?: number;
}

/** A1 notation taken apart. `title` is absent for a bare range such as `A1:B2`. */
export interface A1Reference {
  readonly title?: string;
  readonly bounds: Bounds;
}

/** `A` for 0, `Z` for 25, `AA` for 26. */
export function columnLetters(index: number): string {
  let letters = '';
  for (let rest = index + 1; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters;
  }
  return letters;
}

/** 0 for `A`, 26 for `AA`; letters of any case. */
export function columnIndex(letters: string): number {
  let index = 0;
  for (const letter of letters.toUpperCase()) index = index * 26 + letter.charCodeAt(0) - 64;
  return index - 1;
}

/** A tab's title as Google writes it in ranges: quoted unless it is a plain word that cannot be taken for a cell. */
export function quoteTitle(title: string): string {
  const plain = /^[A-Za-z_][A-Za-z0-9_]*$/.test(title) && !/^[A-Za-z]{1,3}[0-9]+$/.test(title);
  return plain ? title : `'${title.replaceAll("'", "''")}'`;
}

const SIDE = /^\$?([A-Za-z]{1,3})?\$?([1-9][0-9]{0,7})?$/;
const R1C1 = /^R([1-9][0-9]*)C([1-9][0-9]*)(?::R([1-9][0-9]*)C([1-9][0-9]*))?$/i;

interface Side {
  row: number | undefined;
  column: number | undefined;
}

function parseSide(text: string): Side | undefined {
  const match = SIDE.exec(text);
  if (match === null || text === '') return undefined;
  const [, letters, digits] = match;
  if (letters === undefined && digits === undefined) return undefined;
  return {
    column: letters === undefined ? undefined : columnIndex(letters),
    row: digits === undefined ? undefined : Number(digits) - 1,
  };
}

const low = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
const high = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? undefined : Math.max(a, b) + 1;

function makeBounds(
  top: number | undefined,
  bottom: number | undefined,
  left: number | undefined,
  right: number | undefined,
): Bounds {
  return {
    ...(top !== undefined && { startRowIndex: top }),
    ...(bottom !== undefined && { endRowIndex: bottom }),
    ...(left !== undefined && { startColumnIndex: left }),
    ...(right !== undefined && { endColumnIndex: right }),
  };
}

/** `B2`, `A:C`, `2:5`, `A2:C`, `A5:10`, `R1C1:R2C2` as bounds; undefined for anything else (a single `A` or `5` too). */
export function parseBounds(text: string): Bounds | undefined {
  const r1c1 = R1C1.exec(text);
  if (r1c1 !== null) {
    const [top, left] = [Number(r1c1[1]) - 1, Number(r1c1[2]) - 1];
    const [bottom, right] = [Number(r1c1[3] ?? r1c1[1]) - 1, Number(r1c1[4] ?? r1c1[2]) - 1];
    return makeBounds(low(top, bottom), high(top, bottom), low(left, right), high(left, right));
  }
  const [first = '', second, ...more] = text.split(':');
  if (more.length > 0) return undefined;
  const a = parseSide(first);
  if (a === undefined) return undefined;
  if (second === undefined) {
    if (a.row === undefined || a.column === undefined) return undefined;
    return makeBounds(a.row, a.row + 1, a.column, a.column + 1);
  }
  const b = parseSide(second);
  if (b === undefined) return undefined;
  return makeBounds(
    low(a.row, b.row),
    high(a.row, b.row),
    low(a.column, b.column),
    high(a.column, b.column),
  );
}

function unquote(title: string, whole: string): string {
  if (!title.startsWith("'")) return title;
  if (title.length < 2 || !title.endsWith("'")) throw unparsableRange(whole);
  return title.slice(1, -1).replaceAll("''", "'");
}

/**
 * Takes A1 notation apart. A text without `!` is a tab's title if one of `titles` equals it (quoted or not), else a
 * range of the first tab. Throws Google's `Unable to parse range` otherwise.
 */
export function parseA1(text: string, titles: (title: string) => boolean): A1Reference {
  const bang = text.lastIndexOf('!');
  if (bang >= 0) {
    const bounds = parseBounds(text.slice(bang + 1));
    if (bounds === undefined) throw unparsableRange(text);
    return { title: unquote(text.slice(0, bang), text), bounds };
  }
  const title = unquote(text, text);
  if (titles(title)) return { title, bounds: {} };
  const bounds = parseBounds(text);
  if (bounds === undefined) throw unparsableRange(text);
  return { bounds };
}

/** `Sheet1!A1:B2`; one cell as `Sheet1!A1`. The rectangle is half-open. */
export function formatA1(
  title: string,
  area: { top: number; bottom: number; left: number; right: number },
): string {
  const start = `${columnLetters(area.left)}${area.top + 1}`;
  const end = `${columnLetters(area.right - 1)}${area.bottom}`;
  return `${quoteTitle(title)}!${start === end ? start : `${start}:${end}`}`;
}
