import { ApiError, invalidQuery, notDone } from './api-error.ts';
import { shownName, type Catalog, type Column, type Table } from './catalog.ts';
import { isMonth } from './function-call.ts';
import { notFoundIn, splitPath, type Defaults } from './name-resolution.ts';
import { functionName, type ResolvedNode } from './resolved-node.ts';
import { prepareStatement, type Prepared, type Surroundings } from './statement.ts';
import type { StoreConnection } from './store.ts';
import { checkColumns, scalarColumn } from './table-schema.ts';
import { addStoredColumn, createStored, dropStored } from './table-store.ts';
import type { TableLocks } from './transactions.ts';

/** The kinds of statements that {@link runDdl} runs. */
export const isDdl = (node: ResolvedNode): boolean =>
  /^resolved(Create|Alter|Drop|Rename)/.test(node.kind);

/** Runs CREATE, ALTER and DROP. `sql` is the statement's own text. */
export async function runDdl(
  connection: StoreConnection,
  prepared: Prepared,
  around: Surroundings,
  sql: string,
  locks: TableLocks,
): Promise<void> {
  const { node, defaults } = prepared;
  const { catalog } = around;
  switch (node.kind) {
    case 'resolvedCreateTableStmtNode':
      return createTable(connection, prepared, catalog);
    case 'resolvedCreateViewStmtNode':
      return createView(connection, prepared, around, sql);
    case 'resolvedAlterTableStmtNode':
      return alter(connection, node, catalog, defaults, locks);
    case 'resolvedDropStmtNode':
      return drop(connection, node, catalog, defaults, locks);
    default:
      throw notDone(`the statement "${node.kind.replace(/^resolved|StmtNode$/g, '')}"`);
  }
}

async function createTable(
  connection: StoreConnection,
  { node, defaults }: Prepared,
  catalog: Catalog,
): Promise<void> {
  node.only(
    'namePath',
    'createScope',
    'createMode',
    'columnDefinitionList',
    'partitionByList',
    'clusterByList',
  );
  if (node.text('createScope') === 'CREATE_TEMP') throw notDone('temporary tables');
  const place = placeOf(node, catalog, defaults);
  if (isThere(node, place.old)) return;
  const columns = node.list('columnDefinitionList').map(definedColumn);
  if (columns.length === 0) throw invalidQuery('CREATE TABLE needs at least one column');
  checkColumns(columns);
  const partitionedBy = partitionOf(node.list('partitionByList')[0]);
  const table = catalog.draft(place.home, place.name, { kind: 'TABLE', columns, partitionedBy });
  await createStored(connection, table);
  // Another statement may have made one in the meantime.
  const now = place.home.tables.get(place.name);
  if (now !== place.old) {
    await dropStored(connection, table);
    if (now === undefined || !isThere(node, now)) throw alreadyThere(place);
    return;
  }
  catalog.add(table);
  if (place.old !== undefined) await dropStored(connection, place.old);
}

/** A column as CREATE TABLE or ADD COLUMN defines it. */
function definedColumn(node: ResolvedNode): Column {
  node.only('name', 'annotations', 'column', 'type');
  const annotations = node.maybe('annotations')?.only('notNull');
  const isRequired = annotations?.flag('notNull') ?? false;
  return scalarColumn(node.text('name'), node.type(), isRequired);
}

/** PARTITION BY: the months of a column. */
function partitionOf(node: ResolvedNode | undefined): string | undefined {
  if (node === undefined) return undefined;
  const isCall = node.kind === 'resolvedFunctionCallNode';
  const [column, part] = isCall ? node.list('argumentList') : [];
  if (
    !isCall ||
    functionName(node) !== 'timestamp_trunc' ||
    column?.kind !== 'resolvedColumnRefNode' ||
    !isMonth(part)
  )
    throw notDone('partitions by something else than TIMESTAMP_TRUNC(…, MONTH)');
  return column.column().name;
}

const alreadyThere = (place: Pick<Table, 'project' | 'dataset' | 'name'>): ApiError =>
  new ApiError('duplicate', `Already Exists: Table ${shownName(place)}`);

interface Place {
  readonly project: string;
  readonly dataset: string;
  readonly name: string;
  readonly home: ReturnType<Catalog['dataset']>;
  readonly old: Table | undefined;
}

function placeOf(node: ResolvedNode, catalog: Catalog, defaults: Defaults): Place {
  const path = splitPath(node.texts('namePath'), defaults);
  const home = catalog.findDataset(path.project, path.dataset);
  if (home === undefined) throw notFoundIn('Dataset', `${path.project}:${path.dataset}`);
  return { ...path, home, old: home.tables.get(path.name) };
}

/** Whether nothing must be made, because it exists; if it may neither stay nor be replaced, that is an error. */
function isThere(node: ResolvedNode, old: Table | undefined): boolean {
  const wanted = node.text('createMode');
  if (old === undefined || wanted === 'CREATE_OR_REPLACE') return false;
  if (wanted === 'CREATE_IF_NOT_EXISTS') return true;
  throw alreadyThere(old);
}

async function createView(
  connection: StoreConnection,
  { node, defaults }: Prepared,
  around: Surroundings,
  sql: string,
): Promise<void> {
  node.only(
    'namePath',
    'createScope',
    'createMode',
    'outputColumnList',
    'query',
    'sql',
    'sqlSecurity',
    'columnDefinitionList',
  );
  const { catalog } = around;
  const place = placeOf(node, catalog, defaults);
  if (isThere(node, place.old)) return;
  const query = node.text('sql') || sql;
  // Names in the query of a view must include their dataset, because it is looked up wherever the view is used.
  const view = await prepareStatement(query, {
    ...around,
    defaults: { ...defaults, dataset: undefined },
    parameters: new Map(),
  });
  const columns = viewColumns(view);
  checkColumns(columns);
  const table = catalog.draft(place.home, place.name, { kind: 'VIEW', columns, viewQuery: query });
  if (place.old?.kind === 'TABLE') await dropStored(connection, place.old);
  catalog.add(table);
}

const viewColumns = (view: Prepared): Column[] =>
  view.node.list('outputColumnList').map((output, index) => {
    const name = output.text('name');
    if (name === '' || name.startsWith('$')) {
      throw invalidQuery(`CREATE VIEW columns must be named, but column ${index + 1} has no name`);
    }
    return scalarColumn(name, output.column().type);
  });

async function alter(
  connection: StoreConnection,
  node: ResolvedNode,
  catalog: Catalog,
  defaults: Defaults,
  locks: TableLocks,
): Promise<void> {
  node.only('namePath', 'alterActionList');
  const place = placeOf(node, catalog, defaults);
  const table = place.old;
  if (table === undefined) throw notFoundIn('Table', shownName(place));
  await locks.changing(table, async () => {
    for (const action of node.list('alterActionList')) await addColumn(connection, table, action);
    // The known facts about its columns no longer hold.
    table.version++;
    table.etag++;
  });
}

async function addColumn(
  connection: StoreConnection,
  table: Table,
  action: ResolvedNode,
): Promise<void> {
  if (action.kind !== 'resolvedAddColumnActionNode')
    throw notDone(`ALTER with "${action.kind.replace(/^resolved|ActionNode$/g, '')}"`);
  const column = definedColumn(action.only('columnDefinition').child('columnDefinition'));
  const isKnown = table.columns.some(
    ({ name }) => name.toLowerCase() === column.name.toLowerCase(),
  );
  if (isKnown) throw invalidQuery(`Column already exists: ${column.name}`);
  if (column.isRequired) throw invalidQuery('Cannot add required fields to an existing schema');
  checkColumns([...table.columns, column]);
  await addStoredColumn(connection, table, column);
  table.columns = [...table.columns, column];
}

async function drop(
  connection: StoreConnection,
  node: ResolvedNode,
  catalog: Catalog,
  defaults: Defaults,
  locks: TableLocks,
): Promise<void> {
  node.only('objectType', 'isIfExists', 'namePath', 'dropMode');
  const kind = node.text('objectType');
  if (kind !== 'TABLE' && kind !== 'VIEW') throw notDone(`DROP ${kind}`);
  const place = placeOf(node, catalog, defaults);
  const table = place.old;
  if (table === undefined) {
    if (node.flag('isIfExists')) return;
    throw notFoundIn('Table', shownName(place));
  }
  if (table.kind !== kind) {
    throw invalidQuery(
      `${shownName(table)} is not allowed for this operation because it is currently a ${table.kind}.`,
    );
  }
  await locks.changing(table, async () => {
    // First, because any reader of the name must find the rows.
    catalog.remove(table);
    if (table.kind === 'TABLE') await dropStored(connection, table);
  });
}
