import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../base/clock.ts';
import { MirrorError } from '../../base/errors.ts';
import { FORGET_AGAIN } from '../../mirror/forgotten.ts';
import { distrust, flagAll, newFormState, withdrawClaims } from '../../mirror/form-state.ts';
import type {
  CheckResult,
  OpenForm,
  ReadForm,
  Store,
  StoredForm,
  StoredRecord,
  StoredRow,
  FormSnapshot,
} from '../../mirror/port.ts';
import type { FormIdentity } from '../../mirror/types.ts';
import { type CredentialsSource, openAccount } from '../google/credentials.ts';
import { SheetsApi } from './api/sheets-api.ts';
import { SHEETS_SCOPE } from './api/sheets-error.ts';
import { checkSheet } from './check.ts';
import { planHeader } from './columns.ts';
import type { Known } from './commit.ts';
import { SheetForm } from './form.ts';
import { findForm, type FoundForm, SheetReader } from './reader.ts';
import { type DescribeForm, showMirror } from './mirror-tab.ts';
import { idColumnDeleted, noticesOf, withoutIds } from './notices.ts';
import { digestKey } from './page.ts';
import { OWN_COLUMNS } from './own-columns.ts';
import { EMPTY_SURVEY, survey, type Table } from './rows.ts';
import { SerialTime } from './serial-time.ts';
import { NOTHING, READ_MS, SheetFile, type View, type Writer } from './sheet-file.ts';
import { sheetSnapshot } from './snapshot.ts';
import {
  documentIn,
  documentKey,
  documentsIn,
  entriesIn,
  type FormDocument,
  recordIn,
  recordKey,
  textIn,
} from './state-tab.ts';
import type { FormTab } from './structure.ts';
import { showSummary } from './summary-tab.ts';

export interface SheetStoreOptions extends CredentialsSource {
  /** As the settings name it, for messages. */
  readonly name: string;
  readonly clock: Clock;
  /** Describes a form's health for the Mirror tab. Without it, there are no tabs for people. */
  readonly describe?: DescribeForm | undefined;
  /** SHEETS_SUMMARY. */
  readonly summary?: boolean | undefined;
}

/** How often forms are read again if another process has written in between. */
const MOST_READINGS = 3;

/** Opens a spreadsheet by its ID. Reads the credentials and makes no call yet. Throws SETTINGS and TARGET_DENIED. */
export async function openSheetStore(
  spreadsheetId: string,
  options: SheetStoreOptions,
): Promise<Store> {
  const { clock, emulatorUrl } = options;
  const account = await openAccount(options, SHEETS_SCOPE);
  const rootUrl = emulatorUrl?.replace(/\/*$/, '/');
  const api = new SheetsApi({ spreadsheetId, account, clock, rootUrl });
  const file = new SheetFile(api, clock);
  const { describe } = options;
  if (describe !== undefined)
    file.show = (view) => {
      const summary = options.summary === false ? NOTHING : showSummary(file, view);
      const mirror = showMirror(file, describe, view);
      return {
        requests: [...summary.requests, ...mirror.requests],
        put: [...summary.put, ...mirror.put],
      };
    };
  return new SheetStore(file, options.name);
}

/**
 * A target in a Google Sheet. To read the folder: `structure` is everything but cells, `rows` finds rows in cells, `reader` joins both to
 * a form; `commit` and `erase` plan a write, `sheet-file` makes it, and `sweep` finds what people moved during the write.
 */
class SheetStore implements Store {
  readonly isMetered = true;
  readonly #file: SheetFile;
  readonly #name: string;

  constructor(file: SheetFile, name: string) {
    [this.#file, this.#name] = [file, name];
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  check(): Promise<CheckResult[]> {
    return checkSheet(this.#file, async () =>
      (await this.forms()).flatMap(({ notices }) => notices),
    );
  }

  async forms(runs = 0): Promise<StoredForm[]> {
    for (let tries = 1; ; tries++) {
      const before = await this.#file.view(Infinity);
      const tabs = before.structure.forms;
      const tables = await this.#file.tables([...tabs.values()], OWN_COLUMNS);
      const view = await this.#file.refresh();
      // A write in between is in the states, but may not be in the rows.
      const isSame = before.structure.revision === view.structure.revision;
      if (tries < MOST_READINGS && !isSame) continue;
      return documentsIn(view.stateTab).map((document) => {
        const at = tabs.get(document.state.formId);
        const found = findForm(view, document, (at && tables.get(at)) ?? new Map());
        return this.#stored(document, found, runs);
      });
    }
  }

  #stored(document: FormDocument, found: FoundForm, most: number): StoredForm {
    const { state, fields, runs } = document;
    const { tab, entries, isChanged, isFreed } = found;
    const shown = { fields, runs: runs.slice(0, most), ...whereIs(tab, this.#file.api) };
    const lost = withoutIds(tab, state);
    if (lost !== null) return { ...shown, ...lost, losses: [] };
    const changed = `Rows of ${state.name} were changed or added; they are read again.`;
    const losses = found.losses.length === 0 && isChanged ? [changed] : found.losses;
    const { email } = this.#file.api;
    const notices = tab === undefined ? [] : noticesOf(tab, entries, found.survey, email);
    // A run writes what can be written again, mends the header, and updates the notices on the Mirror tab.
    const needsRun =
      isFreed ||
      !isDeepStrictEqual(notices, document.notices) ||
      (tab !== undefined && planHeader(tab, found.survey, document.fields).length > 0);
    const trusted = needsRun ? flagAll(state) : state;
    // The next run that opens the form reports the losses and reads the rows again.
    return { ...shown, state: losses.length === 0 ? trusted : distrust(state), losses, notices };
  }

  async states(): Promise<readonly Pick<StoredForm, 'state' | 'fields'>[]> {
    return documentsIn((await this.#file.view(READ_MS)).stateTab);
  }

  async snapshot(formId: string): Promise<FormSnapshot | null> {
    await using form = await this.read(formId);
    if (form === null) return null;
    const [live, removed]: [StoredRow[], StoredRow[]] = [[], []];
    for await (const some of form.rows({}, true)) live.push(...some);
    for await (const some of form.rows({ isDeleted: true }, true)) removed.push(...some);
    return sheetSnapshot(form.fields, live, removed);
  }

  async read(id: string): Promise<ReadForm | null> {
    const view = await this.#file.view(READ_MS);
    const kept = documentIn(view.stateTab, id);
    if (kept === null) return null;
    const { state, fields } = kept;
    const entries = entriesIn(view.stateTab, id);
    const doubted = new Set(kept.doubted);
    const known = { state, fields, rows: new Map(), entries, survey: EMPTY_SURVEY, doubted };
    const load = async (): Promise<Known['rows']> =>
      findForm(view, kept, await this.#tableOf(view, kept, OWN_COLUMNS)).rows;
    let rows: Promise<Known['rows']> | undefined;
    return new SheetReader(this.#file, known, () => (rows ??= load()));
  }

  /** The cells of a form. Rejects if its IDs are gone: without them, rows cannot be matched with submissions. */
  async #tableOf(
    { structure }: View,
    { state: { formId } }: Pick<FormDocument, 'state'>,
    only?: typeof OWN_COLUMNS,
  ): Promise<Table> {
    const tab = structure.forms.get(formId);
    if (tab === undefined) return new Map();
    const table = await this.#file.table(tab, only);
    if (table.has('s:id')) return table;
    const { message, remedy } = idColumnDeleted(tab);
    throw new MirrorError('TARGET_FAILED', `${message} ${remedy}`, { retryable: false });
  }

  async record(key: string): Promise<StoredRecord | null> {
    return recordIn((await this.#file.view(READ_MS)).stateTab, key);
  }

  async putRecord(key: string, value: unknown, revision: number | null): Promise<boolean> {
    return this.#file.write<boolean>(null, async ({ stateTab }) => {
      if ((recordIn(stateTab, key)?.revision ?? null) !== revision)
        return { batch: null, result: false };
      const record: StoredRecord = { value, revision: (revision ?? 0) + 1 };
      const put = [{ ...recordKey(key), text: JSON.stringify(record) }];
      return { batch: { requests: [], put, isShown: true }, result: true };
    });
  }

  async open({ id, slug, name }: FormIdentity): Promise<OpenForm> {
    const file = this.#file;
    // Another process may have it open, too. Only one of them gets its next write through.
    if (file.opened.has(id))
      throw new MirrorError(
        'TARGET_BUSY',
        `Another run is writing to form ${slug} in target ${this.#name}.`,
      );
    file.opened.add(id);
    try {
      const view = await this.#file.refresh();
      const kept = documentIn(view.stateTab, id);
      if (kept === null && view.structure.forms.has(id)) throw stateLost(this.#name, slug);
      const before = kept?.state ?? newFormState({ formId: id, slug, name, place: id });
      const document = {
        state: { ...before, slug, name },
        fields: kept?.fields ?? [],
        doubted: kept?.doubted ?? [],
        timeZone: kept?.timeZone ?? view.structure.timeZone,
      };
      const writer = { formId: id, slug, text: textIn(view.stateTab, documentKey(id)) };
      const table = await this.#tableOf(view, document);
      const found = findForm(view, document, table);
      if (await this.#mendHeader(writer, found)) {
        file.opened.delete(id);
        return await this.open({ id, slug, name });
      }
      const losses = [...found.losses];
      if (found.isFreed)
        losses.push(
          `Cells of ${name} that were protected or merged can be written now; its rows are read again.`,
        );
      const counted = found.isChanged ? withdrawClaims(found.state) : found.state;
      const state = losses.length === 0 ? counted : distrust(found.state);
      const form = new SheetForm({
        file,
        known: { ...found, state },
        kept,
        time: new SerialTime(view.structure.timeZone),
        table,
        columns: [...(found.tab?.columns.keys() ?? [])],
        losses,
        writer,
      });
      if (kept !== null && kept.announced.length > 0) await form.sweep();
      if (form.strays.length > 0) await form.erase({ kind: 'forget', ids: form.strays });
      return form;
    } catch (error) {
      file.opened.delete(id);
      throw error;
    }
  }

  /** Moves back a header row that people sorted into the rows, or makes it again if they deleted it. */
  async #mendHeader(writer: Writer, form: FoundForm): Promise<boolean> {
    const { tab, survey: found, fields, entries } = form;
    if (tab === undefined || planHeader(tab, found, fields).length === 0) return false;
    return this.#file.write<boolean>(writer, async ({ structure }) => {
      const now = structure.forms.get(writer.formId);
      const requests =
        now === undefined
          ? []
          : planHeader(now, survey(await this.#file.table(now), entries), fields);
      const result = requests.length > 0;
      // Google has damaged the formulas over that row.
      const put = [{ ...digestKey('summary'), text: null }];
      const batch = { requests, put, isShown: false };
      return { batch: result ? batch : null, result };
    });
  }
}

/** The place of a form for people. The next run makes a deleted tab again. */
const whereIs = (
  tab: FormTab | undefined,
  api: SheetsApi,
): Pick<StoredForm, 'location' | 'place'> =>
  tab === undefined
    ? { location: 'no tab; the next run makes it', place: {} }
    : { location: `tab "${tab.title}"`, place: { url: api.urlOf(tab.sheetId) } };

/** The sheet has rows of a form, but their records are lost: erased people might come back. */
const stateLost = (name: string, slug: string): MirrorError =>
  new MirrorError(
    'TARGET_FAILED',
    `Target ${name} has a tab of form ${slug}, but the hidden tab with its records is lost, possibly with the list of forgotten ` +
      'submissions. Nothing is written there. Restore it from the version history, or delete the tab to copy the form again. ' +
      FORGET_AGAIN,
    { retryable: false },
  );
