import type {
  ApplyResult,
  FormWriter,
  PrepareOptions,
  PrepareResult,
  Refusal,
  RowOutcome,
} from '../../mirror/target.ts';
import type { Checkpoint, PassRecord, PickedField, Rejection, Row } from '../../mirror/types.ts';
import { stateNow, storeBatch, storeChanges } from './batch-store.ts';
import type { RowChange } from './row-groups.ts';
import { prepareColumns, restoreHeader } from './form-columns.ts';
import { SheetFormReader } from './form-reader.ts';
import type { FormSheet } from './form-sheet.ts';
import { isHeartbeat, withPass } from './form-state.ts';
import { tellOwnTabs, writeLedger } from './own-tabs.ts';
import { RejectionBook } from './rejection-book.ts';
import type { RowIndex } from './row-index.ts';
import { knownKeys, type Located, locateRows, placed } from './row-locator.ts';
import { storeRows } from './row-store.ts';
import type { ColumnKey } from './sheet-metadata.ts';
import { fitText, type ReadValue, type SheetValue } from './sheet-value.ts';
import { movedError } from './sheets-error.ts';
import { WriterTurns } from './writer-turns.ts';

/** Rows of one batch: some four writes of 2 MB. */
export const BATCH_ROWS = 5_000;
/** How long others keep off after a batch that more will follow, and after one that was probably the pass's last. */
const BUSY_LEASE_MS = 30_000;
const LAST_LEASE_MS = 10_000;
/** Keys read longer ago than this are read again before rows are written. */
const KEYS_FRESH_MS = 20_000;

/** What a writer is given. */
export interface SheetWriterOptions {
  /** Minutes of silence after which the health cell turns red; people may change it. */
  readonly alarmMinutes: number;
  /** Called once when the writer goes. */
  readonly release: () => void;
}

/** What is told of a row when it is asked whether it is to be changed. */
type KeyRow = { readonly id: string; readonly status: string; readonly removed: boolean };

const NOTHING_LOCATED: Located = { changes: [], newRows: [], outcomes: new Map() };

/**
 * {@link FormWriter} over a form's tab. Each method reads where rows and columns are, writes in atomic steps that build on
 * each other (see the commit log), verifies, and makes good.
 */
export class SheetFormWriter extends SheetFormReader implements FormWriter {
  readonly #alarmMinutes: number;
  readonly #turns: WriterTurns;
  readonly #rejections: RejectionBook;
  #picked: readonly PickedField[] = [];

  constructor(sheet: FormSheet, options: SheetWriterOptions) {
    super(sheet);
    this.#alarmMinutes = options.alarmMinutes;
    this.#turns = new WriterTurns(sheet, options.release);
    this.#rejections = new RejectionBook(sheet.form.id);
  }

  async prepare(fields: readonly PickedField[], options?: PrepareOptions): Promise<PrepareResult> {
    let told: PrepareResult | undefined;
    return this.#turns.take(async () => {
      const result = await this.#prepareColumns(fields, {
        restoreColumns: options?.restoreColumns ?? false,
        // What a repetition finds done is told all the same.
        onPlan: (plan) => (told ??= plan),
      });
      this.#picked = fields;
      return told ?? result;
    });
  }

  async apply(rows: readonly Row[], rejections: readonly Rejection[]): Promise<ApplyResult> {
    const outcomes = new Map<string, RowOutcome>();
    let newRejections: number | undefined;
    return this.#turns.take(async () => {
      await this.#ensureTab();
      const { sheet } = this;
      const encoder = sheet.encoder();
      const encoded = rows.map((row) => encoder.encode(row));
      const own = encoded.flatMap((one) => one.rejections);
      const storable = encoded.flatMap((one) => one.row ?? []);
      const located =
        storable.length === 0 ? NOTHING_LOCATED : await locateRows(sheet, encoder, storable);
      await this.#keepHeader();
      for (const [id, outcome] of located.outcomes) {
        if (!outcomes.has(id)) outcomes.set(id, outcome);
      }
      const all = [...rejections, ...own];
      const noted = { ids: storable.map((row) => row.id), all };
      const added = await this.#rejections.note(sheet, noted, this.#now());
      newRejections ??= added;
      const leaseMs = rows.length >= BATCH_ROWS / 2 ? BUSY_LEASE_MS : LAST_LEASE_MS;
      await storeBatch(sheet, { located, storable, rows, leaseMs, now: this.#now() });
      return {
        outcomes: rows.map((row) => outcomes.get(row.id) ?? 'rejected'),
        rejections: own,
        newRejections,
      };
    });
  }

  async markDeleted(ids: readonly string[], at: string): Promise<number> {
    let marked: number | undefined;
    return this.#turns.take(async () => {
      const { sheet } = this;
      if (sheet.tab === undefined) return 0;
      if (!sheet.usableLayout().columns.has('s:removed')) await this.#makeColumn('s:removed');
      const value = sheet.time.toSerial(at) ?? at;
      const changes = await this.#changes(
        ids,
        (row) => !row.removed,
        () => ({ key: 's:removed', value, was: '' }),
      );
      marked ??= changes.length;
      await storeChanges(sheet, changes, this.#now(), (index, id) =>
        index.update(id, { removed: true }),
      );
      return marked;
    });
  }

  async setStatuses(statuses: ReadonlyMap<string, string>): Promise<void> {
    const fitted = new Map([...statuses].map(([id, status]) => [id, fitText(status).text]));
    const statusOf = (id: string): string => fitted.get(id) ?? '';
    await this.#turns.take(async () => {
      const { sheet } = this;
      if (sheet.tab === undefined || !sheet.usableLayout().columns.has('s:status')) return;
      const changes = await this.#changes(
        [...fitted.keys()],
        (row) => row.status !== statusOf(row.id),
        ({ id, status }) => ({ key: 's:status', value: statusOf(id), was: status }),
      );
      await storeChanges(sheet, changes, this.#now(), (index, id) =>
        index.update(id, { status: statusOf(id) }),
      );
    });
  }

  async recordRefusals(refusals: readonly Refusal[]): Promise<void> {
    await this.#turns.take(async () => {
      if (refusals.length === 0) return;
      await this.#ensureTab();
      const ledger = await this.sheet.book.ledger();
      for (const refusal of refusals) ledger.refuse(this.sheet.form.id, refusal);
      await storeChanges(this.sheet, [], this.#now(), () => {});
    });
  }

  async finish(
    pass: PassRecord,
    changes: { checkpoint?: Checkpoint; goneAt?: string | null },
  ): Promise<void> {
    await this.#turns.take(async () => {
      await this.#ensureTab();
      const { sheet } = this;
      if (sheet.headerIsGone) await restoreHeader(sheet);
      const proven = changes.checkpoint !== undefined;
      if (pass.kind === 'full' && proven) await this.#rejections.dropUnmet(sheet);
      const now = this.#now();
      const after = stateNow(sheet, now, withPass(sheet.state, pass, changes));
      const ledger = writeLedger(sheet);
      if (isHeartbeat(sheet.tab?.state ?? after, after) && ledger.requests.length === 0) {
        sheet.state = after;
        sheet.book.pending.set(sheet.form.id, after);
        return;
      }
      const problems = sheet.book.knownLedger !== undefined;
      const own = tellOwnTabs(sheet, { state: after, now, problems }, this.#alarmMinutes);
      await storeRows(sheet, {
        changes: [],
        newRows: [],
        first: [...ledger.requests, ...own.requests],
        each: () => sheet.stateRequests(after),
        leaseMs: 0,
      });
      ledger.kept();
      own.kept();
      sheet.keptState(after);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#turns.end();
  }

  protected override async headers(): Promise<readonly ReadValue[] | undefined> {
    return undefined;
  }

  protected override keys(): Promise<RowIndex> {
    return knownKeys(this.sheet, Number.POSITIVE_INFINITY);
  }

  protected override async refreshState(): Promise<void> {}

  #now(): string {
    return new Date(this.sheet.book.clock.now()).toISOString();
  }

  #prepareColumns(
    picked: readonly PickedField[],
    wishes: {
      restoreColumns?: boolean;
      needed?: readonly ColumnKey[];
      onPlan?: (plan: PrepareResult) => void;
    } = {},
  ): Promise<PrepareResult> {
    return prepareColumns(this.sheet, {
      restoreColumns: false,
      ...wishes,
      picked,
      now: this.#now(),
      alarmMinutes: this.#alarmMinutes,
    });
  }

  /** The form's tab, made anew when somebody deleted it. */
  async #ensureTab(): Promise<void> {
    if (this.sheet.layout !== undefined) return;
    const { prepared } = this.sheet;
    await this.#prepareColumns(this.#picked);
    this.sheet.prepared = prepared;
  }

  async #makeColumn(key: ColumnKey): Promise<void> {
    const { prepared } = this.sheet;
    await this.#prepareColumns(this.#picked, { needed: [key] });
    this.sheet.prepared = prepared;
  }

  /** A header row that somebody deleted is made anew before rows are written. */
  async #keepHeader(): Promise<void> {
    if (!this.sheet.headerIsGone) return;
    await restoreHeader(this.sheet);
    throw movedError(this.sheet.book.address);
  }

  /** Changes of some cells in the rows of some submissions, as far as they are there and `wanted`. */
  async #changes(
    ids: readonly string[],
    wanted: (row: KeyRow) => boolean,
    change: (row: KeyRow) => { key: ColumnKey; value: SheetValue; was: string },
  ): Promise<RowChange[]> {
    const index = await knownKeys(this.sheet, KEYS_FRESH_MS);
    const layout = this.sheet.usableLayout();
    const rows = [...new Set(ids)].flatMap((id) => index.get(id) ?? []).filter(wanted);
    const changes = rows.map((row): RowChange => {
      const { key, value, was } = change(row);
      const values = placed(new Map([[key, value]]), layout);
      const texts = placed(new Map([[key, was]]), layout);
      return { id: row.id, row: row.row, values, was: texts, strict: false };
    });
    return changes.sort((a, b) => a.row - b.row);
  }
}
