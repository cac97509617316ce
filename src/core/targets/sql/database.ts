import type { Cell } from '../../../mirror/types.ts';
import type { Grain } from '../../mirror/port.ts';

/*
 * What the SQL store asks of a database. Statements write parameters as `$1`, `$2`, … in the order of their first use.
 */

export type Param = string | number | bigint | null;
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
  /** All or nothing. Transactions of one database come one after the other. */
  transaction<T>(work: (tx: Session) => Promise<T>): Promise<T>;
  /** A lock that ends with this process; null where another process has it. */
  lock(name: string): Promise<AsyncDisposable | null>;
  /** What was erased is nowhere in the files any more. */
  scrub(): Promise<void>;
  /** The files hold everything, as they are. */
  settle(): Promise<void>;
}

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

/** What is written otherwise in each database. */
export interface Dialect {
  readonly product: string;
  readonly types: Readonly<Record<ColumnType | 'time' | 'integer' | 'key', string>>;
  /** Columns of answers that a table can have; answers beyond go into one JSON column. */
  readonly maxColumns: number;
  /** How a time of ours is bound: canonical text in, canonical text or a time of the database out. */
  timeOf(value: unknown): string | null;
  /** A moment as a bound, so that times at it are not before it. */
  boundOf(ms: number): string;
  /** A commit's name in microseconds, as a time. */
  nameOf(us: number): string;
  /** The first characters of a time that say its day, hour and so on; null for `all`. */
  grainOf(expression: string, grain: Grain): string | null;
  /** A condition: the expression is among the texts of a JSON list, which is the parameter. */
  among(expression: string, param: string): string;
  /** The columns of a table; none where there is no such table. */
  columnsOf(session: Session, table: string): Promise<Set<string>>;
  /** Tables and views by name. */
  relations(session: Session): Promise<Map<string, 'table' | 'view'>>;
  /** What a column of numbers or JSON holds of a value, exactly; undefined where it cannot hold it. */
  encode(cell: Cell, type: ColumnType): Param | undefined;
  decode(value: unknown, type: ColumnType): Cell;
  /** Writes the rows that are new or differ; how many each. Versions that end are kept. */
  upsert(
    tx: Session,
    batch: Batch,
    versions: VersionPlan,
  ): Promise<{ inserted: number; updated: number }>;
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
  /** Makes a view, or one of ours anew. Rejects where that cannot be; what people built on it stays. */
  putView(tx: Session, name: string, select: string): Promise<void>;
  /** The public relations besides tables: the SELECT of each view, by name. */
  views(forms: readonly ViewedForm[], history: boolean): ReadonlyMap<string, string>;
  /** Mends an error of the database for people. */
  describe(error: unknown): unknown;
}

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
  /** The column for answers that the own column cannot hold as they are; null while there is none. */
  readonly textColumn: string | null;
  /** It has no columns of its own: its answers are in `_more`. */
  readonly isInMore: boolean;
  /** Labels that it had, and since when (ISO); the last one is the current. */
  readonly labels: readonly { readonly label: string; readonly from: string }[];
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** A text as SQL writes it. It must not hold U+0000. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : String(value);
export const numberOf = (value: unknown): number => Number(value);
