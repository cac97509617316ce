import { MirrorError } from '../../../base/errors.ts';
import { parseRange } from '../api/a1.ts';
import { METADATA_KEYS } from '../api/metadata.ts';
import type { SheetsApi } from '../api/sheets-api.ts';
import { SheetsError } from '../api/sheets-error.ts';
import { freeTabTitle } from '../columns/tab-title.ts';
import type { Tab } from '../columns/layout.ts';
import { headerFilter } from '../rows/tab-reading.ts';
import type { Spreadsheet } from '../state/spreadsheet.ts';
import {
  type CountedQuestion,
  plannedRequest,
  recordRequest,
  type SummaryRecord,
  unplannedRequest,
} from '../state/summary-marks.ts';
import type { Structure } from '../state/structure.ts';
import { placesOf, planSummary, type SummaryPlan } from './summary-plan.ts';
import { batchesOf, NEW_TAB_SIZE, newSummaryTab, summaryContent } from './summary-tab.ts';

/** How often the tab is written again because people rearranged others meanwhile. */
const ROUNDS = 3;

/** What the Summary tab of a spreadsheet is to be. */
export interface SummaryWish {
  /** SHEETS_SUMMARY; undefined: only in a spreadsheet that the mirror began. */
  readonly setting: boolean | undefined;
  /** The questions of the form at hand that are counted by answer; undefined: those that are known. */
  readonly questions?: readonly CountedQuestion[] | undefined;
}

/** True when the tab has to be made, written anew or forgotten. Asks for nothing. */
export function needsSummary(spreadsheet: Spreadsheet, formId: string, wish: SummaryWish): boolean {
  const structure = spreadsheet.known;
  if (isForgettable(structure, wish)) return true;
  if (!isWanted(structure, wish)) return false;
  const { digest, forms } = planSummary(structure, questionsOf(structure, formId, wish));
  if (!structure.roles.has('summary') && forms.length === 0) return false;
  return digest !== structure.summary.record.digest && digest !== spreadsheet.refusedSummary;
}

/**
 * Makes the Summary tab, or writes it anew: a read and a write, and two reads that tell whether anything moved meanwhile.
 * To be called inside a turn. What Google refuses is not tried again while it would be the same: a summary holds up no pass.
 */
export async function writeSummary(
  spreadsheet: Spreadsheet,
  formId: string,
  wish: SummaryWish,
): Promise<void> {
  if (isForgettable(spreadsheet.known, wish)) {
    await forget(spreadsheet, formId);
    return;
  }
  if (!spreadsheet.known.roles.has('summary')) await spreadsheet.refresh();
  const questions = questionsOf(spreadsheet.known, formId, wish);
  let plan = planSummary(spreadsheet.known, questions);
  let headerRows = await readHeaderRows(spreadsheet.api, plan);
  for (let round = 1; round <= ROUNDS; round++) {
    try {
      await writeOnce(spreadsheet, formId, { plan, questions, headerRows });
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const isSecond = spreadsheet.refusedSummary === plan.digest;
      spreadsheet.refusedSummary = plan.digest;
      // It may have been planned on what was no longer so: the turn reads all again, once.
      if (error.fault === 'refused' && !isSecond) throw error;
      return;
    }
    spreadsheet.refusedSummary = undefined;
    const written = placesOf(plan, headerRows);
    plan = planSummary(await spreadsheet.refresh(), questions);
    headerRows = await readHeaderRows(spreadsheet.api, plan);
    if (placesOf(plan, headerRows) === written) return;
  }
}

/** True for what a summary may fail with, while the pass that it comes after has ended well. */
export const isSummaryFailure = (error: unknown): boolean =>
  error instanceof MirrorError && error.code !== 'CANCELLED' && error.code !== 'INTERNAL';

const isRefusal = (error: unknown): error is SheetsError =>
  error instanceof SheetsError && ['refused', 'protected', 'final'].includes(error.fault);

/** People who delete the tab want it gone: it comes back only after it was switched off and on. */
function isWanted({ roles, summary }: Structure, { setting }: SummaryWish): boolean {
  if (setting === false) return false;
  if (roles.has('summary')) return true;
  return summary.planned === undefined ? setting === true : summary.planned.sheetId === null;
}

/** Switched off, with a tab that people deleted: when it is switched on again, it is made again. */
const isForgettable = ({ roles, summary }: Structure, { setting }: SummaryWish): boolean =>
  setting === false && !roles.has('summary') && typeof summary.planned?.sheetId === 'number';

async function forget(spreadsheet: Spreadsheet, formId: string): Promise<void> {
  const { planned } = spreadsheet.known.summary;
  if (planned === undefined) return;
  const requests = [unplannedRequest(planned.metadataId)];
  await spreadsheet.commit({ formId, requests, responseRanges: [], leaseMs: 0 });
  spreadsheet.keepSummary({ planned: undefined });
}

function questionsOf(
  { forms, summary }: Structure,
  formId: string,
  { questions }: SummaryWish,
): ReadonlyMap<string, readonly CountedQuestion[]> {
  const all = new Map(summary.record.questions);
  if (questions !== undefined) all.set(formId, questions);
  return new Map([...all].filter(([id, list]) => forms.has(id) && list.length > 0));
}

async function writeOnce(
  spreadsheet: Spreadsheet,
  formId: string,
  {
    plan,
    questions,
    headerRows,
  }: {
    readonly plan: SummaryPlan;
    readonly questions: ReadonlyMap<string, readonly CountedQuestion[]>;
    readonly headerRows: ReadonlyMap<number, number>;
  },
): Promise<void> {
  const { api, known } = spreadsheet;
  const { spreadsheetId } = api;
  const { summary } = known;
  const old = known.roles.get('summary');
  const tab = old ?? tabToBe(spreadsheet);
  const content = summaryContent({
    tab,
    plan,
    headerRows,
    charts: summary.record.charts,
    chartIds: summary.chartIds,
    newChartId: () => spreadsheet.newMetadataId(),
  });
  const record: SummaryRecord = { digest: plan.digest, questions, charts: content.charts };
  const metadataId = summary.planned?.metadataId ?? spreadsheet.newMetadataId();
  const isNew = summary.planned === undefined;
  const requests = [
    ...(old === undefined ? newSummaryTab(tab, placeOf(known), spreadsheetId) : []),
    ...content.cells,
  ];
  const last = [
    ...content.chartRequests,
    recordRequest(tab.sheetId, record, summary.recordId),
    ...(summary.planned?.sheetId === tab.sheetId
      ? []
      : [plannedRequest(spreadsheetId, tab.sheetId, { metadataId, isNew })]),
  ];
  for (const batch of batchesOf(requests, last)) {
    await spreadsheet.commit({ formId, requests: batch, responseRanges: [], leaseMs: 0 });
  }
}

function tabToBe(spreadsheet: Spreadsheet): Tab {
  const titles = spreadsheet.known.tabs.map(({ title }) => title);
  return {
    sheetId: spreadsheet.newSheetId(),
    title: freeTabTitle('Summary', titles),
    ...NEW_TAB_SIZE,
  };
}

/** Behind the forms' tabs, before the other ones of our own. */
function placeOf({ tabs, forms }: Structure): number {
  const ids = new Set([...forms.values()].map(({ sheetId }) => sheetId));
  return tabs.findLastIndex(({ sheetId }) => ids.has(sheetId)) + 1;
}

/** Where the forms' tabs have their header rows, found by their marks. One read. */
async function readHeaderRows(
  api: SheetsApi,
  { forms }: SummaryPlan,
): Promise<Map<number, number>> {
  const rows = new Map<number, number>();
  if (forms.length === 0) return rows;
  const filters = forms.map(({ sheetId }) => headerFilter(sheetId));
  for (const { valueRange, dataFilters } of await api.values(filters, 'ROWS')) {
    const area = parseRange(valueRange?.range ?? '');
    for (const { developerMetadataLookup: lookup } of dataFilters ?? []) {
      const sheetId = lookup?.metadataLocation?.sheetId;
      if (area === undefined || lookup?.metadataKey !== METADATA_KEYS.header) continue;
      rows.set(sheetId ?? 0, area.startRow);
    }
  }
  return rows;
}
