import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { invalid } from './api-error.ts';
import { pairedColor } from './banding.ts';
import { boundsOf } from './document.ts';
import { guard, type Edit } from './edit.ts';
import { merge, touches, updateMask } from './field-mask.ts';
import type { Area, Sheet, Table, TableColumn } from './sheet.ts';
import {
  fillDefaults,
  findTableById,
  hasFooter,
  meets,
  replaceTable,
  settleTables,
  tableArea,
  tableBody,
  tableResource,
  withArea,
} from './tables.ts';

type Columns = readonly sheets_v4.Schema$TableColumnProperties[];
type Rows = sheets_v4.Schema$TableRowsProperties;

/** The colours of a table that names none. */
const DEFAULT_ROWS: Rows = {
  headerColorStyle: {
    rgbColor: { red: 0.20784314, green: 0.40784314, blue: 0.32941177 },
  },
  firstBandColorStyle: { rgbColor: { red: 1, green: 1, blue: 1 } },
  secondBandColorStyle: { rgbColor: { red: 0.9647059, green: 0.972549, blue: 0.9764706 } },
};

function storedRows(rows: Rows): Rows {
  return Object.fromEntries(
    Object.entries(rows).flatMap(([name, color]) =>
      color === null || color === undefined ? [] : [[name, pairedColor(color)]],
    ),
  );
}

/** Throws where a table may not lie. Google's own words for it are not known but for alternating colours. */
function checkPlace(sheet: Sheet, area: Area, own: string | undefined): void {
  const areaOf = (range: sheets_v4.Schema$GridRange | undefined): Area =>
    sheet.areaOf(boundsOf(range));
  const { tables, bandedRanges, merges, basicFilter } = sheet.overlays;
  if (tables.some((table) => table.id !== own && meets(tableArea(table), area))) {
    throw invalid('You cannot add a table to a range that overlaps an existing table.');
  }
  if (bandedRanges.some(({ range }) => meets(areaOf(range), area))) {
    throw invalid(
      'You cannot add a table to a range that already has alternating background colors.',
    );
  }
  if (merges.some((range) => meets(areaOf(range), area))) {
    throw invalid('You cannot add a table to a range that has merged cells.');
  }
  if (basicFilter !== undefined && meets(areaOf(basicFilter.range), area)) {
    throw invalid('You cannot add a table to a range that has a filter.');
  }
}

/** The first two messages are Google's, as seen; the others are ours. */
function checkColumns(columns: Columns, width: number): void {
  const seen = new Set<number>();
  for (const { columnIndex, columnType, dataValidationRule } of columns) {
    const index = columnIndex ?? 0;
    const condition = dataValidationRule?.condition;
    if (columnType === 'DROPDOWN' && !condition) {
      throw invalid('Condition must be set for dropdown column type.');
    }
    if (columnType !== 'DROPDOWN' && dataValidationRule) {
      throw invalid('Cannot set condition for non-dropdown column type.');
    }
    if (condition && condition.type !== 'ONE_OF_LIST') {
      throw invalid('The condition of a dropdown column must be ONE_OF_LIST.');
    }
    if (index < 0 || index >= width) throw invalid(`Column index ${index} is not in the table.`);
    if (seen.has(index)) throw invalid(`Column index ${index} is given twice.`);
    seen.add(index);
  }
}

function checkName(edit: Edit, name: string, own: string | undefined): void {
  const taken = edit.document.sheets
    .flatMap((sheet) => sheet.overlays.tables)
    .some((table) => table.id !== own && table.name.toLowerCase() === name.toLowerCase());
  if (taken) throw invalid(`A table with the name "${name}" already exists.`);
}

function freeName(edit: Edit): string {
  const taken = new Set(
    edit.document.sheets.flatMap((sheet) =>
      sheet.overlays.tables.map(({ name }) => name.toLowerCase()),
    ),
  );
  for (let number = 1; ; number++) if (!taken.has(`table${number}`)) return `Table${number}`;
}

/**
 * Columns as a request gives them: the list is replaced as a whole, so that one that it leaves out loses its type and
 * keeps the text of its header for a name (so it was seen). A name that is sent is written into the header cell.
 */
function putColumns(sheet: Sheet, table: Table, given: Columns): Table {
  const { top, left, bottom } = tableArea(table);
  const columns: TableColumn[] = table.columns.map(() => ({}));
  for (const { columnIndex, columnType, columnName, dataValidationRule } of given) {
    const index = columnIndex ?? 0;
    const typed = columnType && columnType !== 'COLUMN_TYPE_UNSPECIFIED';
    columns[index] = {
      ...(typed && { type: columnType }),
      ...(dataValidationRule && { rule: dataValidationRule }),
    };
    sheet.editRow(top, (row) => row.content(left + index, columnName ?? ''));
  }
  const fresh = { ...table, columns };
  replaceTable(sheet, fresh);
  emptyCheckboxes(sheet, fresh);
  fillDefaults(sheet, fresh, top, bottom);
  settleTables([sheet]);
  return fresh;
}

/** A column of checkboxes knows TRUE and FALSE: texts in it were seen to become FALSE, the text TRUE too. */
function emptyCheckboxes(sheet: Sheet, table: Table): void {
  const body = tableBody(table);
  for (const [offset, { type }] of table.columns.entries()) {
    if (type !== 'BOOLEAN') continue;
    for (let index = body.top; index < body.bottom; index++) {
      const { content } = sheet.cell(index, body.left + offset);
      if (content === null || typeof content === 'boolean') continue;
      sheet.editRow(index, (row) => row.content(body.left + offset, false));
    }
  }
}

/** The first row of a tab is frozen once it is the header of a table (so it was seen; of other rows nothing is known). */
function freezeHeader(sheet: Sheet, { top }: Area): void {
  const { frozenRowCount = 0 } = sheet.properties;
  if (top > 0 || frozenRowCount > 0 || sheet.rowCount < 2) return;
  sheet.properties = { ...sheet.properties, frozenRowCount: 1 };
}

/** addTable. */
export function addTable(
  edit: Edit,
  request: sheets_v4.Schema$AddTableRequest,
): sheets_v4.Schema$Response {
  const given = request.table ?? {};
  if (!given.range) throw invalid('Must specify a range for the table.');
  const sheet = edit.document.grid(given.range.sheetId);
  const area = sheet.areaOf(boundsOf(given.range));
  guard(edit, sheet, area);
  checkPlace(sheet, area, undefined);
  const id = given.tableId ?? String(edit.nextId());
  if (findTableById(edit, id)) throw invalid(`A table with ID ${id} already exists.`);
  const name = given.name ?? freeName(edit);
  checkName(edit, name, undefined);
  const columns = given.columnProperties ?? [];
  checkColumns(columns, area.right - area.left);
  const bare: Table = {
    id,
    name,
    range: sheet.id === 0 ? {} : { sheetId: sheet.id },
    columns: Array.from({ length: area.right - area.left }, () => ({})),
    rowsProperties: storedRows(given.rowsProperties ?? DEFAULT_ROWS),
  };
  const table = withArea(bare, area);
  sheet.overlays = { ...sheet.overlays, tables: [...sheet.overlays.tables, table] };
  const fresh = putColumns(sheet, table, columns);
  freezeHeader(sheet, area);
  return { addTable: { table: tableResource(sheet, fresh) } };
}

/** The table over another range: columns that stay in it keep their types. */
function resized(edit: Edit, sheet: Sheet, table: Table, range: Table['range'] | undefined): Table {
  if (edit.document.grid(range?.sheetId) !== sheet) {
    throw invalid('A table cannot be moved to another sheet.');
  }
  const [old, area] = [tableArea(table), sheet.areaOf(boundsOf(range))];
  guard(edit, sheet, area);
  checkPlace(sheet, area, table.id);
  const columns = Array.from(
    { length: area.right - area.left },
    (_, offset): TableColumn => table.columns[area.left + offset - old.left] ?? {},
  );
  return { ...withArea(table, area), columns };
}

/** updateTable. A footer that comes or goes makes the table a row taller or shorter, as the discovery document says. */
export function updateTable(edit: Edit, request: sheets_v4.Schema$UpdateTableRequest): undefined {
  const mask = updateMask(request.fields);
  const given = request.table ?? {};
  const found = findTableById(edit, given.tableId);
  if (found === undefined) throw invalid(`No table with id: ${given.tableId ?? ''}`);
  const { sheet } = found;
  let { table } = found;
  if (touches(mask, 'name')) {
    checkName(edit, given.name ?? '', table.id);
    table = { ...table, name: given.name ?? freeName(edit) };
  }
  if (touches(mask, 'range')) table = resized(edit, sheet, table, given.range ?? undefined);
  if (touches(mask, 'rowsProperties')) {
    const before = { rowsProperties: table.rowsProperties ?? {} };
    const { rowsProperties } = merge(before, { rowsProperties: given.rowsProperties }, mask);
    const rows = storedRows(rowsProperties ?? DEFAULT_ROWS);
    const change = Number(hasFooter({ rowsProperties: rows })) - Number(hasFooter(table));
    const area = tableArea(table);
    const taller = { ...area, bottom: area.bottom + change };
    if (change > 0) checkPlace(sheet, taller, table.id);
    table = { ...withArea(table, taller), rowsProperties: rows };
  }
  replaceTable(sheet, table);
  if (touches(mask, 'columnProperties')) {
    const columns = given.columnProperties ?? [];
    checkColumns(columns, table.columns.length);
    if (columns.some(({ columnName }) => !columnName)) {
      throw invalid('Table header row cell must have a value.');
    }
    putColumns(sheet, table, columns);
  }
  return undefined;
}

/** deleteTable: the table goes, its cells stay. */
export function deleteTable(edit: Edit, request: sheets_v4.Schema$DeleteTableRequest): undefined {
  const found = findTableById(edit, request.tableId);
  if (found === undefined) throw invalid(`No table with id: ${request.tableId ?? ''}`);
  const { sheet, table } = found;
  const tables = sheet.overlays.tables.filter((one) => one !== table);
  sheet.overlays = { ...sheet.overlays, tables };
  return undefined;
}

/** Throws when a range that is to be merged lies in a table; Google's words for it are not known. */
export function refuseInTable(sheet: Sheet, area: Area): void {
  if (sheet.overlays.tables.some((table) => meets(tableArea(table), area))) {
    throw invalid('You cannot merge cells of a table.');
  }
}
