import { printableLines } from '../../../base/printable.ts';
import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { FormHealthText, HealthState } from '../../../mirror/health-text.ts';
import {
  COLOURS,
  columnWidth,
  DATE_FORMAT,
  gridRange,
  HEADER_FORMAT,
  formatCells,
  warnBeforeEdits,
} from '../api/formatting.ts';
import { createMetadata, METADATA_KEYS, roleMark } from '../api/metadata.ts';
import { cellData, type SheetValue } from '../api/cell-value.ts';
import type { Tab } from '../columns/layout.ts';
import { freeTabTitle } from '../columns/tab-title.ts';

type Request = sheets_v4.Schema$Request;

/** Rows above the tables: health, the limit of staleness, how full. */
export const TABLE_ROW = 6;
export const LIMIT_CELL = '$B$2';
/** Columns of the tables: forms, problems, fields, with one empty column between them. */
export const FORMS = {
  at: 0,
  headers: [
    'Form',
    'State',
    'Rows',
    'Removed',
    'Last success',
    'Last pass',
    'Details',
    'Problems',
    'Copied rows',
  ],
};
export const PROBLEMS = {
  at: 10,
  headers: ['Form', 'Submission ID', 'What happened', 'Kept', 'First seen', 'Last seen'],
};
export const FIELDS = {
  at: 17,
  headers: ['Form', 'Field ID', 'Label', 'Former labels', 'Left the form', 'Column deleted'],
};
const WIDTH = FIELDS.at + FIELDS.headers.length;
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
    frozenRowCount: TABLE_ROW,
    hideGridlines: true,
  };
  const requests: Request[] = [
    { addSheet: { properties: { sheetId, title, gridProperties } } },
    createMetadata({ sheetId }, METADATA_KEYS.role, roleMark('mirror', spreadsheetId, sheetId)),
    ...headRequests(sheetId, staleAfterMinutes),
    ...tableFormats(sheetId),
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

function headRequests(sheetId: number, staleAfterMinutes: number): Request[] {
  return [
    ...labelRequests(sheetId),
    write(sheetId, 1, 1, [[staleAfterMinutes]]),
    write(sheetId, 2, 0, [['Room']]),
    write(sheetId, 3, 0, [
      [
        'This tab is rewritten by forms-mirror: notes here may be overwritten. On the other tabs you may sort, filter, move, hide, colour, rename and add columns as you like.',
      ],
    ]),
    formatCells(
      { sheetId, startRow: 0, endRow: 3, startColumn: 0, endColumn: 1 },
      { textFormat: { bold: true } },
    ),
    formatCells(
      { sheetId, startRow: 0, endRow: 1, startColumn: 1, endColumn: 2 },
      { textFormat: { bold: true }, horizontalAlignment: 'CENTER' },
    ),
    formatCells(
      { sheetId, startRow: 1, endRow: 2, startColumn: 1, endColumn: 2 },
      { horizontalAlignment: 'LEFT' },
    ),
    formatCells(
      { sheetId, startRow: 3, endRow: 4, startColumn: 0, endColumn: 1 },
      { textFormat: { italic: true, foregroundColorStyle: COLOURS.faint } },
    ),
    formatCells(
      { sheetId, startRow: TABLE_ROW - 2, endRow: TABLE_ROW - 1 },
      { textFormat: { bold: true, fontSize: 12 } },
    ),
    write(sheetId, TABLE_ROW - 2, FORMS.at, [['Forms']]),
    write(sheetId, TABLE_ROW - 2, PROBLEMS.at, [['Problems']]),
    write(sheetId, TABLE_ROW - 2, FIELDS.at, [['Fields']]),
  ];
}

function tableFormats(sheetId: number): Request[] {
  const dates = [FORMS.at + 4, FORMS.at + 5, PROBLEMS.at + 4, PROBLEMS.at + 5, FIELDS.at + 4];
  const widths: readonly [column: number, width: number][] = [
    [FORMS.at, 220],
    [FORMS.at + 4, 130],
    [FORMS.at + 5, 130],
    [FORMS.at + 6, 260],
    [PROBLEMS.at - 1, 30],
    [PROBLEMS.at, 160],
    [PROBLEMS.at + 1, 200],
    [PROBLEMS.at + 2, 340],
    [PROBLEMS.at + 4, 130],
    [PROBLEMS.at + 5, 130],
    [FIELDS.at - 1, 30],
    [FIELDS.at, 160],
    [FIELDS.at + 1, 200],
    [FIELDS.at + 2, 260],
    [FIELDS.at + 3, 260],
    [FIELDS.at + 4, 130],
  ];
  return [
    ...[FORMS, PROBLEMS, FIELDS].flatMap(({ at, headers }) => [
      write(sheetId, TABLE_ROW - 1, at, [headers]),
      formatCells(
        {
          sheetId,
          startRow: TABLE_ROW - 1,
          endRow: TABLE_ROW,
          startColumn: at,
          endColumn: at + headers.length,
        },
        HEADER_FORMAT,
      ),
    ]),
    formatCells(
      { sheetId, startRow: TABLE_ROW },
      { wrapStrategy: 'CLIP', verticalAlignment: 'TOP' },
    ),
    ...dates.map((column) =>
      formatCells(
        { sheetId, startRow: TABLE_ROW, startColumn: column, endColumn: column + 1 },
        { numberFormat: DATE_FORMAT },
      ),
    ),
    ...widths.map(([column, width]) => columnWidth(sheetId, column, width)),
  ];
}

/** Labels of what health shows. */
export const labelRequests = (sheetId: number): Request[] => [
  write(sheetId, 0, 0, [['Health']]),
  write(sheetId, 1, 0, [['Stale after minutes without a success']]),
  write(sheetId, TABLE_ROW - 1, FORMS.at, [FORMS.headers]),
];

const NEUTRAL: sheets_v4.Schema$CellFormat = { textFormat: { bold: true } };
export const STATE_FORMATS: Readonly<Record<HealthState, sheets_v4.Schema$CellFormat>> = {
  failed: stateFormat(COLOURS.badBack, COLOURS.badText),
  attention: stateFormat(COLOURS.warnBack, COLOURS.warnText),
  working: NEUTRAL,
  ok: stateFormat(COLOURS.goodBack, COLOURS.goodText),
  waiting: NEUTRAL,
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

const shown = (value: SheetValue): SheetValue =>
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
    rows: values.map((line) => ({ values: line.map((value) => cellData(shown(value))) })),
    fields: 'userEnteredValue',
  },
});
