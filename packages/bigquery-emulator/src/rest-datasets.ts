import { ApiError } from './api-error.ts';
import { part, type Call, type Method } from './call.ts';
import type { Dataset } from './catalog.ts';
import { objectAt, textAt } from './json-object.ts';
import { HOME_LOCATION, placeName } from './jobs.ts';
import { checkFields, DATASET } from './request-fields.ts';
import { dropStored } from './table-store.ts';

/** The methods of `datasets`. */
export const DATASET_METHODS: Readonly<Record<'get' | 'insert' | 'delete', Method>> = {
  get: {
    name: 'datasets.get',
    run: async (call) => resource(datasetOf(call)),
  },
  insert: {
    name: 'datasets.insert',
    async run(call) {
      checkFields(call.body, DATASET, 'datasets');
      const id = textAt(objectAt(call.body, 'datasetReference') ?? {}, 'datasetId');
      if (id === undefined)
        throw new ApiError('required', 'Required parameter is missing: datasetId');
      const location = placeName(textAt(call.body, 'location')) ?? HOME_LOCATION;
      return resource(call.catalog.addDataset(part(call, 'projectId'), id, location));
    },
  },
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

const resource = ({ project, name, location }: Dataset): object => ({
  kind: 'bigquery#dataset',
  id: `${project}:${name}`,
  datasetReference: { datasetId: name, projectId: project },
  location,
});
