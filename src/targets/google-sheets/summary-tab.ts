import { OPEN_STATUSES } from '../../mirror/types.ts';
import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import {
  COLOURS,
  columnWidth,
  formatCells,
  gridRange,
  HEADER_FORMAT,
  warnBeforeEdits,
} from './api/formatting.ts';
import { createMetadata, METADATA_KEYS } from './api/metadata.ts';
import {
  CHART,
  LABEL,
  MAX_NAME,
  type Section,
  SECTION_WIDTH,
  sectionOf,
  thisWeekCell,
  totalCell,
  WEEK,
  WEEK_COUNT,
} from './section.ts';
import { MAX_FORMS, type SummaryForm, type SummaryPlan } from './summary-plan.ts';

type Request = sheets_v4.Schema$Request;

/** Rows above the sections. */
const HEAD_ROWS = 5;
const COLUMNS = 16;
const WIDTHS = [260, 100, 100, 200, 24, 110, 100, 24];
const CHART_SIZE = { widthPixels: 640, heightPixels: 380 };

/** Requests that make the tab. `mark`: the value of the metadata that says that it is ours. `place`: where among the tabs. */
export function newSummaryTab(
  { sheetId, rowCount, columnCount }: SummaryGrid,
  { title, place, mark }: { readonly title: string; readonly place: number; readonly mark: string },
): Request[] {
  const gridProperties = { rowCount, columnCount, hideGridlines: true };
  return [
    { addSheet: { properties: { sheetId, title, index: place, gridProperties } } },
    createMetadata({ sheetId }, METADATA_KEYS.role, mark),
    ...WIDTHS.map((width, column) => columnWidth(sheetId, column, width)),
    warnBeforeEdits(
      { sheetId },
      'Written by forms-mirror, and again when forms or questions change. You may move, hide and delete it.',
    ),
  ];
}

/** The size of a tab that is yet to be made. */
export const NEW_TAB_SIZE = { rowCount: HEAD_ROWS, columnCount: COLUMNS };

/** The tab, as far as its size goes. */
export interface SummaryGrid {
  readonly sheetId: number;
  readonly rowCount: number;
  readonly columnCount: number;
}

/** What the tab is to show, in the shape of requests. */
export interface SummaryContent {
  readonly requests: readonly Request[];
  /** The chart of each form; 0 for one that people deleted. */
  readonly charts: ReadonlyMap<string, number>;
}

export interface SummaryInput {
  readonly tab: SummaryGrid;
  readonly plan: SummaryPlan;
  /** The chart that each form had, and those that are there. */
  readonly charts: ReadonlyMap<string, number>;
  readonly chartIds: readonly number[];
  readonly newChartId: () => number;
}

/** Everything on the tab anew: cells, formats, and the charts, which keep what people made of their frames. */
export function summaryContent(input: SummaryInput): SummaryContent {
  const { tab, plan } = input;
  const { sheetId } = tab;
  let row = HEAD_ROWS + plan.forms.length + 3;
  const sections = plan.forms.map((form) => {
    const section = sectionOf(sheetId, row, form);
    const top = row;
    row += section.height;
    return { form, section, top };
  });
  const rowCount = Math.max(tab.rowCount, row);
  const columnCount = Math.max(tab.columnCount, COLUMNS);
  const { requests: chartRequests, charts } = chartsOf(input, sections);
  const cells = [
    ...grow(sheetId, 'ROWS', rowCount - tab.rowCount),
    ...grow(sheetId, 'COLUMNS', columnCount - tab.columnCount),
    ...clear(sheetId, rowCount),
    ...headOf(sheetId, plan),
    ...overviewOf(sheetId, sections),
    ...sections.flatMap(({ section }) => section.requests),
  ];
  return { requests: [...cells, ...chartRequests], charts };
}

function grow(sheetId: number, dimension: 'ROWS' | 'COLUMNS', length: number): Request[] {
  return length > 0 ? [{ appendDimension: { sheetId, dimension, length } }] : [];
}

/** Empties the columns of ours, formats included. */
function clear(sheetId: number, endRow: number): Request[] {
  const area = { sheetId, startRow: 0, endRow, startColumn: 0, endColumn: SECTION_WIDTH };
  const fields = 'userEnteredValue,userEnteredFormat';
  return [{ repeatCell: { range: gridRange(area), cell: {}, fields } }];
}

function headOf(sheetId: number, { isCut }: SummaryPlan): Request[] {
  const lines = [
    'Summary',
    'Counted live by formulas over the forms’ tabs; submissions that are marked as removed do not count. Rename, sort and move columns there as you like.',
    'Questions are listed whose answers repeat, as choices do; the API does not say which they are. An answer of several choices in one text is an answer of its own.',
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

/** A chart that is there is kept and follows its section; one that people deleted does not come back. */
function chartsOf(
  { tab: { sheetId }, charts: before, chartIds, newChartId }: SummaryInput,
  sections: readonly PlacedSection[],
): { requests: Request[]; charts: Map<string, number> } {
  const there = new Set(chartIds);
  const charts = new Map<string, number>();
  const requests: Request[] = [];
  for (const { form, section, top } of sections) {
    const known = before.get(form.formId);
    if (section.weeks === undefined) continue;
    const spec = chartSpec(sheetId, form, section.weeks);
    const anchorCell = { sheetId, rowIndex: top, columnIndex: CHART };
    if (known === undefined) {
      const chartId = newChartId();
      charts.set(form.formId, chartId);
      const overlayPosition = { anchorCell, ...CHART_SIZE };
      requests.push({ addChart: { chart: { chartId, spec, position: { overlayPosition } } } });
    } else if (there.has(known)) {
      charts.set(form.formId, known);
      const newPosition = { overlayPosition: { anchorCell } };
      requests.push(
        { updateChartSpec: { chartId: known, spec } },
        { updateEmbeddedObjectPosition: { objectId: known, newPosition, fields: 'anchorCell' } },
      );
    } else charts.set(form.formId, 0);
  }
  const kept = new Set(charts.values());
  const gone = [...before.values()].filter((id) => there.has(id) && !kept.has(id));
  const deletions = gone.map((objectId) => ({ deleteEmbeddedObject: { objectId } }));
  return { requests: [...deletions, ...requests], charts };
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
