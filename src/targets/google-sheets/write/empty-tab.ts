import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import {
  createMetadata,
  deleteMetadata,
  emptyTabMark,
  METADATA_KEYS,
  metadataEntries,
} from '../api/metadata.ts';
import type { SheetsApi } from '../api/sheets-api.ts';
import { SheetsError } from '../api/sheets-error.ts';
import type { Tab } from '../columns/layout.ts';
import type { FormSheet } from '../state/form-sheet.ts';
import type { Spreadsheet } from '../state/spreadsheet.ts';
import type { Structure } from '../state/structure.ts';

/*
 * A new spreadsheet has one empty tab, called "Sheet1" in the language of its owner. Beside a form's tab it is the first
 * thing that people see, and it is empty. It goes in two steps, so that nothing is lost that somebody types meanwhile: the
 * write that makes the first form's tab hides it, and what is on its way into it still arrives; a later pass looks
 * again, and deletes it if it is still as new, or shows it again.
 */

type Request = sheets_v4.Schema$Request;

/** The grid of the tab that comes with a new spreadsheet. */
const [NEW_ROWS, NEW_COLUMNS] = [1_000, 26];
/** How long it is hidden before it goes: longer than an edit can be on its way. */
const HIDDEN_FOR_MS = 10 * 60_000;
/** "Sheet1", "Tabellenblatt1", "Feuille 1", "Лист1": a word and a number. Anything else may be a name that somebody gave. */
const GIVEN_BY_GOOGLE = /^[\p{L}\p{M}]+ ?\p{Nd}$/u;

/** Requests that hide the tab that came with a new spreadsheet. None when it is not alone, or not as it came. One read where it may be. */
export async function hideEmptyTab(spreadsheet: Spreadsheet): Promise<Request[]> {
  const { api, known, clock } = spreadsheet;
  const [tab, ...others] = known.tabs;
  if (tab === undefined || others.length > 0 || !looksNew(tab)) return [];
  if (!(await isPristine(api, tab))) return [];
  const since = new Date(clock.now()).toISOString();
  const { sheetId } = tab;
  return [
    visibility(sheetId, true),
    createMetadata({ sheetId }, METADATA_KEYS.emptyTab, emptyTabMark(api.spreadsheetId, since)),
  ];
}

/**
 * Deletes the tab that {@link hideEmptyTab} hid some time ago; one that somebody has used since is shown again, and is
 * theirs. What fails here is no failure of the pass: the next one tries again.
 */
export async function removeEmptyTab({ spreadsheet, form }: FormSheet): Promise<void> {
  const { emptyTab } = spreadsheet.known;
  if (emptyTab === undefined) return;
  const { tab, markId, hidden, since } = emptyTab;
  if (spreadsheet.clock.now() - Date.parse(since) < HIDDEN_FOR_MS) return;
  try {
    const isUnused = hidden && looksNew(tab) && (await isPristine(spreadsheet.api, tab));
    const goes = isUnused && hasOwnTabsOnly(spreadsheet.known);
    await spreadsheet.commit({
      formId: form.id,
      requests: goes
        ? [{ deleteSheet: { sheetId: tab.sheetId } }]
        : [...(isUnused ? [] : [visibility(tab.sheetId, false)]), deleteMetadata(markId)],
      responseRanges: [],
      leaseMs: 0,
    });
    spreadsheet.settleEmptyTab(goes);
  } catch (error) {
    if (!(error instanceof SheetsError)) throw error;
  }
}

/** Formulas on tabs of people's own may name it: beside such a tab it stays, hidden, for good. */
function hasOwnTabsOnly({ tabs, forms, roles, emptyTab }: Structure): boolean {
  const known = [...forms.values(), ...roles.values(), ...(emptyTab ? [emptyTab.tab] : [])];
  const ours = new Set(known.map(({ sheetId }) => sheetId));
  return tabs.every(({ sheetId }) => ours.has(sheetId));
}

const looksNew = ({ sheetId, title, rowCount, columnCount }: Tab): boolean =>
  sheetId === 0 &&
  rowCount === NEW_ROWS &&
  columnCount === NEW_COLUMNS &&
  GIVEN_BY_GOOGLE.test(title);

const visibility = (sheetId: number, hidden: boolean): Request => ({
  updateSheetProperties: { properties: { sheetId, hidden }, fields: 'hidden' },
});

/** True when nobody has put anything into a tab, or onto it: no content, format, note, chart, filter, protection or name. */
async function isPristine(api: SheetsApi, { sheetId, title }: Tab): Promise<boolean> {
  const { sheets = [], namedRanges = [] } = await api.wholeTab(title);
  const [sheet] = sheets;
  if (sheet === undefined || (sheet.properties?.sheetId ?? 0) !== sheetId) return false;
  const { properties, data = [], developerMetadata, ...rest } = sheet;
  const { tabColorStyle, rightToLeft, gridProperties } = properties ?? {};
  const frozen = (gridProperties?.frozenRowCount ?? 0) + (gridProperties?.frozenColumnCount ?? 0);
  const marks = metadataEntries(developerMetadata);
  const cells = data.flatMap(({ rowData = [] }) => rowData.flatMap(({ values = [] }) => values));
  return (
    namedRanges.every(({ range }) => (range?.sheetId ?? 0) !== sheetId) &&
    Object.values(rest).every(isNothing) &&
    !tabColorStyle &&
    rightToLeft !== true &&
    frozen === 0 &&
    marks.every(({ key }) => key === METADATA_KEYS.emptyTab) &&
    cells.every(isNothing)
  );
}

const isNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (typeof value === 'object' && Object.keys(value).length === 0);
