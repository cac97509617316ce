import type { ResolvedNode } from './resolved-node.ts';
import type { BqType } from './types.ts';

/** The source of a placeholder's value when the statement runs. */
export type PlaceholderSource =
  | { readonly from: 'named'; readonly name: string }
  | { readonly from: 'rowCount' };

/** A value that a statement needs when it runs. */
export interface Placeholder {
  /** Without the dollar sign. */
  readonly key: string;
  readonly source: PlaceholderSource;
  readonly type: BqType;
}

/** A source of a statement's rows: a table of the store, or a view written out. */
export interface Relation {
  /** The text after FROM. */
  readonly sql: string;
  /** DuckDB's names, in the order of the analyzer. */
  readonly columns: readonly string[];
}

/** Writes DuckDB's SQL for parts of one resolved statement. */
export interface Emit {
  /** An expression. */
  expression(node: ResolvedNode): string;
  /** A whole SELECT whose columns have the names of {@link columnName}. */
  scan(node: ResolvedNode): string;
  /** A placeholder with its cast; the same source gives the same placeholder. */
  placeholder(source: PlaceholderSource, type: BqType): string;
  relation(fullName: string): Relation;
}

/** The name of a resolved statement's column in the text for DuckDB. */
export const columnName = (id: number): string => `c${id}`;

/** A name in double quotes. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** A text literal, which cannot contain a zero byte. */
export function textLiteral(text: string): string {
  const parts = text.split('\0').map((part) => `'${part.replaceAll("'", "''")}'`);
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  return `(${parts.join(' || chr(0) || ')})`;
}
