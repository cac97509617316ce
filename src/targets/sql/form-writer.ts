import type { Clock } from '../../base/clock.ts';
import { idsOfBatch } from '../../mirror/forgotten.ts';
import type { Loss } from '../../mirror/losses.ts';
import {
  type ApplyResult,
  type Erasure,
  type FormWriter,
  type MarkingRecord,
  NOTHING_ERASED,
  type PrepareResult,
  type Refusal,
  type RowOutcome,
  type SentMark,
} from '../../mirror/target.ts';
import { replacesRows } from '../../mirror/proven-for.ts';
import type {
  Checkpoint,
  FormIdentity,
  PassRecord,
  PickedField,
  Rejection,
  Row,
} from '../../mirror/types.ts';
import { emptyFields, refillFields } from './emptied-fields.ts';
import { eraseFromMessages, eraseSubmissions, heldTable, someDeleted } from './erasure.ts';
import { dropForgotten, forgottenOf, saveForgotten } from './forgotten.ts';
import { neededType, type StorableRow, type TypeChange } from './dialect.ts';
import type { FieldColumn, FormTable } from './field-column.ts';
import { checkEpoch, type FormLock, lostLock } from './form-lock.ts';
import { type FormContext, SqlFormReader } from './form-reader.ts';
import { changeTypes, syncFormSchema } from './form-schema.ts';
import {
  addCounts,
  findLosses,
  type FoundLosses,
  settleLosses,
  type StoredCounts,
} from './losses.ts';
import { dropCheckpoint, recordPass, saveCheckpoint, storedFor } from './pass-records.ts';
import {
  endRefusals,
  saveMarking,
  saveRefusals,
  saveSentMarks,
  settleSentMarks,
} from './refused-marks.ts';
import { dropStaleRejections, listRejections } from './rejected-rows.ts';
import { noteScrub } from './scrubbing.ts';
import { translateError } from './sql-errors.ts';
import type { SqlSession } from './sql-session.ts';
import { markRowsDeleted, setRowStatuses } from './row-changes.ts';
import { cleanText, isStorableId, listable, storableBatch, storeRows } from './row-batch.ts';

/** {@link FormContext} of a form that is held for writing. */
export interface WriterContext extends FormContext {
  readonly form: FormIdentity;
  readonly lock: FormLock;
  readonly epoch: number;
  readonly clock: Clock;
  /** The form as the catalogue holds it when the writer opens. */
  readonly known: FormTable | undefined;
}

/** {@link FormWriter} over SQL: every method is one transaction that first checks the fencing epoch (L13). */
export class SqlFormWriter extends SqlFormReader implements FormWriter {
  readonly #context: WriterContext;
  #table: FormTable | undefined;
  /** IDs of the fields that were prepared: the columns that this writer writes. */
  #prepared: ReadonlySet<string> = new Set();
  /** What was last found to be lost, and what was stored since then. */
  #foundLosses: FoundLosses | undefined;
  #since: StoredCounts = NONE;
  #released = false;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(context: WriterContext) {
    super(context);
    this.#context = context;
    this.#table = context.known;
  }

  async prepare(fields: readonly PickedField[]): Promise<PrepareResult> {
    const { dialect, formId } = this.#context;
    const { added, relabelled, removed } = await this.#write(async (tx, at) => {
      const result = await this.#syncSchema(tx, at, fields);
      await refillFields(tx, dialect, formId, [...this.#prepared]);
      return result;
    });
    return { added, relabelled, removed };
  }

  /** On the writer's own turn, so that nothing it is storing falls between the count and what is counted since. */
  override async losses(): Promise<readonly Loss[]> {
    const { dialect, formId, version } = this.#context;
    const found = await this.#write((session) => findLosses({ session, dialect, version }, formId));
    this.#foundLosses = found;
    this.#since = NONE;
    return found.losses;
  }

  async apply(rows: readonly Row[], rejections: readonly Rejection[]): Promise<ApplyResult> {
    return this.#write(async (tx, at) => {
      const table = this.#table ?? (await this.#syncedTable(tx, at));
      const { dialect, form, place } = this.#context;
      const gone = await forgottenOf(tx, dialect, form, idsOfBatch(rows, rejections), place);
      const kept = rows.filter(({ id }) => !gone.has(id));
      const batch = storableBatch(kept, this.#writtenFields(table), this.#context.dialect);
      const storable = batch.rows.filter((row) => row !== undefined);
      const fields = this.#writtenFields(await this.#widenTypes(tx, table, storable, at));
      const stored = await this.#store(tx, fields, storable, at);
      const changed = storable.filter((_, index) => isChange(stored.outcomes[index]));
      await endRefusals(
        tx,
        this.#context.dialect,
        this.#context.formId,
        changed.map(({ id }) => id),
      );
      const own = [...batch.rejections, ...stored.rejections].map(listable);
      const listings = await listRejections(tx, this.#context.dialect, {
        formId: this.#context.formId,
        submissionIds: storable.map((row) => row.id),
        rejections: [...rejections.filter((one) => !gone.has(one.submissionId)), ...own],
        at,
        epoch: this.#context.epoch,
      });
      const inserted = stored.outcomes.filter((outcome) => outcome === 'inserted').length;
      await this.#count(tx, {
        rows: inserted,
        live: inserted + stored.outcomes.filter((outcome) => outcome === 'restored').length,
        rejections: listings.added - listings.ended,
      });
      const outcomes = stored.outcomes.values();
      const attempts = batch.rows.values();
      return {
        outcomes: rows.map(({ id }) => {
          if (gone.has(id)) return 'forgotten';
          const row = attempts.next().value;
          return row === undefined ? 'rejected' : nextOutcome(outcomes.next().value);
        }),
        rejections: own,
        newRejections: listings.added,
        forgotten: gone,
      };
    });
  }

  async markDeleted(ids: readonly string[], deletedAt: string): Promise<number> {
    const { dialect } = this.#context;
    return this.#write(async (tx, at) => {
      const table = this.#table?.table;
      if (table === undefined) return 0;
      const marked = await markRowsDeleted(tx, dialect, table, ids, { deletedAt, at });
      await this.#count(tx, { ...NONE, live: -marked });
      return marked;
    });
  }

  async setStatuses(
    statuses: ReadonlyMap<string, string>,
    sent: readonly SentMark[] = [],
  ): Promise<void> {
    const { dialect, formId } = this.#context;
    const byStatus = Map.groupBy(statuses.keys(), (id) => cleanText(statuses.get(id) ?? ''));
    await this.#write(async (tx, at) => {
      const table = this.#table?.table;
      if (table === undefined) return;
      for (const [status, ids] of byStatus) {
        const changed = await setRowStatuses(tx, dialect, table, ids, { status, at });
        await saveSentMarks(tx, dialect, formId, { changed, sent });
      }
    });
  }

  async recordMarking(record: MarkingRecord | null, named: readonly string[] = []): Promise<void> {
    const { dialect, formId } = this.#context;
    await this.#write((tx) => saveMarking(tx, dialect, formId, { record, named }));
  }

  async recordRefusals(refusals: readonly Refusal[]): Promise<void> {
    const { dialect, formId } = this.#context;
    const known = refusals.filter((refusal) => isStorableId(refusal.submissionId));
    await this.#write((tx) => saveRefusals(tx, dialect, formId, known));
  }

  async forget(ids: readonly string[], at: string): Promise<Erasure> {
    const { dialect, formId } = this.#context;
    return this.#write(async (tx) => {
      await saveForgotten(tx, dialect, formId, [...new Set(ids)], at);
      await eraseFromMessages(tx, dialect, formId, ids);
      return this.#erase(tx, at, ids);
    });
  }

  async remember(ids: readonly string[]): Promise<number> {
    const { dialect, formId } = this.#context;
    return this.#write(async (tx) => {
      const dropped = await dropForgotten(tx, dialect, formId, [...new Set(ids)]);
      if (dropped > 0) await dropCheckpoint(tx, dialect, formId);
      return dropped;
    });
  }

  /** In steps of a bounded size: one that dies in between has removed some, and the next goes on. */
  async purgeDeleted(before: string): Promise<Erasure> {
    const all = { rows: 0, listings: 0, refusals: 0, left: [] };
    for (;;) {
      const { rows, listings, refusals } = await this.#write(async (tx, at) =>
        this.#erase(tx, at, await someDeleted(tx, this.#context.dialect, this.#table, before)),
      );
      if (rows === 0) return all;
      all.rows += rows;
      all.listings += listings;
      all.refusals += refusals;
    }
  }

  async emptyFields(fieldIds: readonly string[], at: string): Promise<number> {
    return this.#write(async (tx) =>
      this.#table === undefined
        ? 0
        : emptyFields(tx, this.#context.dialect, this.#table, fieldIds, at),
    );
  }

  async finish(
    pass: PassRecord,
    changes: { checkpoint?: Checkpoint; goneAt?: string | null },
  ): Promise<void> {
    const { dialect, formId } = this.#context;
    await this.#write(async (tx, at) => {
      if (this.#table === undefined) await this.#syncedTable(tx, at);
      await recordPass(tx, dialect, formId, pass);
      if (changes.checkpoint !== undefined) {
        const before = await storedFor(tx, dialect, formId);
        // Rows that were written anew, hashed perhaps, leave what stood there in files of ours (L18).
        const isReplaced = replacesRows(before, changes.checkpoint.provenFor, pass.updated);
        if (dialect.scrubs && isReplaced) await noteScrub(tx, dialect, formId, at);
        await saveCheckpoint(tx, dialect, formId, changes.checkpoint);
        // One that is not proven may have found something to be remembered.
        if (pass.kind === 'full' && pass.outcome !== 'incomplete') await this.#settle(tx, pass);
      }
      if (changes.goneAt !== undefined) {
        await tx.query(
          `UPDATE ${dialect.relation('mirror_forms')} SET gone_at = $1
           WHERE form_id = $2 AND gone_at IS DISTINCT FROM $1`,
          [changes.goneAt, formId],
        );
      }
    });
  }

  async #erase(tx: SqlSession, at: string, ids: readonly string[]): Promise<Erasure> {
    const { dialect, formId } = this.#context;
    if (ids.length === 0) return NOTHING_ERASED;
    const held = await heldTable(tx, dialect, this.#table);
    const isMarked = held?.present.has('_deleted_at') === true;
    const where = { formId, table: held?.table, isMarked };
    const { live, ...erased } = await eraseSubmissions(tx, dialect, where, ids, at);
    await this.#count(tx, { rows: -erased.rows, live: -live, rejections: -erased.listings });
    return erased;
  }

  /** After a proven full pass: what it did not meet is no longer listed, what was lost is there again. */
  async #settle(tx: SqlSession, { startedAt, withheld }: PassRecord): Promise<void> {
    const { dialect, epoch, formId } = this.#context;
    const ended = await dropStaleRejections(tx, dialect, formId, epoch);
    await this.#count(tx, { ...NONE, rejections: -ended });
    const table = this.#table?.table;
    // Which rows were not met is not known here.
    if (table !== undefined && withheld === 0) {
      await settleSentMarks(tx, dialect, { formId, table, since: startedAt });
    }
    if (this.#foundLosses === undefined) return;
    await settleLosses(tx, dialect, formId, this.#foundLosses, this.#since);
    this.#foundLosses = undefined;
  }

  async #count(tx: SqlSession, change: StoredCounts): Promise<void> {
    const { dialect, formId } = this.#context;
    await addCounts(tx, dialect, formId, change);
    const { rows, live, rejections } = this.#since;
    this.#since = {
      rows: rows + change.rows,
      live: live + change.live,
      rejections: rejections + change.rejections,
    };
  }

  /** Waits for writes in progress. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#released) return;
    this.#released = true;
    await this.#turn.catch(() => {});
    await this.#context.lock.release();
  }

  /** One transaction at a time; when it fails, the form in memory is restored too. */
  async #write<T>(work: (tx: SqlSession, at: string) => Promise<T>): Promise<T> {
    const { formId, place } = this.#context;
    if (this.#released) throw lostLock(place, formId);
    const turn = this.#turn.catch(() => {}).then(() => this.#writeNow(work));
    this.#turn = turn.catch(() => {});
    return turn;
  }

  async #writeNow<T>(work: (tx: SqlSession, at: string) => Promise<T>): Promise<T> {
    const { clock, dialect, epoch, formId, lock, place } = this.#context;
    const before = {
      table: this.#table,
      prepared: this.#prepared,
      found: this.#foundLosses,
      since: this.#since,
    };
    try {
      return await lock.connection.transaction(async (tx) => {
        await checkEpoch(tx, dialect, formId, epoch, place);
        return work(tx, new Date(clock.now()).toISOString());
      });
    } catch (error) {
      this.#table = before.table;
      this.#prepared = before.prepared;
      this.#foundLosses = before.found;
      this.#since = before.since;
      throw translateError(error, dialect.describeError, place);
    }
  }

  async #syncSchema(
    tx: SqlSession,
    at: string,
    fields: readonly PickedField[],
  ): Promise<PrepareResult> {
    const { dialect, form, place } = this.#context;
    const { table, result } = await syncFormSchema(tx, dialect, {
      form,
      known: this.#table,
      fields,
      at,
      place,
    });
    this.#table = table;
    this.#prepared = new Set(fields.map((field) => cleanText(field.id)));
    return result;
  }

  /** The table of a form that is written to before `prepare` was called. */
  async #syncedTable(tx: SqlSession, at: string): Promise<FormTable> {
    await this.#syncSchema(tx, at, []);
    if (this.#table === undefined) throw new TypeError('no table after its schema was synced');
    return this.#table;
  }

  #writtenFields(table: FormTable): FieldColumn[] {
    return table.fields.filter((field) => this.#prepared.has(field.id));
  }

  /** Gives columns the types that these rows need. */
  async #widenTypes(
    tx: SqlSession,
    table: FormTable,
    rows: readonly StorableRow[],
    at: string,
  ): Promise<FormTable> {
    const { dialect } = this.#context;
    const changes = this.#writtenFields(table).flatMap((field, index): TypeChange[] => {
      const cells = rows.values().map((row) => row.cells[index] ?? null);
      const to = neededType(dialect, field.type, cells);
      return to === null || to === field.type ? [] : [{ field, to }];
    });
    if (changes.length === 0) return table;
    this.#table = await changeTypes(tx, dialect, table, changes, at);
    return this.#table;
  }

  async #store(
    tx: SqlSession,
    fields: readonly FieldColumn[],
    rows: readonly StorableRow[],
    at: string,
  ): ReturnType<typeof storeRows> {
    const { dialect } = this.#context;
    const table = this.#table;
    if (table === undefined) throw new TypeError('no table');
    return storeRows(tx, dialect, rows, (piece) => dialect.upsert(tx, table, fields, piece, at));
  }
}

const NONE: StoredCounts = { rows: 0, live: 0, rejections: 0 };

const isChange = (outcome: RowOutcome | undefined): boolean =>
  outcome === 'updated' || outcome === 'restored';

function nextOutcome(outcome: RowOutcome | undefined): RowOutcome {
  if (outcome === undefined) throw new TypeError('a row without an outcome');
  return outcome;
}
