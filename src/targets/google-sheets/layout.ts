import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { cellData } from './api/cell-value.ts';
import { type ColumnKey, formMark } from './api/metadata.ts';
import {
  keepsFromHeader,
  keepsFromInsertingColumn,
  type Obstacle,
  openRows,
} from './api/obstacles.ts';
import { ColumnMarker, formatColumns, formatHeaders } from './columns/new-columns.ts';
import { newTab } from './columns/new-tab.ts';
import { freeTabTitle } from './columns/tab-title.ts';
import type { FormState } from '../../mirror/form-state.ts';
import type { Obstructed } from './blocked.ts';
import { headersOf, type SheetField, waitingHeaders } from './fields.ts';
import { blockedHeaders } from './notices.ts';
import { type Columns, headerRowOf, isWithin, type Survey } from './rows.ts';
import type { SheetFile } from './sheet-file.ts';
import type { FormTab, Structure } from './structure.ts';

type Request = sheets_v4.Schema$Request;

/** A form's tab as a commit leaves it. */
export interface LaidOut {
  readonly sheetId: number;
  readonly requests: readonly Request[];
  /** Where the columns are after the requests, and the IDs of the metadata that says so. */
  readonly columns: Columns;
  readonly marks: ReadonlyMap<ColumnKey, number>;
  /** With the headers that are written. */
  readonly fields: readonly SheetField[];
  readonly obstructed: Obstructed;
}

/** The form's tab with a column for each field that has one: what is missing is made, and headers follow labels. */
export async function layOut(
  file: SheetFile,
  { titles, timeZone }: Structure,
  tab: FormTab | undefined,
  { formId, name }: FormState,
  fields: readonly SheetField[],
): Promise<LaidOut> {
  const headers = headersOf(fields);
  const named = fields.map((field) => ({
    ...field,
    header: headers.get(field.column as ColumnKey) ?? null,
  }));
  if (tab === undefined) {
    const keys = orderOf(headers);
    const sheetId = file.newId();
    const marker = new ColumnMarker(sheetId, [], keys, name, () => file.newId());
    const made = newTab(
      {
        sheetId,
        title: freeTabTitle(name, titles),
        formMark: formMark(formId, file.api.spreadsheetId, sheetId),
        place: 0,
        columns: keys.map((key) => ({ key, header: headers.get(key) ?? '' })),
      },
      marker,
    );
    const { columns } = made;
    const requests = [...made.requests, ...headerNotes(sheetId, columns, timeZone)];
    const obstructed = { obstacles: [], columns };
    return { sheetId, requests, columns, marks: new Map(), fields: named, obstructed };
  }
  const missing = [...headers.keys()].filter((key) => !tab.columns.has(key));
  const waiting = waitingHeaders(fields).filter((key) => tab.columns.has(key));
  if (missing.length + waiting.length === 0) {
    const { sheetId, columns, marks } = tab;
    return { sheetId, requests: [], columns, marks, fields: named, obstructed: tab };
  }
  const shown = await file.table(tab);
  const rowIndex = headerRowOf(shown);
  const added = addColumns(file, tab, missing, headers, name, rowIndex);
  const { requests } = added;
  const before = new Map(fields.map((field) => [field.column, field.header]));
  const kept = new Set<string>(added.headless);
  for (const { key } of blockedHeaders(tab, fields, rowIndex)) kept.add(key);
  for (const key of waiting) {
    const old = before.get(key) ?? null;
    // A header that people wrote stays.
    const isOurs = old === null || shown.get(key)?.[rowIndex] === old;
    const columnIndex = added.columns.get(key);
    if (kept.has(key) || !isOurs || columnIndex === undefined || rowIndex < 0) continue;
    const values = [cellData(headers.get(key) ?? '')];
    const start = { sheetId: tab.sheetId, rowIndex, columnIndex };
    requests.push({ updateCells: { start, rows: [{ values }], fields: 'userEnteredValue' } });
  }
  const shownAs = named.map((field, n) =>
    kept.has(field.column ?? '') ? (fields[n] ?? field) : field,
  );
  return { sheetId: tab.sheetId, ...added, fields: shownAs };
}

/** What the headers of a new tab tell who points at them. */
function headerNotes(sheetId: number, columns: Columns, timeZone: string): Request[] {
  const notes: Readonly<Record<string, string>> = {
    's:at':
      `When the form was sent, in the time zone of this spreadsheet (File › Settings; ${timeZone} when this tab was made).\n\n` +
      'The columns from the forms service are kept up to date by forms-mirror: what you change in them is put back. Change answers ' +
      'in the forms service. You may sort, filter, move and rename, and add columns of your own.',
    's:status': 'The status in the forms service. Change it there: what you type here is put back.',
    's:removed':
      'When forms-mirror found that the submission was deleted in the forms service. Its row is gray and stays.',
    's:id': 'Finds the row of each submission. Do not change it.',
  };
  return Object.entries(notes).map(([key, note]) => ({
    updateCells: {
      start: { sheetId, rowIndex: 0, columnIndex: columns.get(key as ColumnKey) ?? 0 },
      rows: [{ values: [{ note }] }],
      fields: 'note',
    },
  }));
}

/** Puts the header row back above the rows that people sorted it into, or makes it again where they deleted it. */
export function planHeader(tab: FormTab, found: Survey, fields: readonly SheetField[]): Request[] {
  const { sheetId, columns, obstacles } = tab;
  const { headerRow, places } = found;
  const top = Math.min(...places.values());
  if (places.size === 0 || (headerRow >= 0 && headerRow < top)) return [];
  // Google moves no row that is protected or merged with another one.
  const isHeld = ({ area }: Obstacle): boolean =>
    isWithin(area, headerRow) || (area.startRow < top && isWithin(area, top));
  if (obstacles.some(isHeld)) return [];
  const dimension = 'ROWS';
  if (headerRow >= 0) {
    const source = { sheetId, dimension, startIndex: headerRow, endIndex: headerRow + 1 };
    return [{ moveDimension: { source, destinationIndex: top } }];
  }
  const headers = headersOf(fields);
  const properties = { sheetId, gridProperties: { frozenRowCount: 1 } };
  return [
    {
      insertDimension: {
        range: { sheetId, dimension, startIndex: 0, endIndex: 1 },
        inheritFromBefore: false,
      },
    },
    ...[...columns].flatMap(([key, at]) =>
      formatHeaders(
        { sheetId, startColumn: at, endColumn: at + 1 },
        [{ header: headers.get(key) ?? '' }],
        0,
      ),
    ),
    { updateSheetProperties: { properties, fields: 'gridProperties.frozenRowCount' } },
  ];
}

/** Own columns as a new tab has them: what people read first, what only the mirror needs last. */
function orderOf(headers: ReadonlyMap<ColumnKey, string>): ColumnKey[] {
  const answers = [...headers.keys()].filter((key) => key.startsWith('f:'));
  return ['s:at', 's:status', ...answers, 's:removed', 's:id'];
}

/**
 * New columns go before those that only the mirror needs, or behind all, where Google does not let them in between. `headerRow`: -1
 * where there is none.
 */
function addColumns(
  file: SheetFile,
  tab: FormTab,
  keys: readonly ColumnKey[],
  headers: ReadonlyMap<ColumnKey, string>,
  formName: string,
  headerRow: number,
): Omit<LaidOut, 'sheetId' | 'fields' | 'requests'> & {
  readonly requests: Request[];
  /** New columns whose header cannot be written. */
  readonly headless: readonly ColumnKey[];
} {
  const { sheetId, columns: old, columnCount, rowCount, marks: known, obstacles } = tab;
  if (keys.length === 0)
    return { requests: [], columns: old, marks: known, obstructed: tab, headless: [] };
  const wanted = old.get('s:removed') ?? old.get('s:id') ?? columnCount;
  const isLast = obstacles.some((one) => keepsFromInsertingColumn(one, wanted));
  const at = isLast ? columnCount : wanted;
  const columns = new Map(
    [...old].map(([key, index]) => [key, index >= at ? index + keys.length : index] as const),
  );
  const there = [...old].map(([mark, index]) => ({ mark, index, metadataId: 0, compact: false }));
  const marker = new ColumnMarker(sheetId, there, keys, formName, () => file.newId());
  const placed = keys.map((key, n) => marker.place(key, at + n));
  const marks = new Map(known);
  const range = { sheetId, dimension: 'COLUMNS', startIndex: at, endIndex: at + keys.length };
  const made = keys.map((key) => ({ key, header: headers.get(key) ?? '' }));
  const over = isLast ? obstacles : [];
  const isHeadless = headerRow < 0 || over.some((one) => keepsFromHeader(one, headerRow, at));
  const requests: Request[] = [
    at >= columnCount
      ? { appendDimension: { sheetId, dimension: 'COLUMNS', length: keys.length } }
      : { insertDimension: { range, inheritFromBefore: false } },
    ...formatColumns(
      sheetId,
      at,
      made,
      isHeadless ? undefined : headerRow,
      openRows(over, at, { top: headerRow + 1, rowCount }),
    ),
    ...placed.map((mark) => marker.request(mark)),
  ];
  for (const [n, key] of keys.entries()) {
    columns.set(key, at + n);
    marks.set(key, placed[n]?.metadataId ?? 0);
  }
  // What lies over a column that moves moves along; nothing lies over one that comes in.
  const obstructed = { obstacles, columns: isLast ? columns : old };
  return { requests, columns, marks, obstructed, headless: isHeadless ? keys : [] };
}
