import { createHash } from 'node:crypto';
import { parseNumber } from '../../mirror/json.ts';
import type { StoredField } from '../../mirror/port.ts';
import { type Cell, JsonText, type Row } from '../../mirror/types.ts';
import type { ErrorDescription } from './errors.ts';
import type { ViewFragments } from './views.ts';
import type { Staging } from './write-rows.ts';

/* The interface between the SQL store and a database. Statements write parameters as `$1`, `$2`, … in the order of their first use. */

/** A list is for {@link Dialect.among}. */
export type Param = string | number | bigint | null | readonly string[];
export type SqlRow = Readonly<Record<string, unknown>>;

/** A connection, or its current transaction. */
export interface Session {
  /** The dialect of its database. */
  readonly dialect: Dialect;
  query(sql: string, params?: readonly Param[]): Promise<SqlRow[]>;
  /** How many rows the statement changed. */
  run(sql: string, params?: readonly Param[]): Promise<number>;
  /**
   * For a database in which a transaction is sent as a whole, at its end: a change that waits until then, unless something reads
   * before. `unlessOne`: the end of the transaction rejects with it if the statement does not change exactly one row.
   */
  defer?(sql: string, params?: readonly Param[], unlessOne?: Error): Promise<void>;
  /** For a database that bills each statement: see {@link changeRows}. */
  changeRows?(changes: RowChanges): Promise<void>;
  /** For a driver that keeps the result of a query until all of it is read; undefined: this one does not. */
  pages?(sql: string, params: readonly Param[], size: number): Promise<Pages | undefined>;
}

/** Rows in pieces of as many as were asked for. */
export type Pages = AsyncIterable<SqlRow[]>;

/** Makes a change. `unlessOne`: it, or the end of the transaction, rejects with this if it did not change exactly one row. */
export async function change(
  tx: Session,
  sql: string,
  params: readonly Param[] = [],
  unlessOne?: Error,
): Promise<void> {
  if (tx.defer !== undefined) return tx.defer(sql, params, unlessOne);
  const changed = await tx.run(sql, params);
  if (unlessOne !== undefined && changed !== 1) throw unlessOne;
}

/** Texts and times to replace in rows. Names of columns of answers are quoted. */
export interface RowChanges {
  readonly table: string;
  /** The columns that identify a row. */
  readonly keys: readonly string[];
  /** The columns that get a value or NULL. */
  readonly names: readonly string[];
  /** The columns that get NULL in every row. */
  readonly emptied: readonly string[];
  /** The values of the keys, then of the names. */
  readonly rows: readonly (readonly (string | null)[])[];
}

/** Replaces texts in rows. */
export async function changeRows(tx: Session, changes: RowChanges): Promise<void> {
  const { table, keys, names, emptied, rows } = changes;
  if (tx.changeRows !== undefined) {
    if (rows.length > 0) await tx.changeRows(changes);
    return;
  }
  const set = names.map((name, at) => `${name} = $${at + 1}`);
  const found = keys.map((key, at) => `${key} = $${names.length + at + 1}`);
  const sql = `UPDATE ${table} SET ${[...set, ...emptied.map((name) => `${name} = NULL`)].join(', ')} WHERE ${found.join(' AND ')}`;
  for (const row of rows)
    await change(tx, sql, [...row.slice(keys.length), ...row.slice(0, keys.length)]);
}

/** {@link Dialect.formTable} for a database in which index names are unique within the schema. */
export function formTable(table: string, columns: string): string[] {
  const name = `_mirror_live_${createHash('sha256').update(table).digest('hex').slice(0, 16)}`;
  return [
    `CREATE TABLE ${quoted(table)} (${columns})`,
    // A table that people renamed keeps its index, with this name.
    `CREATE INDEX IF NOT EXISTS ${name} ON ${quoted(table)} (created_at, status) WHERE _deleted_at IS NULL`,
  ];
}

/** The type of a field's column, decided by its first answer. */
export type ColumnType = 'number' | 'text' | 'json';

/** A column of answers. */
export interface BatchColumn {
  readonly name: string;
  readonly type: ColumnType;
}

/** A row as {@link Staging.load} takes it: its values, or their text in the database's format. */
export type Packed = readonly Param[] | string;

/** A row of a batch. It has no cells anymore: many small values that live for a while are slow to collect. */
export interface PackedRow extends Row {
  /** The columns of its answers; the same list for rows that were packed for the same fields. */
  readonly columns: readonly BatchColumn[];
  readonly packed: Packed;
  /** The database cannot hold its U+0000 and gets U+FFFD instead. */
  readonly isReplaced: boolean;
}

/** Rows to write into a form's table: ID, status, creation time, then a value for each column. */
export interface Batch {
  readonly columns: readonly BatchColumn[];
  readonly rows: readonly PackedRow[];
}

/** The table of a form, and how a commit writes to it. */
export interface Writing {
  readonly formId: string;
  readonly table: string;
  /** The commit's name, in the database's format for times. */
  readonly at: string;
  /** When statuses were last known before the commit; null if they were not. */
  readonly notBefore: string | null;
  /** Columns whose answers are kept with each version that ends; null: only statuses are kept. */
  readonly answers: readonly string[] | null;
}

/** Numbers of rows by status. */
export type ByStatus = ReadonlyMap<string, number>;

/** The outcome of a batch. Equal rows do not count. */
export interface Written {
  readonly inserted: number;
  /** Changed, or live again. */
  readonly updated: number;
  /** The change in the number of live rows. */
  readonly more: ByStatus;
}

/** The differences between databases. */
export interface Dialect {
  readonly product: string;
  /** An expression for the version of the database. */
  readonly version: string;
  /** `key`: IDs of forms, and names; `id`: IDs of submissions; `word`: one of a few short words of the mirror. */
  readonly types: Readonly<Record<ColumnType | 'time' | 'integer' | 'key' | 'id' | 'word', string>>;
  /** A statement can add only one column. */
  readonly addsOneColumn?: boolean;
  /** The most answer columns of a table; further answers go into one JSON column. */
  readonly maxColumns: number;
  /** A canonical time in the database's format. */
  readonly timeParam: <Time extends string | null>(time: Time) => Time;
  /** A time as text. It begins like its canonical form, up to the millisecond. */
  isoOf(expression: string): string;
  /** A condition: the expression is among the texts of a list, which is the parameter. */
  readonly among: (expression: string, param: string) => string;
  /** The end of an INSERT: if the key exists, the row stays or takes these columns of the new one. Default: `ON CONFLICT`. */
  readonly onConflict?: (key: readonly string[], taken: readonly string[]) => string;
  /**
   * Keeps other processes from making tables or views until the transaction ends. In SQLite, every writing transaction has the file
   * to itself anyway.
   */
  alone(tx: Session): Promise<void>;
  /** Lists the columns (`relation`, `name`) of the tables in the list that is the parameter, each table's in its order. */
  readonly columnsQuery: string;
  /** Lists everything whose name a table cannot get: `name` and `kind`, which is `table`, `view` or something else. */
  readonly relationsQuery: string;
  /** A number with more digits than a double has, as a number column stores it; undefined if the column would round it. */
  readonly exact: (digits: string) => Param | undefined;
  /** Matches JSON that a JSON column refuses; absent if it takes any. */
  readonly refusedJson?: RegExp;
  /** How it stores rows. */
  readonly staging: Staging;
  /** Whether texts may hold U+0000. */
  readonly takesNul: boolean;
  /**
   * The statements that create the table of a form, with an index over live rows by creation time and status, which finds what differs
   * from the source's counts. SQLite would need memory for every row to create it later.
   */
  formTable(table: string, columns: string): readonly string[];
  /**
   * Creates a view, or replaces one of ours. Rejects if that is impossible; the transaction, and views that people built on it,
   * then stay unchanged.
   */
  putView(tx: Session, name: string, select: string): Promise<void>;
  /** Drops a view of ours. Rejects, and leaves everything unchanged, if views that people built on it need it. Absent: those views break. */
  dropView?(tx: Session, name: string): Promise<void>;
  /** How it writes the public views. */
  readonly views: ViewFragments;
  /** Describes tables, columns and views for tools that read them; absent if the database cannot. Never rejects. */
  comment?(tx: Session, comments: readonly Comment[]): Promise<void>;
  /** An error of the database, its driver or the network, in words for people; undefined for any other error. */
  describe(error: unknown): ErrorDescription | undefined;
}

/** A text about a table or view of ours, or about one of its columns. */
export interface Comment {
  readonly relation: string;
  readonly column: string | null;
  readonly text: string;
  /** Texts that the mirror gave it before; it replaces them, and no others. */
  readonly former: readonly string[];
}

/** A form for views. */
export interface ViewedForm {
  readonly formId: string;
  readonly slug: string;
  readonly name: string;
  readonly table: string;
  readonly columns: ReadonlySet<string>;
  readonly fields: readonly SqlField[];
}

/** A field as its target stores it. Its column name never changes. */
export interface SqlField extends StoredField {
  readonly type: ColumnType | null;
  /** The column for answers that its own column cannot hold unchanged; null if it has none. */
  readonly textColumn: string | null;
  /** It has no columns of its own: its answers are in `_more`. */
  readonly isInMore: boolean;
  /** The labels that it had, and since when (ISO); the last one is current. */
  readonly labels: readonly { readonly label: string; readonly from: string }[];
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** A text as an SQL literal. It must not contain U+0000. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** See {@link Dialect.onConflict}. */
export function onConflict(
  dialect: Dialect,
  key: readonly string[],
  taken: readonly string[] = [],
): string {
  if (dialect.onConflict !== undefined) return dialect.onConflict(key, taken);
  const set = taken.map((name) => `${name} = excluded.${name}`).join(', ');
  return `ON CONFLICT (${key.join(', ')}) DO ${set === '' ? 'NOTHING' : `UPDATE SET ${set}`}`;
}

/** A moment in microseconds, in the database's format for times. */
export function timeAt(us: number, { timeParam }: Dialect): string {
  const [ms, rest] = [Math.floor(us / 1_000), us % 1_000];
  const iso = new Date(ms).toISOString();
  return timeParam(rest === 0 ? iso : `${iso.slice(0, -1)}${String(rest).padStart(3, '0')}Z`);
}

/** A moment as a bound. Without its Z, a time compared as text precedes all times that begin with it. */
export const boundAt = (ms: number, { timeParam }: Dialect): string =>
  timeParam(new Date(ms).toISOString().slice(0, -1));

/** A time as servers write it, `2026-01-01 00:00:00.5+00`, in canonical form: `2026-01-01T00:00:00.500Z`. Other texts stay unchanged. */
export function timeOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  const text = textOf(value);
  const parts = /^(\S+) (\d\d:\d\d:\d\d)(?:\.(\d+))?/.exec(text);
  // Some databases store the canonical form.
  if (parts === null) return text;
  const [, date = '', clock = '', fraction = ''] = parts;
  return `${date}T${clock}.${fraction.replace(/0+$/, '').padEnd(3, '0')}Z`;
}

export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : String(value);
export const textOrNull = (value: unknown): string | null =>
  value === null ? null : textOf(value);

/** What {@link pagesOf} reads. */
export interface Paging {
  readonly select: string;
  readonly from: string;
  readonly where: readonly string[];
  readonly params: readonly Param[];
  /** Columns to select; together they are unique. */
  readonly keys?: readonly string[];
  readonly size: number;
}

/** Rows in pieces, in the order of their keys. Each piece is a statement of its own, unless the driver keeps results. */
export async function* pagesOf(
  session: Session,
  { select, from, where, params, keys = ['id'], size }: Paging,
): AsyncGenerator<SqlRow[]> {
  const order = `ORDER BY ${keys.join(', ')}`;
  const query = (all: readonly string[]): string =>
    `SELECT ${select} FROM ${from}${all.length === 0 ? '' : ` WHERE ${all.join(' AND ')}`} ${order}`;
  const kept = await session.pages?.(query(where), params, size);
  if (kept !== undefined) {
    yield* kept;
    return;
  }
  let last: SqlRow | undefined;
  do {
    const values = [...params];
    const place = (key: string): string => `$${values.push(textOf(last?.[key]))}`;
    const isAfter = (): string => `(${keys.join(', ')}) > (${keys.map(place).join(', ')})`;
    const all = last === undefined ? where : [...where, isAfter()];
    const found = await session.query(`${query(all)} LIMIT ${size}`, values);
    if (found.length > 0) yield found;
    last = found.length < size ? undefined : found.at(-1);
  } while (last !== undefined);
}

/** The columns of each of these tables; empty if there is no such table. */
export async function columnsOfEach(
  session: Session,
  tables: readonly string[],
): Promise<Map<string, Set<string>>> {
  const columns = new Map(tables.map((table) => [table, new Set<string>()]));
  if (tables.length === 0) return columns;
  for (const { relation, name } of await session.query(session.dialect.columnsQuery, [tables]))
    columns.get(textOf(relation))?.add(textOf(name));
  return columns;
}

/** The columns of a table; empty if there is no such table. */
export const columnsOf = async (session: Session, table: string): Promise<Set<string>> =>
  (await columnsOfEach(session, [table])).get(table) ?? new Set();

/** The kinds of everything that keeps a table from getting its name, by name: see {@link Dialect.relationsQuery}. */
export async function relationsOf(session: Session): Promise<Map<string, string>> {
  const rows = await session.query(session.dialect.relationsQuery);
  return new Map(rows.map(({ name, kind }) => [textOf(name), textOf(kind)]));
}

/** An answer in a column of this type, decoded from what a session reads. */
export function decoded(value: unknown, type: ColumnType): Cell {
  if (value === null || value === undefined || typeof value === 'number') return value ?? null;
  const text = value instanceof Uint8Array ? '[BLOB]' : textOf(value);
  if (type === 'json') return new JsonText(text);
  // SQLite reads whole numbers as bigint, in a column of any type.
  return type === 'number' || typeof value === 'bigint' ? (parseNumber(text) ?? text) : text;
}

/** Databases limit the parameters of a statement; the lowest limit is 32,766. */
const INSERTED_AT_ONCE = 500;

/** Inserts rows that have the same columns and distinct keys. `key`, `taken`: see {@link Dialect.onConflict}. */
export async function insert(
  tx: Session,
  table: string,
  rows: readonly Readonly<Record<string, Param>>[],
  key: readonly string[] = [],
  taken: readonly string[] = [],
): Promise<void> {
  const names = Object.keys(rows[0] ?? {});
  const end = key.length === 0 ? '' : onConflict(tx.dialect, key, taken);
  for (let from = 0; from < rows.length; from += INSERTED_AT_ONCE) {
    const params: Param[] = [];
    const place = (value: Param = null): string => `$${params.push(value)}`;
    const tuples = rows
      .slice(from, from + INSERTED_AT_ONCE)
      .map((row) => `(${names.map((name) => place(row[name])).join(', ')})`);
    const sql = `INSERT INTO ${table} (${names.join(', ')}) VALUES ${tuples.join(', ')} ${end}`;
    await change(tx, sql, params);
  }
}

let savepoints = 0;

/** Runs `work` so that a failure leaves the transaction unchanged. It may also end the transaction, as a person's trigger can. */
export async function inSavepoint<T>(tx: Session, work: () => Promise<T>): Promise<T> {
  const name = `mirror_${++savepoints}`;
  await tx.run(`SAVEPOINT ${name}`);
  try {
    const result = await work();
    await tx.run(`RELEASE SAVEPOINT ${name}`);
    return result;
  } catch (error) {
    await tx.run(`ROLLBACK TO SAVEPOINT ${name}`).catch(() => {});
    await tx.run(`RELEASE SAVEPOINT ${name}`).catch(() => {});
    throw error;
  }
}

/** PostgreSQL writes `t`, the others 1. */
export const isTrue = (value: unknown): boolean => ['t', '1'].includes(textOf(value));
