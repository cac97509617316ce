import { ApiError, invalid, notDone } from './api-error.ts';
import { numberParameter, pageOf, part, type Call, type Method } from './call.ts';
import type { Dataset, Table, TimePartitioning } from './catalog.ts';
import { checkedLabels } from './labels.ts';
import { flagAt, objectAt, textAt, textsAt, textsIn, type Raw } from './json-object.ts';
import { checkFields, TABLE } from './request-fields.ts';
import { checkLayout } from './table-layout.ts';
import { columnsOf, schemaOf, viewQueryOf } from './table-schema.ts';
import { changeColumns, viewColumns } from './table-change.ts';
import { countStored, createStored, dropStored } from './table-store.ts';
import type { ViewReader } from './table-change.ts';

const MAX_DESCRIPTION = 16_384;

type Name = 'get' | 'insert' | 'list' | 'patch' | 'update' | 'delete';

/** The methods of `tables`. Reading a view's query needs the analyzer. */
export function tableMethods(readView: ViewReader): Readonly<Record<Name, Method>> {
  return {
    get: { name: 'tables.get', run: async (call) => resource(call, tableOf(call)) },
    insert: { name: 'tables.insert', run: (call) => insert(call, readView) },
    list: { name: 'tables.list', run: async (call) => list(call) },
    patch: { name: 'tables.patch', run: (call) => change(call, readView, false) },
    update: { name: 'tables.update', run: (call) => change(call, readView, true) },
    delete: {
      name: 'tables.delete',
      async run(call) {
        const table = tableOf(call);
        await call.locks.changing(table, async () => {
          // First, as whoever finds it must find its rows.
          call.catalog.remove(table);
          if (table.kind === 'TABLE') await withConnection(call, (one) => dropStored(one, table));
        });
        return undefined;
      },
    },
  };
}

const datasetOf = (call: Call): Dataset =>
  call.catalog.dataset(part(call, 'projectId'), part(call, 'datasetId'));

const tableOf = (call: Call): Table =>
  call.catalog.table(part(call, 'projectId'), part(call, 'datasetId'), part(call, 'tableId'));

async function withConnection<T>(
  call: Call,
  use: (connection: Awaited<ReturnType<Call['store']['connect']>>) => Promise<T>,
): Promise<T> {
  const connection = await call.store.connect();
  try {
    return await use(connection);
  } finally {
    call.store.release(connection);
  }
}

async function insert(call: Call, readView: ViewReader): Promise<object> {
  const { body } = call;
  checkFields(body, TABLE, 'table');
  const dataset = datasetOf(call);
  const name = textAt(objectAt(body, 'tableReference') ?? {}, 'tableId');
  if (name === undefined) throw new ApiError('required', 'Required parameter is missing: tableId');
  const query = viewQueryOf(body);
  const table =
    query === undefined
      ? newTable(call, dataset, name)
      : await newView(call, dataset, name, query, readView);
  const checkFree = (): void => {
    if (!dataset.tables.has(name)) return;
    const shown = `${dataset.project}:${dataset.name}.${name}`;
    throw new ApiError('duplicate', `Already Exists: Table ${shown}`);
  };
  checkFree();
  Object.assign(table, details(body));
  // Whoever finds it must find its rows; of two requests for one name the second meets the first.
  if (table.kind === 'TABLE') await withConnection(call, (one) => createStored(one, table));
  checkFree();
  call.catalog.add(table);
  return resource(call, table);
}

function newTable(call: Call, dataset: Dataset, name: string): Table {
  const columns = columnsOf(objectAt(call.body, 'schema'));
  const partitioning = partitioningOf(objectAt(call.body, 'timePartitioning'), call.body);
  const clustering = textsAt(objectAt(call.body, 'clustering') ?? {}, 'fields');
  checkLayout({ columns, partitioning, clustering });
  return call.catalog.draft(dataset, name, { kind: 'TABLE', columns, partitioning, clustering });
}

function partitioningOf(raw: Raw | undefined, body: Raw): TimePartitioning | undefined {
  if (flagAt(body, 'requirePartitionFilter')) throw notDone('requirePartitionFilter');
  if (raw === undefined) return undefined;
  const type = textAt(raw, 'type');
  if (type !== 'HOUR' && type !== 'DAY' && type !== 'MONTH' && type !== 'YEAR') {
    throw invalid(`Invalid partitioning type: ${type}`);
  }
  const field = textAt(raw, 'field');
  if (field === undefined) throw notDone('partitions by time of ingestion');
  if (raw['expirationMs'] !== undefined) throw notDone('partitions that expire');
  if (flagAt(raw, 'requirePartitionFilter')) throw notDone('requirePartitionFilter');
  return { type, field, requireFilter: false };
}

async function newView(
  call: Call,
  dataset: Dataset,
  name: string,
  query: string,
  readView: ViewReader,
): Promise<Table> {
  checkStandard(call.body);
  for (const field of LAYOUT) {
    if (call.body[field] !== undefined) throw notDone(`views with ${field}`);
  }
  if (call.body['schema'] !== undefined)
    throw invalid("Schema field shouldn't be used as input with a view");
  const columns = viewColumns(await readView(query, dataset), undefined);
  return call.catalog.draft(dataset, name, { kind: 'VIEW', columns, viewQuery: query });
}

function checkStandard(body: Raw): void {
  const view = objectAt(body, 'view') ?? {};
  if (view['useLegacySql'] !== false)
    throw notDone('legacy SQL in views: useLegacySql has to be false');
}

function details(body: Raw): Partial<Pick<Table, 'description' | 'friendlyName' | 'labels'>> {
  const labels = objectAt(body, 'labels');
  const description = textAt(body, 'description');
  if (description !== undefined && Array.from(description).length > MAX_DESCRIPTION) {
    throw invalid(
      `The description for a table is too long. The maximum length is ${MAX_DESCRIPTION} characters.`,
    );
  }
  return {
    ...('description' in body && { description }),
    ...('friendlyName' in body && { friendlyName: textAt(body, 'friendlyName') }),
    ...(labels !== undefined && { labels: checkedLabels(textsIn(labels)) }),
  };
}

const LAYOUT = ['timePartitioning', 'clustering', 'requirePartitionFilter'] as const;

/** A whole resource has them as they are; they are changed by nobody. */
function checkKept(body: Raw, { partitioning, clustering }: Table): void {
  const { type, field, requireFilter = false } = partitioning ?? {};
  const asked = objectAt(body, 'timePartitioning') ?? {};
  const kept = {
    timePartitioning: textAt(asked, 'type') === type && textAt(asked, 'field') === field,
    clustering: textsAt(objectAt(body, 'clustering') ?? {}, 'fields').join() === clustering.join(),
    requirePartitionFilter: flagAt(body, 'requirePartitionFilter') === requireFilter,
  };
  for (const name of LAYOUT) {
    if (body[name] !== undefined && !kept[name]) throw notDone(`another ${name}`);
  }
}

async function change(call: Call, readView: ViewReader, isWhole: boolean): Promise<object> {
  const { body } = call;
  checkFields(body, TABLE, 'table');
  const query = viewQueryOf(body);
  // Read before the etag is compared: nothing may come in between that and the change.
  const fields = query === undefined ? [] : await readView(query, datasetOf(call));
  const table = tableOf(call);
  const checkMatch = (): void => {
    if (call.ifMatch === undefined || call.ifMatch === String(table.etag)) return;
    throw new ApiError('conditionNotMet', 'Precondition Failed');
  };
  checkMatch();
  checkKept(body, table);
  const changed = details(body);
  if (query !== undefined) {
    if (table.kind !== 'VIEW') throw invalid('Cannot change a table into a view');
    checkStandard(body);
    table.columns = viewColumns(fields, objectAt(body, 'schema'));
    table.viewQuery = query;
  } else if (body['schema'] !== undefined) {
    const columns = columnsOf(objectAt(body, 'schema'));
    await call.locks.changing(table, async () => {
      checkMatch();
      await withConnection(call, (one) => changeColumns(one, table, columns));
      // While nobody else can: what was read before this is out of date.
      call.catalog.touch(table);
    });
  }
  if (isWhole) {
    Object.assign(table, { description: undefined, friendlyName: undefined, labels: {} });
  }
  Object.assign(table, changed);
  call.catalog.touch(table);
  return resource(call, table);
}

function list(call: Call): object {
  const all = [...datasetOf(call).tables.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const token = call.query.get('pageToken') ?? undefined;
  const page = pageOf(all, numberParameter(call, 'maxResults') ?? 50, token);
  return {
    kind: 'bigquery#tableList',
    etag: String(all.length),
    ...(page.items.length > 0 && { tables: page.items.map(entry) }),
    totalItems: all.length,
    ...(page.nextPageToken !== undefined && { nextPageToken: page.nextPageToken }),
  };
}

const entry = (table: Table): object => ({
  kind: 'bigquery#table',
  id: `${table.project}:${table.dataset}.${table.name}`,
  tableReference: { projectId: table.project, datasetId: table.dataset, tableId: table.name },
  type: table.kind,
  creationTime: String(table.createdMs),
  ...(Object.keys(table.labels).length > 0 && { labels: table.labels }),
  ...(table.friendlyName !== undefined && { friendlyName: table.friendlyName }),
  ...(table.partitioning !== undefined && {
    timePartitioning: timePartitioning(table.partitioning),
  }),
  ...(table.clustering.length > 0 && { clustering: { fields: table.clustering } }),
  ...(table.kind === 'VIEW' && { view: { useLegacySql: false } }),
});

const timePartitioning = ({ type, field }: TimePartitioning): object => ({ type, field });

async function resource(call: Call, table: Table): Promise<object> {
  const { project, dataset, name, description } = table;
  const home = call.catalog.dataset(project, dataset);
  const rows =
    table.kind === 'TABLE' ? await withConnection(call, (one) => countStored(one, table)) : 0;
  return {
    ...entry(table),
    etag: String(table.etag),
    selfLink: `https://bigquery.googleapis.com/bigquery/v2/projects/${project}/datasets/${dataset}/tables/${name}`,
    lastModifiedTime: String(table.modifiedMs),
    location: home.location,
    schema: schemaOf(table.columns),
    numRows: String(rows),
    numBytes: '0',
    numLongTermBytes: '0',
    ...(description !== undefined && { description }),
    ...(table.viewQuery !== undefined && {
      view: { query: table.viewQuery, useLegacySql: false },
    }),
  };
}
