import { ApiError, invalid } from './api-error.ts';
import { numberParameter, pageOf, part, type Call, type Method } from './call.ts';
import type { Dataset } from './catalog.ts';
import { objectAt, textAt, textsIn, type Raw } from './json-object.ts';
import { checkedLabels } from './labels.ts';
import { placeName } from './jobs.ts';
import { checkFields, DATASET } from './request-fields.ts';
import { dropStored } from './table-store.ts';

/** The methods of `datasets`. */
export const DATASET_METHODS: Readonly<
  Record<'get' | 'insert' | 'list' | 'patch' | 'update' | 'delete', Method>
> = {
  get: {
    name: 'datasets.get',
    run: async (call) => resource(datasetOf(call)),
  },
  insert: {
    name: 'datasets.insert',
    async run(call) {
      checkFields(call.body, DATASET, 'dataset');
      const reference = objectAt(call.body, 'datasetReference') ?? {};
      const id = textAt(reference, 'datasetId');
      if (id === undefined)
        throw new ApiError('required', 'Required parameter is missing: datasetId');
      const location = placeName(textAt(call.body, 'location')) ?? call.homeLocation;
      const project = part(call, 'projectId');
      return resource(call.catalog.addDataset(project, id, location, details(call.body)));
    },
  },
  list: {
    name: 'datasets.list',
    async run(call) {
      const all = call.catalog.datasets(part(call, 'projectId'));
      const token = call.query.get('pageToken') ?? undefined;
      const page = pageOf(all, numberParameter(call, 'maxResults'), token);
      return {
        kind: 'bigquery#datasetList',
        etag: String(all.length),
        ...(page.items.length > 0 && { datasets: page.items.map(entry) }),
        ...(page.nextPageToken !== undefined && { nextPageToken: page.nextPageToken }),
      };
    },
  },
  patch: { name: 'datasets.patch', run: async (call) => change(call) },
  update: { name: 'datasets.update', run: async (call) => change(call) },
  delete: {
    name: 'datasets.delete',
    async run(call) {
      const dataset = datasetOf(call);
      const tables = [...dataset.tables.values()];
      if (tables.length > 0 && call.query.get('deleteContents') !== 'true') {
        throw new ApiError(
          'resourceInUse',
          `Dataset ${dataset.project}:${dataset.name} is still in use`,
        );
      }
      const connection = await call.store.connect();
      for (const table of tables) await dropStored(connection, table);
      call.store.release(connection);
      call.catalog.removeDataset(dataset);
      return undefined;
    },
  },
};

const datasetOf = (call: Call): Dataset =>
  call.catalog.dataset(part(call, 'projectId'), part(call, 'datasetId'));

function change(call: Call): object {
  checkFields(call.body, DATASET, 'dataset');
  const dataset = datasetOf(call);
  if (call.ifMatch !== undefined && call.ifMatch !== String(dataset.etag)) {
    throw new ApiError('conditionNotMet', 'Precondition Failed');
  }
  const location = placeName(textAt(call.body, 'location'));
  if (location !== undefined && location !== dataset.location) {
    throw invalid('Dataset location cannot be changed');
  }
  Object.assign(dataset, details(call.body));
  call.catalog.touch(dataset);
  return resource(dataset);
}

function details(
  body: Raw,
): Partial<
  Pick<
    Dataset,
    'description' | 'friendlyName' | 'labels' | 'maxTimeTravelHours' | 'storageBillingModel'
  >
> {
  const labels = objectAt(body, 'labels');
  return {
    ...('description' in body && { description: textAt(body, 'description') }),
    ...('friendlyName' in body && { friendlyName: textAt(body, 'friendlyName') }),
    ...('maxTimeTravelHours' in body && { maxTimeTravelHours: hours(body) }),
    ...('storageBillingModel' in body && {
      storageBillingModel: textAt(body, 'storageBillingModel'),
    }),
    ...(labels !== undefined && { labels: checkedLabels(textsIn(labels)) }),
  };
}

/** Two to seven days, in whole days. */
function hours(body: Raw): string | undefined {
  const text = textAt(body, 'maxTimeTravelHours');
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!(value >= 48 && value <= 168 && value % 24 === 0)) {
    throw invalid(
      `Invalid max time travel hours: ${text}. It must be a multiple of 24 between 48 and 168.`,
    );
  }
  return text;
}

const entry = (dataset: Dataset): object => ({
  kind: 'bigquery#dataset',
  id: `${dataset.project}:${dataset.name}`,
  datasetReference: { datasetId: dataset.name, projectId: dataset.project },
  location: dataset.location,
  ...(Object.keys(dataset.labels).length > 0 && { labels: dataset.labels }),
});

const resource = (dataset: Dataset): object => ({
  ...entry(dataset),
  etag: String(dataset.etag),
  selfLink: `https://bigquery.googleapis.com/bigquery/v2/projects/${dataset.project}/datasets/${dataset.name}`,
  type: 'DEFAULT',
  creationTime: String(dataset.createdMs),
  lastModifiedTime: String(dataset.modifiedMs),
  maxTimeTravelHours: dataset.maxTimeTravelHours ?? '168',
  ...(dataset.description !== undefined && { description: dataset.description }),
  ...(dataset.friendlyName !== undefined && { friendlyName: dataset.friendlyName }),
  ...(dataset.storageBillingModel !== undefined && {
    storageBillingModel: dataset.storageBillingModel,
  }),
});
