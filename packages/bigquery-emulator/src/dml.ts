import { invalidQuery, notDone } from './api-error.ts';
import { shownName, type Table } from './catalog.ts';
import { columnName, quoted } from './emit.ts';
import { targetOf, type Execution } from './execution.ts';
import type { ResolvedNode } from './resolved-node.ts';
import { tableSql } from './sql-scan.ts';
import type { Prepared } from './statement.ts';

/** The place of one statement's rows between finding and changing them: a table of the connection. */
const ROWS = 'dml_rows';
const MAX_PARTITIONS = 4_000;

/** Runs an INSERT, UPDATE, DELETE or MERGE inside the open transaction. Returns the number of changed rows. */
export async function runDml(execution: Execution, prepared: Prepared): Promise<number> {
  const { node } = prepared;
  switch (node.kind) {
    case 'resolvedInsertStmtNode':
      return insert(execution, prepared);
    case 'resolvedUpdateStmtNode':
      return update(execution, prepared);
    case 'resolvedDeleteStmtNode':
      return remove(execution, prepared);
    case 'resolvedMergeStmtNode':
      return merge(execution, prepared);
    default:
      throw notDone(`the statement "${node.kind}"`);
  }
}

async function insert(execution: Execution, prepared: Prepared): Promise<number> {
  const { node, writer } = prepared;
  node.only(
    'tableScan',
    'insertColumnList',
    'query',
    'queryOutputColumnList',
    'rowList',
    'columnAccessList',
    'insertMode',
  );
  if (!['', 'OR_ERROR'].includes(node.text('insertMode'))) throw notDone('INSERT OR …');
  const table = targetOf(prepared);
  const names = node.columns('insertColumnList').map(({ name }) => name);
  const query = node.maybe('query');
  const source =
    query === undefined
      ? `VALUES ${node
          .list('rowList')
          .map((row) => rowSql(prepared, row))
          .join(', ')}`
      : `SELECT ${node
          .columns('queryOutputColumnList')
          .map(({ id }) => columnName(id))
          .join(', ')} FROM (${writer.scan(query)})`;
  const columns = names.map((_, index) => `v${index}`);
  const rows = `(${source}) AS s(${columns.join(', ')})`;
  // Rows that need no lookup, and do not come from the table itself, are inserted at once.
  if (!source.includes(table.physical) && partitionPlace(table, names) < 0) {
    const into = `INSERT INTO ${table.physical} (${names.map(quoted).join(', ')})`;
    return execution.run(`${into} SELECT * FROM ${rows}`);
  }
  await execution.run(`CREATE OR REPLACE TEMP TABLE ${ROWS} AS SELECT * FROM ${rows}`);
  return insertRows(execution, table, names, columns, '');
}

/** The place of the partition column among the columns: its partitions are counted before rows are stored. */
const partitionPlace = ({ partitionedBy }: Table, names: readonly string[]): number =>
  names.findIndex((name) => name.toLowerCase() === partitionedBy?.toLowerCase());

function rowSql({ writer }: Prepared, row: ResolvedNode): string {
  const values = row.list('valueList').map((value) => writer.expression(value.child('value')));
  return `(${values.join(', ')})`;
}

/** Copies rows into the table. Throws if there are more partitions than a statement may touch. */
async function insertRows(
  execution: Execution,
  table: Table,
  names: readonly string[],
  columns: readonly string[],
  where: string,
): Promise<number> {
  const column = columns[partitionPlace(table, names)];
  if (column !== undefined) {
    const count = await execution.count(
      `SELECT count(DISTINCT date_trunc('month', ${column})) FROM ${ROWS}${where}`,
    );
    checkPartitions(count, table);
  }
  return execution.run(
    `INSERT INTO ${table.physical} (${names.map(quoted).join(', ')}) SELECT ${columns.join(', ')} FROM ${ROWS}${where}`,
  );
}

function checkPartitions(count: number, table: Table): void {
  if (count <= MAX_PARTITIONS) return;
  throw invalidQuery(
    `Too many partitions produced by query, allowed ${MAX_PARTITIONS}, query produces at least ${count} partitions (table ${shownName(table)})`,
  );
}

async function update(execution: Execution, prepared: Prepared): Promise<number> {
  const { node, writer } = prepared;
  node.only('tableScan', 'whereExpr', 'updateItemList', 'columnAccessList');
  const table = targetOf(prepared);
  const items = node.list('updateItemList').map((item) => assignment(prepared, item));
  const target = tableSql(writer, node.child('tableScan'), true);
  const values = items.map(({ value }, index) => `${value} AS u${index}`);
  const found = `SELECT rid, ${values.join(', ')} FROM (${target}) WHERE ${where(node, 'UPDATE', writer)}`;
  // Only a statement that reads its table once can change it while it reads.
  if (found.split(table.physical).length === 2)
    return applyUpdate(execution, table, items, `(${found})`, 'u', '');
  await execution.run(`CREATE OR REPLACE TEMP TABLE ${ROWS} AS ${found}`);
  return applyUpdate(execution, table, items, ROWS, 'u', '');
}

function where(node: ResolvedNode, kind: string, writer: Prepared['writer']): string {
  const condition = node.maybe('whereExpr');
  if (condition === undefined) throw invalidQuery(`${kind} must have a WHERE clause at [1:1]`);
  return writer.expression(condition);
}

interface Assignment {
  readonly column: string;
  readonly value: string;
}

function assignment({ writer }: Prepared, item: ResolvedNode): Assignment {
  item.only('target', 'setValue');
  const target = item.child('target');
  if (target.kind !== 'resolvedColumnRefNode') throw notDone('UPDATE of a part of a column');
  return {
    column: target.column().name,
    value: writer.expression(item.child('setValue').child('value')),
  };
}

async function applyUpdate(
  execution: Execution,
  table: Table,
  items: readonly Assignment[],
  rows: string,
  prefix: string,
  condition: string,
): Promise<number> {
  const sets = items.map(({ column }, index) => `${quoted(column)} = d.${prefix}${index}`);
  return execution.run(
    `UPDATE ${table.physical} SET ${sets.join(', ')} FROM ${rows} d WHERE ${table.physical}.rowid = d.rid${condition}`,
  );
}

async function oneSourceRow(execution: Execution): Promise<void> {
  const double = await execution.count(
    `SELECT count(*) FROM (SELECT rid FROM ${ROWS} WHERE rid IS NOT NULL GROUP BY rid HAVING count(*) > 1)`,
  );
  if (double > 0) {
    throw invalidQuery(`UPDATE/MERGE must match at most one source row for each target row`);
  }
}

async function remove(execution: Execution, prepared: Prepared): Promise<number> {
  const { node, writer } = prepared;
  node.only('tableScan', 'whereExpr', 'columnAccessList');
  const table = targetOf(prepared);
  const target = tableSql(writer, node.child('tableScan'), true);
  return execution.run(
    `DELETE FROM ${table.physical} WHERE rowid IN (SELECT rid FROM (${target}) WHERE ${where(node, 'DELETE', writer)})`,
  );
}

interface Clause {
  readonly action: string;
  readonly condition: string;
  readonly items: readonly Assignment[];
}

/**
 * Finds all rows first, each with its clause, and then changes them, clause by clause: the clauses of a MERGE see the
 * table as it was before.
 */
async function merge(execution: Execution, prepared: Prepared): Promise<number> {
  const { node, writer } = prepared;
  node.only('tableScan', 'fromScan', 'mergeExpr', 'whenClauseList', 'columnAccessList');
  const table = targetOf(prepared);
  const clauses = node.list('whenClauseList').map((when) => clauseOf(prepared, when));
  const cases = clauses.map(({ condition }, index) => `WHEN ${condition} THEN ${index}`);
  const values = clauses.flatMap(({ items }, clause) =>
    items.map(
      ({ value }, index) => `CASE WHEN clause = ${clause} THEN ${value} END AS m${clause}_${index}`,
    ),
  );
  const target = tableSql(writer, node.child('tableScan'), true);
  const source = writer.scan(node.child('fromScan'));
  const on = writer.expression(node.child('mergeExpr'));
  const found = `SELECT * FROM (${source}) LEFT JOIN (${target}) ON ${on}`;
  const chosen = `SELECT *, CASE ${cases.join(' ')} END AS clause FROM (${found})`;
  await execution.run(
    `CREATE OR REPLACE TEMP TABLE ${ROWS} AS SELECT ${['rid', 'clause', ...values].join(', ')} FROM (${chosen}) WHERE clause IS NOT NULL`,
  );
  await oneSourceRow(execution);
  let changed = 0;
  for (const [index, { action, items }] of clauses.entries()) {
    if (action === 'UPDATE') {
      changed += await applyUpdate(
        execution,
        table,
        items,
        ROWS,
        `m${index}_`,
        ` AND d.clause = ${index}`,
      );
    } else {
      const names = items.map(({ column }) => column);
      const columns = items.map((_, item) => `m${index}_${item}`);
      const where = ` WHERE clause = ${index}`;
      changed += await insertRows(execution, table, names, columns, where);
    }
  }
  return changed;
}

const MATCHES: Readonly<Record<string, string>> = {
  MATCHED: 'rid IS NOT NULL',
  NOT_MATCHED_BY_TARGET: 'rid IS NULL',
};

function clauseOf(prepared: Prepared, when: ResolvedNode): Clause {
  when.only(
    'matchType',
    'matchExpr',
    'actionType',
    'insertColumnList',
    'insertRow',
    'updateItemList',
  );
  const kind = MATCHES[when.text('matchType')];
  if (kind === undefined) throw notDone(`MERGE with ${when.text('matchType')}`);
  const extra = when.maybe('matchExpr');
  const condition = extra === undefined ? kind : `${kind} AND ${prepared.writer.expression(extra)}`;
  const action = when.text('actionType') || 'INSERT';
  if (action === 'DELETE') throw notDone('MERGE with DELETE');
  if (action === 'UPDATE') {
    return {
      action,
      condition,
      items: when.list('updateItemList').map((item) => assignment(prepared, item)),
    };
  }
  const columns = when.columns('insertColumnList');
  const values = when.child('insertRow').list('valueList');
  const items = columns.map(({ name }, index) => ({
    column: name,
    value: prepared.writer.expression(values[index]?.child('value') ?? when),
  }));
  return { action, condition, items };
}
