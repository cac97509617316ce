import { createHash } from 'node:crypto';
import { MirrorError } from '../../base/errors.ts';
import type { ViewSelects } from './form-views.ts';
import type { Grain, Relation } from '../../mirror/port.ts';
import type { Cell } from '../../mirror/types.ts';

/*
 * What the SQL store asks of a database. Statements write parameters as `$1`, `$2`, … in the order of their first use.
 */

/** A list is for {@link Dialect.among}. */
export type Param = string | number | bigint | null | readonly string[];
export type SqlRow = Readonly<Record<string, unknown>>;

/** A connection, or the transaction that it is in. */
export interface Session {
  query(sql: string, params?: readonly Param[]): Promise<SqlRow[]>;
  /** How many rows the statement changed. */
  run(sql: string, params?: readonly Param[]): Promise<number>;
}

/** One database. */
export interface Database extends Session, AsyncDisposable {
  readonly dialect: Dialect;
  /** Whether there is a place for tables. */
  isThere(): Promise<boolean>;
  /** Tries whether the place that is missing can be made, and makes nothing; a sentence. Rejects where it cannot. */
  checkPlace(): Promise<string>;
  /** Makes the place where it is missing: the file, the schema. */
  make(): Promise<void>;
  /** All or nothing. Transactions of one database come one after the other. */
  transaction<T>(work: (tx: Session) => Promise<T>): Promise<T>;
  /** A lock that ends with this process; null where another process has it. */
  lock(name: string): Promise<AsyncDisposable | null>;
  /** A snapshot of the database, over its own connection: later writes do not change it. */
  snapshot(): Promise<Session & AsyncDisposable>;
  /** Erased data is nowhere in the files any more. */
  scrub(): Promise<void>;
  /** The files hold everything, without their logs. */
  settle(): Promise<void>;
}

/** An index over live rows, for a database whose names of indexes are those of the schema. */
export const liveIndex = (table: string): string => {
  const name = `_mirror_live_${createHash('sha256').update(table).digest('hex').slice(0, 16)}`;
  return `CREATE INDEX IF NOT EXISTS ${name} ON ${quoted(table)} (created_at, status) WHERE _deleted_at IS NULL`;
};

/** The type of a field's column, by its first answer. */
export type ColumnType = 'number' | 'text' | 'json';

/** A column of answers that a batch is stored in. */
export interface BatchColumn {
  readonly name: string;
  readonly type: ColumnType;
}

/** Rows on their way into a form's table. */
export interface Batch {
  readonly formId: string;
  readonly table: string;
  readonly columns: readonly BatchColumn[];
  /** ID, status, creation, then a value for each column. */
  readonly rows: readonly (readonly Param[])[];
  /** The commit's name, as the database writes times. */
  readonly at: string;
}

/** Numbers of rows by status. */
export type ByStatus = ReadonlyMap<string, number>;

/** The outcome of a batch; equal rows are in none of it. */
export interface Written {
  readonly inserted: number;
  /** Changed, or live again. */
  readonly updated: number;
  /** Inserted and updated rows by the status that they have now. */
  readonly now: ByStatus;
  /** Live rows that were updated, by the status that they had. */
  readonly before: ByStatus;
}

/** The differences between databases. */
export interface Dialect {
  readonly product: string;
  /** An expression for the version of the database. */
  readonly version: string;
  /** `key`: IDs of forms, and names; `id`: IDs of submissions; `word`: one of a few short words of ours. */
  readonly types: Readonly<Record<ColumnType | 'time' | 'integer' | 'key' | 'id' | 'word', string>>;
  /** Columns of answers that a table can have; answers beyond go into one JSON column. */
  readonly maxColumns: number;
  /** A time of the database as canonical text. */
  timeOf(value: unknown): string | null;
  /** A canonical time as the database takes it. */
  timeParam(time: string | null): string | null;
  /** A moment as a bound, so that times at it are not before it. */
  boundOf(ms: number): string;
  /** A commit's name in microseconds, as a time. */
  nameOf(us: number): string;
  /** The first characters of a time that say its day, hour and so on; null for `all`. */
  grainOf(expression: string, grain: Grain): string | null;
  /** A condition: the expression is among the texts of a list, which is the parameter. */
  among(expression: string, param: string): string;
  /** The end of an INSERT: a row whose key is there stays, or takes these columns of the new one. */
  onConflict(key: readonly string[], taken?: readonly string[]): string;
  /**
   * Until the transaction ends, no other process makes tables or views. In SQLite, every writing transaction already has the file
   * to itself.
   */
  alone(tx: Session): Promise<void>;
  /** The columns of a table; none without such a table. */
  columnsOf(session: Session, table: string): Promise<Set<string>>;
  /** Tables and views by name. */
  relations(session: Session): Promise<Map<string, 'table' | 'view'>>;
  /** What a column of numbers or JSON holds of a value, exactly; undefined where it cannot hold it. */
  encode(cell: Cell, type: ColumnType): Param | undefined;
  decode(value: unknown, type: ColumnType): Cell;
  /** Writes the rows that are new or differ. Versions that end are kept. */
  upsert(tx: Session, batch: Batch, versions: VersionPlan): Promise<Written>;
  /** Marks rows deleted; how many were not before. */
  markDeleted(
    tx: Session,
    target: { table: string; at: string; ids: readonly string[] },
    versions: VersionPlan,
  ): Promise<number>;
  /** Where a row is refused for a fault of its own (`isOfRow`) or by something that people added; undefined for another error. */
  refusal(error: unknown): { readonly reason: string; readonly isOfRow: boolean } | undefined;
  /** Whether texts may hold U+0000. */
  readonly takesNul: boolean;
  /** Makes the index over live rows by creation and status that finds what differs from the source's counts; it may be there. */
  indexLive(session: Session, table: string): Promise<void>;
  /**
   * Makes a view, or one of ours again. Rejects where that is impossible: then the transaction, and views that people built on it,
   * are unchanged.
   */
  putView(tx: Session, name: string, select: string): Promise<void>;
  /** How it writes the public views. */
  readonly views: ViewSelects;
  /** Describes tables, columns and views for the tools that read them; absent where the database cannot. Never rejects. */
  comment?(tx: Session, relations: readonly Relation[]): Promise<void>;
  /** Mends an error of the database for people. */
  describe(error: unknown): unknown;
}

/**
 * A dialect whose errors name the target. `place`: the target and its address, for messages; no password. An error that is in
 * words for people already does not change.
 */
export const describingAs = (dialect: Dialect, place: string): Dialect => ({
  ...dialect,
  describe(error) {
    if (error instanceof MirrorError) return error;
    const described = dialect.describe(error);
    if (!(described instanceof MirrorError)) return described;
    const { code, message, retryable } = described;
    return new MirrorError(code, `${place}: ${message}`, { cause: error, retryable });
  },
});

/** How versions that end are kept. */
export interface VersionPlan {
  readonly formId: string;
  readonly table: string;
  /** Statuses were last known before the commit as of then; null: they were not. */
  readonly notBefore: string | null;
  /** Columns whose answers are kept with each version; null: only statuses are. */
  readonly answers: readonly string[] | null;
}

/** A form as views show it. */
export interface ViewedForm {
  readonly formId: string;
  readonly slug: string;
  readonly name: string;
  readonly table: string;
  readonly columns: ReadonlySet<string>;
  readonly fields: readonly SqlField[];
}

/** A field as its target keeps it. */
export interface SqlField {
  readonly id: string;
  readonly label: string;
  readonly position: number;
  readonly isInForm: boolean;
  /** Its column's name, which never changes; null before its first answer. */
  readonly column: string | null;
  readonly type: ColumnType | null;
  /** The column for answers that the own column cannot hold unchanged; null without one. */
  readonly textColumn: string | null;
  /** It has no columns of its own: its answers are in `_more`. */
  readonly isInMore: boolean;
  /** Columns that were about to be made, and that no commit has used: they may be there or not. They keep their names and their type. */
  readonly announced?: Pick<SqlField, 'column' | 'type' | 'textColumn'>;
  /** A person had its answers removed, and it was not selected since. */
  readonly isEmptied?: boolean;
  /** Labels that it had, and since when (ISO); the last one is the current. */
  readonly labels: readonly { readonly label: string; readonly from: string }[];
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** A text as SQL writes it. It must not hold U+0000. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** The end of an INSERT in PostgreSQL and SQLite, see {@link Dialect.onConflict}. */
export function onConflict(key: readonly string[], taken: readonly string[] = []): string {
  const set = taken.map((name) => `${name} = excluded.${name}`).join(', ');
  return `ON CONFLICT (${key.join(', ')}) DO ${set === '' ? 'NOTHING' : `UPDATE SET ${set}`}`;
}

/** A time as servers write it, `2026-01-01 00:00:00.5+00`, in canonical form: `2026-01-01T00:00:00.500Z`. */
export function canonicalOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  const [, date = '', clock = '', fraction = ''] =
    /^(\S+)[ T](\d\d:\d\d:\d\d)(?:\.(\d+))?/.exec(textOf(value)) ?? [];
  return `${date}T${clock}.${fraction.replace(/0+$/, '').padEnd(3, '0')}Z`;
}

export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : String(value);
export const textOrNull = (value: unknown): string | null =>
  value === null ? null : textOf(value);
export const numberOf = (value: unknown): number => Number(value);
