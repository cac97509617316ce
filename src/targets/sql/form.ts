import { isDeepStrictEqual } from 'node:util';
import type {
  Applied,
  Change,
  Count,
  CountQuery,
  Entry,
  EntryKind,
  Erasure,
  Grain,
  HistoryKind,
  OpenForm,
  RowQuery,
  StoredField,
  StoredRow,
  TargetNotice,
} from '../../mirror/port.ts';
import type { Clock } from '../../base/clock.ts';
import { MirrorError } from '../../base/errors.ts';
import { SYSTEM_COLUMNS } from '../../mirror/column-names.ts';
import { forgottenDigest, saltOf } from '../../mirror/forgotten.ts';
import type { Form, Row, SelectedField } from '../../mirror/types.ts';
import { type FormState, liveRows, nextCommitUs } from '../../mirror/form-state.ts';
import { Commit, type Way, writingOf } from './commit.ts';
import type { Database } from './database.ts';
import {
  boundAt,
  change,
  type PackedRow,
  pagesOf,
  type Param,
  quoted,
  type Session,
  type SqlField,
  textOf,
  textOrNull,
  timeOf,
} from './dialect.ts';
import { erase } from './erase.ts';
import {
  decodeRow,
  missingColumns,
  packerOf,
  relabelled,
  storedColumns,
  withColumns,
  withTextColumns,
} from './fields.ts';
import { addColumns, type FormRecord, scrub, scrubLater } from './schema.ts';
import { countTally, effectOf, entriesOf } from './tally.ts';
import type { ViewKeeper } from './relations.ts';

/** How a target in a database is opened. */
export interface SqlStoreOptions {
  /** As the settings name it, for messages. */
  readonly name: string;
  readonly clock: Clock;
  readonly history: HistoryKind;
}

/** A form, found when it is opened. */
interface FoundForm extends FormRecord {
  readonly views: ViewKeeper;
  readonly columns: ReadonlySet<string>;
  /** Opening it has made its table. */
  readonly isNew: boolean;
  readonly losses: readonly string[];
  /** Null: open for reading. */
  readonly lease: AsyncDisposable | null;
}

type Stored = Pick<FormRecord, 'state' | 'fields'>;
type Pack = (row: Row) => PackedRow;
const isPacked = (row: Row): row is PackedRow => 'packed' in row;

const ROWS_AT_ONCE = 2_000;
/** More, because rows without answers are small and a page reads all rows of its range. */
const BARE_ROWS_AT_ONCE = 20_000;
/** How many characters of an ISO time give its day, and its millisecond. */
const GRAIN_LENGTHS: Readonly<Record<Grain, number | null>> = {
  all: null,
  day: 10,
  millisecond: 23,
};

/** One form of a SQL target. */
export class SqlForm implements OpenForm {
  readonly losses: readonly string[];
  readonly #database: Database;
  readonly #options: SqlStoreOptions;
  readonly #lease: AsyncDisposable | null;
  readonly #views: ViewKeeper;
  #state: FormState;
  #fields: readonly SqlField[];
  /** As the database has them: without notes, and without fields that the next commit stores. */
  #stored: Stored;
  readonly #columns: Set<string>;
  #revision: number;
  #prepared: readonly SelectedField[] = [];
  /** With the columns that taken rows need, which the next commit creates; null: as they are. */
  #wanted: readonly SqlField[] | null = null;
  /** For these fields; made again when they change. */
  #packing: { readonly fields: readonly SqlField[]; readonly pack: Pack } | null = null;
  /** See {@link saltOf}; null until a digest is needed. */
  #salt: string | null = null;
  readonly #isNew: boolean;
  /** The next rows may be new: the table was just made, and all rows since were new. */
  #expectsNew: boolean;

  constructor(database: Database, options: SqlStoreOptions, found: FoundForm) {
    [this.#database, this.#options] = [database, options];
    [this.losses, this.#lease, this.#revision] = [found.losses, found.lease, found.revision];
    this.#views = found.views;
    [this.#state, this.#fields, this.#stored] = [found.state, found.fields, found];
    [this.#columns, this.#isNew] = [new Set(found.columns), found.isNew];
    this.#expectsNew = this.#isNew;
  }

  get state(): FormState {
    return this.#state;
  }

  get fields(): readonly StoredField[] {
    return this.#fields;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lease?.[Symbol.asyncDispose]();
  }

  async *rows(query: RowQuery, cells = false): AsyncIterable<readonly StoredRow[]> {
    if (!this.#columns.has('id')) return;
    const fields = this.#fields;
    const names = cells ? storedColumns(fields, this.#columns) : [];
    const pages = pagesOf(this.#database, {
      select: ['id', 'status', 'created_at', '_deleted_at', ...names.map(quoted)].join(', '),
      from: quoted(this.#state.place),
      ...this.#where(query),
      size: cells ? ROWS_AT_ONCE : BARE_ROWS_AT_ONCE,
    });
    for await (const found of pages)
      yield found.map((row) => ({
        id: textOf(row['id']),
        status: textOf(row['status']),
        createdAt: timeOf(row['created_at']),
        deletedAt: timeOf(row['_deleted_at']),
        cells: cells ? decodeRow(fields, row) : new Map(),
      }));
  }

  async counts(query: CountQuery, grain: Grain): Promise<Count[]> {
    const { dialect } = this.#database;
    const { formId, place } = this.#state;
    const length = GRAIN_LENGTHS[grain];
    const span = length === null ? null : `substr(${dialect.isoOf('created_at')}, 1, ${length})`;
    const group = span === null ? 'status' : `status, ${span}`;
    const shown = `status${span === null ? '' : `, ${span} AS span`}, count(*) AS n`;
    const counts = new Map<string, Count>();
    const add = (row: Readonly<Record<string, unknown>>, sign: number): void => {
      const fromMs = spanMs(row['span']);
      const status = textOf(row['status']);
      const key = `${status} ${fromMs}`;
      const count = (counts.get(key)?.count ?? 0) + sign * Number(row['n']);
      counts.set(key, { status, fromMs, count });
    };
    if (!this.#columns.has('id')) return [];
    const live = this.#where(query);
    for (const row of await this.#database.query(
      `SELECT ${shown} FROM ${quoted(place)} WHERE ${live.where.join(' AND ')} GROUP BY ${group}`,
      live.params,
    ))
      add(row, 1);
    const { tally } = this.#state;
    if (tally.held + tally.undecided + tally.rejected + tally.forgotten > 0) {
      const { where, params } = this.#conditions(query);
      where.unshift(`form_id = $${params.push(formId)}`, 'status IS NOT NULL');
      for (const row of await this.#database.query(
        `SELECT kind, has_row, ${shown} FROM ${entriesOf(place)} WHERE ${where.join(' AND ')} GROUP BY kind, has_row, ${group}`,
        params,
      ))
        add(row, effectOf(row));
    }
    return [...counts.values()].filter(({ count }) => count !== 0);
  }

  async entries(kinds: readonly EntryKind[]): Promise<Entry[]> {
    const { dialect } = this.#database;
    const rows = await this.#database.query(
      `SELECT kind, id, status, created_at, reason,
         CASE kind WHEN 'forgotten' THEN first_seen_at ELSE last_seen_at END AS listed_at FROM _mirror_entries
       WHERE form_id = $1 AND ${dialect.among('kind', '$2')} ORDER BY kind, id`,
      [this.#state.formId, kinds],
    );
    return rows.map((row) => ({
      kind: textOf(row['kind']) as EntryKind,
      id: textOf(row['id']),
      status: textOrNull(row['status']),
      createdAt: timeOf(row['created_at']),
      reason: textOf(row['reason']),
      atMs: Date.parse(timeOf(row['listed_at']) ?? ''),
    }));
  }

  async forgotten(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (this.#state.tally.forgotten === 0 || ids.length === 0) return new Map();
    const digestOf = await this.#digests();
    const digests = new Map(ids.map((id) => [digestOf(id), id]));
    const { dialect } = this.#database;
    const rows = await this.#database.query(
      `SELECT id FROM _mirror_entries WHERE form_id = $1 AND kind = 'forgotten' AND ${dialect.among('id', '$2')}`,
      [this.#state.formId, [...digests.keys()]],
    );
    return new Map(
      rows.map((row) => [digests.get(textOf(row['id'])) ?? '', textOf(row['id'])] as const),
    );
  }

  async prepare(form: Form, fields: readonly SelectedField[]): Promise<void> {
    this.#prepared = fields;
    const at = new Date(this.#options.clock.now()).toISOString();
    this.#fields = relabelled(this.#fields, form, fields, at);
    this.#wanted = null;
  }

  note(change: (state: FormState) => FormState): void {
    this.#state = change(this.#state);
  }

  async take(rows: readonly Row[]): Promise<readonly PackedRow[]> {
    const unpacked = rows.filter((row) => !isPacked(row));
    const before = this.#wanted ?? this.#fields;
    const fieldsFor = (some: readonly Row[]): readonly SqlField[] =>
      withColumns(before, this.#prepared, some, this.#columns, this.#database.dialect);
    let fields = fieldsFor(unpacked);
    if (fields !== before) {
      // A forgotten submission will not be stored (L18).
      const forgotten = await this.forgotten(unpacked.map(({ id }) => id));
      fields = fieldsFor(unpacked.filter(({ id }) => !forgotten.has(id)));
    }
    this.#wanted = fields;
    const pack = this.#packer(fields);
    return rows.map((row) => (isPacked(row) ? row : pack(row)));
  }

  #packer(fields: readonly SqlField[]): Pack {
    const { dialect } = this.#database;
    if (this.#packing?.fields !== fields)
      this.#packing = { fields, pack: packerOf(fields, this.#prepared, dialect) };
    return this.#packing.pack;
  }

  async commit(change: Change): Promise<Applied> {
    const { clock, history } = this.#options;
    const state = { ...this.#state, commitUs: nextCommitUs(this.#state, clock.now()) };
    const given = [...(change.rows ?? []), ...(change.entries ?? [])];
    const forgotten = await this.forgotten(given.map(({ id }) => id));
    const rows = await this.take((change.rows ?? []).filter(({ id }) => !forgotten.has(id)));
    if (rows.length > 0 && this.#wanted !== null) await this.#makeColumns(this.#wanted);
    const write = (how: Way): Promise<Applied> =>
      this.#write(async (tx) => {
        const commit = new Commit(tx, change, {
          state,
          fields: this.#fields,
          columns: this.#columns,
          pack: this.#packer(this.#fields),
          keepsAnswers: history === 'full',
          how,
        });
        const done = await commit.apply(rows, forgotten);
        const next = change.state?.(done.state) ?? done.state;
        const isNew = done.hasWritten || !this.#isStored(next);
        return { state: next, result: done.applied, isNew };
      });
    const applied = await write(this.#expectsNew ? 'load' : 'upsert').catch((error: unknown) => {
      // The batch was undone. Without a refusal, storing it in parts finds nothing.
      const { cause } = error as Error;
      if (this.#database.dialect.describe(cause)?.refused === undefined) throw error;
      this.#expectsNew = false;
      return write('halve');
    });
    await this.#views.catchUp();
    return applied;
  }

  /** Whether the database has these fields and this state, apart from the name of the commit. */
  #isStored(state: FormState): boolean {
    const { commitUs } = state;
    const { state: stored, fields } = this.#stored;
    return isDeepStrictEqual([state, this.#fields], [{ ...stored, commitUs }, fields]);
  }

  async erase(what: Erasure): Promise<number> {
    const { clock } = this.#options;
    const state = { ...this.#state, commitUs: nextCommitUs(this.#state, clock.now()) };
    if (what.kind === 'rehash')
      await this.#makeColumns(withTextColumns(this.#fields, new Set(what.fieldIds), this.#columns));
    const emptied = new Set(what.kind === 'columns' ? what.fieldIds : []);
    const fields = this.#fields.map((field): SqlField =>
      emptied.has(field.id) ? { ...field, isFilled: false } : field,
    );
    const digestOf = await this.#digests();
    const erased = await this.#write(async (tx) => {
      const form = { state, fields: this.#fields, columns: this.#columns };
      const keepsAnswers = this.#options.history === 'full';
      const writing = writingOf(tx.dialect, { ...form, keepsAnswers });
      const result = await erase({ tx, ...form, digestOf, writing }, what);
      // History is purged after each row comparison: rewriting a large file each time would take long.
      if (what.kind === 'purge' && result === 0) return { result, isNew: false };
      await scrubLater(tx);
      return { state: { ...state, tally: await countTally(tx, state) }, fields, result };
    });
    [this.#fields, this.#wanted] = [fields, null];
    if (what.kind === 'purge' && erased === 0) return erased;
    await scrub(this.#database, [state.place]);
    // A person asked for these, and waits for the answer.
    if (what.kind === 'forget' || what.kind === 'columns') await this.#database.requireErased();
    return erased;
  }

  /** A database that refuses rows fails at once. */
  async refusal(): Promise<null> {
    return null;
  }

  async finish(): Promise<TargetNotice[]> {
    if (!this.#isStored(this.#state)) await this.commit({});
    const { formId, slug, name, place: table } = this.#state;
    const shown = { formId, slug, name, table, columns: this.#columns, fields: this.#fields };
    const notices = await this.#views.follow(shown);
    await this.#database.settle();
    return notices;
  }

  /**
   * Creates the columns that these fields lack. The state names them in the same transaction, or just before if the database
   * commits with each of them. So a killed process leaves no column whose type the state does not know.
   */
  async #makeColumns(fields: readonly SqlField[]): Promise<void> {
    const missing = missingColumns(fields, this.#columns);
    const { place, tally } = this.#state;
    const isUnused =
      this.#isNew &&
      liveRows(tally) + tally.deleted === 0 &&
      this.#columns.size === SYSTEM_COLUMNS.length;
    const make = (tx: Session): Promise<void> => addColumns(tx, place, missing, isUnused);
    if (missing.length > 0) await this.#write(async () => ({ fields }), make);
    for (const { name } of missing) this.#columns.add(name);
    this.#fields = fields;
  }

  /**
   * One transaction of this writer. Rejects with TARGET_BUSY, and undoes everything, if another writer has committed since. If
   * nothing is new, the next commit finds that out; a run ends with one. `last`: runs after the state is written.
   */
  async #write<T>(
    work: (tx: Session) => Promise<Written<T>>,
    last: (tx: Session) => Promise<void> = async () => {},
  ): Promise<T> {
    const { formId, slug } = this.#state;
    if (this.#lease === null) throw new TypeError('the form is open for reading');
    const write = async (tx: Session): Promise<Stored & Written<T>> => {
      const done = await work(tx);
      const { state = this.#state, fields = this.#fields } = done;
      if (done.isNew === false) return { ...done, state, fields };
      await change(
        tx,
        'UPDATE _mirror_state SET revision = revision + 1, state = $1, fields = $2 WHERE form_id = $3 AND revision = $4',
        [JSON.stringify(state), JSON.stringify(fields), formId, this.#revision],
        new MirrorError(
          'TARGET_BUSY',
          `Another run has written form ${slug} in target ${this.#options.name}.`,
        ),
      );
      await last(tx);
      return { ...done, state, fields };
    };
    const done = await this.#database.transaction(write);
    if (done.isNew !== false) {
      const { state, fields } = done;
      this.#revision++;
      [this.#state, this.#stored] = [state, { state, fields }];
    }
    return done.result as T;
  }

  /** The digests of submissions of this form, by which it knows forgotten ones. */
  async #digests(): Promise<(id: string) => string> {
    const { formId, tally } = this.#state;
    if (this.#salt === null && tally.forgotten > 0) {
      const [known] = await this.#database.query(
        "SELECT id FROM _mirror_entries WHERE form_id = $1 AND kind = 'forgotten' LIMIT 1",
        [formId],
      );
      this.#salt = saltOf(known && textOf(known['id']));
    }
    const salt = (this.#salt ??= saltOf(undefined));
    return (id) => forgottenDigest(salt, formId, id);
  }

  #where(query: RowQuery): { where: string[]; params: Param[] } {
    const { where, params } = this.#conditions(query);
    where.unshift(query.isDeleted === true ? '_deleted_at IS NOT NULL' : '_deleted_at IS NULL');
    const { dialect } = this.#database;
    if (query.ids !== undefined) where.push(dialect.among('id', `$${params.push(query.ids)}`));
    return { where, params };
  }

  #conditions({ status, fromMs = null, toMs = null }: CountQuery): {
    where: string[];
    params: Param[];
  } {
    const { dialect } = this.#database;
    const where: string[] = [];
    const params: Param[] = [];
    if (status !== undefined) where.push(`status = $${params.push(status)}`);
    if (fromMs !== null) where.push(`created_at >= $${params.push(boundAt(fromMs, dialect))}`);
    if (toMs !== null) where.push(`created_at < $${params.push(boundAt(toMs, dialect))}`);
    return { where, params };
  }
}

/** The result of a writer's transaction. */
interface Written<T> {
  readonly state?: FormState;
  readonly fields?: readonly SqlField[];
  readonly result?: T;
  /** False for most batches of a row comparison: they leave the state as it is. */
  readonly isNew?: boolean;
}

/** When a span begins, from its day or from its ISO time without a Z; null without a date. */
const spanMs = (span: unknown): number | null =>
  typeof span === 'string' ? Date.parse(span.length === 10 ? span : `${span}Z`) : null;
