import type { Clock } from '../../base/clock.ts';
import type {
  ApplyResult,
  FormWriter,
  PrepareResult,
  Refusal,
  RowOutcome,
} from '../../mirror/target.ts';
import type {
  Checkpoint,
  FormIdentity,
  PassRecord,
  PickedField,
  Rejection,
  Row,
} from '../../mirror/types.ts';
import { storeRows } from './batch-store.ts';
import { neededType, type StorableRow, type TypeChange } from './dialect.ts';
import type { FieldColumn, FormTable } from './field-column.ts';
import { checkEpoch, type FormLock, lostLock } from './form-lock.ts';
import { type FormContext, SqlFormReader } from './form-reader.ts';
import { changeTypes, settleForm } from './form-settling.ts';
import { recordPass, saveCheckpoint } from './pass-history.ts';
import { saveRefusals } from './refused-marks.ts';
import { dropStaleRejections, listRejections } from './rejected-rows.ts';
import { translateError } from './sql-errors.ts';
import { piecesOf, type SqlSession } from './sql-session.ts';
import { cleanText, isStorableId, listable, storableBatch } from './storable-rows.ts';

/** IDs changed by one statement. */
const IDS_A_STATEMENT = 1_000;

/** What a writer works with, besides what a reader does. */
export interface WriterContext extends FormContext {
  readonly form: FormIdentity;
  readonly lock: FormLock;
  readonly epoch: number;
  readonly clock: Clock;
  /** The form as the catalogue holds it when the writer opens. */
  readonly known: FormTable | undefined;
}

/** {@link FormWriter} over SQL: every method is one transaction that begins with a look at the fencing epoch (L13). */
export class SqlFormWriter extends SqlFormReader implements FormWriter {
  readonly #context: WriterContext;
  #table: FormTable | undefined;
  /** IDs of the fields that were prepared: the columns that this writer writes. */
  #prepared: ReadonlySet<string> = new Set();
  #released = false;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(context: WriterContext) {
    super(context);
    this.#context = context;
    this.#table = context.known;
  }

  async prepare(fields: readonly PickedField[]): Promise<PrepareResult> {
    const { added, relabelled, removed } = await this.#write((tx, at) =>
      this.#settle(tx, at, fields),
    );
    return { added, relabelled, removed };
  }

  async apply(rows: readonly Row[], rejections: readonly Rejection[]): Promise<ApplyResult> {
    return this.#write(async (tx, at) => {
      const table = this.#table ?? (await this.#settled(tx, at));
      const batch = storableBatch(rows, this.#writtenFields(table), this.#context.dialect);
      const storable = batch.rows.filter((row) => row !== undefined);
      const fields = this.#writtenFields(await this.#widen(tx, table, storable, at));
      const stored = await this.#store(tx, fields, storable, at);
      const own = [...batch.rejections, ...stored.rejections].map(listable);
      const newRejections = await listRejections(tx, this.#context.dialect, {
        formId: this.#context.formId,
        submissionIds: storable.map((row) => row.id),
        rejections: [...rejections, ...own],
        at,
        epoch: this.#context.epoch,
      });
      const outcomes = stored.outcomes.values();
      return {
        outcomes: batch.rows.map((row) =>
          row === undefined ? 'rejected' : nextOutcome(outcomes.next().value),
        ),
        rejections: own,
        newRejections,
      };
    });
  }

  async markDeleted(ids: readonly string[], deletedAt: string): Promise<number> {
    const { dialect } = this.#context;
    return this.#write(async (tx, at) => {
      if (this.#table === undefined) return 0;
      let marked = 0;
      for (const piece of piecesOf(ids.filter(isStorableId), IDS_A_STATEMENT)) {
        const rows = await tx.query(
          `UPDATE ${dialect.relation(this.#table.table)} SET _deleted_at = $1, _changed_at = $2
           WHERE ${dialect.isIn('id', '$3')} AND _deleted_at IS NULL RETURNING id`,
          [deletedAt, at, dialect.list(piece)],
        );
        marked += rows.length;
      }
      return marked;
    });
  }

  async setStatuses(statuses: ReadonlyMap<string, string>): Promise<void> {
    const { dialect } = this.#context;
    const byStatus = Map.groupBy(statuses.keys(), (id) => cleanText(statuses.get(id) ?? ''));
    await this.#write(async (tx, at) => {
      if (this.#table === undefined) return;
      for (const [status, ids] of byStatus) {
        for (const piece of piecesOf(ids.filter(isStorableId), IDS_A_STATEMENT)) {
          await tx.query(
            `UPDATE ${dialect.relation(this.#table.table)} SET status = $1, _changed_at = $2
             WHERE ${dialect.isIn('id', '$3')} AND status IS DISTINCT FROM $1`,
            [status, at, dialect.list(piece)],
          );
        }
      }
    });
  }

  async recordRefusals(refusals: readonly Refusal[]): Promise<void> {
    const { dialect, formId } = this.#context;
    const known = refusals.filter((refusal) => isStorableId(refusal.submissionId));
    await this.#write((tx) => saveRefusals(tx, dialect, formId, known));
  }

  async finish(
    pass: PassRecord,
    changes: { checkpoint?: Checkpoint; goneAt?: string | null },
  ): Promise<void> {
    const { dialect, formId, epoch } = this.#context;
    await this.#write(async (tx, at) => {
      if (this.#table === undefined) await this.#settled(tx, at);
      await recordPass(tx, dialect, formId, pass);
      if (changes.checkpoint !== undefined) {
        await saveCheckpoint(tx, dialect, formId, changes.checkpoint);
        if (pass.kind === 'full') await dropStaleRejections(tx, dialect, formId, epoch);
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

  /** What was begun before is finished first. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#released) return;
    this.#released = true;
    await this.#turn.catch(() => {});
    await this.#context.lock.release();
  }

  /** One transaction at a time; what it did to the form in memory is undone with it. */
  async #write<T>(work: (tx: SqlSession, at: string) => Promise<T>): Promise<T> {
    const { formId, place } = this.#context;
    if (this.#released) throw lostLock(place, formId);
    const turn = this.#turn.catch(() => {}).then(() => this.#writeNow(work));
    this.#turn = turn.catch(() => {});
    return turn;
  }

  async #writeNow<T>(work: (tx: SqlSession, at: string) => Promise<T>): Promise<T> {
    const { clock, dialect, epoch, formId, lock, place } = this.#context;
    const before = { table: this.#table, prepared: this.#prepared };
    try {
      return await lock.connection.transaction(async (tx) => {
        await checkEpoch(tx, dialect, formId, epoch, place);
        return work(tx, new Date(clock.now()).toISOString());
      });
    } catch (error) {
      this.#table = before.table;
      this.#prepared = before.prepared;
      throw translateError(error, dialect.explain, place);
    }
  }

  async #settle(
    tx: SqlSession,
    at: string,
    fields: readonly PickedField[],
  ): Promise<PrepareResult> {
    const { dialect, form } = this.#context;
    const { table, result } = await settleForm(tx, dialect, {
      form,
      known: this.#table,
      fields,
      at,
    });
    this.#table = table;
    this.#prepared = new Set(fields.map((field) => cleanText(field.id)));
    return result;
  }

  /** For a form that is written to before its fields were prepared. */
  async #settled(tx: SqlSession, at: string): Promise<FormTable> {
    await this.#settle(tx, at, []);
    if (this.#table === undefined) throw new TypeError('form not settled');
    return this.#table;
  }

  #writtenFields(table: FormTable): FieldColumn[] {
    return table.fields.filter((field) => this.#prepared.has(field.id));
  }

  /** Gives columns the types that these rows need. */
  async #widen(
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

function nextOutcome(outcome: RowOutcome | undefined): RowOutcome {
  if (outcome === undefined) throw new TypeError('a row without an outcome');
  return outcome;
}
