import type { ErrorDescription } from './sql-errors.ts';
import type { SqlSession } from './sql-session.ts';

/** A column of a view of ours. */
export interface ViewItem {
  readonly name: string;
  readonly expression: string;
  /** What people see beside it, where the database has comments. */
  readonly description: string;
}

/** A view of ours over rows of forms, as it is to be. Its columns have the same names whatever the forms are called. */
export interface ViewDefinition {
  readonly description: string;
  readonly items: readonly ViewItem[];
  /** What stands behind FROM. */
  readonly from: string;
}

/** What people are told of a table or view of ours in their tools. */
export interface RelationTexts {
  readonly name: string;
  readonly kind: 'table' | 'view';
  readonly description: string;
  /** By name of the column. */
  readonly columns: Readonly<Record<string, string>>;
}

/**
 * Characters of the longest text that may be a date or time. A fraction of a second has no end by ISO 8601, but PostgreSQL
 * takes some hundred digits, and SQLite what a double counts.
 */
export const MAX_DATE_LENGTH = 64;

/** The elements of a JSON list as rows: what is joined, and what it gives of each. */
export interface ListElements {
  readonly from: string;
  /** From 1. */
  readonly index: string;
  /** NULL for a JSON null; the JSON text of a list or an object. */
  readonly text: string;
  /** NULL for anything but a number. */
  readonly number: string;
}

/** What tells a view of ours: the columns that it must have, those that it may have, and what its definition holds. */
export interface ViewSigns {
  readonly required: readonly string[];
  readonly possible: readonly string[];
  /** Empty where the columns tell enough. */
  readonly mark: string;
}

/** How the SELECTs of the views over all forms are written; the form's table goes by `t` in its expressions. */
export interface AnswerSql {
  /** A text as SQL writes it. */
  literal(text: string): string;
  /** A name of a column as SQL writes it; in double quotes when absent. */
  readonly quoted?: (name: string) => string;
  /** A number in the place of a text, for {@link textOf}. */
  numberText(number: string): string;
  /** The text of what stands in the place of texts: numbers with all the digits that their column holds. */
  textOf(value: string): string;
  /** The number 1, with the type of {@link ListElements.index}. */
  readonly one: string;
  /** No value, with the type of a column of numbers. */
  readonly noNumber: string;
  /** No value, with the type of a column of texts. */
  readonly noText: string;
  /** What the overflow column holds under a key: its text, whatever it is; a number, where it is one; its text, to unnest. */
  readonly overflow: {
    text(key: string): string;
    number(key: string): string;
    list(key: string): string;
  };
  /**
   * The elements of `list`; of anything else the one that it is, and of a text that is no JSON. A list with half a character or
   * U+0000 counts as a text: no product but one takes it for JSON, and that one gives texts that are none.
   * `areInMore`: some are of {@link overflow}.
   */
  elements(list: string, areInMore: boolean): ListElements;
  /** The date or time of a text that is one by ISO 8601, in UTC where it names an offset; NULL for any other text. */
  dateOf(text: string): string;
}

/** What such views need to be written. */
export interface ViewDialect {
  readonly views: AnswerSql;
  /** A table's or view's qualified, quoted name. */
  relation(name: string): string;
}

/** What the views over all forms need of a product. */
export interface ViewSql extends AnswerSql {
  /** Writes what tables, views and columns are into the comments of the database. Undefined where that is not done. */
  readonly describe?: (tx: SqlSession, relations: readonly RelationTexts[]) => Promise<void>;

  /** Keeps rebuilding a view from waiting for readers, and them for it, until the transaction ends. */
  hurry(tx: SqlSession): Promise<void>;
  /**
   * What stays the same as long as nobody touches a view, or takes away what it reads; nothing for one that is not there. By name,
   * as `left` has them, with their last states: of those that are as they were, some databases know that without looking.
   */
  states(session: SqlSession, left: ReadonlyMap<string, string>): Promise<Map<string, string>>;
  /** Whether a view of this name is ours. */
  isOwn(tx: SqlSession, name: string, signs: ViewSigns): Promise<boolean>;
  /**
   * Makes a view, or one of ours anew, with the rights on it and whatever people built on it. False when that is in the way.
   * Whether it rejects or not, the transaction can go on, as far as the error is one of the view alone.
   */
  put(tx: SqlSession, name: string, view: ViewDefinition): Promise<boolean>;
  /** Describes an error of {@link put} that means something else there than elsewhere; undefined for any other. */
  describeFailure(error: unknown): Pick<ErrorDescription, 'what' | 'remedy'> | undefined;
}
