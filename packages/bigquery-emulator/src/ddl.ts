import { ApiError, invalidQuery, notDone } from './api-error.ts';
import { shownName, type Catalog, type Column, type Table } from './catalog.ts';
import {
  clusteringOf,
  definedColumn,
  optionsOf,
  partitioningOf,
  type Options,
} from './ddl-parts.ts';
import { columnName, quoted } from './emit.ts';
import type { Execution } from './execution.ts';
import { notFoundIn, splitPath, type Defaults } from './name-resolution.ts';
import type { ResolvedNode } from './resolved-node.ts';
import type { TableLocks } from './transactions.ts';
import { prepareStatement, type Prepared, type Surroundings } from './statement.ts';
import { checkLayout } from './table-layout.ts';
import { checkColumnName, checkColumns, checkDescription, columnFor } from './table-schema.ts';
import {
  addStoredColumn,
  createStored,
  dropStored,
  dropStoredColumn,
  renameStoredColumn,
} from './table-store.ts';

/** What a DDL statement did. */
export interface DdlResult {
  readonly operation: 'CREATE' | 'SKIP' | 'REPLACE' | 'ALTER' | 'DROP';
  readonly target: { readonly project: string; readonly dataset: string; readonly name: string };
}

/** The kinds of statements that {@link runDdl} does. */
export const isDdl = (node: ResolvedNode): boolean =>
  /^resolved(Create|Alter|Drop|Rename)/.test(node.kind);

/** Runs CREATE, ALTER, DROP and RENAME. `sql` is the statement's own text. */
export async function runDdl(
  execution: Execution,
  prepared: Prepared,
  around: Surroundings,
  sql: string,
  locks: TableLocks,
): Promise<DdlResult> {
  const { node, defaults } = prepared;
  const { catalog } = around;
  switch (node.kind) {
    case 'resolvedCreateTableStmtNode':
      node.only(...CREATE_TABLE);
      return createTable(execution, prepared, around, undefined);
    case 'resolvedCreateTableAsSelectStmtNode':
      node.only(...CREATE_TABLE, 'query', 'outputColumnList');
      return createTable(execution, prepared, around, node.child('query'));
    case 'resolvedCreateViewStmtNode':
      return createView(execution, prepared, around, sql);
    case 'resolvedCreateSchemaStmtNode':
      return createSchema(prepared, around);
    case 'resolvedAlterTableStmtNode':
    case 'resolvedAlterViewStmtNode':
      return alter(execution, node, catalog, defaults, locks);
    case 'resolvedDropStmtNode':
      return drop(execution, node, catalog, defaults, locks);
    default:
      throw notDone(`the statement "${node.kind.replace(/^resolved|StmtNode$/g, '')}"`);
  }
}

const CREATE_TABLE = [
  'namePath',
  'createScope',
  'createMode',
  'optionList',
  'columnDefinitionList',
  'partitionByList',
  'clusterByList',
] as const;

async function createTable(
  execution: Execution,
  { node, writer, defaults }: Prepared,
  { catalog }: Surroundings,
  query: ResolvedNode | undefined,
): Promise<DdlResult> {
  if (node.text('createScope') === 'CREATE_TEMP') throw notDone('temporary tables');
  const place = placeOf(node, catalog, defaults);
  const operation = mode(node, place.old);
  if (operation === 'SKIP') return { operation, target: place };
  const columns = node.list('columnDefinitionList').map(definedColumn);
  if (columns.length === 0) throw invalidQuery('CREATE TABLE needs at least one column');
  checkColumns(columns);
  const options = optionsOf(node.list('optionList'));
  const partitioning = partitioningOf(
    node.list('partitionByList')[0],
    options.requirePartitionFilter ?? false,
  );
  const layout = { columns, partitioning, clustering: clusteringOf(node.list('clusterByList')) };
  checkLayout(layout);
  const table = catalog.draft(place.home, place.name, { kind: 'TABLE', ...layout });
  applyOptions(table, options);
  await createStored(execution.connection, table);
  if (query !== undefined) {
    const outputs = node.list('outputColumnList').map((output) => columnName(output.column().id));
    const names = columns.map(({ name }) => quoted(name)).join(', ');
    await execution.run(
      `INSERT INTO ${table.physical} (${names}) SELECT ${outputs.join(', ')} FROM (${writer.scan(query)})`,
    );
  }
  // Somebody else may have made one meanwhile.
  const now = place.home.tables.get(place.name);
  if (now !== place.old) {
    await dropStored(execution.connection, table);
    if (now === undefined || mode(node, now) !== 'SKIP') throw alreadyThere(place);
    return { operation: 'SKIP', target: place };
  }
  catalog.add(table);
  if (place.old !== undefined) await dropStored(execution.connection, place.old);
  return { operation, target: place };
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
  if (home === undefined || home.location !== defaults.location) {
    throw notFoundIn('Dataset', `${path.project}:${path.dataset}`, defaults.location);
  }
  return { ...path, home, old: home.tables.get(path.name) };
}

function mode(node: ResolvedNode, old: Table | undefined): 'CREATE' | 'SKIP' | 'REPLACE' {
  if (old === undefined) return 'CREATE';
  const wanted = node.text('createMode');
  if (wanted === 'CREATE_IF_NOT_EXISTS') return 'SKIP';
  if (wanted === 'CREATE_OR_REPLACE') return 'REPLACE';
  throw alreadyThere(old);
}

function applyOptions(table: Table, options: Options): void {
  if ('description' in options) table.description = options.description;
  if ('friendlyName' in options) table.friendlyName = options.friendlyName;
  if (options.labels !== undefined) table.labels = options.labels;
  if (options.requirePartitionFilter === undefined) return;
  if (table.partitioning === undefined)
    throw invalidQuery('require_partition_filter needs a table that is partitioned');
  table.partitioning = { ...table.partitioning, requireFilter: options.requirePartitionFilter };
}

async function createView(
  execution: Execution,
  { node, defaults, restore }: Prepared,
  around: Surroundings,
  sql: string,
): Promise<DdlResult> {
  node.only(
    'namePath',
    'createScope',
    'createMode',
    'optionList',
    'outputColumnList',
    'query',
    'sql',
    'hasExplicitColumns',
    'sqlSecurity',
    'columnDefinitionList',
  );
  const { catalog } = around;
  const place = placeOf(node, catalog, defaults);
  const operation = mode(node, place.old);
  if (operation === 'SKIP') return { operation, target: place };
  const query = restore(node.text('sql')) || sql;
  // Names in the query of a view have to say their dataset: it is looked up wherever the view is used from.
  const view = await prepareStatement(query, {
    ...around,
    defaults: { ...defaults, dataset: undefined },
    scope: { named: new Map(), positional: [], variables: new Map() },
  });
  const columns = viewColumns(node, view);
  checkColumns(columns);
  const table = catalog.draft(place.home, place.name, { kind: 'VIEW', columns, viewQuery: query });
  applyOptions(table, optionsOf(node.list('optionList')));
  if (place.old?.kind === 'TABLE') await dropStored(execution.connection, place.old);
  catalog.add(table);
  return { operation, target: place };
}

function viewColumns(node: ResolvedNode, view: Prepared): Column[] {
  const defined = node.list('columnDefinitionList');
  return view.node.list('outputColumnList').map((output, index) => {
    const named = defined[index];
    const annotations = named?.maybe('annotations');
    const { description } = optionsOf(annotations?.list('optionList') ?? []);
    const name = named?.text('name') ?? output.text('name');
    if (name === '' || name.startsWith('$')) {
      throw invalidQuery(`CREATE VIEW columns must be named, but column ${index + 1} has no name`);
    }
    return columnFor({ name, type: output.column().type }, false, description);
  });
}

function createSchema({ node, defaults }: Prepared, { catalog }: Surroundings): DdlResult {
  node.only('namePath', 'createMode', 'createScope', 'optionList');
  const parts = node.texts('namePath').flatMap((part) => part.split('.'));
  const name = parts.pop() ?? '';
  const project = parts.join('.') || defaults.project;
  const target = { project, dataset: name, name };
  if (node.list('optionList').length > 0) throw notDone('CREATE SCHEMA with options');
  if (
    catalog.findDataset(project, name) !== undefined &&
    node.text('createMode') === 'CREATE_IF_NOT_EXISTS'
  ) {
    return { operation: 'SKIP', target };
  }
  catalog.addDataset(project, name, defaults.location);
  return { operation: 'CREATE', target };
}

async function alter(
  execution: Execution,
  node: ResolvedNode,
  catalog: Catalog,
  defaults: Defaults,
  locks: TableLocks,
): Promise<DdlResult> {
  node.only('namePath', 'alterActionList', 'isIfExists');
  const place = placeOf(node, catalog, defaults);
  const table = place.old;
  if (table === undefined) {
    if (node.flag('isIfExists')) return { operation: 'SKIP', target: place };
    throw notFoundIn('Table', shownName(place), defaults.location);
  }
  await locks.changing(table, async () => {
    for (const action of node.list('alterActionList')) {
      await runAction(execution, table, action, catalog);
    }
    // What is known of its columns is known no more.
    table.version++;
    catalog.touch(table);
  });
  return { operation: 'ALTER', target: place };
}

async function runAction(
  execution: Execution,
  table: Table,
  action: ResolvedNode,
  catalog: Catalog,
): Promise<void> {
  switch (action.kind) {
    case 'resolvedAddColumnActionNode': {
      const column = definedColumn(
        action.only('isIfNotExists', 'columnDefinition').child('columnDefinition'),
      );
      if (find(table, column.name) !== undefined) {
        if (action.flag('isIfNotExists')) return;
        throw invalidQuery(`Column already exists: ${column.name}`);
      }
      if (column.isRequired) throw invalidQuery('Cannot add required fields to an existing schema');
      checkColumns([...table.columns, column]);
      await addStoredColumn(execution.connection, table, column);
      table.columns = [...table.columns, column];
      return;
    }
    case 'resolvedDropColumnActionNode': {
      const column = find(table, action.only('isIfExists', 'name').text('name'));
      if (column === undefined) {
        if (action.flag('isIfExists')) return;
        throw invalidQuery(`Column not found: ${action.text('name')}`);
      }
      if (table.partitioning?.field === column.name || table.clustering.includes(column.name)) {
        throw invalidQuery(
          `Cannot drop column ${column.name}: the table is partitioned or clustered by it`,
        );
      }
      if (table.columns.length === 1) throw invalidQuery('Cannot drop the only column of a table');
      await dropStoredColumn(execution.connection, table, column.name);
      table.columns = table.columns.filter((other) => other !== column);
      return;
    }
    case 'resolvedRenameColumnActionNode': {
      const name = action.only('isIfExists', 'name', 'newName').text('name');
      const column = find(table, name);
      const to = action.text('newName');
      if (column === undefined) {
        if (action.flag('isIfExists')) return;
        throw invalidQuery(`Column not found: ${name}`);
      }
      checkColumnName(to);
      if (find(table, to) !== undefined) throw invalidQuery(`Column already exists: ${to}`);
      if (table.partitioning?.field === column.name || table.clustering.includes(column.name)) {
        throw invalidQuery(
          `Cannot rename column ${name}: the table is partitioned or clustered by it`,
        );
      }
      await renameStoredColumn(execution.connection, table, column.name, to);
      table.columns = table.columns.map((other) =>
        other === column ? { ...other, name: to } : other,
      );
      return;
    }
    case 'resolvedSetOptionsActionNode':
      applyOptions(table, optionsOf(action.only('optionList').list('optionList')));
      return;
    case 'resolvedAlterColumnOptionsActionNode': {
      const name = action.only('isIfExists', 'column', 'optionList').text('column');
      const column = find(table, name);
      if (column === undefined) {
        if (action.flag('isIfExists')) return;
        throw invalidQuery(`Column not found: ${name}`);
      }
      const options = optionsOf(action.list('optionList'));
      checkDescription(options.description);
      table.columns = table.columns.map((other) =>
        other === column && 'description' in options
          ? { ...other, description: options.description }
          : other,
      );
      return;
    }
    case 'resolvedRenameToActionNode': {
      const to = action.only('newPath').texts('newPath').at(-1) ?? '';
      if (catalog.findTable(table.project, table.dataset, to) !== undefined) {
        throw new ApiError(
          'duplicate',
          `Already Exists: Table ${shownName({ ...table, name: to })}`,
        );
      }
      catalog.remove(table);
      catalog.add({ ...table, name: to });
      return;
    }
    default:
      throw notDone(`ALTER with "${action.kind.replace(/^resolved|ActionNode$/g, '')}"`);
  }
}

const find = (table: Table, name: string): Column | undefined =>
  table.columns.find((column) => column.name.toLowerCase() === name.toLowerCase());

async function drop(
  execution: Execution,
  node: ResolvedNode,
  catalog: Catalog,
  defaults: Defaults,
  locks: TableLocks,
): Promise<DdlResult> {
  node.only('objectType', 'isIfExists', 'namePath', 'dropMode');
  const kind = node.text('objectType');
  if (kind !== 'TABLE' && kind !== 'VIEW') throw notDone(`DROP ${kind}`);
  const place = placeOf(node, catalog, defaults);
  const table = place.old;
  if (table === undefined) {
    if (node.flag('isIfExists')) return { operation: 'SKIP', target: place };
    throw notFoundIn('Table', shownName(place), defaults.location);
  }
  if (table.kind !== kind) {
    throw invalidQuery(
      `${shownName(table)} is not allowed for this operation because it is currently a ${table.kind}.`,
    );
  }
  await locks.changing(table, async () => {
    // First, as whoever finds it must find its rows.
    catalog.remove(table);
    if (table.kind === 'TABLE') await dropStored(execution.connection, table);
  });
  return { operation: 'DROP', target: place };
}
