import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import {
  type FormHealthText,
  HEALTH_STATES,
  type HealthState,
} from '../../../mirror/health-text.ts';
import { lookedAt } from '../../../mirror/looked.ts';
import type { FormOverview, ListedRejection } from '../../../mirror/target.ts';
import type { TargetNotice } from '../../../mirror/notices.ts';
import { cellData, fitText, type SheetValue } from '../api/cell-value.ts';
import { gridRange } from '../api/formatting.ts';
import type { FieldCatalogue } from '../columns/field-catalogue.ts';
import type { Tab } from '../columns/layout.ts';
import type { SerialTime } from '../rows/serial-time.ts';
import { capacityOf, capacityText } from './capacity.ts';
import {
  FIELDS,
  FORMS,
  LIMIT_CELL,
  PROBLEMS,
  SPARE_ROWS,
  STATE_FORMATS,
  TABLE_ROW,
  write,
} from './mirror-tab.ts';
import type { Structure } from './structure.ts';

type Request = sheets_v4.Schema$Request;

/** Rows of a table; of what is beyond them only the number is shown. */
const MAX_PROBLEMS = 300;
const MAX_FIELDS = 3_000;
const MAX_TEXT = 1_000;

/** One form as the Mirror tab shows it. */
export interface MirrorForm {
  readonly overview: FormOverview;
  readonly copies: number;
  readonly health: FormHealthText;
}

/** Rewrites the table of forms, the health of them all, and the line on room. `now`: ISO. */
export function formsTable(
  tab: Tab,
  structure: Structure,
  forms: readonly MirrorForm[],
  time: SerialTime,
  now: string,
): Request[] {
  const { sheetId } = tab;
  const ordered = [...forms].sort((a, b) => a.overview.name.localeCompare(b.overview.name));
  const rows = ordered.map(({ overview, copies, health }): SheetValue[] => [
    overview.name,
    null,
    overview.rows,
    overview.deletedRows,
    serial(lastSuccess(overview), time),
    serial(overview.lastPass?.endedAt, time),
    [health.message, health.remedy].filter((text) => text !== null).join(' '),
    overview.rejected + overview.notices.length,
    copies,
  ]);
  const severity = ({ health }: MirrorForm): number => HEALTH_STATES.indexOf(health.state);
  const [worst] = ordered.toSorted((a, b) => severity(a) - severity(b));
  return [
    ...growTo(tab, TABLE_ROW + rows.length + 1),
    block(sheetId, FORMS.at, FORMS.headers.length, rows, tab.rowCount),
    ...(worst === undefined ? [] : [overallState(sheetId, worst.health)]),
    ...ordered.map((form, index) => formState(sheetId, TABLE_ROW + index, form, time)),
    write(sheetId, 2, 1, [[capacityText(capacityOf(structure, now))]]),
  ];
}

/**
 * As of when the copy was last seen to be complete: when that pass began, for what came later need not be here. One that withheld
 * deletions has proven what it brought all the same, and so has a look that found nothing changed.
 */
function lastSuccess(overview: FormOverview): string | undefined {
  const { lastOk, checkpoint } = overview;
  // A comparison of some rows does not tell which submissions there are.
  const pass = lastOk?.kind === 'compare' ? undefined : lastOk?.startedAt;
  const times = [pass, checkpoint?.provenAt, lookedAt(overview) ?? undefined].filter(
    (time) => time !== undefined,
  );
  return times.toSorted((a, b) => Date.parse(a) - Date.parse(b)).at(-1);
}

/** The state of the form that is worst, unless one is stale. */
function overallState(sheetId: number, { state, title, staleTitle }: FormHealthText): Request {
  const states = `$B$${TABLE_ROW + 1}:$B`;
  const [stale, shown] = [literal(staleTitle), literal(title)];
  return stateCell(sheetId, 0, state, `=IF(COUNTIF(${states};${stale})>0;${stale};${shown})`);
}

/**
 * Compares the last success, and when the last complete pass ended, which may have taken long, with NOW(), so that a mirror that
 * died shows by itself. A form that is gone gets no older.
 */
function formState(
  sheetId: number,
  row: number,
  { overview, health }: MirrorForm,
  time: SerialTime,
): Request {
  const isOver = health.state === 'ended' || overview.goneAt !== null;
  const shown = literal(health.title);
  const success = `$E${row + 1}`;
  const { lastOk } = overview;
  const ended = serial(lastOk?.kind === 'compare' ? undefined : lastOk?.endedAt, time) ?? success;
  const age = `NOW()-MAX(${success};${ended})`;
  const current = `IF(${age}>${LIMIT_CELL}/1440;${literal(health.staleTitle)};${shown})`;
  const text = isOver ? `=${shown}` : `=IF(${success}="";${shown};${current})`;
  return stateCell(sheetId, row, health.state, text);
}

const stateCell = (
  sheetId: number,
  row: number,
  state: HealthState,
  formulaValue: string,
): Request => ({
  updateCells: {
    start: { sheetId, rowIndex: row, columnIndex: 1 },
    rows: [
      { values: [{ userEnteredValue: { formulaValue }, userEnteredFormat: STATE_FORMATS[state] }] },
    ],
    fields: 'userEnteredValue,userEnteredFormat.backgroundColorStyle,userEnteredFormat.textFormat',
  },
});

/** A text inside a formula. */
const literal = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/** What the table of problems shows of a form. */
export interface FormProblems {
  readonly form: string;
  readonly notices: readonly TargetNotice[];
  readonly rejections: readonly ListedRejection[];
}

/** Rewrites the table of problems: what people did to the tabs first, then listed submissions. */
export function problemsTable(
  tab: Tab,
  forms: readonly FormProblems[],
  time: SerialTime,
): Request[] {
  const doings = forms.flatMap(({ form, notices }) =>
    notices.map(({ message, remedy }): SheetValue[] => [form, null, `${message} ${remedy}`]),
  );
  const listed = forms.flatMap(({ form, rejections }) =>
    rejections.map(({ submissionId, reason, stored, firstSeenAt, lastSeenAt }): SheetValue[] => [
      form,
      submissionId,
      reason,
      stored ? 'yes, with the defect shown' : 'no',
      serial(firstSeenAt, time),
      serial(lastSeenAt, time),
    ]),
  );
  const all = [...doings, ...listed];
  const rows = all.slice(0, MAX_PROBLEMS);
  if (all.length > rows.length) rows.push([null, null, `… and ${all.length - rows.length} more`]);
  return table(tab, PROBLEMS, rows);
}

/** Rewrites the dictionary of fields. */
export function fieldsTable(
  tab: Tab,
  forms: readonly { readonly form: string; readonly catalogue: FieldCatalogue }[],
  time: SerialTime,
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

const serial = (time: string | null | undefined, zone: SerialTime): SheetValue =>
  time === null || time === undefined ? null : (zone.toSerial(time) ?? time);

function shortened(value: SheetValue): SheetValue {
  if (typeof value !== 'string') return value;
  const { text } = fitText(value);
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1).toWellFormed()}…`;
}
