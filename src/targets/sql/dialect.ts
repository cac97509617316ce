import type { RowOutcome } from '../../mirror/target.ts';
import type { TimeGrain } from '../../mirror/time-counts.ts';
import type { Cell } from '../../mirror/types.ts';
import type { AnswerLimits } from './answer-parts.ts';
import type { AnswerType, FieldColumn, FormTable, ViewColumn } from './field-column.ts';
import type { DescribeError } from './sql-errors.ts';
import type { SqlSession, SqlValue } from './sql-session.ts';
import type { ViewSql } from './view-sql.ts';

/** {@link SqlDialect.maxIdBytes} of most: PostgreSQL's index takes some 2,700 bytes for all columns of a key together. */
export const MAX_ID_BYTES = 600;
/** {@link SqlDialect.maxReasonBytes} of most; it is part of a key as well. */
export const MAX_REASON_BYTES = 1_000;

/** What texts and keys of rows a database takes. */
export interface RowLimits {
  /** For messages. */
  readonly product: string;
  /** Longest ID of a submission, in bytes, and longest reason for which one is listed. */
  readonly maxIdBytes: number;
  readonly maxReasonBytes: number;
  /** Longest status, in units of UTF-16, where an index of ours has no room for a longer one. */
  readonly maxStatusLength?: number;
  /** False when no text can hold U+0000. None holds a lone surrogate, which has no UTF-8. */
  readonly takesNul: boolean;
}

/** A row whose texts the database can hold. */
export interface StorableRow {
  readonly id: string;
  readonly status: string;
  readonly createdAt: string | null;
  /** In the order of the fields that are being written; undefined for no answer, as null is. */
  readonly cells: readonly (Cell | undefined)[];
}

/** Why a database refuses a row. */
export interface RowDefect {
  /** A sentence without any of the row's values. */
  readonly reason: string;
  /** No table of this database holds such answers. Otherwise something that people added to this table refuses them. */
  readonly isOfRow: boolean;
}

/** What storing a row did. `edited`: as `updated`, where it is known that the status is what it was. */
export type StoreOutcome = RowOutcome | 'edited';

/** A column without an answer, and the type that its first one needs. */
export interface TypeChange {
  readonly field: FieldColumn;
  readonly to: 'number' | 'json';
}

/** A column of answers to be made. */
export interface NewColumn {
  readonly name: string;
  readonly type: AnswerType;
}

/** The result of {@link SqlDialect.decideTypes}. */
export interface DecidedTypes {
  /** The fields with their types, in the order of the changes. */
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

/**
 * Where a statement that changes tables ends the transaction it is in, a process may die between any two of them. So what is
 * about to be changed is in the catalogue first, and the next pass makes what is missing; and a table of the catalogue is made
 * under another name, and appears whole.
 */
export interface Stepwise {
  /** A dialect for which every table goes by the name that it has while it is being made. */
  making(dialect: SqlDialect): SqlDialect;
  /** Removes what a process that died left under those names. */
  clear(tx: SqlSession, tables: readonly string[]): Promise<void>;
  /** Gives tables that are made their names, one after the other. */
  putInPlace(tx: SqlSession, tables: readonly string[]): Promise<void>;
}

/** What each product does in its own way. All else is written once, in SQL that all of them understand. */
export interface SqlDialect extends AnswerLimits, RowLimits {
  /** For messages. */
  readonly product: 'SQLite' | 'PostgreSQL' | 'MySQL or MariaDB';
  /** True when what was deleted stays in files of ours until they are scrubbed. */
  readonly scrubs: boolean;
  /** The best number of rows for a batch. */
  readonly batchRows: number;
  /** What to do where something else stands in the place of our tables: half a sentence. */
  readonly chooseAnotherPlace: string;
  /** Column types of the catalogue. */
  readonly types: {
    readonly text: string;
    /** An ID or a name, where it is a part of a key; a word of ours (a status, a kind, a digest) there; and a key by itself. */
    readonly id: string;
    readonly word: string;
    readonly key: string;
    readonly time: string;
    readonly integer: string;
    readonly boolean: string;
    readonly serial: string;
  };
  /** Column types of the answers, by what a column holds, and that of the overflow column. */
  readonly answerTypes: Readonly<Record<AnswerType | 'more', string>>;
  /** True when a column of JSON gives back the text that it was given, keys in their order. */
  readonly keepsJsonText: boolean;
  /** How many columns a table gets for answers; further ones go to the overflow column. */
  readonly maxFieldColumns: number;
  /** How many columns a view can have, system columns included. */
  readonly maxViewColumns: number;
  /** Longest name of a view's column. */
  readonly maxLabelBytes: number;
  /** A label with what no name can have replaced; undefined where names have any characters. */
  readonly viewLabel?: (label: string) => string;

  /** A table's or view's qualified, quoted name. */
  relation(name: string): string;
  /** Its name for people. */
  shownRelation(name: string): string;
  /** SELECT expression: a time as ISO text. */
  timeText(expression: string): string;
  /** The value of {@link timeText} as canonical time; null for an empty column. */
  time(value: unknown): string | null;
  /** A time (ISO 8601, in UTC) as the parameter that a column of times takes, and is compared with by `=`; null stays null. */
  timeValue(time: string | null): string | null;
  /** A canonical time of whole milliseconds as a parameter that times in columns are compared with, by `<` and `>=`. */
  timeBound(time: string): string;
  /** Expression by which times are grouped: equal for those of one day, hour, minute or second in UTC. */
  grainOf(expression: string, grain: TimeGrain): string;
  /** The same as a text that is the beginning of that time. */
  grainText(expression: string): string;
  /** SQL condition: `expression` is one of the list in parameter `$n`. */
  isIn(expression: string, parameter: string): string;
  /** SQL condition: the key `expression` begins with `prefix`, which is plain; by an index over it where there is one. */
  beginsWith(expression: string, prefix: string): string;
  /** SQL condition: a row comes behind these values, in the order of these columns, of which the first may be a time. */
  isBehind(columns: readonly string[], parameters: readonly string[]): string;
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
  /** Keeps every other process from creating tables until the transaction ends. Creates a missing schema. */
  lockCatalogue(tx: SqlSession): Promise<void>;
  /**
   * Keeps other writers out of the form until the transaction ends: one that has lost its lock may be in the middle of a batch.
   * Whoever waits gets in before those who ask later. Undefined where a transaction that writes keeps every other one out.
   */
  readonly enterForm?: (tx: SqlSession, formId: string) => Promise<void>;

  /** See {@link Stepwise}; undefined where tables are changed in the transaction like rows. */
  readonly stepwise?: Stepwise;

  /** Makes the form's table with all its field columns. */
  createTable(tx: SqlSession, form: FormTable): Promise<void>;
  /** Adds columns to it, and the overflow column when asked to. */
  addColumns(
    tx: SqlSession,
    table: string,
    columns: readonly NewColumn[],
    withMore: boolean,
  ): Promise<void>;
  /**
   * Gives columns the types that the catalogue says they have, where a process died before it came to that; see
   * {@link Stepwise}. Undefined where that can't happen.
   */
  readonly finishTypes?: (tx: SqlSession, form: FormTable) => Promise<void>;
  /** Makes the index by which marking finds its candidates. */
  addStatusIndex(tx: SqlSession, table: string): Promise<void>;
  /** The same where it is missing, once a pass has stored what there is. Undefined where {@link createTable} makes it. */
  readonly ensureStatusIndex?: (tx: SqlSession, table: string) => Promise<void>;
  /**
   * Makes the index by submission on the history of statuses where it is missing: before it is asked, and once a pass has
   * stored what there is. In a transaction that has written nothing to that table. Undefined where the catalogue is made with it.
   */
  readonly ensureHistoryIndex?: (tx: SqlSession) => Promise<void>;
  /** Makes the index that tells how many rows have which date and status, where it is missing. */
  ensureDateIndex(tx: SqlSession, table: string): Promise<void>;
  /** Makes the index by which people find what changed since a time, where it is missing. */
  ensureChangeIndex(tx: SqlSession, table: string): Promise<void>;
  /** Whether no two rows of a form's table can have the same ID. */
  hasKey(tx: SqlSession, table: string): Promise<boolean>;
  /** Makes it so; rejects when two rows have the same. */
  addKey(tx: SqlSession, table: string): Promise<void>;
  /**
   * Gives columns of texts that hold nothing but blanks (NULL and '', which become NULL) the type that their first answer
   * needs. One in which people wrote something, or whose type can't be changed without touching what they built on it, stays
   * one of texts for ever. The labelled view may be dropped by it and has to be synced afterwards.
   */
  decideTypes(
    tx: SqlSession,
    form: FormTable,
    changes: readonly TypeChange[],
  ): Promise<DecidedTypes>;
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
  /** How the views of rows that are not marked deleted, and those over all forms, are written. */
  readonly views: ViewSql;

  /**
   * Stores rows that may be new in the quickest way there is for such. `looksNew`: that they are is likely, and what is done
   * in vain where one of them is not counts for little; else nothing has told yet. In their order, whether it has inserted
   * them: the others are left to {@link upsert}. Undefined where {@link upsert} is as quick.
   */
  readonly storeNew?: (
    tx: SqlSession,
    form: FormTable,
    fields: readonly FieldColumn[],
    rows: readonly StorableRow[],
    how: { readonly at: string; readonly looksNew: boolean },
  ) => Promise<boolean[]>;
  /**
   * Adds rows of texts to a table of the catalogue in the quickest way there is; false where it can't now, and undefined
   * where a statement with INSERT is as quick.
   */
  readonly addRows?: (
    tx: SqlSession,
    table: string,
    columns: readonly string[],
    rows: Iterable<readonly string[]>,
  ) => Promise<boolean>;
  /** Stores rows, touching only those that differ (L4); `at` is the time of the change. Outcomes in order. */
  upsert(
    tx: SqlSession,
    form: FormTable,
    fields: readonly FieldColumn[],
    rows: readonly StorableRow[],
    at: string,
  ): Promise<StoreOutcome[]>;
  /** The cell in a column of answers that holds `type`; null for NULL. What {@link partsOf} says of a field is what is stored. */
  decodeCell(value: unknown, type: AnswerType): Cell;

  /** Why the database refuses this one row; undefined for errors of another kind. */
  rowDefect(error: unknown): RowDefect | undefined;
  /** Describes the errors of the driver. */
  readonly describeError: DescribeError;
}
