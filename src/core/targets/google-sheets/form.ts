import type { TargetNotice } from '../../../mirror/notices.ts';
import { isDeepStrictEqual } from 'node:util';
import { MirrorError } from '../../../base/errors.ts';
import { forgottenHash } from '../../../mirror/forgotten.ts';
import type { Form, PickedField } from '../../../mirror/types.ts';
import { browserAddress } from '../../../targets/google-sheets/api/address.ts';
import { movedError } from '../../../targets/google-sheets/api/sheets-error.ts';
import { SerialTime } from '../../../targets/google-sheets/rows/serial-time.ts';
import { distrust, type FormState, nextCommitUs } from '../../mirror/form-state.ts';
import {
  countsOf,
  entriesAfter,
  entryKey,
  type Entries,
  isIn,
  tallyOf,
} from '../../mirror/ledger.ts';
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
} from '../../mirror/port.ts';
import { planCommit } from './commit.ts';
import { followFields, type SheetField } from './fields.ts';
import { planErasure } from './erase.ts';
import { encoderOf, type KnownRow, knownRow, rowsById, storedRow, type Table } from './rows.ts';
import type { Aim, Batch, SheetFile, View, Writer } from './sheet-file.ts';
import { saltIn, saltRow, type StateKey, type StateRow } from './state-tab.ts';
import { AnswerTally, type CountedQuestion } from './answer-tally.ts';
import { headerBack } from './header.ts';
import { noticesOf } from './notices.ts';
import { firstOf, NOTHING_ODD, type OddRows, oddRowsIn } from './odd-rows.ts';
import { planSweep, type Unverified } from './sweep.ts';
import { type FormDocument, runRow, runRows } from './documents.ts';

/** What an open form is made of. */
export interface SheetFormParts {
  readonly file: SheetFile;
  readonly salt: string;
  readonly document: FormDocument;
  /** As the sheet keeps it; null where it keeps none. */
  readonly kept: FormDocument | null;
  /** A reader reads them when it is first asked for rows. */
  readonly rows: ReadonlyMap<string, KnownRow> | (() => Promise<ReadonlyMap<string, KnownRow>>);
  /** The cells as a writer found them. */
  readonly table: Table | null;
  readonly entries: Entries;
  readonly losses: readonly string[];
  /** Null: open for reading. */
  readonly writer: Writer | null;
}

const ROWS_AT_ONCE = 2_000;
/** Of an erasure, while people move rows. */
const MOST_TRIES = 6;
/** Runs that are kept of a form. */
const MOST_RUNS = 50;

/** One form of a spreadsheet. */
export class SheetForm implements OpenForm {
  readonly losses: readonly string[];
  readonly #file: SheetFile;
  #salt: string;
  readonly #writer: Writer | null;
  #state: FormState;
  #fields: readonly SheetField[];
  #rows: ReadonlyMap<string, KnownRow> = new Map();
  /** The cells as they were found, until they are first compared. */
  #table: Table | null;
  #unread: (() => Promise<ReadonlyMap<string, KnownRow>>) | null = null;
  #entries: Entries;
  #prepared: readonly PickedField[] = [];
  /** As the tab was last read. */
  #odd: OddRows;
  #questions: readonly CountedQuestion[];
  /** Of the answers that this writer stores. */
  #tally: AnswerTally | null = null;
  /** As the sheet keeps it; null where it keeps none. */
  #kept: FormDocument | null;

  constructor(parts: SheetFormParts) {
    const { file, salt, document, kept, rows, table, entries, losses, writer } = parts;
    this.#kept = kept;
    this.#odd = document.odd ?? NOTHING_ODD;
    this.#questions = document.questions ?? [];
    [this.#file, this.#salt, this.#writer, this.losses] = [file, salt, writer, losses];
    [this.#state, this.#fields] = [document.state, document.fields];
    [this.#entries, this.#table] = [entries, table];
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
    const lines = cells && found.length > 0 ? await this.#lines() : null;
    for (let at = 0; at < found.length; at += ROWS_AT_ONCE)
      yield found.slice(at, at + ROWS_AT_ONCE).map((row) => {
        const { id, status, createdAt, deletedAt } = row;
        const at = lines?.places.get(id);
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
    const { stateTab } = await this.#file.recent();
    return runRows(stateTab, this.#state.formId)
      .slice(-limit)
      .toReversed()
      .map(({ text }) => JSON.parse(text) as Run);
  }

  async prepare(form: Form, fields: readonly PickedField[]): Promise<void> {
    this.#prepared = fields;
    this.#tally ??= new AnswerTally(fields);
    this.#fields = followFields(this.#fields, form, fields);
    if (this.#table === null) await this.#readPrints();
    else this.#takePrints(this.#table, (await this.#file.recent()).structure.timeZone);
    this.#table = null;
  }

  async commit(change: Change): Promise<Applied> {
    const { clock } = this.#file;
    this.#tally?.add(change.rows ?? []);
    const commitUs = nextCommitUs(this.#state, clock.now());
    return this.#write(async (view) => {
      const planned = await planCommit(this.#file, view, change, {
        state: this.#state,
        fields: this.#fields,
        prepared: this.#prepared,
        rows: this.#rows,
        atMs: Math.floor(commitUs / 1_000),
        isForgotten: (id) => this.#entries.has(`forgotten ${this.#digest(id)}`),
      });
      const entries = entriesAfter(
        this.#entries,
        { ...change, entries: [...(change.entries ?? []), ...this.#asListed(planned.rejected)] },
        planned.stored,
        (id) => this.#digest(id),
      );
      const counted = { ...this.#state, commitUs, tally: tallyOf(planned.rows, entries) };
      const state = change.state?.(counted) ?? counted;
      return {
        requests: planned.requests,
        rows: planned.rows,
        entries,
        state,
        fields: planned.fields,
        run: change.run ?? null,
        aim: planned.aim,
        result: planned.applied,
      };
    });
  }

  /** An entry that is listed for the same reason stays as it is, so that nothing is written where nothing changed (L4). */
  #asListed(entries: readonly Entry[]): Entry[] {
    return entries.map((entry) => {
      const listed = this.#entries.get(entryKey(entry));
      const isSame =
        listed !== undefined && isDeepStrictEqual({ ...entry, atMs: 0 }, { ...listed, atMs: 0 });
      return isSame ? listed : entry;
    });
  }

  /** Looks again until nothing is left: people may sort the rows between a reading and the write, which then meets others. */
  async erase(what: Erasure): Promise<number> {
    let erased = 0;
    for (let tries = 1; ; tries++) {
      const done = await this.#erase(what);
      erased += done.erased;
      if (done.isDone) break;
      if (tries === MOST_TRIES) throw movedError(browserAddress(this.#file.api.spreadsheetId));
    }
    await this.#noteStrayDeletions();
    if (this.#prepared.length > 0) await this.#readPrints();
    return erased;
  }

  async #erase(what: Erasure): Promise<{ readonly erased: number; readonly isDone: boolean }> {
    const { clock } = this.#file;
    return this.#write(async (view) => {
      const planned = await planErasure(this.#file, view, what, {
        formId: this.#state.formId,
        fields: this.#fields,
        rows: this.#rows,
        entries: this.#entries,
        digestOf: (id) => this.#digest(id),
        atMs: clock.now(),
      });
      const { rows, entries, requests, erased } = planned;
      const commitUs = nextCommitUs(this.#state, clock.now());
      const state = { ...this.#state, commitUs, tally: tallyOf(rows, entries) };
      const result = { erased, isDone: requests.length === 0 };
      const isShown = true;
      return { requests, rows, entries, state, fields: this.#fields, run: null, isShown, result };
    });
  }

  /** Rows that went in place of others are read again by the next run. */
  async #noteStrayDeletions(): Promise<void> {
    const lines = await this.#lines();
    const rows = new Map([...this.#rows].filter(([id]) => lines?.places.has(id) === true));
    if (lines === null || rows.size === this.#rows.size) return;
    const state = { ...distrust(this.#state), tally: tallyOf(rows, this.#entries) };
    await this.#write(async () => ({ ...this.#unchanged([]), rows, state }));
  }

  /** Rows of forgotten submissions: an erasure was killed, or a person took it back. */
  get strays(): readonly string[] {
    if (this.#state.tally.forgotten === 0) return [];
    return [...this.#rows.keys()].filter((id) =>
      this.#entries.has(`forgotten ${this.#digest(id)}`),
    );
  }

  async finish(): Promise<readonly TargetNotice[]> {
    const { structure } = await this.#file.known();
    const tab = structure.forms.get(this.#state.formId);
    if (tab === undefined || this.#writer === null) return [];
    const { header } = this.#odd;
    const requests = header === null ? [] : headerBack(tab, this.#fields, header);
    if (requests.length > 0) await this.#write(async () => this.#unchanged(requests));
    return noticesOf(tab, this.#odd, this.#entries.values(), this.#file.api.email);
  }

  /** A write that leaves rows, entries and state as they are. */
  #unchanged(requests: Batch['requests']) {
    const [rows, entries, state, fields] = [this.#rows, this.#entries, this.#state, this.#fields];
    return { requests, rows, entries, state, fields, run: null, result: null };
  }

  /** One write of this writer; what it leaves is remembered once it is done. */
  async #write<T>(
    plan: (view: View) => Promise<{
      readonly requests: Batch['requests'];
      readonly rows: ReadonlyMap<string, KnownRow>;
      readonly entries: Entries;
      readonly state: FormState;
      readonly fields: readonly SheetField[];
      readonly run: Run | null;
      readonly aim?: Aim | null;
      /** Of an earlier write; left out: that of the aim. */
      readonly unverified?: Unverified | null;
      readonly isShown?: boolean;
      readonly result: T;
    }>,
  ): Promise<T> {
    const writer = this.#writer;
    if (writer === null) throw new TypeError('the form is open for reading');
    const { formId } = this.#state;
    let written = this.#kept;
    const { result: done, isAstray } = await this.#file.write(writer, async (view) => {
      // Another form's first write may have come before.
      this.#salt = saltIn(view.stateTab) || this.#salt;
      const next = await plan(view);
      const aim = next.aim ?? null;
      const { state, fields } = next;
      const { unverified = aim && { appended: aim.appended, rows: aim.rows } } = next;
      const odd = isDeepStrictEqual(this.#odd, NOTHING_ODD) ? {} : { odd: firstOf(this.#odd) };
      if (next.run !== null) this.#questions = this.#tally?.questions(this.#questions) ?? [];
      const questions = this.#questions.length === 0 ? {} : { questions: this.#questions };
      const document: FormDocument = { state, fields, unverified, ...odd, ...questions };
      const changed = changedEntries(formId, this.#entries, next.entries);
      const isChanged = next.requests.length + changed.put.length + changed.drop.length > 0;
      if (!isChanged && next.run === null && isSameDocument(document, this.#kept))
        return { batch: null, result: next };
      const old = next.run === null ? [] : runRows(view.stateTab, formId).slice(0, 1 - MOST_RUNS);
      written = document;
      const put: StateRow[] = [
        { kind: 'state', formId, key: '', text: JSON.stringify(document) },
        saltRow(this.#salt),
        ...changed.put,
        ...(next.run === null ? [] : [runRow(formId, next.run)]),
      ];
      const drop = [...changed.drop, ...old];
      const { requests, isShown = next.run !== null } = next;
      return { batch: { requests, put, drop, aim, isShown }, result: next };
    });
    [this.#state, this.#fields] = [done.state, done.fields];
    [this.#rows, this.#entries] = [done.rows, done.entries];
    this.#kept = written;
    if (isAstray) {
      await this.startAfresh(written?.unverified ?? { appended: [], rows: [] });
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
    const fields = this.#fields.map((field) => ({ ...field, header: null }));
    let putBack: ReadonlySet<string> = new Set();
    // Looks again until nothing is left: rows may move before this write, too.
    for (let tries = 1, isLeft = true; isLeft && tries <= MOST_TRIES; tries++)
      isLeft = await this.#write(async (view) => {
        const state = distrust(this.#state);
        const { formId } = state;
        const swept = await planSweep(this.#file, view, formId, unverified, rows, putBack);
        const { requests } = swept;
        putBack = swept.putBack;
        const result = requests.length > 0;
        const left = result ? unverified : null;
        return { requests, rows, entries, state, fields, run: null, unverified: left, result };
      });
    await this.#readPrints();
    this.#state = { ...this.#state, tally: tallyOf(this.#rows, this.#entries) };
  }

  /** The cells of the tab as they are now, and where each submission is. */
  async #lines(): Promise<{
    readonly table: Table;
    readonly places: ReadonlyMap<string, number>;
    readonly timeZone: string;
  } | null> {
    const { structure } = await this.#file.refresh();
    const tab = structure.forms.get(this.#state.formId);
    if (tab === undefined) return null;
    const table = await this.#file.table(tab);
    return { table, places: rowsById(table), timeZone: structure.timeZone };
  }

  /** Remembers what stands in the columns of the selected fields, so that equal rows are found without reading them again. */
  async #readPrints(): Promise<void> {
    if (this.#writer === null) return;
    const lines = await this.#lines();
    if (lines === null) return;
    this.#takePrints(lines.table, lines.timeZone);
  }

  #takePrints(table: Table, timeZone: string): void {
    this.#odd = oddRowsIn(table);
    const time = new SerialTime(timeZone);
    const encoder = encoderOf(table.keys(), this.#prepared, time);
    this.#rows = new Map(
      [...rowsById(table)].map(([id, row]) => [id, knownRow(id, row, table, time, encoder)]),
    );
  }

  async #readRows(): Promise<void> {
    if (this.#unread === null) return;
    this.#rows = await this.#unread();
    this.#unread = null;
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
