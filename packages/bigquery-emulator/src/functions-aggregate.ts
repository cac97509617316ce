import { notDone } from './api-error.ts';
import type { Emit } from './emit.ts';
import type { ResolvedNode } from './resolved-node.ts';
import { orderSql } from './sql-order.ts';
import { duckType } from './types.ts';

/** An aggregate function of a group. */
export function aggregateSql(emit: Emit, node: ResolvedNode): string {
  node.only(
    'function',
    'signature',
    'argumentList',
    'errorMode',
    'distinct',
    'nullHandlingModifier',
    'orderByItemList',
    'limit',
    'functionCallInfo',
  );
  if (node.text('errorMode') === 'SAFE_ERROR_MODE') throw notDone('SAFE aggregates');
  const name = node
    .child('function')
    .text('name')
    .replace(/^ZetaSQL:/, '');
  const nodes = node.list('argumentList');
  const args = nodes.map((argument) => emit.expression(argument));
  const items = node.list('orderByItemList');
  const order = items.length === 0 ? '' : ` ORDER BY ${orderSql(items)}`;
  const limit = node.maybe('limit');
  if (limit !== undefined && name !== 'array_agg') throw notDone(`LIMIT in ${name.toUpperCase()}`);
  const ignoresNulls = node.text('nullHandlingModifier') === 'IGNORE_NULLS';
  const distinct = node.flag('distinct') ? 'DISTINCT ' : '';
  const [value = '*'] = args;
  switch (name) {
    case '$count_star':
      return 'count(*)';
    case 'count':
      return `count(${distinct}${value})`;
    case 'countif':
      return `count(*) FILTER (WHERE ${value})`;
    case 'sum':
      return `CAST(sum(${distinct}${value}) AS ${duckType(node.type())})`;
    case 'avg':
      return `CAST(avg(${distinct}${value}) AS ${duckType(node.type())})`;
    case 'min':
    case 'max':
      return `${name}(${value})`;
    case 'logical_and':
      return `bool_and(${value})`;
    case 'logical_or':
      return `bool_or(${value})`;
    case 'any_value':
      return `any_value(${value})`;
    case 'string_agg':
      return `string_agg(${distinct}${value}, ${args[1] ?? "','"}${order})`;
    case 'array_agg': {
      // BigQuery refuses NULL in an array that leaves a query; inside of one it may be.
      const filter = ignoresNulls ? ` FILTER (WHERE ${value} IS NOT NULL)` : '';
      const list = `array_agg(${distinct}${value}${order})${filter}`;
      return limit === undefined ? list : `(${list})[1:${emit.expression(limit)}]`;
    }
    case 'approx_count_distinct':
      return `count(DISTINCT ${value})`;
    default:
      throw notDone(`the aggregate ${name.toUpperCase()}`);
  }
}
