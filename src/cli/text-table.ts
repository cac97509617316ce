import stringWidth from 'string-width';

/** A column of a {@link textTable}. */
export interface TextColumn {
  readonly title: string;
  /** Numbers stand right, words left. */
  readonly align?: 'left' | 'right';
}

/** What {@link textTable} takes besides its content. */
export interface TextTableOptions {
  /** Longest a cell may get, in columns of the screen; longer ones end in `…`. */
  readonly maxCell?: number;
  /** Columns that do not fit into this width are left out, from the right; the last line says how many. */
  readonly maxWidth?: number;
  /** Styles the line of titles. */
  readonly head?: (line: string) => string;
}

const GAP = '  ';

/** Lines of text in aligned columns, measured as a terminal shows them: wide letters, emoji and accents included. */
export function textTable(
  columns: readonly TextColumn[],
  rows: readonly (readonly string[])[],
  options: TextTableOptions = {},
): string[] {
  const maxCell = options.maxCell ?? Number.POSITIVE_INFINITY;
  const titles = columns.map(({ title }) => shorten(oneLine(title), maxCell));
  const cells = rows.map((row) => columns.map((_, at) => shorten(oneLine(row[at] ?? ''), maxCell)));
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
  if (hidden > 0) lines.push(`… and ${hidden} more column${hidden === 1 ? '' : 's'}`);
  return lines;
}

/** `text` on one line, without anything that could steer the terminal. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, (found) =>
    found.includes('\u200d') && !/\p{Cc}/u.test(found) ? found : ' ',
  );
}

/** `text` cut to `max` columns of the screen, with `…` where something is missing. Never cuts through a letter. */
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
