import { notDone } from './api-error.ts';
import type { Emit } from './emit.ts';
import { functionName, type ResolvedNode } from './resolved-node.ts';
import { duckType } from './types.ts';

/** An aggregate function of a group. */
export function aggregateSql(emit: Emit, node: ResolvedNode): string {
  node.only(
    'function',
    'signature',
    'argumentList',
    'errorMode',
    'nullHandlingModifier',
    'functionCallInfo',
  );
  const name = functionName(node);
  const [value] = node.list('argumentList').map((argument) => emit.expression(argument));
  switch (name) {
    case '$count_star':
      return 'count(*)';
    case 'count':
      return `count(${value})`;
    case 'sum':
      return `CAST(sum(${value}) AS ${duckType(node.type())})`;
    case 'min':
    case 'max':
      return `${name}(${value})`;
    default:
      throw notDone(`the aggregate ${name.toUpperCase()}`);
  }
}
