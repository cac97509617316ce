import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { columnLetters, formatA1, type Bounds } from './a1.ts';
import { exceedsGrid, invalid } from './api-error.ts';
import { guard, putContent, type Edit } from './edit.ts';
import { localeOf } from './locale.ts';
import { civilOf, serialOfInstant } from './serial-date.ts';
import type { Area, Sheet } from './sheet.ts';
import { typeIn, type Typed } from './typed-input.ts';

/** The outcome of writing one range. */
export interface Written {
  readonly sheet: Sheet;
  readonly area: Area;
  /** Rows and columns in which something was written; nulls do not count. */
  readonly rows: ReadonlySet<number>;
  readonly columns: ReadonlySet<number>;
  readonly cells: number;
}

/** `valueInputOption` of values.*. */
export type InputOption = 'RAW' | 'USER_ENTERED';

/** Reads `valueInputOption`. Throws Google's complaint when it is missing. */
export function inputOption(option: string | null | undefined): InputOption {
  if (option === 'RAW' || option === 'USER_ENTERED') return option;
  if (option === null || option === undefined || option === 'INPUT_VALUE_OPTION_UNSPECIFIED') {
    throw invalid("'valueInputOption' is required but not specified");
  }
  throw invalid(
    `Invalid value at 'value_input_option' (type.googleapis.com/google.apps.sheets.v4.ValueInputOption), "${option}"`,
  );
}

/** The values of a request row by row. */
export function valueRows(
  values: readonly unknown[][] | null | undefined,
  majorDimension: string | null | undefined,
): readonly (readonly unknown[])[] {
  const lists = values ?? [];
  if (majorDimension !== 'COLUMNS') return lists;
  const height = lists.reduce((most, list) => Math.max(most, list.length), 0);
  return Array.from({ length: height }, (_, row) => lists.map((list) => list[row] ?? null));
}

/** The area to write. A range of one cell is only a start; a larger one must hold them all. */
export function writableArea(
  sheet: Sheet,
  bounds: Bounds,
  rows: readonly (readonly unknown[])[],
): Area {
  const { rowCount, columnCount } = sheet;
  const height = rows.length;
  const width = rows.reduce((most, row) => Math.max(most, row.length), 0);
  const [top, left] = [bounds.startRowIndex ?? 0, bounds.startColumnIndex ?? 0];
  const [bottom, right] = [bounds.endRowIndex ?? rowCount, bounds.endColumnIndex ?? columnCount];
  const oneCell = bottom === top + 1 && right === left + 1;
  const named = { top, left, bottom: Math.max(bottom, top + 1), right: Math.max(right, left + 1) };
  if (top >= rowCount || left >= columnCount || bottom > rowCount || right > columnCount) {
    throw exceedsGrid(formatA1(sheet.properties.title, named), rowCount, columnCount);
  }
  const end = oneCell ? { row: rowCount, column: columnCount } : { row: bottom, column: right };
  const area = { top, left, bottom: top + height, right: left + width };
  if (oneCell && (area.bottom > end.row || area.right > end.column)) {
    throw exceedsGrid(formatA1(sheet.properties.title, area), rowCount, columnCount);
  }
  const within = `Requested writing within range [${formatA1(sheet.properties.title, named)}]`;
  if (area.bottom > end.row) throw invalid(`${within}, but tried writing to row [${end.row + 1}]`);
  if (area.right > end.column) {
    throw invalid(`${within}, but tried writing to column [${columnLetters(end.column)}]`);
  }
  return area;
}

/** Reads one value of a request; undefined for null, which does not change the cell. */
class ValueTaker {
  readonly #edit: Edit;
  readonly #option: InputOption;
  readonly #year: number;

  constructor(edit: Edit, option: InputOption) {
    this.#edit = edit;
    this.#option = option;
    this.#year = civilOf(serialOfInstant(edit.nowMs, edit.document.properties.timeZone)).year;
  }

  take(value: unknown, place: string, plainText: boolean): Typed | undefined {
    if (value === null || value === undefined) return undefined;
    if (typeof value === 'number' || typeof value === 'boolean') return { content: value };
    if (typeof value === 'object') {
      const kind = Array.isArray(value) ? 'list_value' : 'struct_value';
      throw invalid(`Invalid values${place}: ${kind} { }`);
    }
    const text = typeof value === 'string' ? value : '';
    if (this.#option === 'RAW' || plainText || text === '') return { content: text };
    return typeIn(text, localeOf(this.#edit.document.properties.locale), this.#year);
  }
}

/** Writes values from the top left of `area`. `null` does not change a cell, `""` clears it, formats stay. */
export function putValues(
  edit: Edit,
  sheet: Sheet,
  area: Area,
  rows: readonly (readonly unknown[])[],
  option: InputOption,
): Written {
  const taker = new ValueTaker(edit, option);
  if (area.bottom > area.top && area.right > area.left) guard(edit, sheet, area);
  const [writtenRows, writtenColumns] = [new Set<number>(), new Set<number>()];
  let cells = 0;
  for (const [offset, values] of rows.entries()) {
    const index = area.top + offset;
    const cellStyles = sheet.row(index)?.style.cellStyles;
    sheet.editRow(index, (row) => {
      for (const [at, value] of values.entries()) {
        const column = area.left + at;
        const cellStyle = cellStyles?.[column];
        const plainText = cellStyle?.format?.numberFormat?.type === 'TEXT';
        const typed = taker.take(value, `[${offset}][${at}]`, plainText);
        if (typed === undefined) continue;
        putContent(sheet, row, column, typed.content);
        cells++;
        writtenRows.add(index);
        writtenColumns.add(column);
        if (typed.format === undefined) continue;
        // A typed date or amount brings its own format along, over one that a person chose.
        const format = { ...cellStyle?.format, numberFormat: typed.format };
        row.cellStyle(column, edit.cellStyles.intern({ ...cellStyle, format }));
      }
    });
  }
  return { sheet, area, rows: writtenRows, columns: writtenColumns, cells };
}

/** As UpdateValuesResponse gives it. */
export function updateResponse(
  spreadsheetId: string,
  written: Written,
): sheets_v4.Schema$UpdateValuesResponse {
  const { sheet, area, rows, columns, cells } = written;
  const shown = {
    ...area,
    bottom: Math.max(area.bottom, area.top + 1),
    right: Math.max(area.right, area.left + 1),
  };
  return {
    spreadsheetId,
    updatedRange: formatA1(sheet.properties.title, shown),
    ...(cells > 0 && {
      updatedRows: rows.size,
      updatedColumns: columns.size,
      updatedCells: cells,
    }),
  };
}
