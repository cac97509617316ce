import { ApiError } from './api-error.ts';
import { numberParameter, part, type Call, type Method } from './call.ts';
import { shownName, type Dataset, type Table } from './catalog.ts';
import { checkedLabels } from './labels.ts';
import { objectAt, textAt, textsIn } from './json-object.ts';
import { checkFields, TABLE, TABLE_CHANGE } from './request-fields.ts';
import { columnsOf, schemaOf } from './table-schema.ts';
import { createStored } from './table-store.ts';

/** Tables in one response, if the request does not set it. */
const PAGE = 50;

/** The methods of `tables`. */
export const TABLE_METHODS: Readonly<Record<'get' | 'insert' | 'list' | 'patch', Method>> = {
  get: { name: 'tables.get', run: async (call) => resource(tableOf(call)) },
  insert: { name: 'tables.insert', run: insert },
  list: { name: 'tables.list', run: async (call) => list(call) },
  patch: { name: 'tables.patch', run: async (call) => patch(call) },
};

const datasetOf = (call: Call): Dataset =>
  call.catalog.dataset(part(call, 'projectId'), part(call, 'datasetId'));

const tableOf = (call: Call): Table =>
  call.catalog.table(part(call, 'projectId'), part(call, 'datasetId'), part(call, 'tableId'));

async function insert(call: Call): Promise<object> {
  const { body } = call;
  checkFields(body, TABLE, 'tables');
  const dataset = datasetOf(call);
  const name = textAt(objectAt(body, 'tableReference') ?? {}, 'tableId');
  if (name === undefined) throw new ApiError('required', 'Required parameter is missing: tableId');
  const columns = columnsOf(objectAt(body, 'schema') ?? {});
  const table = call.catalog.draft(dataset, name, { kind: 'TABLE', columns });
  const checkFree = (): void => {
    if (dataset.tables.has(name))
      throw new ApiError('duplicate', `Already Exists: Table ${shownName(table)}`);
  };
  checkFree();
  // Any reader of the name must find the rows, and the second of two requests for one name must find the first.
  const connection = await call.store.connect();
  await createStored(connection, table).finally(() => call.store.release(connection));
  checkFree();
  call.catalog.add(table);
  return resource(table);
}

/** Labels are replaced as a whole. */
function patch(call: Call): object {
  checkFields(call.body, TABLE_CHANGE, 'changes of tables');
  const table = tableOf(call);
  if (call.ifMatch !== undefined && call.ifMatch !== String(table.etag))
    throw new ApiError('conditionNotMet', 'Precondition Failed');
  table.labels = checkedLabels(textsIn(objectAt(call.body, 'labels') ?? {}));
  table.etag++;
  return resource(table);
}

function list(call: Call): object {
  const all = [...datasetOf(call).tables.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const start = Number(call.query.get('pageToken') ?? 0);
  const end = start + (numberParameter(call, 'maxResults') ?? PAGE);
  const tables = all.slice(start, end);
  return {
    kind: 'bigquery#tableList',
    ...(tables.length > 0 && { tables: tables.map(entry) }),
    totalItems: all.length,
    ...(end < all.length && { nextPageToken: String(end) }),
  };
}

const entry = (table: Table): object => ({
  kind: 'bigquery#table',
  id: shownName(table),
  tableReference: { projectId: table.project, datasetId: table.dataset, tableId: table.name },
  type: table.kind,
  ...(Object.keys(table.labels).length > 0 && { labels: table.labels }),
});

const resource = (table: Table): object => ({
  ...entry(table),
  etag: String(table.etag),
  schema: schemaOf(table.columns),
});
