import stringWidth from 'string-width';
import { count } from '../base/format.ts';
import { printable } from '../base/printable.ts';

/** Longer cells end in `…`, in terminal columns. */
const MAX_CELL = 60;

/** A cell: numbers are written as people write them, at the right. */
export type TextCell = string | number | null;

/**
 * Lines of text in aligned columns, by their width on a terminal: wide letters, emoji and accents are accounted for.
 * The first holds the titles. Null is `unknown`.
 */
export function textTable(
  titles: readonly string[],
  rows: readonly (readonly TextCell[])[],
): string[] {
  const cells = [titles, ...rows].map((row) =>
    titles.map((_, at) => {
      const cell = row[at] ?? 'unknown';
      return shorten(printable(typeof cell === 'number' ? count(cell) : cell));
    }),
  );
  const columns = titles.map((_, at) => ({
    width: Math.max(...cells.map((row) => stringWidth(row[at] ?? ''))),
    isNumber: rows.some((row) => typeof row[at] === 'number'),
  }));
  return cells.map((row) =>
    columns
      .map(({ width, isNumber }, at) => {
        const cell = row[at] ?? '';
        const space = ' '.repeat(width - stringWidth(cell));
        return isNumber ? space + cell : cell + space;
      })
      .join('  ')
      .trimEnd(),
  );
}

/** Never cuts through a character. */
function shorten(text: string): string {
  if (stringWidth(text) <= MAX_CELL) return text;
  let kept = '';
  let width = 1;
  for (const { segment } of new Intl.Segmenter('en').segment(text)) {
    width += stringWidth(segment);
    if (width > MAX_CELL) break;
    kept += segment;
  }
  return `${kept}…`;
}
