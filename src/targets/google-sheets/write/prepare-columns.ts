import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { DescribeHealth } from '../../../mirror/health-text.ts';
import type { PrepareResult } from '../../../mirror/target.ts';
import type { PickedField } from '../../../mirror/types.ts';
import { type ColumnKey, formMark } from '../api/metadata.ts';
import {
  columnOrder,
  type ColumnPlan,
  type NewColumn,
  pickedDigest,
  planColumns,
} from '../columns/column-plan.ts';
import { columnsDigest, type FieldCatalogue, wantedColumns } from '../columns/field-catalogue.ts';
import { ColumnMarker, insertColumns, keptFromPlace, withColumns } from '../columns/new-columns.ts';
import { newTab } from '../columns/new-tab.ts';
import { freeTabTitle } from '../columns/tab-title.ts';
import { RowIndex } from '../rows/row-index.ts';
import { isHeaderFree, movedAlong } from '../state/blocked.ts';
import { catalogueDigest, type FormSheet, layoutDigest } from '../state/form-sheet.ts';
import type { FormState } from '../state/form-state.ts';
import { remembering } from '../state/losses.ts';
import { updateOwnTabs, writeStateTab } from '../state/own-tabs.ts';
import {
  catalogueRequest,
  type FormTab,
  placeOfFormTab,
  stateRequest,
} from '../state/structure.ts';
import { plannedRequest } from '../state/summary-marks.ts';
import { reopenWindows } from '../state/window-list.ts';
import { appendColumns, formatsOfAdded } from './append-columns.ts';
import { hideEmptyTab } from './empty-tab.ts';
import { applyWrite, putIntoStateTab } from './form-write.ts';
import { growing } from './growing.ts';
import {
  headerWrite,
  isHeaderSettled,
  missingOwnHeaders,
  readHeader,
  withWaiting,
} from './header-row.ts';

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
  const isAsked = request.restoreColumns || request.needed !== undefined;
  if (settled && !isAsked && !(await isHeaderFree(sheet))) {
    const { newHeaders } = planColumns({ ...request, catalogue, layout, at: request.now });
    if (!(await isHeaderSettled(sheet, newHeaders))) return NOTHING;
  }
  if (layout !== undefined) sheet.usableLayout();
  await sheet.spreadsheet.stateTab();
  const first = planColumns({ ...request, catalogue, layout, at: request.now });
  request.onPlan?.(first.result);
  const begun = withNewColumns(state, first, catalogue);
  const added = layout && keptFromPlace(layout, first.newColumns, sheet.obstacles.all);
  const plan = await planned(sheet, request, first, { added: added ?? [], begun });
  const next: FormState = {
    ...begun,
    slug: sheet.form.slug,
    name: sheet.form.name,
    prepared,
    columns: columnsDigest(wantedColumns(plan.catalogue)),
    catalogue: catalogueDigest(plan.catalogue),
  };
  const { now, describe } = request;
  // Written with the tab or the columns that are made.
  if (sheet.view.tab === undefined || plan.restored.length > 0) await reopenWindows(sheet);
  if (sheet.view.tab === undefined) await makeTab(sheet, plan, { state: next, now, describe });
  else await changeColumns(sheet, sheet.view.tab, plan, { state: next, now, describe, added });
  return plan.result;
}

/** The plan once columns that cannot come into their place are there, at the grid's end. */
async function planned(
  sheet: FormSheet,
  request: ColumnRequest,
  first: ColumnPlan,
  { added, begun }: { added: readonly NewColumn[]; begun: FormState },
): Promise<ColumnPlan> {
  if (added.length === 0) return first;
  await appendColumns(sheet, added, begun);
  const { catalogue, layout } = sheet.view;
  const { newColumns } = planColumns({ ...request, catalogue, layout, at: request.now });
  const isAdded = ({ key }: { key: ColumnKey }): boolean => added.some((one) => one.key === key);
  return {
    ...first,
    newColumns,
    newHeaders: [
      ...first.newHeaders.filter((one) => !isAdded(one)),
      ...added.map(({ key, header }) => ({ key, was: '', header })),
    ],
  };
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
  { state, now, describe }: { state: FormState; now: string; describe: DescribeHealth },
): Promise<void> {
  const { spreadsheet, form, structure } = sheet;
  const ownTabs = await updateOwnTabs(sheet, { state, catalogue, now }, describe);
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

/** The catalogue with new labels and the headers before: should this process die, the next one knows the new ones for ours. */
function withLabels(before: FieldCatalogue, { fields: planned }: FieldCatalogue): FieldCatalogue {
  const fields = before.fields.map((field) => {
    const { label, former } = planned.find(({ id }) => id === field.id) ?? field;
    return { ...field, label, former };
  });
  return { ...before, fields };
}

/** What is written with changed columns; `added`: those that were added at the grid's end. */
interface ColumnUpdate {
  readonly state: FormState;
  readonly now: string;
  readonly describe: DescribeHealth;
  readonly added?: readonly NewColumn[] | undefined;
}

async function changeColumns(
  sheet: FormSheet,
  tab: FormTab,
  plan: ColumnPlan,
  update: ColumnUpdate,
): Promise<void> {
  const { spreadsheet, form } = sheet;
  const { added = [] } = update;
  const hadWaiting = update.state.blocked.some(({ headers }) => headers > 0);
  const touchesGrid = plan.newColumns.length + plan.newHeaders.length > 0 || hadWaiting;
  const read = touchesGrid ? await readHeader(sheet) : undefined;
  const own = hadWaiting ? missingOwnHeaders(sheet.usableLayout()) : [];
  const headers = await headerWrite(sheet, [...plan.newHeaders, ...own], read);
  // Before the catalogue says so: headers that went astray, as people moved columns, are then written again.
  if (headers.changes.length > 0) {
    const catalogue = withLabels(sheet.view.catalogue, plan.catalogue);
    const state = { ...sheet.view.state, catalogue: catalogueDigest(catalogue) };
    const { changes } = headers;
    await applyWrite(sheet, { changes, catalogue, state: () => state, leaseMs: LEASE_MS });
  }
  const layout = sheet.usableLayout();
  const keys = plan.newColumns.map(({ key }) => key);
  const newId = (): number => spreadsheet.newMetadataId();
  const marker = new ColumnMarker(layout.sheetId, tab.columns, keys, form.name, newId);
  const headerRow = read?.header?.row ?? 0;
  const hasNew = keys.length > 0;
  await growing(hasNew && tab.ranges.length > 0, async (grows, onCommit) => {
    const place = { headerRow, ranges: tab.ranges, grows };
    const made = insertColumns(layout, plan.newColumns, place, marker, sheet.obstacles.all);
    const waiting = new Map([...made.waiting, ...headers.waiting]);
    const formats = formatsOfAdded(sheet, added, headerRow, waiting);
    const after = withWaiting(plan.catalogue, update.state, waiting);
    const ownTabs = await updateOwnTabs(sheet, { ...after, now: update.now }, update.describe);
    await applyWrite(sheet, {
      columns: {
        requests: [...formats, ...(hasNew ? marker.recode() : []), ...made.requests],
        layout: { ...layout, columns: made.columns, columnCount: made.columnCount },
        tab: hasNew ? { ...withColumns(tab, made, marker), ranges: made.ranges } : tab,
        characters: marker.characters,
      },
      state: () => after.state,
      catalogue: after.catalogue,
      ownTabs,
      leaseMs: LEASE_MS,
      onCommit,
    });
  });
  if (!hasNew && added.length === 0) return;
  sheet.forgetRows();
  const before = sheet.obstacles.all;
  await sheet.findObstaclesAgain();
  const { state } = sheet.view;
  if (state.blocked.length === 0) return;
  // Headers that wait are not looked at again in this pass.
  const blocked = movedAlong(state.blocked, before, sheet.obstacles.all);
  sheet.deferState({ ...state, blocked });
}
