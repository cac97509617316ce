import { createHash } from 'node:crypto';
import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { safeText } from '../../base/errors.ts';
import { OPEN_STATUSES } from '../../mirror/types.ts';
import { FAINT } from './api/formatting.ts';
import type { SummaryForm } from './formulas.ts';
import { formula, headers, type OwnPage, Page, showPage, text, WRAPPED } from './page.ts';
import { OWN_COLUMNS } from './own-columns.ts';
import { NOTHING, type SheetFile, type Shown, type View } from './sheet-file.ts';
import { documentsIn } from './state-tab.ts';
import { putSection, SECTION_WIDTH, type Section, WEEK } from './summary-section.ts';

/* The tab with numbers and charts over all forms, by formulas. It is written whole when forms or questions change. */

type Request = sheets_v4.Schema$Request;

/** Writes the Summary tab. */
export function showSummary(file: SheetFile, view: View): Shown {
  const { structure, stateTab } = view;
  const all = formsOf(view);
  if (all.length === 0 && !structure.own.has('summary')) return NOTHING;
  const forms = all.slice(0, MAX_FORMS);
  const page = new Page();
  page.put(0, 0, [text('Summary', { textFormat: { bold: true, fontSize: 16 } })]);
  page.put(OVERVIEW, 0, headers(OVERVIEW_HEADERS));
  const below = OVERVIEW + 1 + forms.length + 1;
  const remarks = remarksOf(all.length > MAX_FORMS);
  for (const [at, remark] of remarks.entries()) page.put(below + at, 0, [remark]);
  let top = below + remarks.length + 1;
  const sections = forms.map((form, at) => {
    const section = putSection(page, top, form);
    const { total, thisWeek, open } = section;
    const cells = [total, thisWeek, open].map((each) => formula(each));
    page.put(OVERVIEW + 1 + at, 0, [text(form.state.name, WRAPPED), ...cells]);
    top = page.rows.length + 2;
    return { form, section };
  });
  const over: OwnPage['over'] = (sheetId, tab) => {
    const charts = new Set(
      documentsIn(stateTab).map(({ state }) => chartId(sheetId, state.formId)),
    );
    return [
      ...(tab?.chartIds ?? [])
        .filter((id) => charts.has(id))
        .map((objectId) => ({ deleteEmbeddedObject: { objectId } })),
      ...sections.map(({ form, section }) => chartOf(sheetId, form, section)),
    ];
  };
  const made = { ...NEW_TAB, index: structure.forms.size };
  const uses = forms.map(({ sheetId, marks }) => [sheetId, Object.fromEntries(marks)]);
  return showPage(file, view, { role: 'summary', width: SECTION_WIDTH, made, page, uses, over });
}

const NEW_TAB = {
  title: 'Summary',
  // A phone shows the first three: the name, the number, and the share.
  widths: [165, 100, 65, 180, 24, 95, 100, 24],
  // Charts cover the columns on the right.
  columnCount: 16,
  warning:
    'Written by forms-mirror, and again when forms or questions change. You may move and hide it.',
} as const;

/** The row of the table over all forms. */
const OVERVIEW = 1;
const OVERVIEW_HEADERS = ['Form', 'Submissions', 'This week', `Open (${OPEN_STATUSES.join(', ')})`];

const remarksOf = (isCut: boolean) => {
  const faint = { textFormat: { italic: true, foregroundColorStyle: FAINT } };
  return [
    'Counted live by formulas over the forms’ tabs; submissions that are marked as removed do not count. Rename, sort and move columns there as you like.',
    'Only questions whose answers repeat are shown, because the API does not say which questions have choices. Several choices in one text count as one answer.',
    isCut
      ? `Only the first ${MAX_FORMS} forms are shown, in the order of their tabs.`
      : 'This tab is rewritten by forms-mirror when forms or questions change: notes here may be overwritten.',
  ].map((line) => text(line, faint));
};

/** Forms that the Summary tab shows, in the order of their tabs. */
const MAX_FORMS = 30;

/** The forms of a spreadsheet that are not gone, and their questions that are counted by answer. The next run makes a missing column. */
function formsOf({ structure, stateTab }: View): SummaryForm[] {
  const documents = new Map(documentsIn(stateTab).map((each) => [each.state.formId, each]));
  return [...structure.forms].flatMap(([formId, tab]): SummaryForm[] => {
    const document = documents.get(formId);
    const { columns } = tab;
    const isShown =
      document?.state.goneAtMs === null && OWN_COLUMNS.every((key) => columns.has(key));
    if (document === undefined || !isShown) return [];
    const questions = document.questions.filter(({ key }) => columns.has(key));
    return [{ ...document, ...tab, questions }];
  });
}

/** The ID of a form's chart on a tab, always the same. People's charts have other IDs, and so have those of another Summary tab. */
function chartId(sheetId: number, formId: string): number {
  const digest = createHash('sha256').update(`${sheetId} ${formId}`).digest('hex');
  return 1 + (Number.parseInt(digest.slice(0, 8), 16) >>> 2);
}

/** The chart of a form's weeks, to the right of its section. */
function chartOf(sheetId: number, form: SummaryForm, { top, weeks }: Section): Request {
  const { formId, name } = form.state;
  const column = (at: number): sheets_v4.Schema$ChartData => {
    const rows = { sheetId, startRowIndex: weeks.start, endRowIndex: weeks.end };
    return {
      sourceRange: { sources: [{ ...rows, startColumnIndex: at, endColumnIndex: at + 1 }] },
    };
  };
  const title = `${safeText(name, MAX_TITLE)}: submissions per week`;
  const spec: sheets_v4.Schema$ChartSpec = {
    title,
    altText: `${title}. The numbers are in the columns on its left.`,
    hiddenDimensionStrategy: 'SHOW_ALL',
    basicChart: {
      chartType: 'COLUMN',
      legendPosition: 'NO_LEGEND',
      headerCount: 1,
      domains: [{ domain: column(WEEK) }],
      series: [{ series: column(WEEK + 1), targetAxis: 'LEFT_AXIS' }],
    },
  };
  const anchorCell = { sheetId, rowIndex: top, columnIndex: SECTION_WIDTH + 1 };
  const overlayPosition = { anchorCell, widthPixels: 640, heightPixels: 380 };
  return {
    addChart: { chart: { chartId: chartId(sheetId, formId), spec, position: { overlayPosition } } },
  };
}

/** Characters of a form's name in the title of its chart. */
const MAX_TITLE = 80;
