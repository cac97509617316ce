import type { RowOutcome } from '../../mirror/target.ts';
import type { Cell } from '../../mirror/types.ts';
import type { ColumnType, FieldColumn, FormTable, ViewColumn } from './field-column.ts';
import type { Explain } from './sql-errors.ts';
import type { SqlSession, SqlValue } from './sql-session.ts';

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

/** What became of changes of type. */
export interface ChangedTypes {
  /** The fields of the changes as they are now, in the same order. */
  readonly fields: readonly FieldColumn[];
  /** Statements to run once the view is there again: the rights that people had on it. */
  readonly afterView: readonly string[];
}

/** The labelled view as it is. */
export interface SyncedView {
  readonly name: string;
  /** What it shows besides the system columns. */
  readonly columns: readonly ViewColumn[];
}

/** What SQLite and PostgreSQL do each in its own way. All else is written once, in SQL that both speak. */
export interface SqlDialect {
  /** For messages. */
  readonly product: 'SQLite' | 'PostgreSQL';
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
  /** False when no text can hold U+0000. Half a character (a lone surrogate) can be held nowhere: it has no UTF-8. */
  readonly takesNul: boolean;

  /** A table or view as SQL names it. */
  relation(name: string): string;
  /** The same for people. */
  shownRelation(name: string): string;
  /** SELECT expression: a time as ISO text. */
  timeText(expression: string): string;
  /** That text, canonical; null for an empty column. */
  time(value: unknown): string | null;
  /** SQL condition: `expression` is one of the list in parameter `$n`. */
  isIn(expression: string, parameter: string): string;
  /** A list of texts as a parameter for {@link isIn}. */
  list(values: readonly string[]): SqlValue;
  boolean(value: boolean): SqlValue;

  /** Names of all tables, views, indexes, types, in lower case: none of them is free. */
  relationNames(session: SqlSession): Promise<Set<string>>;
  /** The columns of a table or view in order; undefined when there is no such relation. */
  columnsOf(session: SqlSession, relation: string): Promise<string[] | undefined>;
  /** CREATE INDEX statement, under a name that is free. `where` makes it a partial index. */
  indexOn(table: string, columns: string, where?: string): string;
  /** Until the transaction ends nobody else makes tables or names; makes the schema when it is missing. */
  lockCatalogue(tx: SqlSession): Promise<void>;
  /** Ends a SELECT of rows that nobody else may change until the transaction ends. */
  readonly forUpdate: string;

  /** Makes the form's table with all its field columns. */
  createTable(tx: SqlSession, form: FormTable): Promise<void>;
  /** Adds columns to it: those of `fields`, and the overflow column when asked to. */
  addColumns(
    tx: SqlSession,
    form: FormTable,
    fields: readonly FieldColumn[],
    withMore: boolean,
  ): Promise<void>;
  /**
   * Changes types without losing a value or touching anything that people built on the column. The fields as they are
   * afterwards; the labelled view may be gone and has to be synced.
   */
  changeTypes(
    tx: SqlSession,
    form: FormTable,
    changes: readonly TypeChange[],
  ): Promise<ChangedTypes>;
  /** Makes the view show these columns, in place and without breaking what people built on it. */
  syncView(tx: SqlSession, form: FormTable, columns: readonly ViewColumn[]): Promise<SyncedView>;
  /** Notes the labels in the database's own comments, where there are such. */
  comment(tx: SqlSession, form: FormTable, fields: readonly FieldColumn[]): Promise<void>;

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
  /** True when a column of this type can't take the number unchanged and must become text. */
  fitsNumberColumn(cell: Cell): boolean;

  /** Why the database refuses this one row, as a sentence without any of its values; undefined for errors of another kind. */
  rowDefect(error: unknown): string | undefined;
  /** A driver's error in words. */
  readonly explain: Explain;
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
