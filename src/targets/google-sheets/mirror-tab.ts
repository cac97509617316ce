import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { ListedRejection } from '../../mirror/target.ts';
import { capacityOf, capacityText } from './capacity.ts';
import type { FieldCatalogue } from './field-catalogue.ts';
import { type FormState, notablePasses } from './form-state.ts';
import {
  COLOURS,
  columnWidth,
  DATE_FORMAT,
  gridRange,
  HEADER_LOOK,
  look,
  warnBeforeEdits,
} from './sheet-looks.ts';
import { createMetadata, METADATA_KEYS } from './sheet-metadata.ts';
import type { SheetTime } from './sheet-time.ts';
import { cellData, fitText, type SheetValue } from './sheet-value.ts';
import { roleMark, type Structure, type Tab } from './structure.ts';
import { freeTabTitle } from './tab-title.ts';

type Request = sheets_v4.Schema$Request;

/** Rows above the tables: health, alarm, how full. */
const TABLE_ROW = 6;
const ALARM_CELL = '$B$2';
/** Columns of the tables: forms, problems, fields, with one empty column between them. */
const FORMS = {
  at: 0,
  headers: [
    'Form',
    'State',
    'Rows',
    'Removed',
    'Last success',
    'Last pass',
    'Last error',
    'Problems',
    'Copied rows',
  ],
};
const PROBLEMS = {
  at: 10,
  headers: ['Form', 'Submission ID', 'What happened', 'Kept', 'First seen', 'Last seen'],
};
const FIELDS = {
  at: 17,
  headers: ['Form', 'Field ID', 'Label', 'Former labels', 'Left the form', 'Column deleted'],
};
const WIDTH = FIELDS.at + FIELDS.headers.length;
const SPARE_ROWS = 20;
/** Rows of a table; what is beyond them is told by number. */
const MAX_PROBLEMS = 300;
const MAX_FIELDS = 3_000;
const MAX_TEXT = 500;

/** One form as the Mirror tab shows it. */
export interface MirrorForm {
  readonly formId: string;
  readonly state: FormState;
}

/** Makes the Mirror tab: its looks, its formulas, and the alarm, which people may change. */
export function newMirrorTab(
  structure: Structure,
  spreadsheetId: string,
  sheetId: number,
  alarmMinutes: number,
): { requests: Request[]; tab: Tab } {
  const title = freeTabTitle(
    'Mirror',
    structure.tabs.map((tab) => tab.title),
  );
  const tab: Tab = { sheetId, title, rowCount: TABLE_ROW + SPARE_ROWS, columnCount: WIDTH };
  const gridProperties = {
    rowCount: tab.rowCount,
    columnCount: tab.columnCount,
    frozenRowCount: TABLE_ROW,
    hideGridlines: true,
  };
  const requests: Request[] = [
    { addSheet: { properties: { sheetId, title, gridProperties } } },
    createMetadata({ sheetId }, METADATA_KEYS.role, roleMark('mirror', spreadsheetId, sheetId)),
    ...headRequests(sheetId, alarmMinutes),
    ...tableLooks(sheetId),
    ...healthRules(sheetId),
    warnBeforeEdits(
      { sheetId },
      'Written by forms-mirror. Only the alarm in B2 is yours to change.',
    ),
  ];
  // Without it NOW() stands still until somebody edits, and the alarm would not come by itself.
  if (structure.autoRecalc === 'ON_CHANGE') {
    requests.push({
      updateSpreadsheetProperties: { properties: { autoRecalc: 'MINUTE' }, fields: 'autoRecalc' },
    });
  }
  return { requests, tab };
}

function headRequests(sheetId: number, alarmMinutes: number): Request[] {
  const firstState = `$B$${TABLE_ROW + 1}:$B`;
  const health =
    `=IF(COUNTIF(${firstState};"SILENT")>0;"SILENT";` +
    `IF(COUNTIF(${firstState};"FAILING")>0;"FAILING";IF(COUNTIF(${firstState};"OK")>0;"OK";"WAITING")))`;
  return [
    write(sheetId, 0, 0, [['Health']]),
    formula(sheetId, 0, 1, health),
    write(sheetId, 1, 0, [['Alarm after minutes of silence', alarmMinutes]]),
    write(sheetId, 2, 0, [['Room']]),
    write(sheetId, 3, 0, [
      [
        'This tab is rewritten by forms-mirror: notes here may be overwritten. On the other tabs you may sort, filter, move, hide, colour, rename and add columns as you like.',
      ],
    ]),
    look(
      { sheetId, startRow: 0, endRow: 3, startColumn: 0, endColumn: 1 },
      { textFormat: { bold: true } },
    ),
    look(
      { sheetId, startRow: 0, endRow: 1, startColumn: 1, endColumn: 2 },
      { textFormat: { bold: true }, horizontalAlignment: 'CENTER' },
    ),
    look(
      { sheetId, startRow: 1, endRow: 2, startColumn: 1, endColumn: 2 },
      { horizontalAlignment: 'LEFT' },
    ),
    look(
      { sheetId, startRow: 3, endRow: 4, startColumn: 0, endColumn: 1 },
      { textFormat: { italic: true, foregroundColorStyle: COLOURS.faint } },
    ),
    look(
      { sheetId, startRow: TABLE_ROW - 2, endRow: TABLE_ROW - 1 },
      { textFormat: { bold: true, fontSize: 12 } },
    ),
    write(sheetId, TABLE_ROW - 2, FORMS.at, [['Forms']]),
    write(sheetId, TABLE_ROW - 2, PROBLEMS.at, [['Problems']]),
    write(sheetId, TABLE_ROW - 2, FIELDS.at, [['Fields']]),
  ];
}

function tableLooks(sheetId: number): Request[] {
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
      look(
        {
          sheetId,
          startRow: TABLE_ROW - 1,
          endRow: TABLE_ROW,
          startColumn: at,
          endColumn: at + headers.length,
        },
        HEADER_LOOK,
      ),
    ]),
    look({ sheetId, startRow: TABLE_ROW }, { wrapStrategy: 'CLIP', verticalAlignment: 'TOP' }),
    ...dates.map((column) =>
      look(
        { sheetId, startRow: TABLE_ROW, startColumn: column, endColumn: column + 1 },
        { numberFormat: DATE_FORMAT },
      ),
    ),
    ...widths.map(([column, width]) => columnWidth(sheetId, column, width)),
  ];
}

/** The health cell and the states turn red or green by what they say. */
function healthRules(sheetId: number): Request[] {
  const ranges = [
    gridRange({ sheetId, startRow: 0, endRow: 1, startColumn: 1, endColumn: 2 }),
    gridRange({ sheetId, startRow: TABLE_ROW, startColumn: 1, endColumn: 2 }),
  ];
  const bad = {
    backgroundColorStyle: COLOURS.badBack,
    textFormat: { foregroundColorStyle: COLOURS.badText, bold: true },
  };
  const good = {
    backgroundColorStyle: COLOURS.goodBack,
    textFormat: { foregroundColorStyle: COLOURS.goodText },
  };
  return (
    [
      ['SILENT', bad],
      ['FAILING', bad],
      ['OK', good],
    ] as const
  ).map(([text, format], index) => ({
    addConditionalFormatRule: {
      index,
      rule: {
        ranges,
        booleanRule: {
          condition: { type: 'TEXT_EQ', values: [{ userEnteredValue: text }] },
          format,
        },
      },
    },
  }));
}

/** Rewrites the table of forms and the line on room. `now`: ISO. */
export function formsTable(
  tab: Tab,
  structure: Structure,
  forms: readonly MirrorForm[],
  time: SheetTime,
  now: string,
): Request[] {
  const { sheetId } = tab;
  const ordered = [...forms].sort((a, b) => a.state.name.localeCompare(b.state.name));
  const rows = ordered.map(({ state }): SheetValue[] => {
    const { lastPass, lastOk } = notablePasses(state.passes);
    const error =
      lastPass === null || lastPass.outcome === 'ok' ? null : (lastPass.error ?? lastPass.outcome);
    return [
      state.name,
      null,
      state.counts.live,
      state.counts.removed,
      serial(lastOk?.endedAt, time),
      serial(lastPass?.endedAt, time),
      state.goneAt === null ? error : 'The form no longer exists at the source.',
      state.counts.rejected,
      state.counts.copies,
    ];
  });
  return [
    ...growTo(tab, TABLE_ROW + rows.length + 1),
    block(sheetId, FORMS.at, FORMS.headers.length, rows, tab.rowCount),
    ...ordered.map((form, index) =>
      formula(sheetId, TABLE_ROW + index, 1, stateFormula(TABLE_ROW + index, form.state)),
    ),
    write(sheetId, 2, 1, [[capacityText(capacityOf(structure, now))]]),
  ];
}

/** Compares with NOW(), so that a mirror that died shows by itself. */
function stateFormula(row: number, state: FormState): string {
  if (state.goneAt !== null) return '="GONE"';
  const failing = notablePasses(state.passes).lastPass?.outcome === 'failed' ? '"FAILING"' : '"OK"';
  const success = `$E${row + 1}`;
  return `=IF(${success}="";"WAITING";IF(NOW()-${success}>${ALARM_CELL}/1440;"SILENT";${failing}))`;
}

/** Rewrites the table of problems. */
export function problemsTable(
  tab: Tab,
  problems: readonly { readonly form: string; readonly rejection: ListedRejection }[],
  time: SheetTime,
): Request[] {
  const shown = problems.slice(0, MAX_PROBLEMS);
  const rows = shown.map(({ form, rejection }): SheetValue[] => [
    form,
    rejection.submissionId,
    rejection.reason,
    rejection.stored ? 'yes, with the defect shown' : 'no',
    serial(rejection.firstSeenAt, time),
    serial(rejection.lastSeenAt, time),
  ]);
  if (problems.length > shown.length)
    rows.push([null, null, `… and ${problems.length - shown.length} more`]);
  return table(tab, PROBLEMS, rows);
}

/** Rewrites the dictionary of fields. */
export function fieldsTable(
  tab: Tab,
  forms: readonly { readonly form: string; readonly catalogue: FieldCatalogue }[],
  time: SheetTime,
): Request[] {
  const all = forms.flatMap(({ form, catalogue }) =>
    catalogue.fields.map((field) => ({ form, field })),
  );
  const rows = all
    .slice(0, MAX_FIELDS)
    .map(({ form, field }): SheetValue[] => [
      form,
      field.id,
      field.label,
      field.former.map(({ label, until }) => `${label} (until ${until.slice(0, 10)})`).join('; '),
      serial(field.removedAt, time),
      field.dropped ? 'yes; sync --full --restore-columns brings it back' : null,
    ]);
  if (all.length > MAX_FIELDS) rows.push([null, null, `… and ${all.length - MAX_FIELDS} more`]);
  return table(tab, FIELDS, rows);
}

function table(
  tab: Tab,
  place: { at: number; headers: readonly string[] },
  rows: SheetValue[][],
): Request[] {
  return [
    ...growTo(tab, TABLE_ROW + rows.length + 1),
    block(tab.sheetId, place.at, place.headers.length, rows, tab.rowCount),
  ];
}

function growTo(tab: Tab, rows: number): Request[] {
  const missing = rows - tab.rowCount;
  return missing <= 0
    ? []
    : [
        {
          appendDimension: {
            sheetId: tab.sheetId,
            dimension: 'ROWS',
            length: missing + SPARE_ROWS,
          },
        },
      ];
}

/** The tab's size once tables of that many rows were written. */
export const grown = (tab: Tab, requests: readonly Request[]): Tab => ({
  ...tab,
  rowCount: requests.reduce(
    (rows, { appendDimension }) => rows + (appendDimension?.length ?? 0),
    tab.rowCount,
  ),
});

/** A table's cells; what it held below is emptied. */
function block(
  sheetId: number,
  column: number,
  width: number,
  rows: readonly SheetValue[][],
  rowCount: number,
): Request {
  return {
    updateCells: {
      range: gridRange({
        sheetId,
        startRow: TABLE_ROW,
        endRow: Math.max(rowCount, TABLE_ROW + rows.length),
        startColumn: column,
        endColumn: column + width,
      }),
      rows: rows.map((row) => ({ values: row.map((value) => cellData(shortened(value))) })),
      fields: 'userEnteredValue',
    },
  };
}

const write = (
  sheetId: number,
  row: number,
  column: number,
  values: readonly (readonly SheetValue[])[],
): Request => ({
  updateCells: {
    start: { sheetId, rowIndex: row, columnIndex: column },
    rows: values.map((line) => ({ values: line.map((value) => cellData(value)) })),
    fields: 'userEnteredValue',
  },
});

/** The only formulas that the mirror ever writes: texts of ours. Semicolons part arguments in every locale, commas do not. */
const formula = (sheetId: number, row: number, column: number, formulaValue: string): Request => ({
  updateCells: {
    start: { sheetId, rowIndex: row, columnIndex: column },
    rows: [{ values: [{ userEnteredValue: { formulaValue } }] }],
    fields: 'userEnteredValue',
  },
});

const serial = (time: string | null | undefined, zone: SheetTime): SheetValue =>
  time === null || time === undefined ? null : (zone.toSerial(time) ?? time);

function shortened(value: SheetValue): SheetValue {
  if (typeof value !== 'string') return value;
  const { text } = fitText(value);
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1).toWellFormed()}…`;
}
