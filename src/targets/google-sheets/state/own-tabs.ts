import type { TabRole } from '../api/metadata.ts';
import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { DescribeHealth } from '../../../mirror/health-text.ts';
import { pauseOf } from '../../../mirror/pauses.ts';
import type { FormOverview } from '../../../mirror/target.ts';
import { type FormSheet, newer } from './form-sheet.ts';
import type { FormState } from './form-state.ts';
import { EMPTY_CATALOGUE, type FieldCatalogue } from '../columns/field-catalogue.ts';
import { newStateTab, type StateTab } from './state-tab.ts';
import { gridRange } from '../api/formatting.ts';
import { readProtections } from '../api/obstacles.ts';
import { HEAD_AREA, mirrorTabRequests, newMirrorTab, repairedHead, write } from './mirror-tab.ts';
import { capacityOf, capacityText } from './capacity.ts';
import {
  hasOtherSize,
  isRearranged,
  type LowerTables,
  mustMove,
  tableRequests,
  tablesOverHead,
} from './mirror-area.ts';
import { byName, fieldRows, formsTable, type MirrorForm, problemRows } from './mirror-tables.ts';
import { overviewOf } from './overview.ts';
import { storedPauses } from './known-pauses.ts';
import type { Tab } from '../columns/layout.ts';
import type { OwnTab } from './structure.ts';

type Request = sheets_v4.Schema$Request;

const ALL_ROWS = { startRow: 0 };

/** Part of a write: requests for tabs of our own, and those tabs as they leave them. */
export interface OwnTabWrite {
  readonly requests: readonly Request[];
  readonly tabs: ReadonlyMap<TabRole, OwnTab>;
}

/** What the Mirror tab is to show besides what it shows already. */
export interface MirrorTabUpdate {
  /** The state of the form at hand as the write leaves it. */
  readonly state: FormState;
  /** The form's catalogue, when it changed. */
  readonly catalogue?: FieldCatalogue | undefined;
  /** ISO time. */
  readonly now: string;
}

/**
 * Requests that bring the Mirror tab up to date, and make it and the state tab where they are missing. Problems and fields are compared
 * with what is there as long as the state tab is in memory; it is read where the tab cannot be written without. A Mirror tab that
 * people protect stays as it is: it turns stale by itself. To be called inside a turn.
 */
export async function updateOwnTabs(
  sheet: FormSheet,
  update: MirrorTabUpdate,
  describe: DescribeHealth,
): Promise<OwnTabWrite> {
  const { spreadsheet } = sheet;
  const { structure } = sheet;
  const { spreadsheetId } = spreadsheet.api;
  const old = structure.roles.get('mirror');
  if (old !== undefined && sheet.isProtected(old)) return stateTabOf(sheet);
  const forms = mirrorForms(sheet, update, describe);
  const needsAll = old === undefined || mustMove(old, forms.length);
  const stateTab = needsAll ? await spreadsheet.stateTab() : spreadsheet.knownStateTab;
  const titles = structure.tabs.map(({ title }) => title);
  const begun = old ?? newMirrorTab(titles, spreadsheet.newSheetId());
  const requests: Request[] = [];
  let mirror: OwnTab = begun;
  if (old === undefined) {
    const { health } = forms[0];
    requests.push(...mirrorTabRequests(begun, structure.autoRecalc, spreadsheetId, health));
  } else if (isRearranged(old)) {
    const isSorted = !hasOtherSize(old);
    const range = gridRange({ sheetId: old.sheetId, ...(isSorted ? ALL_ROWS : HEAD_AREA) });
    const [head] = await spreadsheet.api.values([{ gridRange: range }], 'ROWS');
    const cells = head?.valueRange?.values ?? [];
    const repaired = repairedHead(old, cells, forms[0].health, isSorted);
    const over = tablesOverHead(old);
    // First: rows and columns of a table do not let themselves be moved. What goes with it is written again below.
    requests.push(...over.map((tableId) => ({ deleteTable: { tableId } })), ...repaired.requests);
    const ranges = old.ranges?.filter(({ tableId = '' }) => !over.includes(tableId)) ?? [];
    // Nothing of the tables is taken to be where it was.
    mirror = {
      ...old,
      ...repaired.tab,
      ranges,
      tables: old.tables && { ...old.tables, rowCount: -1 },
    };
  }
  const shown = tableRequests(
    mirror,
    formsTable(forms, sheet.view.time),
    stateTab && lowerTables(sheet, forms, update.catalogue, stateTab),
    spreadsheet.newMetadataId(),
  );
  const room = capacityText(capacityOf(structure, update.now));
  requests.push(...shown.requests, write(begun.sheetId, 2, 1, [[room]]));
  const made = stateTabOf(sheet);
  return {
    requests: [...requests, ...made.requests],
    tabs: new Map<TabRole, OwnTab>([['mirror', shown.tab], ...made.tabs]),
  };
}

/**
 * True when people rearranged the Mirror tab and it can be put right: where they protect it, it stays as it is. Reads what
 * is protected, where that is not known.
 */
export async function isRepairDue(sheet: FormSheet): Promise<boolean> {
  const mirror = sheet.structure.roles.get('mirror');
  if (mirror === undefined || !isRearranged(mirror)) return false;
  if (!sheet.knowsProtections) {
    sheet.keepProtections(readProtections(await sheet.spreadsheet.api.protections()));
  }
  return !sheet.isProtected(mirror);
}

/** Requests that make the state tab where it is missing. */
function stateTabOf({ spreadsheet, structure }: FormSheet): OwnTabWrite {
  if (structure.roles.get('state') !== undefined) return { requests: [], tabs: new Map() };
  const { spreadsheetId } = spreadsheet.api;
  const made = newStateTab(structure, spreadsheetId, spreadsheet.newSheetId());
  return { requests: made.requests, tabs: new Map([['state', made.tab]]) };
}

/** Requests that write what changed in the state tab; none while there is no such tab. */
export function writeStateTab({ structure, spreadsheet }: FormSheet): OwnTabWrite {
  const tab = structure.roles.get('state');
  const stateTab = spreadsheet.knownStateTab;
  if (tab === undefined || stateTab === undefined) return { requests: [], tabs: new Map() };
  const requests = stateTab.requests(tab.sheetId, tab.rowCount);
  return { requests, tabs: new Map([['state', grown(tab, requests)]]) };
}

/** A tab's size once rows were added at its end. */
const grown = (tab: Tab, requests: readonly Request[]): Tab => ({
  ...tab,
  rowCount: requests.reduce(
    (rows, { appendDimension }) => rows + (appendDimension?.length ?? 0),
    tab.rowCount,
  ),
});

/** All forms of the spreadsheet, with their health in words; the form at hand as the write leaves it, first. */
function mirrorForms(
  { spreadsheet, structure, form, view }: FormSheet,
  { state, now, catalogue }: MirrorTabUpdate,
  describe: DescribeHealth,
): [MirrorForm, ...MirrorForm[]] {
  const others = [...structure.forms.values()].filter((tab) => tab.formId !== form.id);
  const pauses = storedPauses(spreadsheet.api.spreadsheetId, structure.pauses);
  const shown = (overview: FormOverview): MirrorForm => ({
    overview,
    health: describe(overview, Date.parse(now), pauseOf(pauses, overview.formId)),
  });
  return [
    shown(overviewOf(spreadsheet, form.id, state, view.tab, catalogue)),
    ...others.map((tab) => {
      const current = newer(tab.state, spreadsheet.deferredState(tab.formId));
      return shown(overviewOf(spreadsheet, tab.formId, current, tab));
    }),
  ];
}

/** Problems and fields of all forms. With the state tab in memory every catalogue is. */
function lowerTables(
  { spreadsheet, structure, form, view }: FormSheet,
  forms: readonly MirrorForm[],
  changed: FieldCatalogue | undefined,
  stateTab: StateTab,
): LowerTables {
  const catalogueOf = (formId: string): FieldCatalogue =>
    formId === form.id
      ? (changed ?? view.catalogue)
      : (spreadsheet.catalogueOf(structure.forms.get(formId)) ?? EMPTY_CATALOGUE);
  const ordered = forms.toSorted(byName);
  const problems = ordered.map(({ overview: { formId, name, notices } }) => {
    return { form: name, notices, rejections: stateTab.rejections(formId) };
  });
  const fields = ordered.map(({ overview: { formId, name } }) => {
    return { form: name, catalogue: catalogueOf(formId) };
  });
  const { time } = view;
  return { problems: problemRows(problems, time), fields: fieldRows(fields, time) };
}
