import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { DescribeHealth } from '../../../mirror/health-text.ts';
import type { PrepareResult } from '../../../mirror/target.ts';
import type { PickedField } from '../../../mirror/types.ts';
import { type ColumnKey, createMetadata, METADATA_KEYS, formMark } from '../api/metadata.ts';
import { columnOrder, type ColumnPlan, pickedDigest, planColumns } from '../columns/column-plan.ts';
import { columnsDigest, wantedColumns } from '../columns/field-catalogue.ts';
import {
  ColumnMarker,
  formatColumns,
  insertColumns,
  type MadeColumns,
  withColumns,
} from '../columns/new-columns.ts';
import { newTab } from '../columns/new-tab.ts';
import { tableHeads, withRows } from '../columns/laid-ranges.ts';
import { freeTabTitle } from '../columns/tab-title.ts';
import type { RowChange } from '../rows/row-comparison.ts';
import { idOf, keyColumnsOf, RowIndex } from '../rows/row-index.ts';
import { type ColumnsRead, headerFilter, isHeaderGone, readColumns } from '../rows/tab-reading.ts';
import { catalogueDigest, type FormSheet, layoutDigest } from '../state/form-sheet.ts';
import type { FieldCatalogue } from '../columns/field-catalogue.ts';
import { type FormState, STATE_VERSION } from '../state/form-state.ts';
import { remembering } from '../state/losses.ts';
import { type OwnTabWrite, updateOwnTabs, writeStateTab } from '../state/own-tabs.ts';
import {
  catalogueRequest,
  type FormTab,
  placeOfFormTab,
  stateRequest,
} from '../state/structure.ts';
import { outdatedRequests, plannedRequest } from '../state/summary-marks.ts';
import { reopenWindows } from '../state/window-list.ts';
import { hideEmptyTab } from './empty-tab.ts';
import { applyWrite, putIntoStateTab } from './form-write.ts';
import { growing } from './growing.ts';
import { returnHeader } from './header-row.ts';

type Request = sheets_v4.Schema$Request;

/** How long others wait after columns were made: rows will follow. */
const LEASE_MS = 60_000;

/** The columns that a form's tab should have. */
export interface ColumnRequest {
  readonly picked: readonly PickedField[];
  readonly restoreColumns: boolean;
  /** Columns of the submission's own that must be there even if people deleted them. */
  readonly needed?: readonly ColumnKey[];
  /** ISO time. */
  readonly now: string;
  /** For the Mirror tab. */
  readonly describe: DescribeHealth;
  /** Called with the plan before it is carried out. */
  readonly onPlan?: (result: PrepareResult) => void;
}

const NOTHING: PrepareResult = { added: [], relabelled: [], removed: [] };

/**
 * Brings a form's columns in line with its fields, making tab and columns as needed. Reads and writes nothing when the
 * fields are as they were last time and no column was deleted.
 */
export async function prepareColumns(
  sheet: FormSheet,
  request: ColumnRequest,
): Promise<PrepareResult> {
  const { state, layout, catalogue } = sheet.view;
  const prepared = pickedDigest(sheet.form, request.picked);
  const settled =
    layout !== undefined && state.prepared === prepared && state.columns === layoutDigest(layout);
  if (settled && !request.restoreColumns && request.needed === undefined) return NOTHING;
  if (layout !== undefined) sheet.usableLayout();
  await sheet.spreadsheet.stateTab();
  const plan = planColumns({ ...request, catalogue, layout, at: request.now });
  request.onPlan?.(plan.result);
  const next: FormState = {
    ...withNewColumns(state, plan, catalogue),
    slug: sheet.form.slug,
    name: sheet.form.name,
    prepared,
    columns: columnsDigest(wantedColumns(plan.catalogue)),
    catalogue: catalogueDigest(plan.catalogue),
  };
  const update = { state: next, catalogue: plan.catalogue, now: request.now };
  // Written with the tab or the columns that are made.
  if (sheet.view.tab === undefined || plan.restored.length > 0) await reopenWindows(sheet);
  const ownTabs = await updateOwnTabs(sheet, update, request.describe);
  if (sheet.view.tab === undefined) await makeTab(sheet, plan, next, ownTabs);
  else await changeColumns(sheet, sheet.view.tab, plan, { state: next, ownTabs });
  return plan.result;
}

/**
 * The state once there are columns, new ones or of fields that are picked again, that have to be filled for old submissions,
 * too: should this pass fail, the next one reads everything all the same.
 */
function withNewColumns(state: FormState, plan: ColumnPlan, before: FieldCatalogue): FormState {
  const { newColumns, restored, catalogue } = plan;
  const gone = new Set(
    before.fields.filter((field) => field.removedAt !== null).map(({ id }) => id),
  );
  const returns = catalogue.fields.some(({ id, removedAt }) => removedAt === null && gone.has(id));
  const isFilled = !returns && newColumns.every(({ key }) => key === 's:removed');
  if (isFilled || state.checkpoint === null) return state;
  const lost = restored.map((name) => ({ what: 'column' as const, name }));
  return remembering({ ...state, checkpoint: null }, lost);
}

async function makeTab(
  sheet: FormSheet,
  { catalogue }: ColumnPlan,
  state: FormState,
  ownTabs: OwnTabWrite,
): Promise<void> {
  const { spreadsheet, form, structure } = sheet;
  const { spreadsheetId } = spreadsheet.api;
  // Told before there is a tab to hold it: a spreadsheet that the mirror begins gets a Summary tab.
  const isFirst = structure.forms.size + structure.knownForms.size + structure.roles.size === 0;
  const planned = isFirst ? { metadataId: spreadsheet.newMetadataId(), sheetId: null } : undefined;
  // The tabs of our own take their titles first.
  const taken = [...structure.tabs.map((tab) => tab.title), ...titlesOf(ownTabs.requests)];
  const sheetId = spreadsheet.newSheetId();
  const columns = columnOrder(catalogue);
  const keys = columns.map(({ key }) => key);
  const newId = (): number => spreadsheet.newMetadataId();
  const marker = new ColumnMarker(sheetId, [], keys, form.name, newId);
  const title = freeTabTitle(form.name, taken);
  const mark = formMark(form.id, spreadsheetId, sheetId);
  const place = placeOfFormTab(structure);
  const made = newTab({ sheetId, title, formMark: mark, columns, place }, marker);
  const fits = await putIntoStateTab(sheet, catalogue, made.tab.otherCharacters);
  const bare = { formId: form.id, state, stateId: undefined, fieldsId: undefined };
  const tab: FormTab = {
    ...made.tab,
    ...bare,
    stateVersion: STATE_VERSION,
    fieldsText: undefined,
    ranges: [],
  };
  const [stateId, fieldsId] = [newId(), newId()];
  const stateTab = writeStateTab(sheet);
  const hiding = await hideEmptyTab(spreadsheet);
  await spreadsheet.commit({
    formId: form.id,
    requests: [
      ...made.requests,
      ...hiding,
      catalogueRequest(tab, catalogue, fits, fieldsId),
      stateRequest(tab, state, stateId),
      ...stateTab.requests,
      ...ownTabs.requests,
      ...(planned === undefined
        ? []
        : [plannedRequest(spreadsheetId, null, { ...planned, isNew: true })]),
    ],
    responseRanges: [],
    leaseMs: LEASE_MS,
  });
  if (planned !== undefined) spreadsheet.keepSummary({ planned });
  sheet.wrote({
    tab: { ...tab, stateId, fieldsId },
    layout: made.layout,
    state,
    catalogue,
    ownTabs: new Map([...ownTabs.tabs, ...stateTab.tabs]),
  });
  if (stateTab.tabs.size > 0) spreadsheet.knownStateTab?.written();
  sheet.startRows(new RowIndex(0));
  // The catalogue of a very wide form goes into the state tab, which may have been made just now.
  if (spreadsheet.stateTabChanged) await applyWrite(sheet, { leaseMs: LEASE_MS });
}

const titlesOf = (requests: readonly Request[]): string[] =>
  requests.flatMap(({ addSheet }) => addSheet?.properties?.title ?? []);

async function changeColumns(
  sheet: FormSheet,
  tab: FormTab,
  plan: ColumnPlan,
  { state, ownTabs }: { state: FormState; ownTabs: OwnTabWrite },
): Promise<void> {
  const { spreadsheet, form } = sheet;
  const { catalogue } = plan;
  const touchesGrid = plan.newColumns.length > 0 || plan.newHeaders.length > 0;
  const read = touchesGrid ? await readHeader(sheet) : undefined;
  const layout = sheet.usableLayout();
  const keys = plan.newColumns.map(({ key }) => key);
  const newId = (): number => spreadsheet.newMetadataId();
  const marker = new ColumnMarker(layout.sheetId, tab.columns, keys, form.name, newId);
  const headerRow = read?.header?.row ?? 0;
  const hasNew = keys.length > 0;
  await growing(hasNew && tab.ranges.length > 0, async (grows, onCommit) => {
    const place = { headerRow, ranges: tab.ranges, grows };
    const made: MadeColumns = insertColumns(
      layout,
      plan.newColumns,
      place,
      marker,
      sheet.obstacles.all,
    );
    await applyWrite(sheet, {
      columns: {
        requests: [...(hasNew ? marker.recode() : []), ...made.requests],
        // Headers are written where the new columns push them.
        layout: { ...layout, columns: made.columns, columnCount: made.columnCount },
        tab: hasNew ? { ...withColumns(tab, made, marker), ranges: made.ranges } : tab,
        characters: marker.characters,
      },
      changes: headerChanges(plan, made, read),
      state: () => state,
      catalogue,
      ownTabs,
      leaseMs: LEASE_MS,
      onCommit,
    });
  });
  if (!hasNew) return;
  sheet.forgetRows();
  await sheet.findObstaclesAgain();
}

/** The header row as it is now; one that was deleted is made again first, one that was sorted into the rows moved back. */
async function readHeader(sheet: FormSheet): Promise<ColumnsRead> {
  const { api } = sheet.spreadsheet;
  const layout = sheet.usableLayout();
  const read = await readColumns(api, layout, { keys: keyColumnsOf(layout) });
  const isGone = isHeaderGone(read);
  const isReturned = await returnHeader(sheet, RowIndex.fromColumns(read), !isGone);
  if (!isReturned && !isGone) return read;
  if (!isReturned) await restoreHeader(sheet);
  return readColumns(api, sheet.usableLayout(), { keys: ['s:id'] });
}

/** Makes a new header row on top, after people deleted the old one, or emptied it. */
export async function restoreHeader(sheet: FormSheet): Promise<void> {
  const layout = sheet.usableLayout();
  const { sheetId, columns } = layout;
  const { header } = await readColumns(sheet.spreadsheet.api, layout, { keys: [] });
  const order = columnOrder(sheet.view.catalogue);
  const headers = new Map(order.map(({ key, header }) => [key, header]));
  const requests: Request[] = [
    {
      insertDimension: {
        range: { sheetId, dimension: 'ROWS', startIndex: 0, endIndex: 1 },
        inheritFromBefore: false,
      },
    },
    ...[...columns].flatMap(([key, { index }]) =>
      formatColumns(sheetId, index, [{ key, header: headers.get(key) ?? key }], 0).slice(1, 3),
    ),
    {
      updateSheetProperties: {
        properties: { sheetId, gridProperties: { frozenRowCount: 1 } },
        fields: 'gridProperties.frozenRowCount',
      },
    },
    // The mark of a row that was emptied: the row itself stays where it is, blank.
    ...(header === undefined
      ? []
      : [{ deleteDeveloperMetadata: { dataFilter: headerFilter(sheetId) } }]),
    createMetadata({ sheetId, row: 0 }, METADATA_KEYS.header, '1'),
    // Its formulas named cells of the header that is gone.
    ...outdatedRequests(sheet.structure.summary),
  ];
  const { spreadsheet } = sheet;
  const formId = sheet.form.id;
  await spreadsheet.commit({ formId, requests, responseRanges: [], leaseMs: LEASE_MS });
  const { record } = spreadsheet.known.summary;
  spreadsheet.keepSummary({ record: { ...record, digest: '' } });
  const { tab } = sheet.view;
  const ranges = withRows(tab?.ranges ?? [], 0, 1, false);
  sheet.wrote({
    ...(tab !== undefined && { tab: { ...tab, ranges } }),
    layout: { ...layout, tableHeads: tableHeads(ranges) },
  });
  sheet.forgetRows();
}

/** Relabelled headers, except where people have put their own. */
function headerChanges(
  plan: ColumnPlan,
  made: MadeColumns,
  read: ColumnsRead | undefined,
): RowChange[] {
  const header = read?.header;
  if (header === undefined || plan.newHeaders.length === 0) return [];
  const before = new Map([...made.columns].map(([key, { index }]) => [key, index]));
  const shown = headerTexts(plan, made, read);
  const oldAt = new Map(plan.newHeaders.map(({ key, was: text }) => [before.get(key) ?? -1, text]));
  const values = new Map(
    plan.newHeaders.flatMap(({ key, was, header: text }) => {
      const index = before.get(key);
      return index === undefined || shown.get(key) !== was ? [] : [[index, text] as const];
    }),
  );
  if (values.size === 0) return [];
  const idHeader = idOf(read?.columns.get('s:id')?.values[header.row]);
  const was = new Map([...values.keys()].map((index) => [index, oldAt.get(index) ?? '']));
  return [{ row: header.row, id: idHeader, values, was, strict: true }];
}

/** What the headers were before the new columns: their cells were read in the old order of columns. */
function headerTexts(
  plan: ColumnPlan,
  made: MadeColumns,
  read: ColumnsRead | undefined,
): Map<ColumnKey, string> {
  const added = plan.newColumns.flatMap(({ key }) => made.columns.get(key)?.index ?? []);
  return new Map(
    [...made.columns].map(([key, { index }]) => {
      const old = index - added.filter((place) => place < index).length;
      return [key, idOf(read?.header?.cells[old])];
    }),
  );
}
