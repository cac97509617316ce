import { notDone } from './api-error.ts';
import { columnName, type Emit } from './emit.ts';
import { orderSql } from './sql-order.ts';
import type { ResolvedNode } from './resolved-node.ts';

const NAMES: Readonly<Record<string, string>> = {
  row_number: 'row_number',
  rank: 'rank',
  dense_rank: 'dense_rank',
  percent_rank: 'percent_rank',
  cume_dist: 'cume_dist',
  ntile: 'ntile',
  lead: 'lead',
  lag: 'lag',
  first_value: 'first_value',
  last_value: 'last_value',
  nth_value: 'nth_value',
  sum: 'sum',
  avg: 'avg',
  min: 'min',
  max: 'max',
  count: 'count',
  $count_star: 'count',
};

/** A window function over its group's partitions and order. */
export function windowSql(emit: Emit, group: ResolvedNode, call: ResolvedNode): string {
  call.only(
    'function',
    'signature',
    'argumentList',
    'errorMode',
    'distinct',
    'nullHandlingModifier',
    'windowFrame',
  );
  const name = call
    .child('function')
    .text('name')
    .replace(/^ZetaSQL:/, '');
  const known = NAMES[name];
  if (known === undefined) throw notDone(`the window function ${name.toUpperCase()}`);
  const args = call.list('argumentList').map((argument) => emit.expression(argument));
  const distinct = call.flag('distinct') ? 'DISTINCT ' : '';
  const nulls = call.text('nullHandlingModifier') === 'IGNORE_NULLS' ? ' IGNORE NULLS' : '';
  const shown = name === '$count_star' ? '*' : args.join(', ');
  const over = [partitions(group), order(group), frame(emit, call)].filter((part) => part !== '');
  return `${known}(${distinct}${shown}${nulls}) OVER (${over.join(' ')})`;
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

function frame(emit: Emit, call: ResolvedNode): string {
  const node = call.maybe('windowFrame');
  if (node === undefined) return '';
  const bound = (field: string): string => {
    const edge = node.child(field);
    const words = (edge.text('boundaryType') || 'UNBOUNDED_PRECEDING').split('_');
    if (words[0] !== 'OFFSET') return words.join(' ');
    return `${emit.expression(edge.child('expression'))} ${words[1]}`;
  };
  return `${node.text('frameUnit') || 'ROWS'} BETWEEN ${bound('startExpr')} AND ${bound('endExpr')}`;
}
