import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../base/clock.ts';
import { MirrorError } from '../../base/errors.ts';
import { newSalt, tallyOf } from '../../mirror/ledger.ts';
import type { FormIdentity } from '../../mirror/types.ts';
import { browserAddress } from './api/address.ts';
import { GOOGLE_QUOTA, RequestQuota } from './api/request-quota.ts';
import { SheetsApi } from './api/sheets-api.ts';
import { SHEETS_SCOPE } from './api/sheets-error.ts';
import { SerialTime } from './rows/serial-time.ts';
import { headOf } from './state/commit-log.ts';
import { type CredentialsSource, openAccount } from '../google/credentials.ts';
import { distrust, flagAll, liveRows, newFormState } from '../../mirror/form-state.ts';
import type {
  CheckResult,
  FormSnapshot,
  OpenForm,
  Store,
  StoredForm,
  StoredRecord,
  StoredRow,
} from '../../mirror/port.ts';
import { checkSheet } from './check.ts';
import { documentIn, documentsIn, entriesIn, type FormDocument } from './documents.ts';
import { SheetForm, type SheetFormParts, stateLost } from './form.ts';
import { idColumnDeleted, noticesOf } from './notices.ts';
import { type DescribeForm, showMirror, showSummary } from './own-tabs.ts';
import { sheetSnapshot } from './snapshot.ts';
import { countedRows, freedIn } from './blocked.ts';
import { planHeader } from './layout.ts';
import {
  EMPTY_SURVEY,
  knownRow,
  type KnownRow,
  OWN_COLUMNS,
  survey,
  type Survey,
  type Table,
} from './rows.ts';
import { READ_MS, SheetFile, type View, type Writer } from './sheet-file.ts';
import { SALT, type StateRow, textIn } from './state-tab.ts';
import type { FormTab } from './structure.ts';

export interface SheetStoreOptions extends CredentialsSource {
  /** As the settings name it, for messages. */
  readonly name: string;
  readonly clock: Clock;
  readonly random?: () => number;
  /** Puts a form's health into words for the Mirror tab; left out: there are no tabs for people. */
  readonly describe?: DescribeForm | undefined;
  /** SHEETS_SUMMARY; undefined: only in a spreadsheet without tabs of people's. */
  readonly summary?: boolean | undefined;
}

/** So often forms are read again because another process has written meanwhile. */
const MOST_READINGS = 3;

/** Opens a spreadsheet by its ID. Reads the credentials and makes no call yet; throws SETTINGS and TARGET_DENIED. */
export async function openSheetStore(
  spreadsheetId: string,
  options: SheetStoreOptions,
): Promise<Store> {
  const { clock, random = Math.random, emulatorUrl } = options;
  const account = await openAccount(options, SHEETS_SCOPE);
  const rootUrl = emulatorUrl?.replace(/\/*$/, '/');
  // A stand-in counts no requests.
  const quota = rootUrl === undefined ? new RequestQuota(clock, GOOGLE_QUOTA) : undefined;
  const api = new SheetsApi({ spreadsheetId, account, clock, quota, rootUrl, random });
  const holder = Math.floor(random() * 2 ** 40).toString(36);
  const file = new SheetFile(api, clock, holder, random);
  const { describe } = options;
  if (describe !== undefined)
    file.show = (view) => {
      const summary = showSummary(file, options.summary, view);
      const mirror = showMirror(file, describe, view);
      return {
        requests: [...summary.requests, ...mirror.requests],
        put: [...summary.put, ...mirror.put],
        drop: summary.drop ?? [],
      };
    };
  const urlOf = (sheetId: number): string =>
    rootUrl === undefined
      ? browserAddress(spreadsheetId, sheetId)
      : `${rootUrl}view/${spreadsheetId}?gid=${sheetId}`;
  return new SheetStore(file, options.name, urlOf);
}

/** A target in a Google Sheet. */
class SheetStore implements Store {
  readonly isMetered = true;
  readonly #file: SheetFile;
  /** Rows as all forms were last read. */
  #counted: {
    readonly atMs: number;
    /** After which write. */
    readonly head: number;
    readonly rows: ReadonlyMap<string, ReadonlyMap<string, KnownRow>>;
  } | null = null;
  readonly #name: string;

  /** Where a browser opens a tab; a stand-in has a page of its own. */
  readonly #urlOf: (sheetId: number) => string;

  constructor(file: SheetFile, name: string, urlOf: (sheetId: number) => string) {
    [this.#file, this.#name, this.#urlOf] = [file, name, urlOf];
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  check(): Promise<CheckResult[]> {
    return checkSheet(this.#file, async () =>
      (await this.forms()).flatMap(({ notices }) => notices),
    );
  }

  async forms(): Promise<StoredForm[]> {
    for (let tries = 1; ; tries++) {
      const before = await this.#file.known();
      const tabs = before.structure.forms;
      const tables = await this.#file.tables([...tabs.values()], OWN_COLUMNS);
      const view = await this.#file.refresh();
      const head = headOf(view.structure.log);
      // A write in between is in the states, and perhaps not in the rows.
      if (tries < MOST_READINGS && headOf(before.structure.log) !== head) continue;
      const time = new SerialTime(view.structure.timeZone);
      const read = new Map<string, ReadonlyMap<string, KnownRow>>();
      this.#counted = { atMs: this.#file.clock.now(), head, rows: read };
      return documentsIn(view).map((document): StoredForm => {
        const { state, fields } = document;
        const tab = view.structure.forms.get(state.formId);
        const at = tabs.get(state.formId);
        const table = (at && tables.get(at)) ?? new Map();
        const { location, place } = whereIs(tab, this.#urlOf);
        // Nothing can be said of its rows: what was claimed before stays, as of then.
        if (tab !== undefined && !tab.columns.has('s:id'))
          return { state, fields, losses: [], notices: [idColumnDeleted(tab)], location, place };
        const entries = entriesIn(view, state.formId);
        const found = survey(table);
        const rows = countedRows(rowsIn(table, found.places, time), entries);
        read.set(state.formId, rows);
        const tally = tallyOf(rows, entries);
        const losses = lossesOf(view, document, liveRows(tally));
        if (losses.length === 0 && !isDeepStrictEqual(tally.rows, state.tally.rows))
          losses.push(`Rows of ${state.name} were changed or added; they are read again.`);
        const { email } = this.#file.api;
        const freed = freedIn(entries, found.places, tab);
        const trusted = freed.size > 0 ? flagAll(state) : state;
        const left = new Map([...entries].filter(([, { id }]) => !freed.has(id)));
        const notices = tab === undefined ? [] : noticesOf(tab, fields, left, found, email);
        // The next run that opens the form reports the losses and reads the rows again.
        return {
          state: losses.length === 0 ? trusted : distrust(state),
          fields,
          losses,
          notices,
          location,
          place,
        };
      });
    }
  }

  async states(): Promise<readonly Pick<StoredForm, 'state' | 'fields'>[]> {
    return documentsIn(await this.#file.forReading());
  }

  async snapshot(formId: string): Promise<FormSnapshot | null> {
    await using form = await this.open({ id: formId }, 'read');
    if (form === null) return null;
    const rows: StoredRow[] = [];
    for (const isDeleted of [false, true])
      for await (const some of form.rows({ isDeleted }, true)) rows.push(...some);
    return sheetSnapshot(form.fields, rows);
  }

  async relations(): Promise<null> {
    return null;
  }

  open(form: FormIdentity, mode: 'write'): Promise<OpenForm>;
  open(form: Pick<FormIdentity, 'id'>, mode: 'read'): Promise<OpenForm | null>;
  async open(
    form: Partial<FormIdentity> & { id: string },
    mode: 'read' | 'write',
  ): Promise<OpenForm | null> {
    const { id, slug = id, name = id } = form;
    if (mode === 'write') return this.#openToWrite({ id, slug, name });
    const view = await this.#file.forReading();
    const document = documentIn(view, id);
    if (document === null) return null;
    const entries = entriesIn(view, id);
    return new SheetForm({
      file: this.#file,
      salt: textIn(view.stateTab, SALT) ?? '',
      document,
      kept: document,
      table: new Map(),
      survey: EMPTY_SURVEY,
      freed: new Set(),
      rows: () => this.#rowsOf(view, document),
      entries,
      losses: [],
      writer: null,
    });
  }

  /** The rows of a form, without their answers. */
  async #rowsOf(view: View, { state }: FormDocument): Promise<ReadonlyMap<string, KnownRow>> {
    const { formId, name } = state;
    const counted = this.#counted;
    const isRecent = counted !== null && this.#file.clock.now() - counted.atMs < READ_MS;
    if (isRecent && counted.head === headOf((await this.#file.known()).structure.log))
      return counted.rows.get(formId) ?? new Map();
    const tab = view.structure.forms.get(formId);
    const table = tab === undefined ? new Map() : await this.#file.table(tab, OWN_COLUMNS);
    if (tab !== undefined && !table.has('s:id')) throw idsLost(this.#name, name);
    const time = new SerialTime(view.structure.timeZone);
    const { places } = survey(table);
    return countedRows(rowsIn(table, places, time), entriesIn(view, formId));
  }

  async record(key: string): Promise<StoredRecord | null> {
    const text = textIn((await this.#file.forReading()).stateTab, recordKey(key));
    return text === null ? null : (JSON.parse(text) as StoredRecord);
  }

  async putRecord(key: string, value: unknown, revision: number | null): Promise<boolean> {
    const nobody = { formId: '', slug: '', since: 0 };
    const { result } = await this.#file.write<boolean>(nobody, async ({ stateTab }) => {
      const text = textIn(stateTab, recordKey(key));
      const before = text === null ? null : (JSON.parse(text) as StoredRecord);
      if ((before?.revision ?? null) !== revision) return { batch: null, result: false };
      const record: StoredRecord = { value, revision: (revision ?? 0) + 1 };
      const put: StateRow[] = [{ ...recordKey(key), text: JSON.stringify(record) }];
      return { batch: { requests: [], put, drop: [], aim: null, isShown: true }, result: true };
    });
    return result;
  }

  async #openToWrite({ id, slug, name }: FormIdentity): Promise<OpenForm> {
    const file = this.#file;
    // Another process may have it open, too: only one of them gets its next write through.
    if (file.held.has(id))
      throw new MirrorError(
        'TARGET_BUSY',
        `This process writes form ${slug} in target ${this.#name}.`,
      );
    file.held.add(id);
    try {
      let view = await this.#file.refresh();
      const found = documentIn(view, id);
      if (found === null && view.structure.forms.has(id)) throw stateLost(this.#name, slug);
      const state = found?.state ?? newFormState({ formId: id, slug, name, place: id });
      const document: FormDocument = {
        state: { ...state, slug, name },
        fields: found?.fields ?? [],
        notices: [],
        unverified: null,
        questions: found?.questions ?? [],
        headerRow: found?.headerRow ?? 0,
      };
      const writer = { formId: id, slug, since: headOf(view.structure.log) };
      let parts = await this.#read(view, document);
      if (await this.#mendHeader(writer, view, parts)) {
        view = await this.#file.refresh();
        parts = await this.#read(view, document);
      }
      const unverified = found?.unverified ?? null;
      const tally = tallyOf(parts.rows, parts.entries);
      const losses = lossesOf(view, document, liveRows(tally));
      if (parts.freed.size > 0)
        losses.push(
          `Cells of ${name} that were protected or merged can be written now; its rows are read again.`,
        );
      const counted = { ...document.state, tally };
      const trusted = losses.length === 0 ? counted : distrust(counted);
      const form = new SheetForm({
        ...parts,
        document: { ...document, state: trusted },
        kept: found,
        losses,
        writer,
      });
      if (unverified !== null) await form.startAfresh(unverified);
      if (form.strays.length > 0) await form.erase({ kind: 'forget', ids: form.strays });
      return form;
    } catch (error) {
      file.held.delete(id);
      throw error;
    }
  }

  /** What is there of a form. */
  async #read(
    { structure, stateTab }: View,
    document: FormDocument,
  ): Promise<
    Omit<SheetFormParts, 'kept' | 'losses' | 'writer' | 'rows'> & {
      rows: ReadonlyMap<string, KnownRow>;
    }
  > {
    const { formId } = document.state;
    const tab = structure.forms.get(formId);
    const table = tab === undefined ? new Map() : await this.#file.table(tab);
    if (tab !== undefined && !table.has('s:id')) throw idsLost(this.#name, document.state.name);
    const found = tab === undefined ? EMPTY_SURVEY : survey(table);
    const entries = entriesIn({ structure, stateTab }, formId);
    const rows = countedRows(
      rowsIn(table, found.places, new SerialTime(structure.timeZone)),
      entries,
    );
    const salt = textIn(stateTab, SALT) ?? newSalt();
    const freed = freedIn(entries, found.places, tab);
    return { file: this.#file, salt, document, table, survey: found, freed, rows, entries };
  }

  /** Puts a header row back that people sorted into the rows, or deleted. */
  async #mendHeader(
    writer: Writer,
    { structure }: View,
    { survey: found, document: { fields } }: Pick<SheetFormParts, 'survey' | 'document'>,
  ): Promise<boolean> {
    const tab = structure.forms.get(writer.formId);
    if (tab === undefined || planHeader(tab, found, fields).length === 0) return false;
    const { result } = await this.#file.write<boolean>(writer, async (view) => {
      const now = view.structure.forms.get(writer.formId);
      const requests =
        now === undefined ? [] : planHeader(now, survey(await this.#file.table(now)), fields);
      const isAny = requests.length > 0;
      return {
        batch: isAny ? { requests, put: [], drop: [], aim: null, isShown: false } : null,
        result: isAny,
      };
    });
    return result;
  }
}

const recordKey = (key: string) => ({ kind: 'record', formId: '', key }) as const;

/** Where people find a form. A tab that was deleted is made again by the next run. */
const whereIs = (
  tab: FormTab | undefined,
  urlOf: (sheetId: number) => string,
): Pick<StoredForm, 'location' | 'place'> =>
  tab === undefined
    ? { location: 'no tab; the next run makes it', place: {} }
    : { location: `tab "${tab.title}"`, place: { url: urlOf(tab.sheetId) } };

const rowsIn = (table: Table, places: Survey['places'], time: SerialTime): Map<string, KnownRow> =>
  new Map([...places].map(([id, row]) => [id, knownRow(id, row, table, time, null)]));

/** Without IDs, rows cannot be matched with submissions. */
const idsLost = (target: string, form: string): MirrorError =>
  new MirrorError(
    'TARGET_FAILED',
    `The column "Submission ID" of ${form} in target ${target} was deleted. Restore it from the version history, or delete the tab to copy the form again.`,
    { retryable: false },
  );

/** What people removed, a sentence for each. `now`: how many live rows there are. */
function lossesOf({ structure }: View, { state, fields }: FormDocument, now: number): string[] {
  const before = liveRows(state.tally);
  const tab = structure.forms.get(state.formId);
  if (tab === undefined)
    return before > 0 ? [`The tab of ${state.name} was deleted; it is filled again.`] : [];
  const lost = fields.flatMap(({ label, column }) =>
    column !== null && !tab.columns.has(column as `f:${string}`)
      ? [`The column "${label}" of ${state.name} was deleted; it is filled again.`]
      : [],
  );
  if (now < before)
    lost.push(`${before - now} rows of ${state.name} were removed; they are read again.`);
  return lost;
}
