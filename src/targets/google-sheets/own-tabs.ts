import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { FormSheet } from './form-sheet.ts';
import { newer } from './form-sheet.ts';
import type { FormState } from './form-state.ts';
import type { FieldCatalogue } from './field-catalogue.ts';
import { newLedgerTab } from './ledger-tab.ts';
import {
  fieldsTable,
  formsTable,
  grown,
  type MirrorForm,
  newMirrorTab,
  problemsTable,
} from './mirror-tab.ts';
import type { Tab, TabRole } from './structure.ts';

type Request = sheets_v4.Schema$Request;

/** What a write does to the tabs of our own; {@link OwnTabs.kept} is to be called once it is applied. */
export interface OwnTabWork {
  readonly requests: Request[];
  readonly kept: () => void;
}

/** What the Mirror tab should tell anew. */
export interface Tidings {
  /** The state of the form at hand as the write leaves it. */
  readonly state: FormState;
  /** The form's catalogue, when it changed. */
  readonly catalogue?: FieldCatalogue | undefined;
  /** True when rejections changed. */
  readonly problems?: boolean | undefined;
  /** ISO time. */
  readonly now: string;
}

/**
 * Requests that bring the Mirror tab and the ledger up to date, and make them when they are not there. The ledger must
 * have been read when problems, or another form's catalogue that is kept there, are to be told.
 */
export function tellOwnTabs(sheet: FormSheet, tidings: Tidings, alarmMinutes: number): OwnTabWork {
  const made = new Map<TabRole, Tab>();
  const requests: Request[] = [];
  const { book } = sheet;
  const { structure, time } = sheet;
  const spreadsheetId = book.api.spreadsheetId;
  let mirror = structure.roles.get('mirror');
  const isNew = mirror === undefined;
  if (mirror === undefined) {
    const work = newMirrorTab(structure, spreadsheetId, book.newSheetId(), alarmMinutes);
    requests.push(...work.requests);
    mirror = work.tab;
  }
  const add = (tab: Tab, more: Request[]): Tab => {
    requests.push(...more);
    return grown(tab, more);
  };
  const forms = mirrorForms(sheet, tidings.state);
  mirror = add(mirror, formsTable(mirror, structure, forms, time, tidings.now));
  const catalogues =
    tidings.catalogue !== undefined || isNew
      ? knownCatalogues(sheet, forms, tidings.catalogue)
      : undefined;
  if (catalogues !== undefined) mirror = add(mirror, fieldsTable(mirror, catalogues, time));
  const ledger = book.knownLedger;
  if (ledger !== undefined && (tidings.problems === true || isNew)) {
    const problems = forms.flatMap(({ formId, state }) =>
      ledger.rejections(formId).map((rejection) => ({ form: state.name, rejection })),
    );
    mirror = add(mirror, problemsTable(mirror, problems, time));
  }
  made.set('mirror', mirror);
  if (structure.roles.get('ledger') === undefined) {
    const work = newLedgerTab(structure, spreadsheetId, book.newSheetId());
    requests.push(...work.requests);
    made.set('ledger', work.tab);
  }
  return { requests, kept: () => made.forEach((tab, role) => sheet.keepRole(role, tab)) };
}

/** Requests that write what changed in the ledger. Call `kept` once all of a write is applied. */
export function writeLedger(sheet: FormSheet): OwnTabWork {
  const tab = sheet.structure.roles.get('ledger');
  const ledger = sheet.book.knownLedger;
  if (tab === undefined || ledger === undefined) return { requests: [], kept: () => {} };
  const requests = ledger.requests(tab.sheetId, tab.rowCount);
  return {
    requests,
    kept: () => {
      ledger.written();
      sheet.keepRole('ledger', grown(tab, requests));
    },
  };
}

function mirrorForms(sheet: FormSheet, state: FormState): MirrorForm[] {
  const others = [...sheet.structure.forms.values()]
    .filter((tab) => tab.formId !== sheet.form.id)
    .map((tab) => ({
      formId: tab.formId,
      state: newer(tab.state, sheet.book.pending.get(tab.formId)),
    }));
  return [...others, { formId: sheet.form.id, state }];
}

/** The catalogues of all forms; undefined when one of them is not in memory. */
function knownCatalogues(
  sheet: FormSheet,
  forms: readonly MirrorForm[],
  changed: FieldCatalogue | undefined,
): { form: string; catalogue: FieldCatalogue }[] | undefined {
  const all = forms.map(({ formId, state }) => ({
    form: state.name,
    catalogue:
      formId === sheet.form.id
        ? (changed ?? sheet.catalogue)
        : sheet.book.catalogueOf(sheet.structure.forms.get(formId)),
  }));
  return all.every(
    (one): one is { form: string; catalogue: FieldCatalogue } => one.catalogue !== undefined,
  )
    ? all
    : undefined;
}
