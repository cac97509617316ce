import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { count } from '../../base/format.ts';
import { liveRows } from '../../mirror/form-state.ts';
import { type FormHealthText, HEALTH_STATES, type HealthState } from '../../mirror/health-text.ts';
import type { Entry, Run, StoredForm } from '../../mirror/port.ts';
import { cellData, fitText } from './api/cell-value.ts';
import {
  BODY_FORMAT,
  COLOURS,
  columnWidth,
  DATE_FORMAT,
  formatCells,
  gridRange,
  growBy,
  HEADER_FORMAT,
  warnBeforeEdits,
} from './api/formatting.ts';
import { hashText } from './api/metadata.ts';
import { SerialTime } from './serial-time.ts';
import { freeTabTitle, type SheetFile, type Shown, type View } from './sheet-file.ts';
import {
  documentsIn,
  entriesIn,
  type FormDocument,
  runsIn,
  type StateKey,
  textIn,
} from './state-tab.ts';
import type { Grid } from './structure.ts';

/*
 * The tab that shows the people of a spreadsheet the state of the mirror: forms first, then problems, fields last. It is
 * written whole whenever its text changes.
 */

type Request = sheets_v4.Schema$Request;

/** How a form is, in words for the people of a spreadsheet. */
export interface DescribedForm {
  readonly health: FormHealthText;
  /** All submissions were stored as of then (milliseconds); null: that was never known. */
  readonly asOfMs: number | null;
}

/** Judges nothing itself: made where health is judged. `recordOf`: the record of a key, or null. `runs`: the newest first. */
export type DescribeForm = (
  form: Pick<StoredForm, 'state' | 'fields' | 'notices'>,
  runs: readonly Run[],
  recordOf: (key: string) => unknown,
  nowMs: number,
) => DescribedForm;

/** One form as the tab shows it. */
interface ShownForm extends DescribedForm, Pick<FormDocument, 'state' | 'fields' | 'notices'> {
  /** Null while it has no tab. */
  readonly sheetId: number | null;
  /** Rejected and undecided submissions. */
  readonly listed: readonly Entry[];
}

const DIGEST: StateKey = { kind: 'record', formId: '', key: 'mirror tab' };

/** Writes the Mirror tab where it says something else than before, and makes it where it is missing. */
export function showMirror(file: SheetFile, describe: DescribeForm, view: View): Shown {
  const { structure, stateTab } = view;
  const nothing = { requests: [], put: [], drop: [] };
  const tab = structure.mirrorTab;
  if (tab?.isProtected === true) return nothing;
  const recordOf = (key: string): unknown => {
    const text = textIn(stateTab, { kind: 'record', formId: '', key });
    return text === null ? null : (JSON.parse(text) as { value: unknown }).value;
  };
  const page = mirrorPage(
    documentsIn(stateTab).map((document): ShownForm => {
      const { state, fields, notices } = document;
      const { formId } = state;
      const entries = [...entriesIn(stateTab, formId).values()];
      const runs = runsIn(stateTab, formId);
      const { health, asOfMs } = describe(document, runs, recordOf, file.clock.now());
      return {
        state,
        fields,
        notices,
        health,
        asOfMs,
        sheetId: structure.forms.get(formId)?.sheetId ?? null,
        listed: entries.filter(({ kind }) => kind === 'rejected' || kind === 'undecided'),
      };
    }),
  );
  const digest = hashText(JSON.stringify([page, structure.timeZone]), 16);
  if (tab !== null && textIn(stateTab, DIGEST) === digest) return nothing;
  const grid = tab ?? { sheetId: file.newId(), rowCount: 1, columnCount: WIDTHS.length };
  const made = tab === null ? newMirrorTab(file, grid, structure.titles) : [];
  return {
    requests: [...made, ...writeMirrorTab(grid, page, new SerialTime(structure.timeZone))],
    put: [{ ...DIGEST, text: digest }],
    drop: [],
  };
}

/** A cell: a text, a number, a time or a formula. */
type ShownCell =
  | string
  | number
  | null
  | { readonly atMs: number }
  | { readonly text: string; readonly sheetId: number }
  | { readonly formula: string; readonly state?: HealthState };

/** What the tab says. */
interface MirrorPage {
  readonly rows: readonly (readonly ShownCell[])[];
  /** Rows with headers and titles. */
  readonly headers: readonly number[];
}

const MOST_LISTED = 300;
const MOST_FIELDS = 3_000;
const MOST_CHARACTERS = 1_000;
const WIDTHS = [190, 150, 110, 90, 170, 330, 330];
/** The place of the first form. */
const FIRST_FORM = 3;

/** Puts the forms of a spreadsheet into rows of cells. */
function mirrorPage(all: readonly ShownForm[]): MirrorPage {
  const forms = all.toSorted((a, b) => a.state.name.localeCompare(b.state.name));
  // Of forms in one state, those with something to see to count first.
  const severity = (form: ShownForm): number =>
    2 * HEALTH_STATES.indexOf(form.health.state) - (isClean(form) ? 0 : 1);
  const [worst] = forms.toSorted((a, b) => severity(a) - severity(b));
  const states = `$B$${FIRST_FORM + 1}:$B$${FIRST_FORM + forms.length}`;
  const stale = literal(worst?.health.staleTitle ?? '');
  const rows: (readonly ShownCell[])[] = [
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
    body: readonly (readonly ShownCell[])[],
    most: number,
  ) => {
    headers.push(rows.length);
    rows.push(header, ...body.slice(0, most));
    if (body.length > most) rows.push([null, `… and ${count(body.length - most)} more`]);
    rows.push([]);
  };
  const problems = forms.flatMap((form) => [
    ...form.notices.map(({ message, remedy }) => [
      form.state.name,
      null,
      null,
      null,
      null,
      message,
      remedy,
    ]),
    ...form.listed.map((entry) => [
      form.state.name,
      entry.id,
      null,
      null,
      { atMs: entry.atMs },
      entry.reason,
      canBeCorrected(entry) ? REJECTED : null,
    ]),
  ]);
  if (problems.length > 0)
    section(
      ['Needs attention', 'Submission', '', '', 'Seen', 'What happened', 'What to do'],
      problems,
      MOST_LISTED,
    );
  const fields = forms.flatMap(({ state, fields: all }) =>
    all
      .toSorted((one, two) => one.position - two.position)
      .map(({ id, label, isInForm }) => [
        state.name,
        isInForm ? 'in the form' : 'not in the form any more',
        null,
        null,
        null,
        label,
        id,
      ]),
  );
  if (fields.length > 0)
    section(['Questions', '', '', '', '', 'Question', 'Field ID'], fields, MOST_FIELDS);
  return { rows, headers };
}

const REJECTED = 'Correct it in the forms service.';

/** Not one that the source hides, nor one with protected cells, which a notice explains. */
const canBeCorrected = (entry: Entry): boolean =>
  entry.kind === 'rejected' && !('blocked' in entry);

const UP_TO_DATE = 'Up to date';

const isClean = ({ listed, notices }: ShownForm): boolean => listed.length + notices.length === 0;

const titleOf = (form: ShownForm): string => {
  if (form.health.state !== 'ok') return form.health.title;
  return isClean(form) ? UP_TO_DATE : `${UP_TO_DATE}, but see below`;
};

function formRow(form: ShownForm, row: number): readonly ShownCell[] {
  const { state, sheetId, health, asOfMs } = form;
  const title = literal(titleOf(form));
  // Compared with the clock, so that a mirror that has stopped shows by itself.
  const isOver =
    state.goneAtMs !== null ||
    health.state === 'paused' ||
    health.state === 'ended' ||
    asOfMs === null;
  const age = `NOW()-$E${row + 1}>${health.staleAfterMinutes}/1440`;
  const formula = isOver ? `=${title}` : `=IF(${age};${literal(health.staleTitle)};${title})`;
  return [
    sheetId === null ? state.name : { text: state.name, sheetId },
    { formula, state: health.state },
    liveRows(state.tally),
    state.tally.deleted,
    asOfMs === null ? null : { atMs: asOfMs },
    health.message,
    health.remedy,
  ];
}

/** A text inside a formula. */
const literal = (text: string): string => `"${text.replaceAll('"', '""')}"`;

const newMirrorTab = (
  file: SheetFile,
  { sheetId, rowCount, columnCount }: Grid,
  titles: readonly string[],
): Request[] => [
  {
    addSheet: {
      properties: {
        sheetId,
        title: freeTabTitle('Mirror', titles),
        gridProperties: { rowCount, columnCount, hideGridlines: true },
      },
    },
  },
  file.markTab(sheetId, 'mirror'),
  warnBeforeEdits({ sheetId }, 'Written by forms-mirror.'),
];

/** Requests that write the whole tab. */
function writeMirrorTab(
  { sheetId, rowCount, columnCount }: Grid,
  { rows, headers }: MirrorPage,
  time: SerialTime,
): Request[] {
  const range = { sheetId, dimension: 'ROWS', startIndex: rows.length, endIndex: rowCount };
  return [
    ...growBy(sheetId, 'ROWS', rows.length - rowCount),
    ...growBy(sheetId, 'COLUMNS', WIDTHS.length - columnCount),
    ...(rows.length < rowCount ? [{ deleteDimension: { range } }] : []),
    {
      repeatCell: {
        range: gridRange({ sheetId }),
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

function shownCell(shown: ShownCell, time: SerialTime): sheets_v4.Schema$CellData {
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
