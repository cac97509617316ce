import { isDeepStrictEqual } from 'node:util';
import { MirrorError } from '../../base/errors.ts';
import { type Entries, tallyOf } from './accounting.ts';
import { distrust, type FormState, nextCommitUs } from '../../mirror/form-state.ts';
import {
  type TargetNotice,
  type Applied,
  type Change,
  type Erasure,
  type OpenForm,
  type Run,
} from '../../mirror/port.ts';
import { namesAny } from '../../mirror/forgotten.ts';
import { followFields } from '../../mirror/fields.ts';
import type { Form, Row, SelectedField } from '../../mirror/types.ts';
import { AnswerTally } from './answer-tally.ts';
import { browserAddress } from './api/address.ts';
import type { ColumnKey } from './api/metadata.ts';
import {
  compareRows,
  isSettled,
  type Known,
  planCommit,
  type Planned,
  refusalOf,
} from './commit.ts';
import { planErasure, planRemoval } from './erase.ts';
import { headersOf, NEW_FIELD, type SheetField, withoutRemoved } from './fields.ts';
import { noticesOf } from './notices.ts';
import { countedRows } from './obstacles.ts';
import { RowEncoder } from './row-values.ts';
import { headerRowOf, rowsIn, survey, type Table, writeRow } from './rows.ts';
import type { SerialTime } from './serial-time.ts';
import type { Batch, SheetFile, View, Writer } from './sheet-file.ts';
import { documentKey, type FormDocument, type StateChange } from './state-tab.ts';
import { SheetReader } from './reader.ts';
import type { FormTab, Structure } from './structure.ts';
import { type Announced, announce, lookFor, type Stray } from './sweep.ts';

/** The parts of a form that is open for writing. */
export interface SheetFormParts {
  readonly file: SheetFile;
  readonly known: Known;
  /** As stored in the sheet; null if it is not. */
  readonly kept: FormDocument | null;
  readonly time: SerialTime;
  /** The cells of the tab. */
  readonly table: Table;
  readonly columns: readonly ColumnKey[];
  readonly losses: readonly string[];
  readonly writer: Writer;
}

/** `tab`: the form's tab, according to the latest reading. */
type Plan<T> = (
  tab: FormTab | undefined,
  atMs: number,
  structure: Structure,
) => Promise<Planned<T>>;

const MOST_LOOKS = 5;
/** How many runs are kept per form. */
const MOST_RUNS = 50;

/** One form of a spreadsheet, open for writing. */
export class SheetForm extends SheetReader implements OpenForm {
  readonly losses: readonly string[];
  readonly #writer: Writer;
  readonly #time: SerialTime;
  /** Counts the answers that this writer stores. */
  #tally: AnswerTally | null = null;
  #prepared: readonly SelectedField[] = [];
  /** As stored in the sheet; null if it is not. */
  #kept: FormDocument | null;
  /** The cells, as read, until something is written. */
  #table: Table | null;
  /** Rows that were written by position, until it is known that the writes reached them. */
  #announced: readonly Announced[];
  /** The columns that the tab has, as far as this writer has found or made them. */
  #columns: readonly ColumnKey[];

  constructor({ file, known, kept, time, table, columns, losses, writer }: SheetFormParts) {
    super(file, known, async () => this.known.rows);
    this.losses = losses;
    this.#columns = columns;
    [this.#writer, this.#time, this.#kept, this.#table] = [writer, time, kept, table];
    this.#announced = kept?.announced ?? [];
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    // Otherwise the next writer would take the last write for an unchecked one. If this fails, the next writer does it.
    const isUnsaid = this.#announced.length < (this.#kept?.announced.length ?? 0);
    if (isUnsaid) await this.commit({}).catch(() => {});
    this.file.opened.delete(this.state.formId);
  }

  protected override async readCells(): Promise<Table> {
    return this.#table ?? this.cellsNow();
  }

  /** The next commit stores its changes. */
  async prepare(form: Form, fields: readonly SelectedField[]): Promise<void> {
    const idsIn = (some: readonly SelectedField[]): string[] => some.map(({ id }) => id);
    const isKnown = this.#table === null && isDeepStrictEqual(idsIn(fields), idsIn(this.#prepared));
    this.#prepared = fields;
    this.#tally ??= new AnswerTally(fields);
    const columns = (await this.#tab())?.columns ?? new Map();
    const followed = followFields(this.known.fields, form, fields, NEW_FIELD);
    const found = withoutRemoved(followed, new Set(idsIn(fields)), columns);
    this.known = { ...this.known, fields: found };
    if (!isKnown) await this.#readPrints();
  }

  async take(rows: readonly Row[]): Promise<readonly Row[]> {
    return rows;
  }

  async commit(change: Change): Promise<Applied> {
    this.#tally?.add(change.rows ?? []);
    const compared = compareRows(change, this.known, this.#prepared, this.#time, this.isForgotten);
    const isHidden = isSettled(compared, await this.#tab());
    const { file, digestOf } = this;
    const applied = await this.#write(
      (tab, atMs, structure) =>
        planCommit(file, structure, tab, compared, this.known, this.#time, atMs, digestOf),
      isHidden,
    );
    this.#columns = [...headersOf(this.known.fields).keys()];
    return applied;
  }

  async refusal(): Promise<MirrorError | null> {
    const tab = await this.#tab();
    return tab === undefined ? null : refusalOf(this.known, tab, this.file.api.email);
  }

  async erase(what: Erasure): Promise<number> {
    let sum = 0;
    for (let isNext = true; isNext;) {
      const { count, gone, isLeft, denied } = await this.#write((tab, atMs) =>
        planErasure(this.file, tab, what, this.known, atMs, this.digestOf),
      );
      await this.#removeLeft(gone ?? []);
      sum += count;
      isNext = isLeft === true;
      if (!isNext && denied) throw denied;
    }
    if (this.#prepared.length > 0) await this.#readPrints();
    return sum;
  }

  /** People may have moved rows between the reading and the deletion, so the remaining rows are deleted, too. */
  async #removeLeft(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.#untilDone(async (tab) => {
      return { requests: await planRemoval(this.file, tab, ids), result: undefined };
    });
  }

  /** Writes until nothing is left to write, because people may move rows before each write. */
  async #untilDone(plan: Plan<void>): Promise<void> {
    for (let tries = 0; tries < MOST_LOOKS; tries++)
      if ((await this.#writeOnce(plan)).requests.length === 0) return;
    throw this.#moved();
  }

  async finish(): Promise<readonly TargetNotice[]> {
    // The prepared or last write is stored, and known to have reached its cells.
    await this.commit({});
    return this.#kept?.notices ?? [];
  }

  async #write<T>(plan: Plan<T>, isHidden = false): Promise<T> {
    const { result, written = [] } = await this.#writeOnce(plan, isHidden);
    if (written.length === 0 || (await this.#isMet()) || (await this.sweep())) return result;
    throw this.#moved();
  }

  /** Whether the writes reached their rows. Google cannot refuse a write because people have moved its rows since they were read. */
  async #isMet(): Promise<boolean> {
    const tab = await this.#tab();
    const keys = this.#announced.flatMap((each) => each.keys);
    const table = tab && (await this.file.table(tab, ['s:id', ...keys]));
    if (table === undefined || lookFor(this.#announced, table).missed.size > 0) return false;
    this.#announced = [];
    return true;
  }

  /** The form's tab, as far as it is known. */
  async #tab(): Promise<FormTab | undefined> {
    return (await this.file.view(Infinity)).structure.forms.get(this.state.formId);
  }

  note(change: (state: FormState) => FormState): void {
    this.known = { ...this.known, state: change(this.known.state) };
  }

  /** One write of this writer. Its result is remembered once it is done. */
  async #writeOnce<T>(plan: Plan<T>, isHidden = false): Promise<Planned<T>> {
    const { formId } = this.state;
    const { email } = this.file.api;
    const write = async (view: View) => {
      const commitUs = nextCommitUs(this.state, this.file.clock.now());
      const tab = view.structure.forms.get(formId);
      // A column that is made again here would stay empty in all other rows.
      if (this.#columns.some((key) => tab?.columns.has(key) !== true)) throw this.#moved();
      const planned = await plan(tab, Math.floor(commitUs / 1_000), view.structure);
      const { requests, written = [], run, isShown = run !== undefined } = planned;
      const { announced = [...this.#announced, ...announce(written)] } = planned;
      const before = { ...this.known, ...planned.after };
      const { rows, entries } = before;
      const counted = { ...before.state, commitUs, tally: tallyOf(rows, entries) };
      const known = { ...before, state: planned.state?.(counted) ?? counted };
      const { runs: kept = [], questions = [] } = this.#kept ?? {};
      const runs = kept.map((each) => withoutNamesOf(each, planned.forgets ?? []));
      const document: FormDocument = {
        state: known.state,
        fields: known.fields,
        runs: run === undefined ? runs : [run, ...runs].slice(0, MOST_RUNS),
        notices: tab === undefined ? [] : noticesOf(tab, entries, known.survey, email),
        announced,
        doubted: [...known.doubted],
        questions: (run && this.#tally?.questions(questions)) ?? questions,
        headerRow: Math.max(0, known.survey.headerRow),
        timeZone: this.#time.timeZone,
      };
      const result = { planned, known, document };
      const changed = changedEntries(formId, this.known.entries, entries);
      const isChanged = requests.length + changed.length > 0 || run !== undefined;
      if (!isChanged && this.#kept !== null && isSameDocument(document, this.#kept))
        return { batch: null, result: { ...result, document: this.#kept } };
      const put = [{ ...documentKey(formId), text: JSON.stringify(document) }, ...changed];
      return { batch: { requests, put, isShown }, result };
    };
    const { planned, known, document } = await this.file.write(this.#writer, write, isHidden);
    if (planned.requests.length > 0) this.#table = null;
    [this.known, this.#kept, this.#announced] = [known, document, document.announced];
    return planned;
  }

  /**
   * Finds out where the announced rows were written: people may have moved rows between the reading and the write. Removes cells
   * that went into other rows; then all ranges are due again, and until they are read, the missed rows are in doubt. False if some
   * were missed.
   */
  async sweep(): Promise<boolean> {
    let isMissed = false;
    await this.#untilDone(async (tab) => {
      const table: Table = tab === undefined ? new Map() : await this.file.table(tab);
      const { missed, strays } = lookFor(this.#announced, table);
      const requests = tab === undefined ? [] : clearStrays(tab, strays);
      const announced = requests.length > 0 ? this.#announced : [];
      isMissed ||= missed.size > 0;
      if (!isMissed) return { requests, announced, result: undefined };
      const { fields, doubted } = this.known;
      const header = String(table.get('s:id')?.[headerRowOf(table)] ?? '');
      const after = {
        doubted: doubted.union(missed),
        ...([...missed, ...strays.map(({ id }) => id)].includes(header) && {
          fields: fields.map((field) => withoutHeader(field)),
        }),
      };
      return { requests, announced, after, state: distrust, result: undefined };
    });
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
    const found = survey(table, this.known.entries);
    const encoder = new RowEncoder(table.keys(), this.#prepared, this.#time);
    const rows = rowsIn(table, found.places, this.#time, encoder);
    this.known = {
      ...this.known,
      survey: found,
      rows: countedRows(rows, this.known.entries),
    };
  }

  /** Rows of forgotten submissions: an erasure was killed, or a person undid it. */
  get strays(): readonly string[] {
    const { rows, survey: found } = this.known;
    return [...rows.keys(), ...found.bare.keys()].filter(this.isForgotten);
  }

  #moved(): MirrorError {
    const where = browserAddress(this.file.api.spreadsheetId);
    return new MirrorError(
      'RUN_INCOMPLETE',
      `In ${where} people moved rows or deleted columns of "${this.state.name}" while forms-mirror was writing. The next run ` +
        'checks every row again.',
    );
  }
}

/** Whether only the name of a commit differs. That is not worth a write: the next one includes it. */
const isSameDocument = (a: FormDocument, b: FormDocument): boolean =>
  isDeepStrictEqual({ ...a, state: { ...a.state, commitUs: b.state.commitUs } }, b);

const withoutNamesOf = (run: Run, ids: readonly string[]): Run =>
  namesAny(run.error, ids) ? { ...run, error: null } : run;

/** A field whose header must be written again. */
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
