import type {
  Applied,
  Change,
  Count,
  CountQuery,
  Entry,
  EntryKind,
  Erasure,
  Grain,
  OpenForm,
  RowQuery,
  Run,
  StoredField,
  StoredRow,
  TargetNotice,
} from '../../mirror/port.ts';
import { isDeepStrictEqual } from 'node:util';
import { MirrorError } from '../../base/errors.ts';
import {
  countsOf,
  type Entries,
  entriesAfter,
  forgottenHash,
  isIn,
  tallyOf,
} from '../../mirror/ledger.ts';
import type { Form, PickedField } from '../../mirror/types.ts';
import { browserAddress } from './api/address.ts';
import { movedError } from './api/sheets-error.ts';
import { SerialTime } from './rows/serial-time.ts';
import { distrust, type FormState, nextCommitUs } from '../../mirror/form-state.ts';
import { blockedIn, countedRows } from './blocked.ts';
import { isSettled, planCommit } from './commit.ts';
import { followFields, type SheetField } from './fields.ts';
import { planErasure, planRemoval } from './erase.ts';
import { noticesOf } from './notices.ts';
import {
  encoderOf,
  knownRow,
  type KnownRow,
  storedRow,
  survey,
  type Survey,
  type Table,
} from './rows.ts';
import type { Aim, Batch, SheetFile, View, Writer } from './sheet-file.ts';
import { SALT, type StateKey, type StateRow, textIn } from './state-tab.ts';
import { planSweep, type Unverified } from './sweep.ts';
import { AnswerTally, type CountedQuestion } from './answer-tally.ts';
import { type FormDocument, runRow, runRows } from './documents.ts';

/** What an open form is made of. */
export interface SheetFormParts {
  readonly file: SheetFile;
  readonly salt: string;
  readonly document: FormDocument;
  /** As the sheet keeps it; null where it keeps none. */
  readonly kept: FormDocument | null;
  /** The cells of the tab, as far as the form is open for writing. */
  readonly table: Table;
  readonly survey: Survey;
  /** Submissions whose cells could not be written before, and can be now. */
  readonly freed: ReadonlySet<string>;
  /** A reader reads them when it is first asked for rows. */
  readonly rows: ReadonlyMap<string, KnownRow> | (() => Promise<ReadonlyMap<string, KnownRow>>);
  readonly entries: Entries;
  readonly losses: readonly string[];
  /** Null: open for reading. */
  readonly writer: Writer | null;
}

const ROWS_AT_ONCE = 2_000;
const MOST_LOOKS = 5;
/** Runs that are kept of a form. */
const MOST_RUNS = 50;

/** The cells of a tab, and what stands where. */
interface Lines {
  readonly table: Table;
  readonly found: Survey;
  readonly time: SerialTime;
}

/** One form of a spreadsheet. */
export class SheetForm implements OpenForm {
  readonly losses: readonly string[];
  readonly #file: SheetFile;
  #salt: string;
  readonly #writer: Writer | null;
  #state: FormState;
  #fields: readonly SheetField[];
  #rows: ReadonlyMap<string, KnownRow> = new Map();
  #linesRead: Promise<Lines | null> | null = null;
  #unread: (() => Promise<ReadonlyMap<string, KnownRow>>) | null = null;
  #questions: readonly CountedQuestion[];
  /** Of the answers that this writer stores. */
  #tally: AnswerTally | null = null;
  #entries: Entries;
  #prepared: readonly PickedField[] = [];
  /** As the sheet keeps it; null where it keeps none. */
  #kept: FormDocument | null;
  /** As it was read when the form was opened, until something is written. */
  #table: Table | null;
  #survey: Survey;
  #freed: ReadonlySet<string>;

  constructor(parts: SheetFormParts) {
    const { file, salt, document, kept, rows, entries, losses, writer } = parts;
    this.#kept = kept;
    [this.#table, this.#survey, this.#freed] = [parts.table, parts.survey, parts.freed];
    [this.#file, this.#salt, this.#writer, this.losses] = [file, salt, writer, losses];
    [this.#state, this.#fields] = [document.state, document.fields];
    this.#entries = entries;
    this.#questions = document.questions;
    if (typeof rows === 'function') this.#unread = rows;
    else this.#rows = rows;
  }

  get state(): FormState {
    return this.#state;
  }

  get fields(): readonly StoredField[] {
    return this.#fields;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#writer === null) return;
    // Else the next writer would take the last write for one that nobody has checked. Where it fails, that is what happens.
    if (this.#kept?.unverified) await this.commit({}).catch(() => {});
    this.#file.held.delete(this.#state.formId);
  }

  async *rows(query: RowQuery, cells = false): AsyncIterable<readonly StoredRow[]> {
    await this.#readRows();
    const found = this.#query(query);
    const lines = cells && found.length > 0 ? await this.#linesForReading() : null;
    for (let at = 0; at < found.length; at += ROWS_AT_ONCE)
      yield found.slice(at, at + ROWS_AT_ONCE).map((row) => {
        const { id, status, createdAt, deletedAt } = row;
        const at = lines?.found.places.get(id);
        return lines === null || at === undefined
          ? { id, status, createdAt, deletedAt, cells: new Map() }
          : storedRow(row, at, lines.table, this.#fields);
      });
  }

  async counts(query: CountQuery, grain: Grain): Promise<Count[]> {
    await this.#readRows();
    return countsOf(this.#rows, this.#entries, query, grain);
  }

  async *entries(kind: EntryKind): AsyncIterable<readonly Entry[]> {
    yield [...this.#entries.values()].filter((entry) => entry.kind === kind);
  }

  async forgotten(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (this.#state.tally.forgotten === 0) return new Map();
    return new Map(
      ids.flatMap((id) => {
        const digest = this.#digest(id);
        return this.#entries.has(`forgotten ${digest}`) ? [[id, digest] as const] : [];
      }),
    );
  }

  async runs(limit: number): Promise<Run[]> {
    const { stateTab } = await this.#file.forReading();
    return runRows(stateTab, this.#state.formId)
      .slice(-limit)
      .toReversed()
      .map(({ text }) => JSON.parse(text) as Run);
  }

  /** What it changes is stored with the next commit. */
  async prepare(form: Form, fields: readonly PickedField[]): Promise<void> {
    const idsOf = (some: readonly PickedField[]): string =>
      JSON.stringify(some.map(({ id }) => id));
    const isKnown = this.#table === null && idsOf(fields) === idsOf(this.#prepared);
    this.#prepared = fields;
    this.#tally ??= new AnswerTally(fields);
    this.#fields = followFields(this.#fields, form, fields);
    if (!isKnown) await this.#readPrints();
  }

  async commit(change: Change): Promise<Applied> {
    const { clock } = this.#file;
    this.#tally?.add(change.rows ?? []);
    const commitUs = nextCommitUs(this.#state, clock.now());
    const waiting = blockedIn(this.#entries);
    for (const id of this.#freed) waiting.delete(id);
    const from = {
      state: this.#state,
      fields: this.#fields,
      prepared: this.#prepared,
      rows: this.#rows,
      atMs: Math.floor(commitUs / 1_000),
      isForgotten: (id: string) =>
        this.#state.tally.forgotten > 0 && this.#entries.has(`forgotten ${this.#digest(id)}`),
      waiting,
      survey: this.#survey,
    };
    const isHidden = isSettled(await this.#file.recent(), change, from);
    const { applied, refused } = await this.#write(async (view) => {
      const planned = await planCommit(this.#file, view, change, from);
      const entries = entriesAfter(
        this.#entries,
        { ...change, entries: [...(change.entries ?? []), ...planned.listed] },
        planned.stored,
        (id) => this.#digest(id),
      );
      const counted = { ...this.#state, commitUs, tally: tallyOf(planned.rows, entries) };
      const isRefused = planned.refused !== null;
      // What is not stored must not be called read.
      const state = (isRefused ? undefined : change.state?.(counted)) ?? counted;
      const run = change.run ?? null;
      return { ...planned, entries, state, run, result: planned };
    }, isHidden);
    if (refused !== null) throw refused;
    return applied;
  }

  async erase(what: Erasure): Promise<number> {
    const { clock } = this.#file;
    const done = await this.#write(async (view) => {
      const planned = await planErasure(this.#file, view, what, {
        formId: this.#state.formId,
        fields: this.#fields,
        rows: this.#rows,
        entries: this.#entries,
        digestOf: (id) => this.#digest(id),
        atMs: clock.now(),
      });
      const { rows, entries, requests } = planned;
      const commitUs = nextCommitUs(this.#state, clock.now());
      const state = { ...this.#state, commitUs, tally: tallyOf(rows, entries) };
      const survey = this.#survey;
      const [result, isShown] = [planned, true];
      const fields = this.#fields;
      return { requests, rows, entries, state, fields, survey, run: null, isShown, result };
    });
    await this.#removeLeft(done.gone);
    if (this.#prepared.length > 0) await this.#readPrints();
    return done.erased;
  }

  /** People may have moved rows between the reading and the deletion: what is left of submissions is deleted, too. */
  async #removeLeft(ids: readonly string[]): Promise<void> {
    for (let tries = 1; ids.length > 0; tries++) {
      const isLeft = await this.#write(async ({ structure }) => {
        const [state, fields, survey] = [this.#state, this.#fields, this.#survey];
        const [rows, entries] = [this.#rows, this.#entries];
        const requests = await planRemoval(this.#file, structure.forms.get(state.formId), ids);
        const result = requests.length > 0;
        return { requests, rows, entries, state, fields, survey, run: null, result };
      });
      if (!isLeft) return;
      if (tries >= MOST_LOOKS) throw movedError(browserAddress(this.#file.api.spreadsheetId));
    }
  }

  async finish(): Promise<readonly TargetNotice[]> {
    // What was prepared or written last is stored, and known to be as it was meant.
    await this.commit({});
    return this.#kept?.notices ?? [];
  }

  /** One write of this writer; what it leaves is remembered once it is done. */
  async #write<T>(
    plan: (view: View) => Promise<{
      readonly requests: Batch['requests'];
      readonly rows: ReadonlyMap<string, KnownRow>;
      readonly entries: Entries;
      readonly state: FormState;
      readonly fields: readonly SheetField[];
      readonly survey: Survey;
      readonly run: Run | null;
      readonly aim?: Aim | null;
      readonly isShown?: boolean;
      readonly result: T;
    }>,
    isHidden = false,
  ): Promise<T> {
    const writer = this.#writer;
    if (writer === null) throw new TypeError('the form is open for reading');
    const { formId } = this.#state;
    let written = this.#kept;
    let isWritten = false;
    const write = async (view: View) => {
      const salt = textIn(view.stateTab, SALT);
      // Another process may have made one first, before anything was forgotten.
      this.#salt = salt ?? this.#salt;
      const next = await plan(view);
      const aim = next.aim ?? null;
      const { state, fields } = next;
      const { appended = [], rows = [], isOnHeaders = false, idColumn = 0 } = aim ?? {};
      const unverified = aim && { appended, rows, isOnHeaders, idColumn };
      const tab = view.structure.forms.get(formId);
      const { email } = this.#file.api;
      const notices =
        tab === undefined ? [] : noticesOf(tab, fields, next.entries, next.survey, email);
      if (next.run !== null) this.#questions = this.#tally?.questions(this.#questions) ?? [];
      const { headerRow } = next.survey;
      const questions = this.#questions;
      const document: FormDocument = {
        state,
        fields,
        notices,
        unverified,
        questions,
        headerRow: Math.max(0, headerRow),
      };
      const changed = changedEntries(formId, this.#entries, next.entries);
      const isChanged = next.requests.length + changed.put.length + changed.drop.length > 0;
      if (!isChanged && next.run === null && isSameDocument(document, this.#kept))
        return { batch: null, result: next };
      isWritten = next.requests.length > 0;
      const old = next.run === null ? [] : runRows(view.stateTab, formId).slice(0, 1 - MOST_RUNS);
      written = document;
      const put: StateRow[] = [
        { kind: 'state', formId, key: '', text: JSON.stringify(document) },
        ...changed.put,
        ...(next.run === null ? [] : [runRow(formId, next.run)]),
        ...(salt === null ? [{ ...SALT, text: this.#salt }] : []),
      ];
      const drop = [...changed.drop, ...old];
      const { requests, isShown = next.run !== null } = next;
      return { batch: { requests, put, drop, aim, isShown }, result: next };
    };
    const { result: done, isAstray } = await this.#file.write(writer, write, isHidden);
    if (isWritten) this.#table = null;
    [this.#state, this.#fields, this.#survey] = [done.state, done.fields, done.survey];
    [this.#rows, this.#entries] = [done.rows, done.entries];
    this.#kept = written;
    if (isAstray) {
      await this.startAfresh(
        written?.unverified ?? { appended: [], rows: [], isOnHeaders: true, idColumn: -1 },
      );
      throw movedError(browserAddress(this.#file.api.spreadsheetId));
    }
    return done.result;
  }

  /**
   * A write met other cells than it was meant for: people moved them meanwhile. What went beside the columns is removed, what
   * stands there now is found out, and all of it is to be read again.
   */
  async startAfresh(unverified: Unverified): Promise<void> {
    const [rows, entries] = [this.#rows, this.#entries];
    // Headers may have gone to other columns, too.
    const fields = this.#fields.map((field) =>
      unverified.isOnHeaders ? { ...field, header: null } : field,
    );
    // Looks again until nothing is left: rows may move before this write, too.
    for (let tries = 1, isLeft = true; isLeft && tries <= MOST_LOOKS; tries++)
      isLeft = await this.#write(async (view) => {
        const state = distrust(this.#state);
        const swept = await planSweep(this.#file, view, state.formId, unverified, rows);
        const survey = this.#survey;
        const result = swept.requests.length > 0;
        return { ...swept, rows, entries, state, fields, survey, run: null, result };
      });
    await this.#readPrints();
    this.#state = { ...this.#state, tally: tallyOf(this.#rows, this.#entries) };
  }

  /** A reader reads the cells once: it may ask for rows piece by piece. */
  #linesForReading(): Promise<Lines | null> {
    if (this.#writer !== null) return this.#lines();
    this.#linesRead ??= this.#lines();
    return this.#linesRead;
  }

  /** The cells of the tab as they are now, and where each submission is. */
  async #lines(): Promise<Lines | null> {
    const isRead = this.#table !== null && this.#writer !== null;
    const { structure } = await (isRead ? this.#file.recent() : this.#file.refresh());
    const tab = structure.forms.get(this.#state.formId);
    if (tab === undefined) return null;
    const table = isRead && this.#table !== null ? this.#table : await this.#file.table(tab);
    return { table, found: survey(table), time: new SerialTime(structure.timeZone) };
  }

  /** Remembers what stands in the columns of the selected fields, so that equal rows are found without reading them again. */
  async #readPrints(): Promise<void> {
    if (this.#writer === null) return;
    const lines = await this.#lines();
    this.#table = null;
    if (lines === null) return;
    const { table, found, time } = lines;
    this.#survey = found;
    const encoder = encoderOf(table.keys(), this.#prepared, time);
    const rows = new Map(
      [...found.places].map(([id, row]) => [id, knownRow(id, row, table, time, encoder)]),
    );
    this.#rows = countedRows(rows, this.#entries);
  }

  async #readRows(): Promise<void> {
    if (this.#unread === null) return;
    this.#rows = await this.#unread();
    this.#unread = null;
  }

  /** Rows of forgotten submissions: an erasure was killed, or a person took it back. */
  get strays(): readonly string[] {
    if (this.#state.tally.forgotten === 0) return [];
    return [...this.#rows.keys()].filter((id) =>
      this.#entries.has(`forgotten ${this.#digest(id)}`),
    );
  }

  #digest(id: string): string {
    return forgottenHash(this.#salt, this.#state.formId, id);
  }

  #query(query: RowQuery): KnownRow[] {
    const ids = query.ids === undefined ? null : new Set(query.ids);
    const isDeleted = query.isDeleted === true;
    return [...this.#rows.values()].filter(
      (row) => row.isDeleted === isDeleted && (ids === null || ids.has(row.id)) && isIn(row, query),
    );
  }
}

/** The name of a commit alone is not worth a write: the next one takes it. */
const isSameDocument = (a: FormDocument, b: FormDocument | null): boolean =>
  b !== null &&
  isDeepStrictEqual(
    { ...a, state: { ...a.state, commitUs: 0 } },
    { ...b, state: { ...b.state, commitUs: 0 } },
  );

/** The rows of the hidden tab in which two sets of entries differ. */
function changedEntries(
  formId: string,
  before: Entries,
  after: Entries,
): { put: StateRow[]; drop: StateKey[] } {
  const put: StateRow[] = [];
  for (const [key, entry] of after)
    if (before.get(key) !== entry)
      put.push({ kind: 'entry', formId, key, text: JSON.stringify(entry) });
  const drop = [...before.keys()]
    .filter((key) => !after.has(key))
    .map((key) => ({ kind: 'entry' as const, formId, key }));
  return { put, drop };
}

/** The sheet has rows of a form, and what was known of them is lost: erased people might come back. */
export const stateLost = (name: string, slug: string): MirrorError =>
  new MirrorError(
    'TARGET_FAILED',
    `Target ${name} has a tab of form ${slug}, but the hidden tab with what is known of it is lost, the list of forgotten submissions ` +
      'perhaps among it. Nothing is written there. Restore it from the version history, or delete the tab to copy the form again.',
    { retryable: false },
  );
