import { ApiError } from './api-error.ts';
import { part, type Call, type Method } from './call.ts';
import { type Dataset, LOCATION } from './catalog.ts';
import { objectAt, textAt } from './json-object.ts';
import { checkLocation } from './jobs.ts';
import { checkFields, DATASET } from './request-fields.ts';

/** The methods of `datasets`. */
export const DATASET_METHODS: Readonly<Record<'get' | 'insert', Method>> = {
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
      checkLocation(textAt(call.body, 'location'));
      return resource(call.catalog.addDataset(part(call, 'projectId'), id));
    },
  },
};

const datasetOf = (call: Call): Dataset =>
  call.catalog.dataset(part(call, 'projectId'), part(call, 'datasetId'));

const resource = ({ project, name }: Dataset): object => ({
  kind: 'bigquery#dataset',
  id: `${project}:${name}`,
  datasetReference: { datasetId: name, projectId: project },
  location: LOCATION,
});
