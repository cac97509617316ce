import { isDeepStrictEqual } from 'node:util';
import { MirrorError } from '../../base/errors.ts';
import { entriesAfter, type Entries, tallyOf } from '../../mirror/ledger.ts';
import { distrust, type FormState, nextCommitUs } from '../../mirror/form-state.ts';
import type { TargetNotice, Applied, Change, Erasure, OpenForm, Run } from '../../mirror/port.ts';
import type { Form, SelectedField } from '../../mirror/types.ts';
import { AnswerTally } from './answer-tally.ts';
import { browserAddress } from './api/address.ts';
import { compareRows, isSettled, type Known, planCommit, refusalOf } from './commit.ts';
import { planErasure, planRemoval } from './erase.ts';
import { followFields, type SheetField } from './fields.ts';
import { noticesOf } from './notices.ts';
import { countedRows } from './obstacles.ts';
import { RowEncoder } from './row-values.ts';
import { headerRowOf, survey, type Table, writeRow } from './rows.ts';
import type { SerialTime } from './serial-time.ts';
import type { Batch, SheetFile, View, Writer } from './sheet-file.ts';
import { documentKey, type FormDocument, SALT, type StateChange, textIn } from './state-tab.ts';
import { rowsIn, SheetReader } from './reader.ts';
import type { FormTab } from './structure.ts';
import { type Announced, announce, lookFor, type Stray, type WrittenRow } from './sweep.ts';

/** What a form that is open for writing is made of. */
export interface SheetFormParts {
  readonly file: SheetFile;
  readonly salt: string;
  readonly known: Known;
  /** As the sheet keeps it; null where it keeps none. */
  readonly kept: FormDocument | null;
  readonly time: SerialTime;
  /** The cells of the tab. */
  readonly table: Table;
  readonly losses: readonly string[];
  readonly writer: Writer;
}

/** One write of a form, planned over the latest reading of the spreadsheet. */
interface Planned<T> {
  readonly requests: Batch['requests'];
  /** The changes to the known state after it. */
  readonly after: Partial<Known>;
  /** Rows that are written by their place. */
  readonly written?: readonly WrittenRow[];
  /** The announced rows after it, where they are not those that are written. */
  readonly announced?: readonly Announced[];
  readonly run?: Run | null;
  readonly isShown?: boolean;
  readonly result: T;
}

const MOST_LOOKS = 5;
/** Runs that are kept of a form. */
const MOST_RUNS = 50;

/** One form of a spreadsheet, open for writing. */
export class SheetForm extends SheetReader implements OpenForm {
  readonly #writer: Writer;
  readonly #time: SerialTime;
  /** Of the answers that this writer stores. */
  #tally: AnswerTally | null = null;
  #prepared: readonly SelectedField[] = [];
  /** As the sheet keeps it; null where it keeps none. */
  #kept: FormDocument | null;
  /** The cells, as read, until something is written. */
  #table: Table | null;
  /** A write met other rows than it was meant for, and its remains are not removed yet. */
  #isAstray = false;

  constructor({ file, salt, known, kept, time, table, losses, writer }: SheetFormParts) {
    super(file, salt, known, losses, async () => this.known.rows);
    [this.#writer, this.#time, this.#kept, this.#table] = [writer, time, kept, table];
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    // Else the next writer would take the last write for an unchecked one. If this fails, the next writer does that.
    if (this.#announced.length > 0 && !this.#isAstray) await this.commit({}).catch(() => {});
    this.file.held.delete(this.state.formId);
  }

  protected override async readCells(): Promise<Table | null> {
    return this.#table ?? this.cellsNow();
  }

  /** The next commit stores its changes. */
  async prepare(form: Form, fields: readonly SelectedField[]): Promise<void> {
    const idsIn = (some: readonly SelectedField[]): string[] => some.map(({ id }) => id);
    const isKnown = this.#table === null && isDeepStrictEqual(idsIn(fields), idsIn(this.#prepared));
    this.#prepared = fields;
    this.#tally ??= new AnswerTally(fields);
    this.known = { ...this.known, fields: followFields(this.known.fields, form, fields) };
    if (!isKnown) await this.#readPrints();
  }

  async commit(change: Change): Promise<Applied> {
    this.#tally?.add(change.rows ?? []);
    const commitUs = nextCommitUs(this.state, this.file.clock.now());
    const atMs = Math.floor(commitUs / 1_000);
    const rows = change.rows?.filter(({ id }) => !this.isForgotten(id)) ?? [];
    const compared = compareRows({ ...change, rows }, this.known, this.#prepared, this.#time);
    const { structure } = await this.file.view(Infinity);
    const tab = structure.forms.get(this.state.formId);
    const isHidden = isSettled(compared, tab);
    const { applied } = await this.#write(async (view) => {
      const known = this.known;
      const planned = await planCommit(this.file, view, compared, known, this.#time, atMs);
      const { requests, written, listed } = planned;
      const entries = entriesAfter(
        known.entries,
        { ...change, entries: [...(change.entries ?? []), ...listed] },
        planned.stored,
        (id) => this.digestOf(id),
      );
      const counted = { ...known.state, commitUs, tally: tallyOf(planned.rows, entries) };
      const state = change.state?.(counted) ?? counted;
      const { fields, survey: found } = planned;
      const doubted = known.doubted
        .difference(new Set(planned.stored))
        .difference(new Set(change.deleted));
      const after = { state, fields, rows: planned.rows, entries, survey: found, doubted };
      return { requests, written, after, run: change.run ?? null, result: planned };
    }, isHidden);
    return applied;
  }

  async refusal(): Promise<MirrorError | null> {
    const { structure } = await this.file.view(Infinity);
    const tab = structure.forms.get(this.state.formId);
    return tab === undefined ? null : refusalOf(this.known, tab, this.file.api.email);
  }

  async erase(what: Erasure): Promise<number> {
    let sum = 0;
    for (let isLeft = true; isLeft;) {
      const planned = await this.#write(async ({ structure }) => {
        const known = this.known;
        const tab = structure.forms.get(known.state.formId);
        const digestOf = (id: string): string => this.digestOf(id);
        const erasure = await planErasure(this.file, tab, what, known, digestOf);
        const { rows, entries } = { ...known, ...erasure.after };
        const commitUs = nextCommitUs(known.state, this.file.clock.now());
        const state = { ...known.state, commitUs, tally: tallyOf(rows, entries) };
        // Nothing of a forgotten submission stays in the lists of the hidden tab, its ID included (L18).
        const doubted = known.doubted.difference(new Set(erasure.gone));
        const after = { ...erasure.after, state, doubted };
        const { requests, written } = erasure;
        return { requests, written, after, isShown: true, result: erasure };
      });
      await this.#removeLeft(planned.gone);
      sum += planned.erased;
      isLeft = planned.isLeft;
      if (!isLeft && planned.denied !== null) throw planned.denied;
    }
    if (this.#prepared.length > 0) await this.#readPrints();
    return sum;
  }

  /** People may have moved rows between the reading and the deletion: the rest of submissions is deleted, too. */
  async #removeLeft(ids: readonly string[]): Promise<void> {
    for (let tries = 1; ids.length > 0; tries++) {
      const isLeft = await this.#write(async ({ structure }) => {
        const tab = structure.forms.get(this.state.formId);
        const requests = await planRemoval(this.file, tab, ids);
        return { requests, after: {}, result: requests.length > 0 };
      });
      if (!isLeft) return;
      if (tries >= MOST_LOOKS) throw this.#moved();
    }
  }

  async finish(): Promise<readonly TargetNotice[]> {
    // The prepared or last write is stored, and known to have met its cells.
    await this.commit({});
    return this.#kept?.notices ?? [];
  }

  async #write<T>(plan: (view: View) => Promise<Planned<T>>, isHidden = false): Promise<T> {
    const { result, written = [] } = await this.#writeOnce(plan, isHidden);
    if (written.length === 0 || (await this.#isMet()) || (await this.sweep())) return result;
    throw this.#moved();
  }

  /** Whether the last write met its rows: nothing makes Google refuse it where people have moved them since they were read. */
  async #isMet(): Promise<boolean> {
    const tab = (await this.file.view(Infinity)).structure.forms.get(this.state.formId);
    const keys = this.#announced.flatMap((each) => each.keys);
    const table = tab && (await this.file.table(tab, ['s:id', ...keys]));
    return table !== undefined && lookFor(this.#announced, table).missed.size === 0;
  }

  get #announced(): readonly Announced[] {
    return this.#kept?.announced ?? [];
  }

  note(change: (state: FormState) => FormState): void {
    this.known = { ...this.known, state: change(this.known.state) };
  }

  /** One write of this writer; its result is remembered once it is done. */
  async #writeOnce<T>(
    plan: (view: View) => Promise<Planned<T>>,
    isHidden = false,
  ): Promise<Planned<T>> {
    const { formId } = this.state;
    const { email } = this.file.api;
    const write = async ({ structure, stateTab }: View) => {
      const salt = textIn(stateTab, SALT);
      // Another process may have made one first, before anything was forgotten.
      this.salt = salt ?? this.salt;
      const planned = await plan({ structure, stateTab });
      const { requests, written = [], run = null, isShown = run !== null } = planned;
      // What an earlier write left is not forgotten for a later one.
      const before = this.#isAstray ? this.#announced : [];
      const { announced = [...before, ...announce(written)] } = planned;
      const known = { ...this.known, ...planned.after };
      const { state, fields, entries } = known;
      const tab = structure.forms.get(formId);
      const asked = this.#kept?.questions ?? [];
      const questions = (run === null ? undefined : this.#tally?.questions(asked)) ?? asked;
      const runs = this.#kept?.runs ?? [];
      const document: FormDocument = {
        state,
        fields,
        runs: run === null ? runs : [run, ...runs].slice(0, MOST_RUNS),
        notices: tab === undefined ? [] : noticesOf(tab, entries, known.survey, email),
        announced,
        doubted: [...known.doubted],
        questions,
        headerRow: Math.max(0, known.survey.headerRow),
        timeZone: this.#time.timeZone,
      };
      const result = { planned, known, document };
      const changed = changedEntries(formId, this.known.entries, entries);
      const isChanged = requests.length + changed.length > 0;
      if (!isChanged && run === null && isSameDocument(document, this.#kept))
        return { batch: null, result: { ...result, document: this.#kept } };
      const put = [
        { ...documentKey(formId), text: JSON.stringify(document) },
        ...changed,
        ...(salt === null ? [{ ...SALT, text: this.salt }] : []),
      ];
      return { batch: { requests, put, isShown }, result };
    };
    const result = await this.file.write(this.#writer, write, isHidden);
    if (result.planned.requests.length > 0) this.#table = null;
    [this.known, this.#kept] = [result.known, result.document];
    return result.planned;
  }

  /**
   * Finds out what became of the announced rows: people may have moved rows between the reading and the write. What went into other
   * rows is removed there, and all ranges are due again; until then, the rows that were missed are in doubt. False: some were.
   */
  async sweep(): Promise<boolean> {
    this.#isAstray = true;
    let isMissed = false;
    let isLeft = true;
    // Looks again until nothing is left: rows may move before this write, too.
    for (let tries = 1; isLeft; tries++) {
      if (tries > MOST_LOOKS) throw this.#moved();
      isLeft = await this.#writeOnce(async ({ structure }) => {
        const tab = structure.forms.get(this.state.formId);
        const table: Table = tab === undefined ? new Map() : await this.file.table(tab);
        const { missed, strays } = lookFor(this.#announced, table);
        const requests = tab === undefined ? [] : clearStrays(tab, strays);
        const announced = requests.length > 0 ? this.#announced : [];
        isMissed ||= missed.size > 0;
        if (!isMissed) return { requests, announced, after: {}, result: false };
        const { fields, doubted } = this.known;
        const header = String(table.get('s:id')?.[headerRowOf(table)] ?? '');
        const after = {
          state: distrust(this.state),
          doubted: doubted.union(missed),
          ...([...missed, ...strays.map(({ id }) => id)].includes(header) && {
            fields: fields.map((field) => withoutHeader(field)),
          }),
        };
        return { requests, announced, after, result: requests.length > 0 };
      }).then(({ result }) => result);
    }
    this.#isAstray = false;
    if (!isMissed) return true;
    await this.#readPrints();
    const { rows, entries } = this.known;
    this.known = { ...this.known, state: { ...this.state, tally: tallyOf(rows, entries) } };
    return false;
  }

  /** Remembers the cells in the columns of the selected fields, so that equal rows are found without reading them again. */
  async #readPrints(): Promise<void> {
    const table = await this.readCells();
    this.#table = null;
    if (table === null) return;
    const found = survey(table);
    const encoder = new RowEncoder(table.keys(), this.#prepared, this.#time);
    const rows = rowsIn(table, found.places, this.#time, encoder);
    this.known = {
      ...this.known,
      survey: found,
      rows: countedRows(rows, this.known.entries),
    };
  }

  /** Rows of forgotten submissions: an erasure was killed, or a person took it back. */
  get strays(): readonly string[] {
    return [...this.known.rows.keys()].filter((id) => this.isForgotten(id));
  }

  #moved(): MirrorError {
    const where = browserAddress(this.file.api.spreadsheetId);
    return new MirrorError(
      'TARGET_FAILED',
      `${where} was rearranged repeatedly while it was being written to. The next run tries again.`,
    );
  }
}

/** Whether only the name of a commit differs, which is not worth a write: the next one takes it. */
const isSameDocument = (a: FormDocument, b: FormDocument | null): boolean =>
  b !== null &&
  isDeepStrictEqual(
    { ...a, state: { ...a.state, commitUs: 0 } },
    { ...b, state: { ...b.state, commitUs: 0 } },
  );

/** A field whose header is to be written again. */
const withoutHeader = (field: SheetField): SheetField => ({ ...field, header: null });

const clearStrays = ({ sheetId, columns }: FormTab, strays: readonly Stray[]): Batch['requests'] =>
  strays.flatMap(({ row, keys }) =>
    writeRow(sheetId, row, new Map(keys.map((key) => [key, null])), columns),
  );

/** The rows of the hidden tab in which two sets of entries differ. */
const changedEntries = (formId: string, before: Entries, after: Entries): StateChange[] => [
  ...[...before.keys()]
    .filter((key) => !after.has(key))
    .map((key) => ({ kind: 'entry' as const, formId, key, text: null })),
  ...[...after]
    .filter(([key, entry]) => before.get(key) !== entry)
    .map(([key, entry]) => ({ kind: 'entry' as const, formId, key, text: JSON.stringify(entry) })),
];
