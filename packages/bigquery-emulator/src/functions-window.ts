import { notDone } from './api-error.ts';
import { columnName, type Emit } from './emit.ts';
import { orderSql } from './sql-order.ts';
import { functionName, type ResolvedNode } from './resolved-node.ts';

/** A window function over its group's partitions and order. */
export function windowSql(emit: Emit, group: ResolvedNode, call: ResolvedNode): string {
  call.only('function', 'signature', 'argumentList', 'errorMode', 'nullHandlingModifier');
  const name = functionName(call);
  if (name !== 'lag' && name !== 'lead') throw notDone(`the window function ${name.toUpperCase()}`);
  const args = call.list('argumentList').map((argument) => emit.expression(argument));
  const over = [partitions(group), order(group)].filter((part) => part !== '');
  return `${name}(${args.join(', ')}) OVER (${over.join(' ')})`;
}

function partitions(group: ResolvedNode): string {
  const columns = group.maybe('partitionBy')?.list('partitionByList') ?? [];
  if (columns.length === 0) return '';
  return `PARTITION BY ${columns.map((ref) => columnName(ref.column().id)).join(', ')}`;
}

function order(group: ResolvedNode): string {
  const items = group.maybe('orderBy')?.list('orderByItemList') ?? [];
  if (items.length === 0) return '';
  return `ORDER BY ${orderSql(items)}`;
}
