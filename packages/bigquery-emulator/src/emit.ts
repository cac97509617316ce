import type { ResolvedNode } from './resolved-node.ts';
import type { BqType } from './types.ts';

/** Where the value of a placeholder comes from when the statement runs. */
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

/** What a statement reads: a table of the store, or a view written out. */
export interface Relation {
  /** What stands after FROM. */
  readonly sql: string;
  /** Names as DuckDB has them, in the order that the analyzer was told. */
  readonly columns: readonly string[];
}

/** Writes DuckDB's SQL for parts of one resolved statement. */
export interface Emit {
  /** An expression. */
  expression(node: ResolvedNode): string;
  /** A whole SELECT whose columns are named by {@link columnName}. */
  scan(node: ResolvedNode): string;
  /** A placeholder with its cast; the same source gives the same placeholder. */
  placeholder(source: PlaceholderSource, type: BqType): string;
  relation(fullName: string): Relation;
}

/** How the column of a resolved statement is named in what is written for it. */
export const columnName = (id: number): string => `c${id}`;

/** A name in double quotes. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** A text literal. A zero byte cannot stand in one. */
export function textLiteral(text: string): string {
  const parts = text.split('\0').map((part) => `'${part.replaceAll("'", "''")}'`);
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  return `(${parts.join(' || chr(0) || ')})`;
}
