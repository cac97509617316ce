import { notDone } from './api-error.ts';
import { columnName, quoted, type Emit } from './emit.ts';
import { kindName, type ResolvedColumn, type ResolvedNode } from './resolved-node.ts';
import { windowSql } from './functions-window.ts';
import { orderSql } from './sql-order.ts';

/** A whole SELECT for a resolved scan; its columns are named by their IDs. */
export function scanSql(emit: Emit, node: ResolvedNode): string {
  switch (node.kind) {
    case 'resolvedSingleRowScanNode':
      return 'SELECT 1 AS one';
    case 'resolvedTableScanNode':
      return tableSql(emit, node, false);
    case 'resolvedJoinScanNode':
      return joinSql(emit, node);
    case 'resolvedArrayScanNode':
      return arraySql(emit, node);
    case 'resolvedFilterScanNode': {
      const input = emit.scan(node.only('inputScan', 'filterExpr').child('inputScan'));
      return `SELECT * FROM (${input}) WHERE ${emit.expression(node.child('filterExpr'))}`;
    }
    case 'resolvedProjectScanNode':
      return projectSql(emit, node);
    case 'resolvedAggregateScanNode':
      return aggregateScanSql(emit, node);
    case 'resolvedAnalyticScanNode':
      return analyticSql(emit, node);
    case 'resolvedSetOperationScanNode':
      return setOperationSql(emit, node);
    case 'resolvedOrderByScanNode': {
      const { from, order } = ordered(emit, node);
      return `SELECT ${list(node.columns())} FROM ${from} ORDER BY ${order}`;
    }
    case 'resolvedLimitOffsetScanNode':
      return limitSql(emit, node);
    default:
      throw notDone(`"${kindName(node)}"`);
  }
}

const list = (columns: readonly ResolvedColumn[]): string =>
  columns.map(({ id }) => columnName(id)).join(', ') || '1 AS one';

/** A table's rows, with their row IDs as `rid` if a statement changes the table. */
export function tableSql(emit: Emit, node: ResolvedNode, withRowId: boolean): string {
  node.only('table', 'columnIndexList', 'alias');
  const relation = emit.relation(node.child('table').text('fullName'));
  const indexes = node.texts('columnIndexList').map(Number);
  const columns = node.columns().map((column, place) => {
    const name = relation.columns[indexes[place] ?? -1];
    if (name === undefined) throw new Error(`The table lacks the column ${column.name}.`);
    return `${quoted(name)} AS ${columnName(column.id)}`;
  });
  if (withRowId) columns.push('rowid AS rid');
  return `SELECT ${columns.join(', ') || '1 AS one'} FROM ${relation.sql}`;
}

function joinSql(emit: Emit, node: ResolvedNode): string {
  node.only('joinType', 'leftScan', 'rightScan', 'joinExpr');
  const type = node.text('joinType') || 'INNER';
  const on = node.maybe('joinExpr');
  const condition = on === undefined ? 'TRUE' : emit.expression(on);
  const [left, right] = [emit.scan(node.child('leftScan')), emit.scan(node.child('rightScan'))];
  return `SELECT ${list(node.columns())} FROM (${left}) ${type} JOIN (${right}) ON ${condition}`;
}

function arraySql(emit: Emit, node: ResolvedNode): string {
  node.only('inputScan', 'arrayExpr', 'elementColumn', 'arrayOffsetColumn');
  const array = emit.expression(node.child('arrayExpr'));
  const items = [`unnest(${array}) AS ${columnName(node.column('elementColumn').id)}`];
  const offset = node.maybe('arrayOffsetColumn');
  if (offset !== undefined) {
    items.push(`unnest(range(len(${array}))) AS ${columnName(offset.column().id)}`);
  }
  const elements = `SELECT ${items.join(', ')}`;
  const input = node.maybe('inputScan');
  if (input === undefined) return elements;
  return `SELECT * FROM (${emit.scan(input)}) JOIN LATERAL (${elements}) ON TRUE`;
}

/** The input of an ORDER BY and its keys, so that the outer query can select and sort at once. */
function ordered(emit: Emit, node: ResolvedNode): { from: string; order: string } {
  node.only('inputScan', 'orderByItemList');
  const from = `(${emit.scan(node.child('inputScan'))})`;
  return { from, order: orderSql(node.list('orderByItemList')) };
}

function projectSql(emit: Emit, node: ResolvedNode): string {
  node.only('exprList', 'inputScan');
  const computed = new Map(
    node.list('exprList').map((item) => [item.column().id, item.child('expr')]),
  );
  const columns = node.columns().map(({ id }) => {
    const made = computed.get(id);
    return made === undefined ? columnName(id) : `${emit.expression(made)} AS ${columnName(id)}`;
  });
  const input = node.child('inputScan');
  const select = `SELECT ${columns.join(', ') || '1 AS one'}`;
  if (input.kind !== 'resolvedOrderByScanNode') return `${select} FROM (${emit.scan(input)})`;
  const { from, order } = ordered(emit, input);
  return `${select} FROM ${from} ORDER BY ${order}`;
}

function limitSql(emit: Emit, node: ResolvedNode): string {
  node.only('inputScan', 'limit', 'offset');
  const input = emit.scan(node.child('inputScan'));
  const offset = node.maybe('offset');
  const skip = offset === undefined ? '' : ` OFFSET ${emit.expression(offset)}`;
  const limit = emit.expression(node.child('limit'));
  const isOpen = ['resolvedOrderByScanNode', 'resolvedProjectScanNode'].includes(
    node.child('inputScan').kind,
  );
  return `${isOpen ? input : `SELECT * FROM (${input})`} LIMIT ${limit}${skip}`;
}

function aggregateScanSql(emit: Emit, node: ResolvedNode): string {
  node.only('inputScan', 'groupByList', 'aggregateList');
  const groups = node.list('groupByList');
  const computed = new Map(
    [...groups, ...node.list('aggregateList')].map((item) => [
      item.column().id,
      emit.expression(item.child('expr')),
    ]),
  );
  const columns = node.columns().map(({ id }) => {
    const sql = computed.get(id);
    if (sql === undefined) throw new Error('An aggregation lacks a column.');
    return `${sql} AS ${columnName(id)}`;
  });
  const keys = groups.map((item) => computed.get(item.column().id));
  const by = keys.length === 0 ? '' : ` GROUP BY ${keys.join(', ')}`;
  const select = columns.join(', ') || 'count(*) AS one';
  return `SELECT ${select} FROM (${emit.scan(node.child('inputScan'))})${by}`;
}

function analyticSql(emit: Emit, node: ResolvedNode): string {
  node.only('inputScan', 'functionGroupList');
  const made = node.list('functionGroupList').flatMap((group) => {
    group.only('partitionBy', 'orderBy', 'analyticFunctionList');
    return group
      .list('analyticFunctionList')
      .map(
        (item) =>
          `${windowSql(emit, group, item.child('expr'))} AS ${columnName(item.column().id)}`,
      );
  });
  return `SELECT *, ${made.join(', ')} FROM (${emit.scan(node.child('inputScan'))})`;
}

function setOperationSql(emit: Emit, node: ResolvedNode): string {
  node.only('opType', 'inputItemList', 'columnMatchMode', 'columnPropagationMode');
  const operator = node.text('opType') || 'UNION_ALL';
  if (operator !== 'UNION_ALL') throw notDone(operator.replace('_', ' '));
  for (const mode of ['columnMatchMode', 'columnPropagationMode']) {
    if (!['', 'BY_POSITION', 'STRICT'].includes(node.text(mode))) {
      throw notDone('set operations by name (CORRESPONDING)');
    }
  }
  const outputs = node.columns();
  const items = node.list('inputItemList').map((item) => {
    const columns = item.columns('outputColumnList').map((column, index) => {
      const output = outputs[index];
      if (output === undefined) throw new Error('A set operation lacks a column.');
      return `${columnName(column.id)} AS ${columnName(output.id)}`;
    });
    return `(SELECT ${columns.join(', ')} FROM (${emit.scan(item.child('scan'))}))`;
  });
  return `SELECT * FROM (${items.join(' UNION ALL ')})`;
}
