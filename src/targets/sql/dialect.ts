import type { RowOutcome } from '../../mirror/target.ts';
import type { TimeGrain } from '../../mirror/time-counts.ts';
import type { Cell } from '../../mirror/types.ts';
import type { ColumnType, FieldColumn, FormTable, ViewColumn } from './field-column.ts';
import type { DescribeError } from './sql-errors.ts';
import type { SqlSession, SqlValue } from './sql-session.ts';
import type { Entry } from './writer-transactions.ts';

/** A row whose texts the database can hold. */
export interface StorableRow {
  readonly id: string;
  readonly status: string;
  readonly createdAt: string | null;
  /** In the order of the fields that are being written. */
  readonly cells: readonly Cell[];
}

/** A column's change of type: `to` is what it becomes. */
export interface TypeChange {
  readonly field: FieldColumn;
  readonly to: 'number' | 'text';
}

/** The result of {@link SqlDialect.changeTypes}. */
export interface ChangedTypes {
  /** The fields with their new types, in the order of the changes. */
  readonly fields: readonly FieldColumn[];
  /** Statements to run once the view exists again: they restore the rights that were granted on it. */
  readonly afterView: readonly string[];
}

/** The labelled view after {@link SqlDialect.syncView}. */
export interface SyncedView {
  readonly name: string;
  /** What it shows besides the system columns. */
  readonly columns: readonly ViewColumn[];
}

/** What each product does in its own way. All else is written once, in SQL that all of them understand. */
export interface SqlDialect {
  /** For messages. */
  readonly product: 'SQLite' | 'PostgreSQL';
  /** True when what was deleted stays in files of ours until they are scrubbed. */
  readonly scrubs: boolean;
  /** The best number of rows for a batch. */
  readonly batchRows: number;
  /** What to do where something else stands in the place of our tables: half a sentence. */
  readonly chooseAnotherPlace: string;
  /** Column types of the catalogue. */
  readonly types: {
    readonly text: string;
    readonly time: string;
    readonly integer: string;
    readonly boolean: string;
    readonly serial: string;
  };
  /** How many field columns a table gets; further fields go to the overflow column. */
  readonly maxFieldColumns: number;
  /** How many columns a view can have, system columns included. */
  readonly maxViewColumns: number;
  /** Longest name of a view's column. */
  readonly maxLabelBytes: number;
  /** False when no text can hold U+0000. None holds a lone surrogate, which has no UTF-8. */
  readonly takesNul: boolean;

  /** A table's or view's qualified, quoted name. */
  relation(name: string): string;
  /** Its name for people. */
  shownRelation(name: string): string;
  /** SELECT expression: a time as ISO text. */
  timeText(expression: string): string;
  /** The value of {@link timeText} as canonical time; null for an empty column. */
  time(value: unknown): string | null;
  /** A canonical time of whole milliseconds as a parameter that times in columns are compared with, by `<` and `>=`. */
  timeBound(time: string): string;
  /** Expression by which times are grouped: equal for those of one day, hour, minute or second in UTC. */
  grainOf(expression: string, grain: TimeGrain): string;
  /** The same as a text that is the beginning of that time. */
  grainText(expression: string): string;
  /** SQL condition: `expression` is one of the list in parameter `$n`. */
  isIn(expression: string, parameter: string): string;
  /** SELECT expression: the JSON object `expression` without these keys, which are plain names; NULL when none is left. */
  withoutKeys(expression: string, keys: readonly string[]): string;
  /** A list of texts as a parameter for {@link isIn}. */
  list(values: readonly string[]): SqlValue;
  boolean(value: boolean): SqlValue;

  /** Names of all tables, views, indexes, types, in lower case: none of them is free. */
  relationNames(session: SqlSession): Promise<Set<string>>;
  /** The columns of a table or view in order; undefined when there is no such relation. */
  columnsOf(session: SqlSession, relation: string): Promise<string[] | undefined>;
  /** The same for several at once; those that are not there are left out. */
  columnsOfEach(
    session: SqlSession,
    relations: ReadonlySet<string>,
  ): Promise<Map<string, string[]>>;
  /** CREATE INDEX statement, under a name that is free. `where` makes it a partial index. */
  indexOn(table: string, columns: string, where?: string): string;
  /** Keeps every other process from creating tables or migrating until the transaction ends. Creates a missing schema. */
  lockCatalogue(tx: SqlSession): Promise<void>;
  /**
   * Where windows of a form are written side by side: enters the form until the transaction ends, `together` with others
   * that store rows, or `alone`. Whoever waits gets in before those who ask later. Undefined where a transaction that
   * writes keeps every other one out.
   */
  readonly enterForm?: (tx: SqlSession, formId: string, entry: Entry) => Promise<void>;

  /** Makes the form's table with all its field columns. */
  createTable(tx: SqlSession, form: FormTable): Promise<void>;
  /** Adds columns to it: those of `fields`, and the overflow column when asked to. */
  addColumns(
    tx: SqlSession,
    form: FormTable,
    fields: readonly FieldColumn[],
    withMore: boolean,
  ): Promise<void>;
  /** Makes the index by which marking finds its candidates. */
  addStatusIndex(tx: SqlSession, table: string): Promise<void>;
  /** Makes the index that tells how many rows have which date and status, where it is missing. */
  ensureDateIndex(tx: SqlSession, table: string): Promise<void>;
  /** Whether no two rows of a form's table can have the same ID. */
  hasKey(tx: SqlSession, table: string): Promise<boolean>;
  /** Makes it so; rejects when two rows have the same. */
  addKey(tx: SqlSession, table: string): Promise<void>;
  /**
   * Changes types without losing a value or touching anything that users built on the column. The labelled view may be
   * dropped by it and has to be synced afterwards.
   */
  changeTypes(
    tx: SqlSession,
    form: FormTable,
    changes: readonly TypeChange[],
  ): Promise<ChangedTypes>;
  /**
   * Makes the view show these columns, in place and without breaking what users built on it. `former`: the labels that the
   * catalogue says it has. A view that is ours for certain is turned to the form's table where it shows another one, or none.
   */
  syncView(
    tx: SqlSession,
    form: FormTable,
    columns: readonly ViewColumn[],
    former: readonly string[],
  ): Promise<SyncedView>;
  /** Writes the labels into the database's column comments, where it has them. */
  comment(tx: SqlSession, form: FormTable, fields: readonly FieldColumn[]): Promise<void>;

  /**
   * Stores rows that are likely to be new in the quickest way there is for such. In their order, whether it has inserted
   * them: the others are left to {@link upsert}. Undefined where {@link upsert} is as quick.
   */
  readonly storeNew?: (
    tx: SqlSession,
    form: FormTable,
    fields: readonly FieldColumn[],
    rows: readonly StorableRow[],
    at: string,
  ) => Promise<boolean[]>;
  /** Stores rows, touching only those that differ (L4); `at` is the time of the change. Outcomes in order. */
  upsert(
    tx: SqlSession,
    form: FormTable,
    fields: readonly FieldColumn[],
    rows: readonly StorableRow[],
    at: string,
  ): Promise<RowOutcome[]>;
  /** SELECT list for the cells of these fields, for {@link decodeCells}. */
  cellColumns(fields: readonly FieldColumn[]): string[];
  /** The cells in the values of {@link cellColumns}. */
  decodeCells(fields: readonly FieldColumn[], values: readonly unknown[]): Cell[];
  /** False when a number column can't hold the number unchanged and must become text. */
  fitsNumberColumn(cell: Cell): boolean;

  /** Why the database refuses this one row, as a sentence without any of its values; undefined for errors of another kind. */
  rowDefect(error: unknown): string | undefined;
  /** Describes the errors of the driver. */
  readonly describeError: DescribeError;
}

/** The type that a column of type `now` needs to hold `cells`. */
export function neededType(
  dialect: SqlDialect,
  now: ColumnType,
  cells: Iterable<Cell>,
): ColumnType {
  let type = now;
  for (const cell of cells) {
    if (type === 'text') return type;
    if (cell === null) continue;
    type = typeof cell !== 'string' && dialect.fitsNumberColumn(cell) ? 'number' : 'text';
  }
  return type;
}
