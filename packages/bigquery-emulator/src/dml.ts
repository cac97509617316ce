import { invalidQuery, notDone } from './api-error.ts';
import { shownName, type Table } from './catalog.ts';
import { columnName, quoted } from './emit.ts';
import { nullElement, targetOf, type DmlCounts, type Execution } from './execution.ts';
import type { ResolvedNode } from './resolved-node.ts';
import { tableSql } from './sql-scan.ts';
import type { Prepared } from './statement.ts';

/** Where the rows of one statement lie between finding and changing them; a table of the connection. */
const ROWS = 'dml_rows';
const MAX_PARTITIONS = 4_000;

/** Runs an INSERT, UPDATE, DELETE, MERGE or TRUNCATE inside of the transaction that is open. */
export async function runDml(execution: Execution, prepared: Prepared): Promise<DmlCounts> {
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
    case 'resolvedTruncateStmtNode': {
      node.only('tableScan');
      const deleted = await execution.run(`DELETE FROM ${targetOf(prepared).physical}`);
      return { inserted: 0, updated: 0, deleted };
    }
    default:
      throw notDone(`the statement "${node.kind}"`);
  }
}

const NOTHING: DmlCounts = { inserted: 0, updated: 0, deleted: 0 };

async function insert(execution: Execution, prepared: Prepared): Promise<DmlCounts> {
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
  // Rows that nothing has to be found out about, and that do not come from the table itself, go in at once.
  if (!source.includes(table.physical) && !names.some((name) => isLookedAt(table, name))) {
    const into = `INSERT INTO ${table.physical} (${names.map(quoted).join(', ')})`;
    return { ...NOTHING, inserted: await execution.run(`${into} SELECT * FROM ${rows}`) };
  }
  await execution.run(`CREATE OR REPLACE TEMP TABLE ${ROWS} AS SELECT * FROM ${rows}`);
  return { ...NOTHING, inserted: await insertRows(execution, table, names, columns, '') };
}

/** Whether values of a column are looked at before they are stored: its partitions are counted, arrays hold no NULL. */
function isLookedAt(table: Table, name: string): boolean {
  const isPartition = name.toLowerCase() === table.partitioning?.field.toLowerCase();
  return isPartition || table.columns.find((other) => other.name === name)?.type.kind === 'ARRAY';
}

function rowSql({ writer }: Prepared, row: ResolvedNode): string {
  const values = row.list('valueList').map((value) => writer.expression(value.child('value')));
  return `(${values.join(', ')})`;
}

/** Takes rows over into the table; more partitions than a statement may touch are refused. */
async function insertRows(
  execution: Execution,
  table: Table,
  names: readonly string[],
  columns: readonly string[],
  where: string,
): Promise<number> {
  const place = names.findIndex(
    (name) => name.toLowerCase() === table.partitioning?.field.toLowerCase(),
  );
  const column = columns[place];
  if (table.partitioning !== undefined && column !== undefined) {
    const unit = table.partitioning.type.toLowerCase();
    const count = await execution.count(
      `SELECT count(DISTINCT date_trunc('${unit}', ${column})) FROM ${ROWS}${where}`,
    );
    checkPartitions(count, table);
  }
  for (const [index, name] of names.entries()) {
    const { type } = table.columns.find((other) => other.name === name) ?? {};
    if (type?.kind !== 'ARRAY') continue;
    const holed = `list_count(${columns[index]}) < len(${columns[index]})`;
    const filter = where === '' ? ` WHERE ${holed}` : `${where} AND ${holed}`;
    if ((await execution.count(`SELECT count(*) FROM ${ROWS}${filter}`)) > 0)
      throw nullElement(name);
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

async function update(execution: Execution, prepared: Prepared): Promise<DmlCounts> {
  const { node, writer } = prepared;
  node.only('tableScan', 'whereExpr', 'updateItemList', 'fromScan', 'columnAccessList');
  const table = targetOf(prepared);
  const items = node.list('updateItemList').map((item) => assignment(prepared, item));
  const target = tableSql(writer, node.child('tableScan'), true);
  const from = node.maybe('fromScan');
  const source = from === undefined ? '' : ` JOIN (${writer.scan(from)}) ON TRUE`;
  const values = items.map(({ value }, index) => `${value} AS u${index}`);
  const found = `SELECT rid, ${values.join(', ')} FROM (${target})${source} WHERE ${where(node, 'UPDATE', writer)}`;
  // Only a statement that looks at its table once can change it while it reads.
  if (from === undefined && found.split(table.physical).length === 2) {
    const updated = await applyUpdate(execution, table, items, `(${found})`, 'u', '');
    return { ...NOTHING, updated };
  }
  await execution.run(`CREATE OR REPLACE TEMP TABLE ${ROWS} AS ${found}`);
  if (from !== undefined) await oneSourceRow(execution, 'UPDATE/MERGE', '');
  return { ...NOTHING, updated: await applyUpdate(execution, table, items, ROWS, 'u', '') };
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

async function oneSourceRow(execution: Execution, kind: string, condition: string): Promise<void> {
  const double = await execution.count(
    `SELECT count(*) FROM (SELECT rid FROM ${ROWS} WHERE rid IS NOT NULL${condition} GROUP BY rid HAVING count(*) > 1)`,
  );
  if (double > 0) {
    throw invalidQuery(`${kind} must match at most one source row for each target row`);
  }
}

async function remove(execution: Execution, prepared: Prepared): Promise<DmlCounts> {
  const { node, writer } = prepared;
  node.only('tableScan', 'whereExpr', 'columnAccessList');
  const table = targetOf(prepared);
  const target = tableSql(writer, node.child('tableScan'), true);
  const deleted = await execution.run(
    `DELETE FROM ${table.physical} WHERE rowid IN (SELECT rid FROM (${target}) WHERE ${where(node, 'DELETE', writer)})`,
  );
  return { ...NOTHING, deleted };
}

interface Clause {
  readonly action: string;
  readonly condition: string;
  readonly items: readonly Assignment[];
}

/**
 * Finds all rows first, each with the clause that is its own, and then changes them, clause by clause: the clauses of a
 * MERGE see the table as it was before it.
 */
async function merge(execution: Execution, prepared: Prepared): Promise<DmlCounts> {
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
  const kinds = new Set(node.list('whenClauseList').map((when) => when.text('matchType')));
  const join = joinFor(kinds);
  const found = `SELECT * FROM (SELECT *, TRUE AS is_source FROM (${source})) ${join} (${target}) ON ${on}`;
  const chosen = `SELECT *, CASE ${cases.join(' ')} END AS clause FROM (${found})`;
  await execution.run(
    `CREATE OR REPLACE TEMP TABLE ${ROWS} AS SELECT ${['rid', 'clause', ...values].join(', ')} FROM (${chosen}) WHERE clause IS NOT NULL`,
  );
  await oneSourceRow(execution, 'UPDATE/MERGE', '');
  const counts = { inserted: 0, updated: 0, deleted: 0 };
  for (const [index, { action, items }] of clauses.entries()) {
    if (action === 'UPDATE') {
      counts.updated += await applyUpdate(
        execution,
        table,
        items,
        ROWS,
        `m${index}_`,
        ` AND d.clause = ${index}`,
      );
    } else if (action === 'DELETE') {
      counts.deleted += await execution.run(
        `DELETE FROM ${table.physical} WHERE rowid IN (SELECT rid FROM ${ROWS} WHERE clause = ${index})`,
      );
    } else {
      const names = items.map(({ column }) => column);
      const columns = items.map((_, item) => `m${index}_${item}`);
      const where = ` WHERE clause = ${index}`;
      counts.inserted += await insertRows(execution, table, names, columns, where);
    }
  }
  return counts;
}

function joinFor(kinds: ReadonlySet<string>): string {
  const [inserts, leaves] = [
    kinds.has('NOT_MATCHED_BY_TARGET'),
    kinds.has('NOT_MATCHED_BY_SOURCE'),
  ];
  if (inserts && leaves) return 'FULL JOIN';
  if (leaves) return 'RIGHT JOIN';
  return inserts ? 'LEFT JOIN' : 'JOIN';
}

const MATCHES: Readonly<Record<string, string>> = {
  MATCHED: 'rid IS NOT NULL AND is_source IS NOT NULL',
  NOT_MATCHED_BY_TARGET: 'rid IS NULL',
  NOT_MATCHED_BY_SOURCE: 'is_source IS NULL',
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
  if (action !== 'INSERT') {
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
