import stringWidth from 'string-width';
import { plural } from '../base/format.ts';
import { printable } from '../base/printable.ts';

/** A column of a {@link textTable}. */
export interface TextColumn {
  readonly title: string;
  /** Default `left`. */
  readonly align?: 'left' | 'right';
}

export interface TextTableOptions {
  /** Longest cell, in terminal columns; longer ones end in `…`. */
  readonly maxCell?: number;
  /** Columns that do not fit into this width are left out, from the right; the last line says how many. */
  readonly maxWidth?: number;
  /** Styles the line of titles. */
  readonly head?: (line: string) => string;
}

const GAP = '  ';

/** Lines of text in aligned columns, by their width on a terminal: wide letters, emoji and accents are accounted for. */
export function textTable(
  columns: readonly TextColumn[],
  rows: readonly (readonly string[])[],
  options: TextTableOptions = {},
): string[] {
  const maxCell = options.maxCell ?? Number.POSITIVE_INFINITY;
  const titles = columns.map(({ title }) => shorten(printable(title), maxCell));
  const cells = rows.map((row) =>
    columns.map((_, at) => shorten(printable(row[at] ?? ''), maxCell)),
  );
  const widths = titles.map((title, at) =>
    Math.max(stringWidth(title), ...cells.map((row) => stringWidth(row[at] ?? ''))),
  );
  const shown = howManyFit(widths, options.maxWidth ?? Number.POSITIVE_INFINITY);
  const line = (row: readonly string[]): string =>
    row
      .slice(0, shown)
      .map((cell, at) => pad(cell, widths[at] ?? 0, columns[at]?.align))
      .join(GAP)
      .trimEnd();
  const head = options.head ?? ((text: string) => text);
  const lines = [head(line(titles)), ...cells.map(line)];
  const hidden = columns.length - shown;
  if (hidden > 0) lines.push(`… and ${plural(hidden, 'more column')}`);
  return lines;
}

/** `text` cut to `max` terminal columns, ending in `…` when something was cut off. Never cuts through a character. */
export function shorten(text: string, max: number): string {
  if (stringWidth(text) <= max) return text;
  let kept = '';
  let width = 1;
  for (const { segment } of new Intl.Segmenter('en').segment(text)) {
    width += stringWidth(segment);
    if (width > max) break;
    kept += segment;
  }
  return `${kept}…`;
}

function pad(cell: string, width: number, align: TextColumn['align']): string {
  const space = ' '.repeat(Math.max(0, width - stringWidth(cell)));
  return align === 'right' ? space + cell : cell + space;
}

function howManyFit(widths: readonly number[], maxWidth: number): number {
  let used = -GAP.length;
  let shown = 0;
  for (const width of widths) {
    used += GAP.length + width;
    if (used > maxWidth && shown > 0) break;
    shown++;
  }
  return shown;
}
