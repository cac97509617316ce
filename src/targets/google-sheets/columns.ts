import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { FormState } from '../../mirror/form-state.ts';
import type { STATUSES } from '../../mirror/types.ts';
import { columnName } from './api/a1.ts';
import {
  BODY_FORMAT,
  columnWidth,
  FAINT,
  growBy,
  TONES,
  warnBeforeEdits,
} from './api/formatting.ts';
import { type ColumnKey, createMetadata, METADATA_KEYS, tabMark } from './api/metadata.ts';
import { headersOf, type SheetField, waitingHeaders } from './fields.ts';
import {
  isWithin,
  keepsFrom,
  keepsFromInsertingColumn,
  type Obstacle,
  type Obstructed,
  split,
} from './obstacles.ts';
import { formatOf, isOwn, OWN } from './own-columns.ts';
import { type Columns, headerRowOf, type Survey, writeRow } from './rows.ts';
import { freeTabTitle, type SheetFile } from './sheet-file.ts';
import type { FormTab, Structure } from './structure.ts';
import type { WrittenRow } from './sweep.ts';

/* The tab of a form and its columns. They are made once; from then on, people decide how they look. */

type Request = sheets_v4.Schema$Request;
type Headers = ReadonlyMap<ColumnKey, string>;

/** A form's tab as a commit leaves it. */
export interface LaidOut {
  readonly sheetId: number;
  readonly requests: readonly Request[];
  /** Where the columns are after the requests. */
  readonly columns: Columns;
  /** With the headers that are written. */
  readonly fields: readonly SheetField[];
  readonly obstructed: Obstructed;
  /** The headers that are written; null if none are, or if the tab is new. */
  readonly header: WrittenRow | null;
}

/** The form's tab with a column for each field that has one: makes missing ones, and updates headers to the labels. */
export async function layOut(
  file: SheetFile,
  structure: Structure,
  tab: FormTab | undefined,
  state: FormState,
  fields: readonly SheetField[],
): Promise<LaidOut> {
  const headers = headersOf(fields);
  const named = (kept: ReadonlySet<ColumnKey> = new Set()): readonly SheetField[] =>
    fields.map((field) =>
      field.column === null || kept.has(field.column)
        ? field
        : { ...field, header: headers.get(field.column) ?? null },
    );
  if (tab === undefined)
    return { ...newTab(file, structure, state, headers), fields: named(), header: null };
  const { sheetId, obstacles } = tab;
  const missing = [...headers.keys()].filter((key) => !tab.columns.has(key));
  const waiting = waitingHeaders(fields).filter((key) => tab.columns.has(key));
  if (missing.length + waiting.length === 0) {
    const { columns } = tab;
    return { sheetId, requests: [], columns, fields, obstructed: tab, header: null };
  }
  const shown = await file.table(tab);
  const headerRow = headerRowOf(shown);
  const added = addColumns(tab, missing, headers, headerRow);
  const before = new Map(fields.map((field) => [field.column, field.header]));
  const [fresh, changed] = [new Map<ColumnKey, string>(), new Map<ColumnKey, string>()];
  /** Headers that keep their text until they can be written; the Mirror tab has the current one. */
  const kept = new Set<ColumnKey>();
  for (const key of [...missing, ...waiting]) {
    const column = tab.columns.get(key) ?? added.above;
    const old = before.get(key) ?? null;
    const now = shown.get(key)?.[headerRow] ?? '';
    if (headerRow < 0 || obstacles.some((one) => keepsFrom(one, headerRow, column))) kept.add(key);
    else if (now === '') fresh.set(key, headers.get(key) ?? '');
    // A header that people wrote stays.
    else if (old === null || old === now) changed.set(key, headers.get(key) ?? '');
  }
  const values = new Map([...fresh, ...changed]);
  const headerId = String(shown.get('s:id')?.[headerRow] ?? '');
  return {
    sheetId,
    requests: [
      ...added.requests,
      ...colorRules(sheetId, added.columns, missing),
      ...writeRow(sheetId, headerRow, fresh, added.columns, true),
      ...headerNotes(
        sheetId,
        headerRow,
        added.columns,
        missing.filter((key) => fresh.has(key)),
      ),
      ...writeRow(sheetId, headerRow, changed, added.columns),
    ],
    columns: added.columns,
    obstructed: added.obstructed,
    fields: named(kept),
    header: values.size > 0 ? { id: headerId, values } : null,
  };
}

/**
 * New columns go before those that only the mirror needs, or at the end if Google does not allow an insertion there. `headerRow`:
 * -1 if there is none.
 */
function addColumns(
  tab: FormTab,
  keys: readonly ColumnKey[],
  headers: Headers,
  headerRow: number,
): Pick<LaidOut, 'columns' | 'obstructed' | 'requests'> & {
  /** A column of the current tab with the obstacles of the new ones. */
  readonly above: number;
} {
  const { sheetId, columns: old, columnCount, obstacles } = tab;
  const none = { requests: [], columns: old, obstructed: tab, above: 0 };
  if (keys.length === 0) return none;
  const wanted = old.get('s:removed') ?? old.get('s:id') ?? columnCount;
  const isLast = obstacles.some((one) => keepsFromInsertingColumn(one, wanted));
  const at = isLast ? columnCount : wanted;
  const columns = new Map(
    [...old].map(([key, index]) => [key, index >= at ? index + keys.length : index] as const),
  );
  for (const [n, key] of keys.entries()) columns.set(key, at + n);
  const range = { sheetId, dimension: 'COLUMNS', startIndex: at, endIndex: at + keys.length };
  return {
    requests: [
      ...(at >= columnCount
        ? growBy(sheetId, 'COLUMNS', keys.length)
        : [{ insertDimension: { range, inheritFromBefore: false } }]),
      // Rows in between may be protected. Then the column keeps Google's own format.
      ...(isLast ? [] : formatBodies(sheetId, at, keys, headerRow + 1)),
      ...setUp(sheetId, at, keys, headers),
    ],
    columns,
    // A filter or table over a column moves with it; a new column has none.
    obstructed: { obstacles, columns: isLast ? columns : old },
    // A protection that ends before a new column does not reach it.
    above: isLast ? at : -1,
  };
}

/** Moves the header row back above the rows that people sorted it into, or makes it again if they deleted it. */
export function planHeader(tab: FormTab, found: Survey, fields: readonly SheetField[]): Request[] {
  const { sheetId, columns, obstacles } = tab;
  const { headerRow, places } = found;
  const top = Math.min(...places.values());
  if (headerRow >= 0 && headerRow < top) return [];
  // Google does not move a row that is protected or merged with another one.
  const isHeld = ({ area }: Obstacle): boolean =>
    isWithin(area, headerRow) || (area.startRow < top && isWithin(area, top));
  if (obstacles.some(isHeld)) return [];
  const dimension = 'ROWS';
  if (headerRow >= 0) {
    const source = { sheetId, dimension, startIndex: headerRow, endIndex: headerRow + 1 };
    return [{ moveDimension: { source, destinationIndex: top } }];
  }
  const { free } = split(tab, 0, headersOf(fields));
  // Without one of these, the row would not be recognized as the header.
  if (!(['s:id', 's:status'] as const).some((key) => columns.has(key) && free.has(key))) return [];
  const range = { sheetId, dimension, startIndex: 0, endIndex: 1 };
  const properties = { sheetId, gridProperties: { frozenRowCount: 1 } };
  return [
    { insertDimension: { range, inheritFromBefore: false } },
    ...writeRow(sheetId, 0, free, columns, true),
    ...headerNotes(sheetId, 0, columns, [...free.keys()]),
    { updateSheetProperties: { properties, fields: 'gridProperties.frozenRowCount' } },
  ];
}

/** Height of a row of one line, in pixels: Google's own. Rows that are inserted later have it, too. */
const ROW_HEIGHT = 21;
/** Empty columns to the right of ours, for people. */
const SPARE_COLUMNS = 4;
/** Empty rows below the last row of a tab. There is always one, because an insertion must not reach past the end of the grid. */
const SPARE_ROWS = 20;

/**
 * Makes a form's tab: a header that is frozen, bold, with a filter, and guarded by a warning; rows of one height; dates shown as
 * dates; sensible widths; colored statuses; removed submissions in gray.
 */
function newTab(
  file: SheetFile,
  { titles }: Structure,
  { formId, name }: FormState,
  headers: Headers,
): Omit<LaidOut, 'fields' | 'header'> {
  const sheetId = file.newId();
  const answers = [...headers.keys()].filter((key) => key.startsWith('f:'));
  // In the order in which people read; columns that only the mirror needs come last.
  const keys: ColumnKey[] = ['s:at', 's:status', ...answers, 's:removed', 's:id'];
  const columns = new Map(keys.map((key, index) => [key, index]));
  const gridProperties = {
    rowCount: 1 + SPARE_ROWS,
    columnCount: keys.length + SPARE_COLUMNS,
    frozenRowCount: 1,
  };
  const properties = { sheetId, title: freeTabTitle(name, titles), index: 0, gridProperties };
  const mark = tabMark(formId, sheetId);
  const requests: Request[] = [
    { addSheet: { properties } },
    ...formatBodies(sheetId, 0, keys, 1),
    ...setUp(sheetId, 0, keys, headers),
    ...writeRow(sheetId, 0, headers, columns, true),
    {
      updateDimensionProperties: {
        range: { sheetId, dimension: 'ROWS', startIndex: 1 },
        properties: { pixelSize: ROW_HEIGHT },
        fields: 'pixelSize',
      },
    },
    // Over the whole grid, including people's columns, so that sorting moves their notes along. New rows are inserted above the
    // spare ones, and so inside it.
    { setBasicFilter: { filter: { range: { sheetId, startRowIndex: 0 } } } },
    warnBeforeEdits(
      { sheetId, startRowIndex: 0, endRowIndex: 1 },
      'Headers of forms-mirror. You may rename, move and hide columns; new answers find them all the same.',
    ),
    ...colorRules(sheetId, columns, keys),
    createMetadata({ sheetId }, METADATA_KEYS.form, mark),
    ...headerNotes(sheetId, 0, columns, keys),
  ];
  return { sheetId, requests, columns, obstructed: { obstacles: [], columns } };
}

/** Formats adjacent columns, from a row on. */
const formatBodies = (
  sheetId: number,
  at: number,
  keys: readonly ColumnKey[],
  startRowIndex: number,
): Request[] =>
  keys.map((key, n) => ({
    repeatCell: {
      range: { sheetId, startRowIndex, startColumnIndex: at + n, endColumnIndex: at + n + 1 },
      cell: { userEnteredFormat: formatOf(key) },
      fields: BODY_FIELDS,
    },
  }));

/** The parts of a format to set. A part without a value is cleared. */
const BODY_FIELDS = [
  ...Object.keys(BODY_FORMAT),
  'numberFormat',
  'textFormat',
  'backgroundColorStyle',
]
  .map((field) => `userEnteredFormat.${field}`)
  .join(',');

/** Widths and marks of adjacent columns. */
const setUp = (
  sheetId: number,
  at: number,
  keys: readonly ColumnKey[],
  headers: Headers,
): Request[] =>
  keys.flatMap((key, n) => [
    columnWidth(sheetId, at + n, widthOf(key, headers)),
    createMetadata({ sheetId, column: at + n }, METADATA_KEYS.column, key),
  ]);

/** The approximate width of a letter, in pixels, and the margin of a cell. */
const [LETTER, MARGIN] = [7.5, 16];
/** Widths for an answer of some words, for an e-mail address, and for a question that asks for sentences. */
const [LEAST_WIDTH, ADDRESS_WIDTH, MOST_WIDTH] = [150, 260, 320];

/**
 * The width of a column. The source does not say which kind of answer a field has, so its label decides: one that
 * mentions mail gets room for an address, and longer questions get more room.
 */
function widthOf(key: ColumnKey, headers: Headers): number {
  if (isOwn(key)) return OWN[key].width;
  const label = headers.get(key) ?? '';
  const least = /mail|@/i.test(label) ? ADDRESS_WIDTH : LEAST_WIDTH;
  const wanted = Math.round(label.length * LETTER + MARGIN);
  return Math.min(MOST_WIDTH, Math.max(least, wanted));
}

/** The look of each status. A status that is not listed looks like an answer. */
const STATUS_TONES: Readonly<Record<(typeof STATUSES)[number], keyof typeof TONES>> = {
  NEW: 'fresh',
  IN_PROGRESS: 'warn',
  DONE: 'good',
  PAID: 'good',
  REJECTED: 'refused',
  ARCHIVED: 'plain',
};

/** Rules for new columns instead of colors on each row: they move when rows are sorted, and end when a mark or a status does. */
function colorRules(sheetId: number, columns: Columns, made: readonly ColumnKey[]): Request[] {
  const [removed = 0, status = 0] = [columns.get('s:removed'), columns.get('s:status')];
  const width = Math.max(...columns.values()) + 1;
  // From the header on, so that rows inserted right below it belong to the range.
  const rule = (
    [startColumnIndex, endColumnIndex]: readonly [number, number],
    condition: sheets_v4.Schema$BooleanCondition,
    format: sheets_v4.Schema$CellFormat,
  ): Request => ({
    addConditionalFormatRule: {
      index: 0,
      rule: {
        ranges: [{ sheetId, startRowIndex: 0, startColumnIndex, endColumnIndex }],
        booleanRule: { condition, format },
      },
    },
  });
  const isRemoved = `=ISNUMBER($${columnName(removed)}1)`;
  const ofStatus = Object.entries(STATUS_TONES).map(([text, tone]) =>
    rule(
      [status, status + 1],
      { type: 'TEXT_EQ', values: [{ userEnteredValue: text }] },
      TONES[tone],
    ),
  );
  const ofRemoved = rule(
    [0, width],
    { type: 'CUSTOM_FORMULA', values: [{ userEnteredValue: isRemoved }] },
    { textFormat: { foregroundColorStyle: FAINT } },
  );
  // Each comes before those that are there. The first one that fits decides.
  return [
    ...(made.includes('s:status') ? ofStatus : []),
    ...(made.includes('s:removed') ? [ofRemoved] : []),
  ];
}

/** The notes on the headers of new columns. */
const headerNotes = (
  sheetId: number,
  rowIndex: number,
  columns: Columns,
  made: readonly ColumnKey[],
): Request[] =>
  made.filter(isOwn).map((key) => ({
    updateCells: {
      start: { sheetId, rowIndex, columnIndex: columns.get(key) ?? 0 },
      rows: [{ values: [{ note: OWN[key].note }] }],
      fields: 'note',
    },
  }));
