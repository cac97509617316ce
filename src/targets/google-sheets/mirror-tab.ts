import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { count } from '../../base/format.ts';
import { type FormHealthText, HEALTH_STATES, type HealthState } from '../../mirror/health-text.ts';
import type { Entry, StoredField, TargetNotice } from '../../mirror/port.ts';
import { cellData, fitText } from './api/cell-value.ts';
import {
  BODY_FORMAT,
  COLOURS,
  columnWidth,
  DATE_FORMAT,
  formatCells,
  gridRange,
  HEADER_FORMAT,
  warnBeforeEdits,
} from './api/formatting.ts';
import { createMetadata, METADATA_KEYS } from './api/metadata.ts';
import type { SerialTime } from './rows/serial-time.ts';

/*
 * The tab that tells the people of a spreadsheet how the mirror is: forms first, then what needs somebody, fields last. It is
 * written whole whenever it says something else.
 */

type Request = sheets_v4.Schema$Request;

/** One form as the tab shows it. */
export interface ShownForm {
  readonly name: string;
  /** Null while it has no tab. */
  readonly sheetId: number | null;
  readonly health: FormHealthText;
  readonly rows: number;
  readonly deleted: number;
  /** All submissions were stored as of then (milliseconds); null: that was never known. */
  readonly asOfMs: number | null;
  readonly isGone: boolean;
  readonly notices: readonly TargetNotice[];
  /** Rejected and undecided submissions. */
  readonly listed: readonly Entry[];
  readonly fields: readonly StoredField[];
}

/** A cell: a text, a number, a time or a formula. */
type Shown =
  | string
  | number
  | null
  | { readonly atMs: number }
  | { readonly text: string; readonly sheetId: number }
  | { readonly formula: string; readonly state?: HealthState };

/** What the tab says. */
export interface MirrorPage {
  readonly rows: readonly (readonly Shown[])[];
  /** Rows with headers and titles. */
  readonly headers: readonly number[];
}

const MOST_LISTED = 300;
const MOST_FIELDS = 3_000;
const MOST_CHARACTERS = 1_000;
const WIDTHS = [190, 150, 110, 90, 170, 330, 330];
/** Where the first form stands. */
const FIRST_FORM = 3;

/** Puts the forms of a spreadsheet into rows of cells. */
export function mirrorPage(all: readonly ShownForm[]): MirrorPage {
  const forms = all.toSorted((a, b) => a.name.localeCompare(b.name));
  const severity = ({ health }: ShownForm): number => HEALTH_STATES.indexOf(health.state);
  const [worst] = forms.toSorted((a, b) => severity(a) - severity(b));
  const states = `$B$${FIRST_FORM + 1}:$B$${FIRST_FORM + forms.length}`;
  const stale = literal(worst?.health.staleTitle ?? '');
  const rows: (readonly Shown[])[] = [
    [
      'All forms',
      worst === undefined
        ? 'No form is mirrored yet'
        : {
            formula: `=IF(COUNTIF(${states};${stale})>0;${stale};${literal(titleOf(worst))})`,
            state: worst.health.state,
          },
      null,
      null,
      null,
      'forms-mirror keeps this tab up to date, and writes over edits.',
    ],
    [],
    ['Form', 'State', 'Submissions', 'Deleted', 'Complete as of', 'Details', 'What to do'],
    ...forms.map((form, index) => formRow(form, FIRST_FORM + index)),
    [],
  ];
  const headers = [FIRST_FORM - 1];
  const section = (
    header: readonly string[],
    body: readonly (readonly Shown[])[],
    most: number,
  ) => {
    headers.push(rows.length);
    rows.push(header, ...body.slice(0, most));
    if (body.length > most) rows.push([null, `… and ${count(body.length - most)} more`]);
    rows.push([]);
  };
  const problems = forms.flatMap((form) => [
    ...form.notices.map(({ message, remedy }) => [
      form.name,
      null,
      null,
      null,
      null,
      message,
      remedy,
    ]),
    ...form.listed.map((entry) => [
      form.name,
      entry.id,
      null,
      null,
      { atMs: entry.atMs },
      entry.reason,
      // A correction at the source helps neither one that it hides nor one with protected cells, which a notice explains.
      entry.kind === 'rejected' && !('blocked' in entry) ? REJECTED : null,
    ]),
  ]);
  if (problems.length > 0)
    section(
      ['Needs attention', 'Submission', '', '', 'Seen', 'What happened', 'What to do'],
      problems,
      MOST_LISTED,
    );
  const fields = forms.flatMap((form) =>
    form.fields.map(({ id, label, isInForm }) => [
      form.name,
      label,
      null,
      null,
      isInForm ? 'in the form' : 'not in the form any more',
      id,
    ]),
  );
  if (fields.length > 0)
    section(['Questions', 'Question', '', '', '', 'Field ID', ''], fields, MOST_FIELDS);
  return { rows, headers };
}

const REJECTED = 'Correct it in the forms service.';

const UP_TO_DATE = 'Up to date';

const titleOf = ({ health, listed, notices }: ShownForm): string => {
  if (health.state !== 'ok') return health.title;
  return listed.length + notices.length === 0 ? UP_TO_DATE : `${UP_TO_DATE}, but see below`;
};

function formRow(form: ShownForm, row: number): readonly Shown[] {
  const { name, sheetId, health, rows, deleted, asOfMs, isGone } = form;
  const title = literal(titleOf(form));
  const link = sheetId === null ? name : { text: name, sheetId };
  // Compared with the clock, so that a mirror that has stopped shows by itself.
  const isOver = isGone || health.state === 'paused' || health.state === 'ended' || asOfMs === null;
  const age = `NOW()-$E${row + 1}>${health.staleAfterMinutes}/1440`;
  const state = isOver ? `=${title}` : `=IF(${age};${literal(health.staleTitle)};${title})`;
  return [
    link,
    { formula: state, state: health.state },
    rows,
    deleted,
    asOfMs === null ? null : { atMs: asOfMs },
    health.message,
    health.remedy,
  ];
}

/** A text inside a formula. */
const literal = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/** Requests that make the tab, empty. `mark`: the value of the metadata that says that it is ours. */
export const newMirrorTab = (sheetId: number, title: string, mark: string): Request[] => [
  {
    addSheet: {
      properties: {
        sheetId,
        title,
        gridProperties: { rowCount: 1, columnCount: WIDTHS.length, hideGridlines: true },
      },
    },
  },
  createMetadata({ sheetId }, METADATA_KEYS.role, mark),
  warnBeforeEdits({ sheetId }, 'Written by forms-mirror.'),
];

/** Requests that write the whole tab. `grid`: its size; null: it was just made. */
export function writeMirrorTab(
  sheetId: number,
  grid: { readonly rowCount: number; readonly columnCount: number } | null,
  { rows, headers }: MirrorPage,
  time: SerialTime,
): Request[] {
  const { rowCount, columnCount } = grid ?? { rowCount: 1, columnCount: WIDTHS.length };
  const missing = rows.length - rowCount;
  const narrow = WIDTHS.length - columnCount;
  const range = gridRange({ sheetId });
  return [
    ...(missing > 0 ? [{ appendDimension: { sheetId, dimension: 'ROWS', length: missing } }] : []),
    ...(narrow > 0 ? [{ appendDimension: { sheetId, dimension: 'COLUMNS', length: narrow } }] : []),
    ...(missing < 0
      ? [
          {
            deleteDimension: {
              range: { sheetId, dimension: 'ROWS', startIndex: rows.length, endIndex: rowCount },
            },
          },
        ]
      : []),
    {
      repeatCell: {
        range,
        cell: { userEnteredFormat: BODY_FORMAT },
        fields: 'userEnteredFormat,userEnteredValue',
      },
    },
    {
      updateCells: {
        start: { sheetId, rowIndex: 0, columnIndex: 0 },
        rows: rows.map((row) => ({
          values: WIDTHS.map((_, at) => shownCell(row[at] ?? null, time)),
        })),
        fields: 'userEnteredValue,userEnteredFormat',
      },
    },
    ...headers.map((row) =>
      formatCells({ sheetId, startRow: row, endRow: row + 1 }, HEADER_FORMAT),
    ),
    ...WIDTHS.map((width, at) => columnWidth(sheetId, at, width)),
  ];
}

const STATE_COLOURS: Readonly<
  Record<HealthState, readonly [keyof typeof COLOURS, keyof typeof COLOURS]>
> = {
  failed: ['badBack', 'badText'],
  attention: ['warnBack', 'warnText'],
  working: ['freshBack', 'freshText'],
  waiting: ['warnBack', 'warnText'],
  paused: ['headerBack', 'headerText'],
  ok: ['goodBack', 'goodText'],
  ended: ['headerBack', 'headerText'],
};

function shownCell(shown: Shown, time: SerialTime): sheets_v4.Schema$CellData {
  if (shown === null || typeof shown === 'number')
    return { ...cellData(shown), userEnteredFormat: BODY_FORMAT };
  if (typeof shown === 'string')
    return { ...cellData(shortened(shown)), userEnteredFormat: WRAPPED };
  if ('text' in shown)
    return {
      ...cellData(shortened(shown.text)),
      userEnteredFormat: { ...WRAPPED, textFormat: { link: { uri: `#gid=${shown.sheetId}` } } },
    };
  if ('atMs' in shown) {
    const iso = new Date(shown.atMs).toISOString();
    return {
      ...cellData(time.toSerial(iso) ?? iso),
      userEnteredFormat: { ...BODY_FORMAT, numberFormat: DATE_FORMAT },
    };
  }
  const colours = shown.state && STATE_COLOURS[shown.state];
  const look = colours && {
    backgroundColorStyle: COLOURS[colours[0]],
    textFormat: { foregroundColorStyle: COLOURS[colours[1]] },
  };
  return {
    userEnteredValue: { formulaValue: shown.formula },
    userEnteredFormat: { ...WRAPPED, ...look },
  };
}

const WRAPPED: sheets_v4.Schema$CellFormat = { ...BODY_FORMAT, wrapStrategy: 'WRAP' };

function shortened(value: string): string {
  const { text } = fitText(value);
  return text.length <= MOST_CHARACTERS
    ? text
    : `${text.slice(0, MOST_CHARACTERS).toWellFormed()}…`;
}
