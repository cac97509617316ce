import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { ApiError } from './api-error.ts';
import { Formula, type Content } from './cell.ts';
import type { Edit } from './edit.ts';
import type { Dimension } from './dimensions.ts';
import type { Remap } from './remap.ts';
import type { Area, Sheet, Table, TableColumn } from './sheet.ts';

/** The cells of a table, header and footer included. */
export function tableArea({ range }: Pick<Table, 'range'>): Area {
  return {
    top: range.startRowIndex ?? 0,
    bottom: range.endRowIndex ?? 0,
    left: range.startColumnIndex ?? 0,
    right: range.endColumnIndex ?? 0,
  };
}

/** True when the last row of a table is its footer: it has a colour of its own then. */
export const hasFooter = ({ rowsProperties }: Pick<Table, 'rowsProperties'>): boolean =>
  rowsProperties?.footerColorStyle !== undefined;

/** The rows of a table between its header and its footer. */
export function tableBody(table: Table): Area {
  const area = tableArea(table);
  return { ...area, top: area.top + 1, bottom: area.bottom - (hasFooter(table) ? 1 : 0) };
}

/** True when two areas share a cell. */
export const meets = (a: Area, b: Area): boolean =>
  a.top < b.bottom && b.top < a.bottom && a.left < b.right && b.left < a.right;

/** The same table over another area. */
export const withArea = (table: Table, area: Area): Table => ({
  ...table,
  range: {
    ...table.range,
    startRowIndex: area.top,
    endRowIndex: area.bottom,
    startColumnIndex: area.left,
    endColumnIndex: area.right,
  },
});

/** Puts a table in place of the one with its ID. */
export function replaceTable(sheet: Sheet, table: Table): void {
  const tables = sheet.overlays.tables.map((one) => (one.id === table.id ? table : one));
  sheet.overlays = { ...sheet.overlays, tables };
}

/**
 * Tables after rows or columns moved: they follow as ranges do, and columns take their types along. Throws 501 where the
 * header row would leave its table: Sheets' menus don't offer that, and what the API answers is not known.
 */
export function remapTables(
  tables: readonly Table[],
  dimension: Dimension,
  remap: Remap,
): readonly Table[] {
  return tables.flatMap((table) => {
    const area = tableArea(table);
    const [start, end] = dimension === 'ROWS' ? [area.top, area.bottom] : [area.left, area.right];
    const span = remap.span(start, end);
    if (span === undefined) return [];
    if (dimension === 'ROWS') {
      if (remap.index(start) !== span[0]) {
        const message = 'The Google Sheets emulator does not take the header row from a table.';
        throw new ApiError('UNIMPLEMENTED', message);
      }
      return [withArea(table, { ...area, top: span[0], bottom: span[1] })];
    }
    const columns: TableColumn[] = Array.from({ length: span[1] - span[0] }, () => ({}));
    for (const [offset, column] of table.columns.entries()) {
      const now = remap.index(start + offset);
      if (now !== undefined && now >= span[0] && now < span[1]) columns[now - span[0]] = column;
    }
    return [{ ...withArea(table, { ...area, left: span[0], right: span[1] }), columns }];
  });
}

/** The name of a column that has no text for one: so Google was seen to name it. */
const defaultName = (offset: number): string => `Column ${offset + 1}`;

const textOf = (content: Content): string =>
  content === null || content instanceof Formula ? '' : String(content);

/** The names of a table's columns: the texts of its header cells, once {@link settleTables} has seen to them. */
export function columnNames(sheet: Sheet, table: Table): string[] {
  const { top, left } = tableArea(table);
  return table.columns.map((_, offset) => textOf(sheet.cell(top, left + offset).content));
}

/**
 * Gives every column of every table a name, and no two the same one: a formula or nothing in a header cell makes way for
 * "Column 2", as Google was seen to do. What Google does with a name that another column has is not known; here the later
 * one gets a number.
 */
export function settleTables(sheets: readonly Sheet[]): void {
  for (const sheet of sheets) {
    for (const table of sheet.overlays.tables) settleHeader(sheet, table);
  }
}

function settleHeader(sheet: Sheet, table: Table): void {
  const { top, left } = tableArea(table);
  const names = columnNames(sheet, table);
  const taken = new Set<string>();
  const settled = names.map((text, offset) => {
    const base = text === '' ? defaultName(offset) : text;
    let name = base;
    for (let number = 2; taken.has(name.toLowerCase()); number++) name = `${base} ${number}`;
    taken.add(name.toLowerCase());
    return name;
  });
  if (settled.every((name, offset) => name === names[offset])) return;
  sheet.editRow(top, (row) => {
    for (const [offset, name] of settled.entries()) {
      if (name !== names[offset]) row.content(left + offset, name);
    }
  });
}

/** What an empty cell of a typed column holds: "fill in default values of 0 and FALSE" (Google's guide to tables). */
const DEFAULTS: Readonly<Record<string, Content>> = { BOOLEAN: false, RATINGS_CHIP: 0 };

/** Fills the empty cells of some rows of a table whose columns have a default. */
export function fillDefaults(sheet: Sheet, table: Table, top: number, bottom: number): void {
  const { left } = tableArea(table);
  const body = tableBody(table);
  for (const [offset, { type }] of table.columns.entries()) {
    const content = DEFAULTS[type ?? ''];
    if (content === undefined) continue;
    for (let index = Math.max(top, body.top); index < Math.min(bottom, body.bottom); index++) {
      if (sheet.cell(index, left + offset).content !== null) continue;
      sheet.editRow(index, (row) => row.content(left + offset, content));
    }
  }
}

/** Empty rows came in from `top` on: those that lie in a table get its defaults. */
export function fillInserted(sheet: Sheet, top: number, count: number): void {
  for (const table of sheet.overlays.tables) fillDefaults(sheet, table, top, top + count);
}

/** A table takes in the rows that were just appended right below it, if they lie in its columns. */
export function growTables(sheet: Sheet, appended: Area): void {
  for (const table of sheet.overlays.tables) {
    const area = tableArea(table);
    const isBelow = area.bottom === appended.top && appended.bottom > appended.top;
    if (!isBelow || hasFooter(table)) continue;
    if (appended.left < area.left || appended.left >= area.right) continue;
    const grown = withArea(table, { ...area, bottom: appended.bottom });
    replaceTable(sheet, grown);
    fillDefaults(sheet, grown, appended.top, appended.bottom);
  }
}

/** The table with this ID and its tab. */
export function findTableById(
  edit: Pick<Edit, 'document'>,
  id: string | null | undefined,
): { sheet: Sheet; table: Table } | undefined {
  for (const sheet of edit.document.sheets) {
    const table = sheet.overlays.tables.find((one) => one.id === id);
    if (table !== undefined) return { sheet, table };
  }
  return undefined;
}

/** A table as the API answers it. */
export function tableResource(sheet: Sheet, table: Table): sheets_v4.Schema$Table {
  const names = columnNames(sheet, table);
  return {
    tableId: table.id,
    name: table.name,
    range: table.range,
    ...(table.rowsProperties && { rowsProperties: table.rowsProperties }),
    columnProperties: table.columns.map(({ type, rule }, offset) => ({
      ...(offset > 0 && { columnIndex: offset }),
      columnName: names[offset] ?? '',
      ...(type !== undefined && { columnType: type }),
      ...(rule !== undefined && { dataValidationRule: rule }),
    })),
  };
}

/** Types whose values are numbers to a grid. */
const NUMERIC = new Set([
  'DOUBLE',
  'CURRENCY',
  'PERCENT',
  'DATE',
  'TIME',
  'DATE_TIME',
  'RATINGS_CHIP',
]);

/** True for content that its column's type does not let through: Sheets marks it, and takes it from programs. */
export function isMisfit(table: Table, row: number, column: number, content: Content): boolean {
  const body = tableBody(table);
  const inside = meets(body, { top: row, bottom: row + 1, left: column, right: column + 1 });
  if (!inside || content === null || content instanceof Formula) return false;
  const { type = '', rule } = table.columns[column - body.left] ?? {};
  if (NUMERIC.has(type)) return typeof content !== 'number';
  if (type === 'BOOLEAN') return typeof content !== 'boolean';
  if (type !== 'DROPDOWN') return false;
  const choices = rule?.condition?.values ?? [];
  return !choices.some((choice) => choice.userEnteredValue === String(content));
}
