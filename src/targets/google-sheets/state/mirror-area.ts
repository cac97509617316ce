import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { cellData, type SheetValue } from '../api/cell-value.ts';
import { DATE_FORMAT, formatCells, gridRange, HEADER_FORMAT } from '../api/formatting.ts';
import { createMetadata, hashText, METADATA_KEYS, updateMetadata } from '../api/metadata.ts';
import {
  DATES,
  FIELDS,
  FORMS,
  LABELS,
  type MirrorTable,
  PROBLEMS,
  shownText,
  SPARE_ROWS,
  STATE_FORMATS,
  TABLE_ROW,
  WIDTH,
} from './mirror-tab.ts';
import type { FormsTable, StateCell, TableRow } from './mirror-tables.ts';
import type { MirrorTables, OwnTab } from './structure.ts';
import type { AreaRead } from '../rows/tab-reading.ts';

/*
 * Where the tables of the Mirror tab stand: one below the other, so that each begins where the one above it ends. What is there is
 * noted as metadata on the tab, and comes along with the structure: most writes fill the rows of the forms alone, and the tables
 * below are written when they say something new, or have to move. For that all of it has to be known.
 */

type Request = sheets_v4.Schema$Request;

/** The tables below that of the forms. */
export interface LowerTables {
  readonly problems: readonly TableRow[];
  readonly fields: readonly TableRow[];
}

/**
 * True when people inserted, deleted or moved rows or columns of the tab since its tables were written, as far as that was
 * looked at, or made a table of what must not be the head of one, or when nothing says any more what was written. False where
 * putting that right did not last before.
 */
export const isRearranged = (tab: OwnTab): boolean =>
  tab.tables === undefined ||
  hasOtherSize(tab) ||
  tablesOverHead(tab).length > 0 ||
  isMisplaced(tab);

/** True when rows or columns came in or went. */
export const hasOtherSize = ({ tables, rowCount, columnCount }: OwnTab): boolean =>
  tables !== undefined && (tables.rowCount !== rowCount || tables.columnCount !== columnCount);

const isMisplaced = ({ tables, shown = '' }: OwnTab): boolean =>
  tables !== undefined && shown !== '' && shown !== tables.repaired;

/** Tables that people made of rows with states, numbers or blanks: the head of a table shows none of these. */
export const tablesOverHead = ({ tables, ranges = [] }: OwnTab): string[] =>
  ranges.flatMap(({ tableId, rows, columns }) => {
    const isOver = rows.start < TABLE_ROW + (tables?.forms ?? 0) && rows.start !== TABLE_ROW - 1;
    return tableId !== undefined && isOver && columns.start < WIDTH ? [tableId] : [];
  });

/** Where titles and headers stand, unless people moved them. Nothing where rows came in or went. */
function headPlaces(tab: OwnTab): { row: number; rows: readonly TableRow[] }[] {
  const { tables } = tab;
  if (tables === undefined || hasOtherSize(tab)) return [];
  return [
    { row: 0, rows: [...LABELS.map((label) => [label]), [], ...titled(FORMS, [])] },
    { row: TABLE_ROW + tables.forms + 1, rows: titled(PROBLEMS, []) },
    { row: tables.fieldsAt, rows: titled(FIELDS, []) },
  ];
}

/** What to read of the tab to know whether it is as it was written: see {@link seenTab}. */
export const headAreas = (tab: OwnTab): sheets_v4.Schema$GridRange[] =>
  headPlaces(tab).map(({ row, rows }) =>
    gridRange({
      sheetId: tab.sheetId,
      startRow: row,
      endRow: row + rows.length,
      startColumn: 0,
      endColumn: WIDTH,
    }),
  );

/** The tab with what its {@link headAreas} were read to hold. */
export function seenTab(tab: OwnTab, read: readonly AreaRead[]): OwnTab {
  const places = headPlaces(tab);
  if (places.length === 0) return tab;
  const pairs = places.flatMap(({ rows }, place) =>
    rows.flatMap((cells, y) =>
      cells.flatMap((text, x) => (text === '' ? [] : [[text, read[place]?.[y]?.[x] ?? '']])),
    ),
  );
  const isInPlace = pairs.every(([text, found]) => text === found);
  const shown = isInPlace ? '' : hashText(JSON.stringify(pairs.map(([, found]) => found)), 8);
  return { ...tab, shown };
}

/** True when the tables below that of so many forms have to be written: they stand elsewhere, or nobody knows where. */
export const mustMove = (tab: OwnTab, forms: number): boolean =>
  tab.tables?.forms !== forms || isRearranged(tab);

/**
 * Requests that bring the tables up to date, and the tab as they leave it. `lower` may be left out unless they {@link mustMove}.
 * `newId` is for a tab without the note.
 */
export function tableRequests(
  tab: OwnTab,
  forms: FormsTable,
  lower: LowerTables | undefined,
  newId: number,
): { requests: Request[]; tab: OwnTab } {
  if (lower === undefined) return { requests: formRequests(tab.sheetId, forms), tab };
  const { sheetId, tables: before } = tab;
  const places = placesOf(forms.rows.length, lower);
  const rowCount = Math.max(tab.rowCount, places.end + 1);
  const grown = rowCount === tab.rowCount ? rowCount : rowCount + SPARE_ROWS;
  const tables: MirrorTables = {
    id: before?.id ?? newId,
    forms: forms.rows.length,
    rowCount: grown,
    problems: digest(lower.problems),
    fields: digest([[places.fields], ...lower.fields]),
    columnCount: tab.columnCount,
    fieldsAt: places.fields,
    repaired: tab.shown ?? before?.repaired ?? '',
  };
  const moves = mustMove(tab, forms.rows.length) || grown !== tab.rowCount;
  const requests = [
    ...(grown === tab.rowCount ? [] : [appendRows(sheetId, grown - tab.rowCount)]),
    ...(moves || tables.fields !== before?.fields ? looks(sheetId, places) : []),
    ...(moves ? [block(sheetId, TABLE_ROW - 2, TABLE_ROW, titled(FORMS, []))] : []),
    ...formRequests(sheetId, forms),
    ...(moves || tables.problems !== before?.problems
      ? [
          block(sheetId, places.problems - 1, places.fields - 1, [
            [],
            ...titled(PROBLEMS, lower.problems),
          ]),
        ]
      : []),
    ...(moves || tables.fields !== before?.fields
      ? [block(sheetId, places.fields - 1, undefined, [[], ...titled(FIELDS, lower.fields)])]
      : []),
    ...note(sheetId, before, tables),
  ];
  return { requests, tab: { ...tab, rowCount: grown, tables } };
}

/** Rows where the titles of the lower tables stand, and the end of the last one. An empty row parts each from the one above. */
function placesOf(forms: number, { problems, fields }: LowerTables) {
  const problemsAt = TABLE_ROW + forms + 1;
  const fieldsAt = problemsAt + 2 + problems.length + 1;
  return { problems: problemsAt, fields: fieldsAt, end: fieldsAt + 2 + fields.length };
}

const titled = ({ title, headers }: MirrorTable, rows: readonly TableRow[]): TableRow[] => [
  [title],
  headers,
  ...rows,
];

const digest = (rows: readonly TableRow[]): string => hashText(JSON.stringify(rows), 8);

/** The looks of titles, headers and rows, wherever others were. */
function looks(sheetId: number, { problems, fields }: ReturnType<typeof placesOf>): Request[] {
  const all = { sheetId, startRow: TABLE_ROW - 2, startColumn: 0, endColumn: WIDTH };
  const rest = ['textFormat', ...GROUND, 'horizontalAlignment', 'numberFormat'];
  return [
    formatCells(all, ROW_FORMAT, [...Object.keys(ROW_FORMAT), ...rest]),
    formatCells({ ...all, ...DATES }, { numberFormat: DATE_FORMAT, wrapStrategy: 'CLIP' }),
    // Names of forms, again and again.
    formatCells({ ...all, startRow: problems, endColumn: 1 }, { wrapStrategy: 'CLIP' }),
    ...[TABLE_ROW - 2, problems, fields].flatMap((row) => [
      formatCells({ ...all, startRow: row, endRow: row + 1 }, TITLE_FORMAT),
      formatCells({ ...all, startRow: row + 1, endRow: row + 2 }, HEADER_FORMAT),
    ]),
  ];
}

/** Where a ground that was taken away would show again: the API has two names for it. */
const GROUND = ['backgroundColor', 'backgroundColorStyle'];
const ROW_FORMAT: sheets_v4.Schema$CellFormat = { wrapStrategy: 'WRAP', verticalAlignment: 'TOP' };
const TITLE_FORMAT: sheets_v4.Schema$CellFormat = {
  textFormat: { bold: true, fontSize: 12 },
  wrapStrategy: 'OVERFLOW_CELL',
};

/** The rows of the forms, with their states and that of them all. */
function formRequests(sheetId: number, { rows, states, health }: FormsTable): Request[] {
  return [
    block(sheetId, TABLE_ROW, TABLE_ROW + rows.length, rows),
    ...(health === undefined ? [] : [stateCells(sheetId, 0, [health])]),
    stateCells(sheetId, TABLE_ROW, states),
  ];
}

const STATE_FIELDS = [...GROUND, 'textFormat'].map((field) => `userEnteredFormat.${field}`);

const stateCells = (sheetId: number, row: number, states: readonly StateCell[]): Request => ({
  updateCells: {
    start: { sheetId, rowIndex: row, columnIndex: 1 },
    rows: states.map(({ state, formula }) => ({
      values: [
        { userEnteredValue: { formulaValue: formula }, userEnteredFormat: STATE_FORMATS[state] },
      ],
    })),
    fields: ['userEnteredValue', ...STATE_FIELDS].join(','),
  },
});

/** Whole rows of the tables; what they held besides is emptied, to the end of the grid where there is no `end`. */
function block(
  sheetId: number,
  startRow: number,
  endRow: number | undefined,
  rows: readonly TableRow[],
): Request {
  const ends = endRow === undefined ? {} : { endRow };
  return {
    updateCells: {
      range: gridRange({ sheetId, startRow, ...ends, startColumn: 0, endColumn: WIDTH }),
      rows: rows.map((row) => ({ values: row.map(shownCell) })),
      fields: 'userEnteredValue',
    },
  };
}

const shownCell = (value: SheetValue): sheets_v4.Schema$CellData =>
  cellData(value === '' ? null : shownText(value));

const appendRows = (sheetId: number, length: number): Request => ({
  appendDimension: { sheetId, dimension: 'ROWS', length },
});

/** Keeps what is there as metadata on the tab. */
function note(sheetId: number, before: MirrorTables | undefined, tables: MirrorTables): Request[] {
  const text = tablesText(tables);
  if (before === undefined) {
    return [createMetadata({ sheetId }, METADATA_KEYS.tables, text, tables.id)];
  }
  return text === tablesText(before) ? [] : [updateMetadata(tables.id, text)];
}

const tablesText = (tables: MirrorTables): string => {
  const { forms, rowCount, problems, fields, columnCount, fieldsAt, repaired } = tables;
  return JSON.stringify([forms, rowCount, problems, fields, columnCount, fieldsAt, repaired]);
};
