import { createHash } from 'node:crypto';
import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { OPEN_STATUSES } from '../../mirror/types.ts';
import {
  COLOURS,
  columnWidth,
  formatCells,
  gridRange,
  growBy,
  HEADER_FORMAT,
  warnBeforeEdits,
} from './api/formatting.ts';
import { type ColumnKey, hashText } from './api/metadata.ts';
import { freeTabTitle, type SheetFile, type Shown, type View } from './sheet-file.ts';
import { documentsIn, type StateKey, textIn } from './state-tab.ts';
import type { FormTab, Grid, Structure } from './structure.ts';
import {
  CHART,
  LABEL,
  MAX_NAME,
  type PlacedColumn,
  type Section,
  SECTION_WIDTH,
  sectionOf,
  type SummaryForm,
  thisWeekCell,
  totalCell,
  WEEK,
  WEEK_COUNT,
} from './summary-section.ts';

/*
 * The tab with numbers and charts over all forms, by formulas. It is written whole, when forms or questions change.
 */

type Request = sheets_v4.Schema$Request;

const SUMMARY: StateKey = { kind: 'record', formId: '', key: 'summary tab' };

/**
 * Writes the Summary tab if its forms or questions have changed. `wanted`: SHEETS_SUMMARY; undefined: only for a
 * spreadsheet without other tabs of people. If people delete the tab, it does not come back, unless it was switched
 * off in between.
 */
export function showSummary(file: SheetFile, wanted: boolean | undefined, view: View): Shown {
  const { structure, stateTab } = view;
  const nothing = { requests: [], put: [], drop: [] };
  const text = textIn(stateTab, SUMMARY);
  if (wanted === false) return text === null ? nothing : { ...nothing, drop: [SUMMARY] };
  const tab = structure.summaryTab;
  const plan = planSummary(view);
  const mayMake = plan.forms.length > 0 && (wanted === true || hasOnlyOurs(structure));
  if (tab === null && (text !== null || !mayMake)) return nothing;
  if (tab?.isProtected === true || (tab !== null && text === plan.digest)) return nothing;
  const grid = tab ?? { sheetId: file.newId(), rowCount: HEAD_ROWS, columnCount: COLUMNS };
  const { sheetId, rowCount, columnCount } = grid;
  let row = HEAD_ROWS + plan.forms.length + 3;
  const sections = plan.forms.map((form): PlacedSection => {
    const placed = { form, section: sectionOf(sheetId, row, form), top: row };
    row += placed.section.height;
    return placed;
  });
  const all = { startRow: 0, endRow: Math.max(rowCount, row), startColumn: 0 };
  const ours = gridRange({ sheetId, ...all, endColumn: SECTION_WIDTH });
  const ids = new Set(documentsIn(stateTab).map(({ state }) => chartId(state.formId)));
  const before = (tab?.chartIds ?? []).filter((id) => ids.has(id));
  return {
    requests: [
      ...(tab === null ? newSummaryTab(file, grid, structure) : []),
      ...growBy(sheetId, 'ROWS', row - rowCount),
      ...growBy(sheetId, 'COLUMNS', COLUMNS - columnCount),
      { repeatCell: { range: ours, cell: {}, fields: 'userEnteredValue,userEnteredFormat' } },
      ...headOf(sheetId, plan),
      ...overviewOf(sheetId, sections),
      ...sections.flatMap(({ section }) => section.requests),
      ...before.map((objectId) => ({ deleteEmbeddedObject: { objectId } })),
      ...sections.flatMap((placed) => chartOf(sheetId, placed)),
    ],
    put: [{ ...SUMMARY, text: plan.digest }],
    drop: [],
  };
}

/** Whether people have at most one tab of their own: a new spreadsheet comes with one. */
const hasOnlyOurs = ({ titles, forms, stateTab, mirrorTab }: Structure): boolean =>
  titles.length - forms.size - (stateTab === null ? 0 : 1) - (mirrorTab === null ? 0 : 1) <= 1;

/** Forms that the Summary tab shows, in the order of their tabs. */
const MAX_FORMS = 30;

/** Which forms and questions the Summary tab shows. */
interface SummaryPlan {
  readonly forms: readonly SummaryForm[];
  /** True when there are more forms than it shows. */
  readonly isCut: boolean;
  /** Of all that makes it necessary to write the tab again: not the places of tabs and columns, nor their names. */
  readonly digest: string;
}

/** The forms of a spreadsheet that are not gone, and their questions that are counted by answer. */
function planSummary({ structure, stateTab }: View): SummaryPlan {
  const documents = new Map(documentsIn(stateTab).map((each) => [each.state.formId, each]));
  const all = [...structure.forms].flatMap(([formId, tab]): SummaryForm[] => {
    const document = documents.get(formId);
    const id = columnOf(tab, 's:id');
    if (document === undefined || document.state.goneAtMs !== null || id === undefined) return [];
    return [
      {
        formId,
        sheetId: tab.sheetId,
        name: document.state.name,
        title: tab.title,
        headerRow: document.headerRow,
        id,
        at: columnOf(tab, 's:at'),
        status: columnOf(tab, 's:status'),
        removed: columnOf(tab, 's:removed'),
        questions: document.questions.flatMap(({ key, listed, numbers }) => {
          const column = columnOf(tab, key);
          return column === undefined ? [] : [{ column, listed, numbers }];
        }),
      },
    ];
  });
  const forms = all.slice(0, MAX_FORMS);
  const isCut = all.length > forms.length;
  const parts = forms.map(({ formId, sheetId, name, id, at, status, removed, questions }) => [
    formId,
    sheetId,
    name,
    ...[id, at, status, removed].map((column) => column?.metadataId ?? 0),
    ...questions.map(({ column, listed, numbers }) => [column.metadataId, listed, numbers]),
  ]);
  return { forms, isCut, digest: hashText(JSON.stringify([isCut, ...parts]), 12) };
}

function columnOf({ columns, marks }: FormTab, key: ColumnKey): PlacedColumn | undefined {
  const [index, metadataId] = [columns.get(key), marks.get(key)];
  return index === undefined || metadataId === undefined ? undefined : { index, metadataId };
}

/** Rows above the sections. */
const HEAD_ROWS = 5;
const COLUMNS = 16;
const WIDTHS = [260, 100, 100, 200, 24, 110, 100, 24];
const CHART_SIZE = { widthPixels: 640, heightPixels: 380 };

const newSummaryTab = (
  file: SheetFile,
  { sheetId, rowCount, columnCount }: Grid,
  { titles, forms }: Structure,
): Request[] => [
  {
    addSheet: {
      properties: {
        sheetId,
        title: freeTabTitle('Summary', titles),
        index: forms.size,
        gridProperties: { rowCount, columnCount, hideGridlines: true },
      },
    },
  },
  file.markTab(sheetId, 'summary'),
  ...WIDTHS.map((width, column) => columnWidth(sheetId, column, width)),
  warnBeforeEdits(
    { sheetId },
    'Written by forms-mirror, and again when forms or questions change. You may move, hide and delete it.',
  ),
];

function headOf(sheetId: number, { isCut }: SummaryPlan): Request[] {
  const lines = [
    'Summary',
    'Counted live by formulas over the forms’ tabs; submissions that are marked as removed do not count. Rename, sort and move columns there as you like.',
    'Shown are questions whose answers repeat, because the API does not say which questions have choices. Several choices in one text count as one answer.',
    isCut
      ? `Shown are the first ${MAX_FORMS} forms, in the order of their tabs.`
      : 'This tab is rewritten by forms-mirror when forms or questions change: notes here may be overwritten.',
  ];
  const faint = { textFormat: { italic: true, foregroundColorStyle: COLOURS.faint } };
  const column = { startColumn: LABEL, endColumn: LABEL + 1 };
  return [
    {
      updateCells: {
        start: { sheetId, rowIndex: 0, columnIndex: LABEL },
        rows: lines.map((text) => ({ values: [{ userEnteredValue: { stringValue: text } }] })),
        fields: 'userEnteredValue',
      },
    },
    formatCells(
      { sheetId, startRow: 0, endRow: 1, ...column },
      { textFormat: { bold: true, fontSize: 16 } },
    ),
    formatCells({ sheetId, startRow: 1, endRow: lines.length, ...column }, faint),
  ];
}

/** One table over all forms, before their own parts. */
function overviewOf(sheetId: number, sections: readonly PlacedSection[]): Request[] {
  const header = ['Form', 'Submissions', 'This week', `Open (${OPEN_STATUSES.join(', ')})`];
  const formula = (text: string | null) => ({
    userEnteredValue: text === null ? { stringValue: '' } : { formulaValue: `=${text}` },
  });
  const rows = [
    { values: header.map((text) => ({ userEnteredValue: { stringValue: text } })) },
    ...sections.map(({ form, section, top }) => ({
      values: [
        { userEnteredValue: { stringValue: form.name.slice(0, MAX_NAME).toWellFormed() } },
        formula(totalCell(top)),
        formula(section.weeks === undefined ? null : thisWeekCell(section.weeks)),
        formula(section.open),
      ],
    })),
  ];
  const start = { sheetId, rowIndex: HEAD_ROWS, columnIndex: LABEL };
  const head = { sheetId, startRow: HEAD_ROWS, endRow: HEAD_ROWS + 1 };
  return [
    { updateCells: { start, rows, fields: 'userEnteredValue' } },
    formatCells({ ...head, startColumn: LABEL, endColumn: header.length }, HEADER_FORMAT),
  ];
}

interface PlacedSection {
  readonly form: SummaryForm;
  readonly section: Section;
  readonly top: number;
}

/** The ID of a form's chart, always the same. Charts of people have other IDs. */
const chartId = (formId: string): number =>
  1 + (Number.parseInt(createHash('sha256').update(formId).digest('hex').slice(0, 8), 16) >>> 2);

/** The chart of a form's weeks, on the right of its part. */
function chartOf(sheetId: number, { form, section, top }: PlacedSection): Request[] {
  if (section.weeks === undefined) return [];
  const spec = chartSpec(sheetId, form, section.weeks);
  const anchorCell = { sheetId, rowIndex: top, columnIndex: CHART };
  const position = { overlayPosition: { anchorCell, ...CHART_SIZE } };
  return [{ addChart: { chart: { chartId: chartId(form.formId), spec, position } } }];
}

function chartSpec(
  sheetId: number,
  { name }: SummaryForm,
  { start, end }: { start: number; end: number },
): sheets_v4.Schema$ChartSpec {
  const column = (startColumn: number): sheets_v4.Schema$ChartData => {
    const area = { startRow: start, endRow: end, startColumn, endColumn: startColumn + 1 };
    return { sourceRange: { sources: [gridRange({ sheetId, ...area })] } };
  };
  const title = `${name.slice(0, MAX_TITLE).toWellFormed()}: submissions a week`;
  return {
    title,
    altText: `${title}. The numbers are in the columns on its left.`,
    hiddenDimensionStrategy: 'SHOW_ALL',
    basicChart: {
      chartType: 'COLUMN',
      legendPosition: 'NO_LEGEND',
      headerCount: 1,
      domains: [{ domain: column(WEEK) }],
      series: [{ series: column(WEEK_COUNT), targetAxis: 'LEFT_AXIS' }],
    },
  };
}

/** Characters of a form's name in the title of its chart. */
const MAX_TITLE = 80;
