/** A part of a tab's grid. Indexes count from 0, ends are exclusive; a missing end is the grid's. */
export interface Area {
  readonly startRow: number;
  readonly endRow?: number | undefined;
  readonly startColumn: number;
  readonly endColumn?: number | undefined;
}

/** `A` for 0, `AA` for 26. */
export function columnName(index: number): string {
  let name = '';
  for (let rest = index + 1; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    name = String.fromCharCode(65 + ((rest - 1) % 26)) + name;
  }
  return name;
}

/** 0 for `A`, 26 for `AA`. */
export function columnIndex(name: string): number {
  let index = 0;
  for (const letter of name.toUpperCase()) index = index * 26 + letter.charCodeAt(0) - 64;
  return index - 1;
}

/** A tab's title in A1 notation: in quotes, with quotes in it doubled. */
export const quotedTitle = (title: string): string => `'${title.replaceAll("'", "''")}'`;

/** Some rows of one column, in A1 notation: `'Tab'!C5:C9`. */
export const columnCells = (
  title: string,
  column: number,
  startRow: number,
  endRow: number,
): string => areaText(title, { startRow, endRow, startColumn: column, endColumn: column + 1 });

/** A bounded area in A1 notation. */
export function areaText(
  title: string,
  area: { startRow: number; endRow: number; startColumn: number; endColumn: number },
): string {
  const from = `${columnName(area.startColumn)}${area.startRow + 1}`;
  const to = `${columnName(area.endColumn - 1)}${area.endRow}`;
  return `${quotedTitle(title)}!${from}:${to}`;
}

/** One whole row in A1 notation: `'Tab'!3:3`. */
export const wholeRow = (title: string, row: number): string =>
  `${quotedTitle(title)}!${row + 1}:${row + 1}`;

/** Where a range that Google answered begins and ends. Undefined for anything else, such as a bare title. */
export function parseRange(range: string): Area | undefined {
  const cells = range.slice(range.lastIndexOf('!') + 1);
  const match = /^\$?([A-Z]*)\$?(\d*)(?::\$?([A-Z]*)\$?(\d*))?$/i.exec(cells);
  if (match === null || cells === '') return undefined;
  const [, fromColumn = '', fromRow = '', toColumn, toRow] = match;
  const single = toColumn === undefined;
  const endColumn = single ? fromColumn : toColumn;
  const endRow = single ? fromRow : (toRow ?? '');
  return {
    startRow: fromRow === '' ? 0 : Number(fromRow) - 1,
    endRow: endRow === '' ? undefined : Number(endRow),
    startColumn: fromColumn === '' ? 0 : columnIndex(fromColumn),
    endColumn: endColumn === '' ? undefined : columnIndex(endColumn) + 1,
  };
}

/** Consecutive numbers as half-open spans; numbers at most `gap` apart share one. `numbers` must be ascending. */
export function spansOf(numbers: readonly number[], gap = 0): { start: number; end: number }[] {
  const spans: { start: number; end: number }[] = [];
  for (const number of numbers) {
    const last = spans.at(-1);
    if (last !== undefined && number <= last.end + gap) last.end = Math.max(last.end, number + 1);
    else spans.push({ start: number, end: number + 1 });
  }
  return spans;
}
