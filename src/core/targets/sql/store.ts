import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../../base/clock.ts';
import { MirrorError } from '../../../base/errors.ts';
import { formTableName } from '../../../mirror/column-names.ts';
import type { FormIdentity } from '../../../mirror/types.ts';
import {
  distrust,
  EMPTY_TALLY,
  type FormState,
  liveRows,
  newFormState,
} from '../../mirror/form-state.ts';
import type { CheckResult, OpenForm, Store, StoredForm, StoredRecord } from '../../mirror/port.ts';
import { type Database, numberOf, type Session, type SqlField, textOf } from './database.ts';
import { settled } from './fields.ts';
import { SqlForm, type SqlFormParts, storedFields } from './form.ts';
import { createTable, ensureSchema } from './schema.ts';
import { countTally, stateWithRows } from './tally.ts';
import { makeViews, rebuildViews } from './views.ts';

/** What a SQL store keeps of before: statuses, or every version of every row as well. */
export type KeptHistory = 'status' | 'full';

export interface SqlStoreOptions {
  /** As the settings name it, for messages. */
  readonly name: string;
  readonly clock: Clock;
  readonly history: KeptHistory;
}

/** Names that our own relations have, or may get. */
const OURS = ['submissions', 'answers', 'freshness'];

/** A target in a SQL database. */
export class SqlStore implements Store {
  readonly #database: Database;
  readonly #options: SqlStoreOptions;
  readonly #salt: string;

  private constructor(database: Database, options: SqlStoreOptions, salt: string) {
    [this.#database, this.#options, this.#salt] = [database, options, salt];
  }

  /** Makes our tables where there are none. Rejects with TARGET_… and OTHER_SCHEMA. */
  static async open(database: Database, options: SqlStoreOptions): Promise<SqlStore> {
    try {
      const salt = await ensureSchema(database);
      // What a run that was killed left undone, and what people dropped.
      await rebuildViews(database, options.history === 'full');
      return new SqlStore(database, options, salt);
    } catch (error) {
      await database[Symbol.asyncDispose]();
      throw database.dialect.describe(error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#database.settle().catch(() => {});
    await this.#database[Symbol.asyncDispose]();
  }

  async check(): Promise<CheckResult[]> {
    const table = '_mirror_check';
    await this.#database.transaction(async (tx) => {
      await this.#database.dialect.alone(tx);
      await tx.run(`DROP TABLE IF EXISTS ${table}`);
      await tx.run(`CREATE TABLE ${table} (id ${this.#database.dialect.types.key} PRIMARY KEY)`);
      await tx.run(`DROP TABLE ${table}`);
    });
    return [{ what: 'tables can be created and dropped', isOk: true, remedy: null }];
  }

  async forms(): Promise<StoredForm[]> {
    const database = this.#database;
    const { dialect } = database;
    const found = await database.query('SELECT state, fields FROM _mirror_state ORDER BY form_id');
    const relations = await dialect.relations(database);
    const forms: StoredForm[] = [];
    for (const row of found) {
      const kept = stateOf(row);
      const isThere = relations.get(kept.place) === 'table';
      const now = isThere ? await stateWithRows(database, kept) : { state: row, rows: {} };
      const before = now.state === undefined ? kept : stateOf(now.state);
      const columns = await dialect.columnsOf(database, kept.place);
      const fields = settled(fieldsOf(row), columns);
      const losses = lossesOf(before, { isThere, columns, fields, rows: liveRows(now) });
      const isIntact = losses.length === 0 && isDeepStrictEqual(now.rows, before.tally.rows);
      // The next run that opens the form names what is lost, and mends it.
      forms.push({
        state: isIntact ? before : distrust(before),
        fields: storedFields(fields),
      });
    }
    return forms;
  }

  open(form: FormIdentity, mode: 'write'): Promise<OpenForm>;
  open(form: Pick<FormIdentity, 'id'>, mode: 'read'): Promise<OpenForm | null>;
  async open(
    form: Partial<FormIdentity> & { id: string },
    mode: 'read' | 'write',
  ): Promise<OpenForm | null> {
    const { id, slug = id, name = id } = form;
    return mode === 'write' ? this.#openToWrite({ id, slug, name }) : this.#openToRead(id);
  }

  async record(key: string): Promise<StoredRecord | null> {
    const [row] = await this.#database.query(
      'SELECT revision, value FROM _mirror_records WHERE name = $1',
      [key],
    );
    if (row === undefined) return null;
    return { value: JSON.parse(textOf(row['value'])), revision: numberOf(row['revision']) };
  }

  async putRecord(key: string, value: unknown, revision: number | null): Promise<boolean> {
    const text = JSON.stringify(value);
    const changed =
      revision === null
        ? await this.#database.run(
            `INSERT INTO _mirror_records (name, revision, value) VALUES ($1, 1, $2) ${this.#database.dialect.onConflict(['name'])}`,
            [key, text],
          )
        : await this.#database.run(
            'UPDATE _mirror_records SET revision = revision + 1, value = $1 WHERE name = $2 AND revision = $3',
            [text, key, revision],
          );
    return changed === 1;
  }

  async #openToRead(formId: string): Promise<OpenForm | null> {
    const database = this.#database;
    const row = await readState(database, formId);
    if (row === undefined) return null;
    const state = stateOf(row);
    const columns = await database.dialect.columnsOf(database, state.place);
    return new SqlForm({
      ...this.#parts(),
      state,
      fields: fieldsOf(row),
      columns,
      revision: numberOf(row['revision']),
      losses: [],
      lease: null,
    });
  }

  async #openToWrite(identity: FormIdentity): Promise<OpenForm> {
    const database = this.#database;
    const lease = await database.lock(identity.id);
    if (lease === null)
      throw new MirrorError(
        'TARGET_BUSY',
        `Another process writes form ${identity.slug} in target ${this.#options.name}.`,
      );
    try {
      return await database.transaction((tx) => this.#opened(tx, identity, lease));
    } catch (error) {
      await lease[Symbol.asyncDispose]();
      throw database.dialect.describe(error);
    }
  }

  async #opened(tx: Session, identity: FormIdentity, lease: AsyncDisposable): Promise<OpenForm> {
    const { dialect } = this.#database;
    const { id, slug, name } = identity;
    const row = await readState(tx, id);
    // No other process takes the name for its table before it is chosen.
    if (row === undefined) await dialect.alone(tx);
    const relations = await dialect.relations(tx);
    const before: FormState =
      row === undefined
        ? newFormState({
            formId: id,
            slug,
            name,
            place: await this.#place(tx, identity, relations),
          })
        : { ...stateOf(row), slug, name };
    const known = row === undefined ? [] : fieldsOf(row);
    const isThere = relations.get(before.place) === 'table';
    // Before the table, for a database that commits with it: a table of which nothing is known is a loss.
    if (row === undefined)
      await tx.run(
        'INSERT INTO _mirror_state (form_id, revision, state, fields) VALUES ($1, 0, $2, $3)',
        [id, JSON.stringify(before), '[]'],
      );
    if (!isThere) await createTable(tx, dialect, before.place);
    const columns = await dialect.columnsOf(tx, before.place);
    const fields = settled(known, columns);
    const tally = await countTally(tx, before);
    if (tally.forgotten < before.tally.forgotten) throw stateLost(this.#options.name, slug);
    const losses = lossesOf(before, { isThere, columns, fields, rows: liveRows(tally) });
    const counted: FormState = { ...before, tally };
    // In the transaction that counts what is left: no later run would notice the loss.
    const state = losses.length > 0 ? distrust(counted) : counted;
    const revision = row === undefined ? 1 : numberOf(row['revision']) + 1;
    await tx.run(
      'UPDATE _mirror_state SET revision = $1, state = $2, fields = $3 WHERE form_id = $4',
      [revision, JSON.stringify(state), JSON.stringify(fields), id],
    );
    // Whoever reads the form's rows finds the form in the views over all forms.
    if (!isThere) await makeViews(tx, dialect, this.#options.history === 'full');
    return new SqlForm({ ...this.#parts(), state, fields, columns, revision, losses, lease });
  }

  #parts(): Pick<SqlFormParts, 'database' | 'clock' | 'target' | 'history' | 'salt'> {
    const { clock, name, history } = this.#options;
    return { database: this.#database, clock, target: name, history, salt: this.#salt };
  }

  /** A free name for the table of a new form. Throws where a table of a form is there and nothing is known of it. */
  async #place(
    tx: Session,
    form: FormIdentity,
    relations: ReadonlyMap<string, 'table' | 'view'>,
  ): Promise<string> {
    const taken = new Set([...OURS, ...relations.keys()].map((each) => each.toLowerCase()));
    const places = new Set<string>();
    for (const row of await tx.query('SELECT state FROM _mirror_state'))
      places.add(stateOf(row).place);
    for (const place of places) taken.add(place);
    const wanted = formTableName(form, new Set(OURS));
    const columns = await this.#database.dialect.columnsOf(tx, wanted);
    const isForm = ['id', 'status', '_changed_at', '_deleted_at'].every((each) =>
      columns.has(each),
    );
    if (isForm && !places.has(wanted)) throw stateLost(this.#options.name, form.slug);
    return formTableName(form, taken);
  }
}

/** Rows are there, and what was known of them is not: erased people might come back. */
const stateLost = (target: string, slug: string): MirrorError =>
  new MirrorError(
    'TARGET_FAILED',
    `Target ${target} has rows of form ${slug}, but its own tables (_mirror_…) are lost or incomplete, the list of forgotten submissions ` +
      'perhaps among them. Nothing is written there. Restore them from a backup, or drop the table of the form to copy it again.',
    { retryable: false },
  );

const readState = async (session: Session, formId: string) =>
  (
    await session.query('SELECT revision, state, fields FROM _mirror_state WHERE form_id = $1', [
      formId,
    ])
  )[0];

/** The state as it is kept; what a later build adds has its default. */
const stateOf = (row: Readonly<Record<string, unknown>>): FormState => {
  const kept = JSON.parse(textOf(row['state'])) as FormState;
  return { ...kept, tally: { ...EMPTY_TALLY, ...kept.tally } };
};

const fieldsOf = (row: Readonly<Record<string, unknown>>): readonly SqlField[] =>
  JSON.parse(textOf(row['fields'])) as readonly SqlField[];

/** What people removed, a sentence for each. */
function lossesOf(
  before: FormState,
  now: {
    readonly isThere: boolean;
    readonly columns: ReadonlySet<string>;
    readonly fields: readonly SqlField[];
    readonly rows: number;
  },
): string[] {
  const rows = liveRows(before.tally);
  if (!now.isThere)
    return rows > 0 ? [`The table ${before.place} was dropped; it is filled again.`] : [];
  const lost = now.fields.flatMap(({ column, textColumn, isInMore }) =>
    [isInMore ? null : column, textColumn].filter(
      (name) => name !== null && !now.columns.has(name),
    ),
  );
  return [
    ...lost.map((name) => `The column ${name} of ${before.place} was dropped; it is filled again.`),
    ...(now.rows < rows
      ? [`${rows - now.rows} rows of ${before.place} were removed; they are read again.`]
      : []),
  ];
}
