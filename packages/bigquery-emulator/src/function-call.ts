import { notDone } from './api-error.ts';
import { textLiteral, type Emit } from './emit.ts';
import { isRaw, textAt } from './json-object.ts';
import type { ResolvedNode } from './resolved-node.ts';
import type { BqType } from './types.ts';

/** One call of a function. */
export interface Call {
  /** As the analyzer names it, without `ZetaSQL:`. */
  readonly name: string;
  readonly args: readonly string[];
  readonly types: readonly BqType[];
  readonly nodes: readonly ResolvedNode[];
  readonly result: BqType;
  /** Called as `SAFE.…`: an error is NULL. */
  readonly isSafe: boolean;
  readonly emit: Emit;
}

/** Writes a call in DuckDB's SQL. */
export type Writer = (call: Call) => string;

/** An error at run time with a fixed text, or NULL in a SAFE call. */
export const failure = (call: Call, message: string): string =>
  call.isSafe ? 'NULL' : `error(${textLiteral(message)})`;

/** The text of an argument that has to be a constant; undefined when it is none. */
export function constantText(node: ResolvedNode | undefined): string | undefined {
  if (node?.kind !== 'resolvedLiteralNode') return undefined;
  const typed = node.raw('value');
  const value = isRaw(typed) ? typed['value'] : undefined;
  return isRaw(value) ? (textAt(value, 'stringValue') ?? textAt(value, 'int64Value')) : undefined;
}

/** The name of a date part such as `MONTH`, which the analyzer gives as a number of an enumeration. */
export function datePart(node: ResolvedNode | undefined): string {
  const typed = node?.raw('value');
  const value = isRaw(typed) ? typed['value'] : undefined;
  const number = isRaw(value) ? Number(value['enumValue'] ?? 0) : 0;
  const name = DATE_PARTS[number];
  if (name === undefined) throw notDone('such a date part');
  return name;
}

/** Numbers of Google's enumeration `DateTimestampPart`. */
const DATE_PARTS: Readonly<Record<number, string>> = {
  1: 'YEAR',
  2: 'MONTH',
  3: 'DAY',
  4: 'DAYOFWEEK',
  5: 'DAYOFYEAR',
  6: 'QUARTER',
  7: 'HOUR',
  8: 'MINUTE',
  9: 'SECOND',
  10: 'MILLISECOND',
  11: 'MICROSECOND',
  13: 'DATE',
  14: 'WEEK',
  15: 'DATETIME',
  16: 'TIME',
  17: 'ISOYEAR',
  18: 'ISOWEEK',
  19: 'WEEK_MONDAY',
};
