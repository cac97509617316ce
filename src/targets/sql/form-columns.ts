import type { PrepareResult } from '../../mirror/target.ts';
import type { FormIdentity, PickedField } from '../../mirror/types.ts';
import { loadForm } from './catalogue.ts';
import { readCopyText } from './catalogue-copy.ts';
import { columnNeed, meetNeeds } from './column-types.ts';
import type { SqlDialect, StorableRow } from './dialect.ts';
import { refillFields } from './emptied-fields.ts';
import type { FieldColumn, FormTable } from './field-column.ts';
import { followHistory } from './row-history.ts';
import { syncFormSchema } from './form-schema.ts';
import { cleanText } from './row-batch.ts';
import type { SqlSession } from './sql-session.ts';
import type { WriterTransaction } from './writer-transactions.ts';

/** The form whose columns these are. */
export interface ColumnsContext {
  readonly dialect: SqlDialect;
  readonly form: FormIdentity;
  /** The target, for messages. */
  readonly place: string;
  /** The form as the catalogue holds it when the writer opens. */
  readonly known: FormTable | undefined;
  /** Whether every version of its rows is to be kept. */
  readonly keepsVersions: boolean;
}

/**
 * A form's table and columns as one writer knows them, and its changes to them. Where several write side by side, each
 * follows what the others changed, and changes them alone.
 */
export class FormColumns {
  readonly #context: ColumnsContext;
  #table: FormTable | undefined;
  /** IDs of the fields that were prepared: the columns that this writer writes. */
  #prepared: ReadonlySet<string> = new Set();
  /** Those of them that are stored as hashes. */
  #hashed: ReadonlySet<string> = new Set();
  /** The catalogue's copy of the form when it was last read. */
  #seen: string | undefined;

  constructor(context: ColumnsContext) {
    this.#context = context;
    this.#table = context.known;
  }

  /** As last seen; undefined where the form has no table yet. */
  get table(): FormTable | undefined {
    return this.#table;
  }

  /** The fields that are stored as hashes, as last prepared. */
  get hashed(): ReadonlySet<string> {
    return this.#hashed;
  }

  /** What takes them back to how they are now, for a transaction that fails. */
  keep(): () => void {
    const before = { table: this.#table, prepared: this.#prepared, seen: this.#seen };
    return () => {
      this.#table = before.table;
      this.#prepared = before.prepared;
      // What was changed of tables stays, and the catalogue tells of it.
      this.#seen = this.#context.dialect.stepwise === undefined ? before.seen : undefined;
    };
  }

  /** Takes over what another writer changed since the last transaction. */
  async follow(tx: SqlSession): Promise<void> {
    const { dialect, form } = this.#context;
    if (dialect.enterForm === undefined) return;
    const copy = await readCopyText(tx, dialect, form.id);
    if (copy === undefined || copy === this.#seen) return;
    this.#seen = copy;
    this.#table = (await loadForm(tx, dialect, form.id)) ?? this.#table;
  }

  /** See `prepare` of the port: follows the form's schema. */
  async prepare(
    transaction: WriterTransaction,
    fields: readonly PickedField[],
  ): Promise<PrepareResult> {
    const { dialect, form } = this.#context;
    const { tx } = transaction;
    const { added, relabelled, removed } = await this.#sync(transaction, fields);
    this.#hashed = idsOf(fields.filter(({ hashed }) => hashed));
    await refillFields(tx, dialect, form.id, [...this.#prepared]);
    return { added, relabelled, removed };
  }

  /** The table, made first for a form that is written to before it was prepared. */
  async written(transaction: WriterTransaction): Promise<FormTable> {
    if (this.#table === undefined) await this.#sync(transaction, []);
    if (this.#table === undefined) throw new TypeError('no table after its schema was synced');
    return this.#table;
  }

  /** The fields that this writer writes. */
  fieldsOf(table: FormTable): FieldColumn[] {
    return table.fields.filter((field) => this.#prepared.has(field.id));
  }

  /** Gives columns what these rows need of them: a type, and a column of texts beside them. */
  async suit(
    transaction: WriterTransaction,
    table: FormTable,
    rows: readonly StorableRow[],
  ): Promise<FormTable> {
    const { dialect } = this.#context;
    const needs = this.fieldsOf(table).flatMap(
      (field, index) => columnNeed(dialect, field, rows, index) ?? [],
    );
    if (needs.length === 0) return table;
    const suited = await meetNeeds(transaction.tx, dialect, table, needs, transaction.at);
    this.#table = await this.#followHistory(transaction, suited);
    return this.#table;
  }

  async #sync(
    transaction: WriterTransaction,
    fields: readonly PickedField[],
  ): Promise<PrepareResult> {
    const { dialect, form, place } = this.#context;
    const { tx, at } = transaction;
    const known = this.#table;
    const { table, result } = await syncFormSchema(tx, dialect, { form, known, fields, at, place });
    this.#table = await this.#followHistory(transaction, table);
    this.#prepared = idsOf(fields);
    return result;
  }

  #followHistory({ tx, at }: WriterTransaction, table: FormTable): Promise<FormTable> {
    const { dialect, keepsVersions: isWanted } = this.#context;
    return followHistory(tx, dialect, table, { isWanted, at });
  }
}

const idsOf = (fields: readonly PickedField[]): ReadonlySet<string> =>
  new Set(fields.map(({ id }) => cleanText(id)));
