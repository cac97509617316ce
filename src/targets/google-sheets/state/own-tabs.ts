import type { TabRole } from '../api/metadata.ts';
import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { DescribeHealth } from '../../../mirror/health-text.ts';
import type { FormOverview } from '../../../mirror/target.ts';
import { type FormSheet, newer } from './form-sheet.ts';
import type { FormState } from './form-state.ts';
import type { FieldCatalogue } from '../columns/field-catalogue.ts';
import { newStateTab } from './state-tab.ts';
import { mirrorTabRequests, newMirrorTab } from './mirror-tab.ts';
import { fieldsTable, formsTable, grown, type MirrorForm, problemsTable } from './mirror-tables.ts';
import { overviewOf } from './overview.ts';
import type { Tab } from '../columns/layout.ts';

type Request = sheets_v4.Schema$Request;

/** Part of a write: requests for tabs of our own, and those tabs as they leave them. */
export interface OwnTabWrite {
  readonly requests: readonly Request[];
  readonly tabs: ReadonlyMap<TabRole, Tab>;
}

/** What the Mirror tab is to show besides what it shows already. */
export interface MirrorTabUpdate {
  /** The state of the form at hand as the write leaves it. */
  readonly state: FormState;
  /** The form's catalogue, when it changed. */
  readonly catalogue?: FieldCatalogue | undefined;
  /** True when rejections changed, or what there is to say of what people did. */
  readonly problems?: boolean | undefined;
  /** ISO time. */
  readonly now: string;
}

/**
 * Requests that bring the Mirror tab up to date, and make it and the state tab where they are missing. The state tab must
 * be in memory when problems, or another form's catalogue that is kept there, are to be shown.
 */
export function updateOwnTabs(
  sheet: FormSheet,
  update: MirrorTabUpdate,
  describe: DescribeHealth,
): OwnTabWrite {
  const { spreadsheet, structure } = sheet;
  const { time } = sheet.view;
  const { spreadsheetId } = spreadsheet.api;
  const requests: Request[] = [];
  const forms = mirrorForms(sheet, update, describe);
  const old = structure.roles.get('mirror');
  let mirror =
    old ??
    newMirrorTab(
      structure.tabs.map(({ title }) => title),
      spreadsheet.newSheetId(),
    );
  const add = (more: readonly Request[]): void => {
    requests.push(...more);
    mirror = grown(mirror, more);
  };
  if (old === undefined) {
    const { health } = forms[0];
    requests.push(...mirrorTabRequests(mirror, structure.autoRecalc, spreadsheetId, health));
  }
  add(formsTable(mirror, structure, forms, time, update.now));
  if (update.catalogue !== undefined || old === undefined) {
    const catalogues = knownCatalogues(sheet, forms, update.catalogue);
    if (catalogues !== undefined) add(fieldsTable(mirror, catalogues, time));
  }
  const stateTab = spreadsheet.knownStateTab;
  if (stateTab !== undefined && (update.problems === true || old === undefined)) {
    const problems = forms.map(({ overview: { formId, name, notices } }) => {
      return { form: name, notices, rejections: stateTab.rejections(formId) };
    });
    add(problemsTable(mirror, problems, time));
  }
  const tabs = new Map<TabRole, Tab>([['mirror', mirror]]);
  if (structure.roles.get('state') === undefined) {
    const made = newStateTab(structure, spreadsheetId, spreadsheet.newSheetId());
    requests.push(...made.requests);
    tabs.set('state', made.tab);
  }
  return { requests, tabs };
}

/** Requests that write what changed in the state tab; none while there is no such tab. */
export function writeStateTab({ structure, spreadsheet }: FormSheet): OwnTabWrite {
  const tab = structure.roles.get('state');
  const stateTab = spreadsheet.knownStateTab;
  if (tab === undefined || stateTab === undefined) return { requests: [], tabs: new Map() };
  const requests = stateTab.requests(tab.sheetId, tab.rowCount);
  return { requests, tabs: new Map([['state', grown(tab, requests)]]) };
}

/** All forms of the spreadsheet, with their health in words; the form at hand as the write leaves it, first. */
function mirrorForms(
  { spreadsheet, structure, form, view }: FormSheet,
  { state, now, catalogue }: MirrorTabUpdate,
  describe: DescribeHealth,
): [MirrorForm, ...MirrorForm[]] {
  const others = [...structure.forms.values()].filter((tab) => tab.formId !== form.id);
  const shown = (overview: FormOverview, copies: number): MirrorForm => ({
    overview,
    copies,
    health: describe(overview, Date.parse(now)),
  });
  return [
    shown(overviewOf(spreadsheet, form.id, state, view.tab, catalogue), state.counts.copies),
    ...others.map((tab) => {
      const current = newer(tab.state, spreadsheet.deferredState(tab.formId));
      const overview = overviewOf(spreadsheet, tab.formId, current, tab);
      return shown(overview, current.counts.copies);
    }),
  ];
}

/** The catalogues of all forms; undefined when one of them is not in memory. */
function knownCatalogues(
  { spreadsheet, structure, form, view }: FormSheet,
  forms: readonly MirrorForm[],
  changed: FieldCatalogue | undefined,
): { form: string; catalogue: FieldCatalogue }[] | undefined {
  const all = forms.flatMap(({ overview: { formId, name } }) => {
    const catalogue =
      formId === form.id
        ? (changed ?? view.catalogue)
        : spreadsheet.catalogueOf(structure.forms.get(formId));
    return catalogue === undefined ? [] : [{ form: name, catalogue }];
  });
  return all.length === forms.length ? all : undefined;
}
