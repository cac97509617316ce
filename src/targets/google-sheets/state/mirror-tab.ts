import { printableLines } from '../../../base/printable.ts';
import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { FormHealthText, HealthState } from '../../../mirror/health-text.ts';
import {
  COLOURS,
  columnWidth,
  gridRange,
  formatCells,
  warnBeforeEdits,
} from '../api/formatting.ts';
import { createMetadata, METADATA_KEYS, roleMark } from '../api/metadata.ts';
import { cellData, type SheetValue } from '../api/cell-value.ts';
import type { Tab } from '../columns/layout.ts';
import { freeTabTitle } from '../columns/tab-title.ts';

type Request = sheets_v4.Schema$Request;

/*
 * From top to bottom: health, the limit of staleness, room; then the tables of forms, problems and fields, one below the
 * other (`mirror-area.ts`), so that nothing has to be looked for on the right.
 */

/** Where the first form's row is, below health, room, a remark, the title and the headers of the table of forms. */
export const TABLE_ROW = 6;
export const LIMIT_CELL = '$B$2';

/** A table: its title, and the headers of its columns. All tables share the tab's columns; a header may be empty. */
export interface MirrorTable {
  readonly title: string;
  readonly headers: readonly string[];
}

export const FORMS: MirrorTable = {
  title: 'Forms',
  headers: [
    'Form',
    'State',
    'Details',
    'What to do',
    'Rows',
    'Removed',
    'Problems',
    'Last success',
    'Last pass',
  ],
};
export const PROBLEMS: MirrorTable = {
  title: 'Problems',
  headers: [
    'Form',
    'Submission ID',
    'What happened',
    'What to do',
    'Kept',
    '',
    '',
    'First seen',
    'Last seen',
  ],
};
export const FIELDS: MirrorTable = {
  title: 'Fields',
  headers: [
    'Form',
    'Field ID',
    'Label',
    'Former labels',
    '',
    '',
    '',
    'Left the form',
    'Column deleted',
  ],
};
/** Together what a screen is wide. */
const WIDTHS = [170, 210, 240, 200, 55, 75, 80, 150, 150];
export const WIDTH = WIDTHS.length;
/** Columns with dates. */
export const DATES = { startColumn: 7, endColumn: 9 };
/** Where the last success of a form stands. */
export const SUCCESS_COLUMN = 'H';
export const SPARE_ROWS = 20;

/** A Mirror tab that is yet to be made. `taken`: titles of the tabs there are. */
export function newMirrorTab(taken: Iterable<string>, sheetId: number): Tab {
  const title = freeTabTitle('Mirror', taken);
  return { sheetId, title, rowCount: TABLE_ROW + SPARE_ROWS, columnCount: WIDTH };
}

/** Requests that make it: formats, headers, and the limit of staleness, which people may change. */
export function mirrorTabRequests(
  { sheetId, title, rowCount, columnCount }: Tab,
  autoRecalc: string,
  spreadsheetId: string,
  { staleAfterMinutes, staleTitle }: Pick<FormHealthText, 'staleAfterMinutes' | 'staleTitle'>,
): Request[] {
  const gridProperties = {
    rowCount,
    columnCount,
    frozenRowCount: FROZEN_ROWS,
    hideGridlines: true,
  };
  const requests: Request[] = [
    { addSheet: { properties: { sheetId, title, gridProperties } } },
    createMetadata({ sheetId }, METADATA_KEYS.role, roleMark('mirror', spreadsheetId, sheetId)),
    ...headRequests(sheetId),
    write(sheetId, 1, 1, [[staleAfterMinutes]]),
    staleRule(sheetId, staleTitle),
    warnBeforeEdits(
      { sheetId },
      'Written by forms-mirror. Only the number of minutes in B2 is yours to change.',
    ),
  ];
  // Otherwise NOW() stands still until an edit, and nothing would turn stale by itself.
  if (autoRecalc === 'ON_CHANGE') {
    requests.push({
      updateSpreadsheetProperties: { properties: { autoRecalc: 'MINUTE' }, fields: 'autoRecalc' },
    });
  }
  return requests;
}

/** Health stays in sight. */
const FROZEN_ROWS = 1;

const [HEALTH_LABEL, LIMIT_LABEL] = ['Health', 'Stale after minutes without a success'];
/** What the first cells of the first rows say. */
export const LABELS = [HEALTH_LABEL, LIMIT_LABEL, 'Room'];

/** Where people may have pushed what stands above the tables: so much is read, of all columns. */
export const HEAD_AREA = { startRow: 0, endRow: 4 * TABLE_ROW };

/**
 * Requests that put right what stands above the tables, and the columns of all that is on the tab, after people inserted,
 * deleted or moved rows or columns. `cells`: what {@link HEAD_AREA} shows; `isSorted`: what all of the tab shows, as no rows
 * or columns came in or went. Rows that came in above all go, columns of people's come to stand behind ours, and the limit of
 * staleness keeps its number.
 */
export function repairedHead(
  tab: Tab,
  cells: readonly (readonly unknown[])[],
  health: Pick<FormHealthText, 'staleAfterMinutes' | 'staleTitle'>,
  isSorted: boolean,
): { requests: Request[]; tab: Tab } {
  const { sheetId, rowCount } = tab;
  const top = cells.findIndex((line) => line.includes(HEALTH_LABEL));
  const above = isSorted ? 0 : Math.max(0, top);
  const isNumber = (cell: unknown): cell is number => typeof cell === 'number';
  // Without the labels it is the one number in the first columns.
  const limit = (
    cells.find((line) => line.includes(LIMIT_LABEL)) ?? cells.map((line) => line[0])
  ).find(isNumber);
  const columns = columnsInPlace(tab, cells);
  const range = { sheetId, dimension: 'ROWS', startIndex: 0, endIndex: above };
  const isAnew = isSorted || columns.requests.length > 0;
  return {
    requests: [
      ...(above > 0 ? [{ deleteDimension: { range } }] : []),
      // Columns cannot be moved past merged cells, which cover what is written under them.
      ...(isAnew ? [{ unmergeCells: { range: gridRange({ sheetId }) } }] : []),
      ...columns.requests,
      ...(isSorted ? [emptied(sheetId)] : []),
      ...(isAnew ? headRequests(sheetId) : labels(sheetId)),
      // What turned states red went with their column.
      ...(columns.isStateNew ? [staleRule(sheetId, health.staleTitle)] : []),
      write(sheetId, 1, 1, [[limit ?? health.staleAfterMinutes]]),
    ],
    tab: { ...tab, rowCount: rowCount - above, columnCount: columns.columnCount },
  };
}

/** Requests that bring our columns, known by the headers of the table of forms, to the front and in order. */
function columnsInPlace(
  { sheetId, columnCount }: Tab,
  cells: readonly (readonly unknown[])[],
): { requests: Request[]; columnCount: number; isStateNew: boolean } {
  const { headers } = FORMS;
  const known = (line: readonly unknown[]): number =>
    headers.filter((header) => line.includes(header)).length;
  const shown = cells.find((line) => known(line) > WIDTH / 2);
  const columns: unknown[] = Array.from({ length: columnCount }, (_, at) => shown?.[at]);
  const span = (startIndex: number) => ({
    sheetId,
    dimension: 'COLUMNS',
    startIndex,
    endIndex: startIndex + 1,
  });
  const requests: Request[] = [];
  for (const [at, header] of headers.entries()) {
    const found = shown === undefined ? at : columns.indexOf(header, at);
    if (at >= columns.length) {
      requests.push({ appendDimension: { sheetId, dimension: 'COLUMNS', length: 1 } });
    } else if (found === -1) {
      requests.push({ insertDimension: { range: span(at), inheritFromBefore: false } });
    } else if (found !== at) {
      requests.push({ moveDimension: { source: span(found), destinationIndex: at } });
      columns.splice(found, 1);
    } else continue;
    columns.splice(at, 0, header);
  }
  return {
    requests,
    columnCount: columns.length,
    isStateNew: shown !== undefined && !shown.includes('State'),
  };
}

/** Empties what stands above the tables: rows of theirs may have been moved there. */
const emptied = (sheetId: number): Request => {
  const area = { sheetId, startRow: 0, endRow: TABLE_ROW - 2, startColumn: 0, endColumn: WIDTH };
  return {
    updateCells: { range: gridRange(area), fields: 'userEnteredValue,userEnteredFormat' },
  };
};

const labels = (sheetId: number): Request[] => [
  write(
    sheetId,
    0,
    0,
    LABELS.map((label) => [label]),
  ),
  write(sheetId, 3, 0, [
    [
      'This tab is rewritten by forms-mirror: notes here may be overwritten. On the other tabs you may sort, filter, move, hide, colour, rename and add columns as you like.',
    ],
  ]),
];

/** What stands above the tables, but for what changes; and the widths. */
function headRequests(sheetId: number): Request[] {
  const cells = (startRow: number, endRow: number, startColumn: number, endColumn: number) => {
    return { sheetId, startRow, endRow, startColumn, endColumn };
  };
  return [
    ...labels(sheetId),
    formatCells(cells(0, 3, 0, 1), { textFormat: { bold: true }, wrapStrategy: 'WRAP' }),
    formatCells(cells(0, 3, 0, 2), { verticalAlignment: 'MIDDLE' }),
    formatCells(cells(0, 1, 1, 2), {
      textFormat: { bold: true },
      wrapStrategy: 'WRAP',
      horizontalAlignment: 'LEFT',
    }),
    formatCells(cells(1, 2, 1, 2), { horizontalAlignment: 'LEFT' }),
    formatCells(cells(3, 4, 0, 1), {
      textFormat: { italic: true, foregroundColorStyle: COLOURS.faint },
    }),
    ...WIDTHS.map((width, column) => columnWidth(sheetId, column, width)),
  ];
}

const NEUTRAL: sheets_v4.Schema$CellFormat = { textFormat: { bold: true } };
export const STATE_FORMATS: Readonly<Record<HealthState, sheets_v4.Schema$CellFormat>> = {
  failed: stateFormat(COLOURS.badBack, COLOURS.badText),
  attention: stateFormat(COLOURS.warnBack, COLOURS.warnText),
  working: NEUTRAL,
  ok: stateFormat(COLOURS.goodBack, COLOURS.goodText),
  waiting: NEUTRAL,
  paused: NEUTRAL,
  ended: NEUTRAL,
};

function stateFormat(
  backgroundColorStyle: sheets_v4.Schema$ColorStyle,
  foregroundColorStyle: sheets_v4.Schema$ColorStyle,
): sheets_v4.Schema$CellFormat {
  return { backgroundColorStyle, textFormat: { foregroundColorStyle, bold: true } };
}

/** Turns the states red that the clock alone changes. */
export const staleRule = (sheetId: number, staleTitle: string): Request => ({
  addConditionalFormatRule: {
    index: 0,
    rule: {
      ranges: [
        gridRange({ sheetId, startRow: 0, endRow: 1, startColumn: 1, endColumn: 2 }),
        gridRange({ sheetId, startRow: TABLE_ROW, startColumn: 1, endColumn: 2 }),
      ],
      booleanRule: {
        condition: { type: 'TEXT_EQ', values: [{ userEnteredValue: staleTitle }] },
        format: STATE_FORMATS.failed,
      },
    },
  },
});

/** A text without what could change how others are shown. */
export const shownText = (value: SheetValue): SheetValue =>
  typeof value === 'string' ? printableLines(value) : value;

/** Writes cells from a place on, row by row. */
export const write = (
  sheetId: number,
  row: number,
  column: number,
  values: readonly (readonly SheetValue[])[],
): Request => ({
  updateCells: {
    start: { sheetId, rowIndex: row, columnIndex: column },
    rows: values.map((line) => ({ values: line.map((value) => cellData(shownText(value))) })),
    fields: 'userEnteredValue',
  },
});
