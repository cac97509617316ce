import { notDone } from './api-error.ts';
import { isRaw, textAt } from './json-object.ts';
import type { ResolvedNode } from './resolved-node.ts';
import type { BqType } from './types.ts';

/** One call of a function. */
export interface Call {
  /** As the analyzer names it, without `ZetaSQL:`. */
  readonly name: string;
  readonly args: readonly string[];
  readonly nodes: readonly ResolvedNode[];
  readonly result: BqType;
}

/** Writes a call in DuckDB's SQL. */
export type Writer = (call: Call) => string;

/** The text of an argument that must be a constant. */
export function constantText({ name, nodes }: Call, place: number): string {
  const node = nodes[place];
  const typed = node?.kind === 'resolvedLiteralNode' ? node.raw('value') : undefined;
  const value = isRaw(typed) ? typed['value'] : undefined;
  const text = isRaw(value) ? textAt(value, 'stringValue') : undefined;
  if (text === undefined) throw notDone(`${name.toUpperCase()} without a constant`);
  return text;
}

/** Whether a date part is MONTH: the analyzer gives its number in Google's enumeration `DateTimestampPart`. */
export function isMonth(node: ResolvedNode | undefined): boolean {
  const typed = node?.raw('value');
  const value = isRaw(typed) ? typed['value'] : undefined;
  return isRaw(value) && Number(value['enumValue']) === 2;
}
