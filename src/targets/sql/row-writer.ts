import type { Clock } from '../../base/clock.ts';
import { idsOfBatch } from '../../mirror/forgotten.ts';
import type { ApplyResult, RowWriter } from '../../mirror/target.ts';
import type { FormIdentity, Rejection, Row } from '../../mirror/types.ts';
import type { WindowRecord } from '../../mirror/window.ts';
import type { StorableRow, StoreOutcome } from './dialect.ts';
import type { FormTable } from './field-column.ts';
import { forgottenOf } from './forgotten.ts';
import { FormColumns } from './form-columns.ts';
import type { FormLock } from './form-lock.ts';
import { type FormContext, SqlFormReader } from './form-reader.ts';
import { updateWindow } from './form-windows.ts';
import { addCounts, type StoredCounts } from './losses.ts';
import { endRefusals } from './refused-marks.ts';
import { describeRefused } from './refused-rows.ts';
import { listRejections } from './rejected-rows.ts';
import { listable, nextOutcome, storableBatch, storeBatch } from './row-batch.ts';
import { markRowsDeleted } from './row-changes.ts';
import { recordVersions, retractRestorations } from './row-history.ts';
import {
  beginStatuses,
  type ChangedTable,
  isFirstReading,
  recordStatuses,
} from './status-history.ts';
import type { SqlSession } from './sql-session.ts';
import { type WriterTransaction, WriterTransactions } from './writer-transactions.ts';

/** {@link FormContext} of a form that is held for writing. */
export interface WriterContext extends FormContext {
  readonly form: FormIdentity;
  readonly lock: FormLock;
  /** The epoch of the form: distinguishes what its pass lists from what earlier ones listed. */
  readonly epoch: number;
  readonly clock: Clock;
  /** Whether every version of its rows is to be kept. */
  readonly keepsVersions: boolean;
  /** The form as the catalogue holds it when the writer opens. */
  readonly known: FormTable | undefined;
  /** Called when a pass has left the views over all forms to a later one. */
  readonly onViewsLeft?: () => void;
}

/** Nothing stored. */
export const NO_COUNTS: StoredCounts = { rows: 0, live: 0, rejections: 0 };

/** Stores rows of a form over SQL: every method is one transaction that first checks the fencing epoch (L13). */
export abstract class SqlRowWriter extends SqlFormReader implements Omit<RowWriter, 'prepare'> {
  readonly #context: WriterContext;
  protected readonly columns: FormColumns;
  protected readonly transactions: WriterTransactions;
  /** What the next batch is likely to be: see {@link BatchPlace.looksNew}. */
  #looksNew: boolean | undefined;
  /** Whether new rows can have no entries in the history of statuses; undefined until it is asked. */
  #isFirstReading: boolean | undefined;
  #hasHistoryIndex = false;

  constructor(context: WriterContext) {
    super(context);
    this.#context = context;
    this.columns = new FormColumns(context);
    this.transactions = new WriterTransactions({
      ...context,
      onEntered: (tx) => this.columns.follow(tx),
      keep: () => this.keep(),
    });
  }

  /** See `apply` of the port. */
  apply(rows: readonly Row[], rejections: readonly Rejection[]): Promise<ApplyResult> {
    const { dialect, epoch, form, formId, place } = this.#context;
    const readGone = (tx: SqlSession): Promise<Set<string>> =>
      forgottenOf(tx, dialect, form, idsOfBatch(rows, rejections), place);
    const store = async (
      transaction: WriterTransaction,
      gone: ReadonlySet<string>,
    ): Promise<ApplyResult> => {
      const { tx, at } = transaction;
      const table = await this.columns.written(transaction);
      const kept = gone.size === 0 ? rows : rows.filter(({ id }) => !gone.has(id));
      const batch = storableBatch(kept, this.columns.fieldsOf(table), dialect);
      const storable = batch.rows.filter((row) => row !== undefined);
      const suited = await this.columns.suit(transaction, table, storable);
      const fields = this.columns.fieldsOf(suited);
      const where = { form: suited, fields, at, looksNew: this.#looksNew };
      const stored = await storeBatch(tx, dialect, where, storable);
      const byOutcome = Map.groupBy(storable, (_, nth) => stored.outcomes[nth]);
      const of = (outcome: StoreOutcome): StorableRow[] => byOutcome.get(outcome) ?? [];
      const [inserted, updated, restored] = [of('inserted'), of('updated'), of('restored')];
      const changedTable = { formId, table: suited.table, at };
      await this.#recordStatuses(tx, changedTable, { inserted, updated, restored });
      if (storable.length > 0) this.#expect({ areNew: inserted.length === storable.length });
      const changed = [...of('edited'), ...updated, ...restored];
      await recordVersions(tx, dialect, suited, idsOf([...inserted, ...changed]), at);
      await endRefusals(tx, dialect, formId, idsOf(changed));
      const own = [...batch.rejections, ...stored.rejections].map((one) => listable(one, dialect));
      const listings = await listRejections(tx, dialect, {
        formId,
        submissionIds: storable.map((row) => row.id),
        rejections: [...rejections.filter((one) => !gone.has(one.submissionId)), ...own],
        at,
        epoch,
      });
      await addCounts(tx, dialect, formId, {
        rows: inserted.length,
        live: inserted.length + restored.length,
        rejections: listings.added - listings.ended,
      });
      const outcomes = stored.outcomes.values();
      const attempts = batch.rows.values();
      return {
        outcomes: rows.map(({ id }) => {
          if (gone.has(id)) return 'forgotten';
          const row = attempts.next().value;
          const outcome = row === undefined ? 'rejected' : nextOutcome(outcomes);
          return outcome === 'edited' ? 'updated' : outcome;
        }),
        rejections: own,
        newlyListed: listings.newlyListed,
        forgotten: gone,
        ...(stored.refused && { refused: describeRefused(stored.refused, place) }),
      };
    };
    return this.transactions.run(store, readGone);
  }

  /** See `markDeleted` of the port. */
  markDeleted(
    ids: readonly string[],
    deletedAt: string,
    { again = false }: { readonly again?: boolean } = {},
  ): Promise<number> {
    const { dialect, formId } = this.#context;
    return this.transactions.run(async ({ tx, at }) => {
      const form = this.columns.table;
      if (form === undefined) return 0;
      const marked = await markRowsDeleted(tx, dialect, form.table, ids, { deletedAt, at });
      if (again) await retractRestorations(tx, dialect, form, marked);
      else await recordVersions(tx, dialect, form, marked, at);
      await addCounts(tx, dialect, formId, { ...NO_COUNTS, live: -marked.length });
      return marked.length;
    });
  }

  /** See `saveWindow` of the port. */
  saveWindow(window: WindowRecord): Promise<void> {
    const { dialect, formId } = this.#context;
    return this.transactions.run(({ tx }) => updateWindow(tx, dialect, formId, window));
  }

  /** Waits for writes in progress. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.transactions.release();
  }

  /** Once a writer, and before anything is written to that history: see {@link SqlDialect.ensureHistoryIndex}. */
  protected async ensureHistoryIndex(tx: SqlSession): Promise<void> {
    if (this.#hasHistoryIndex) return;
    await this.#context.dialect.ensureHistoryIndex?.(tx);
    this.#hasHistoryIndex = true;
  }

  /**
   * New rows come after new ones, and stored ones after stored ones. Once all of a form has been read, new rows are still
   * looked up: among them may be one that people have open in a transaction, for which whatever inserts it waits.
   */
  #expect({ areNew }: { areNew: boolean }): void {
    const isSure = areNew && this.#isFirstReading === true;
    this.#looksNew = isSure || (areNew ? undefined : false);
  }

  async #recordStatuses(
    tx: SqlSession,
    changed: ChangedTable,
    rows: Readonly<Record<'inserted' | 'updated' | 'restored', readonly StorableRow[]>>,
  ): Promise<void> {
    const { dialect, formId } = this.#context;
    const [inserted, updated, restored] = [
      rows.inserted,
      idsOf(rows.updated),
      idsOf(rows.restored),
    ];
    if (inserted.length > 0) this.#isFirstReading ??= await isFirstReading(tx, dialect, formId);
    const isBegun = inserted.length > 0 && this.#isFirstReading === true;
    if (updated.length + restored.length + (isBegun ? 0 : inserted.length) > 0) {
      await this.ensureHistoryIndex(tx);
    }
    if (isBegun) await beginStatuses(tx, dialect, changed, inserted);
    else await recordStatuses(tx, dialect, changed, idsOf(inserted), { wasLive: false });
    await recordStatuses(tx, dialect, changed, updated, { wasLive: true });
    await recordStatuses(tx, dialect, changed, restored, { wasLive: false });
  }

  /** What takes back, when a transaction fails, what the writer holds in memory. */
  protected keep(): () => void {
    const restore = this.columns.keep();
    const hadHistoryIndex = this.#hasHistoryIndex;
    return () => {
      restore();
      this.#hasHistoryIndex = hadHistoryIndex;
    };
  }
}

const idsOf = (rows: readonly StorableRow[]): string[] => rows.map(({ id }) => id);
