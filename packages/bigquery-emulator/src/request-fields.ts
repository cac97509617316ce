import { notDone } from './api-error.ts';
import { isRaw, type Raw } from './json-object.ts';

/** The fields of an object in a body: `true` for a plain value; for an object, or a list of objects, its own fields. */
export interface Fields {
  readonly [name: string]: true | Fields;
}

/** Throws for any other field: no part of a body is silently ignored. */
export function checkFields(raw: Raw, fields: Fields, what: string): void {
  for (const [name, value] of Object.entries(raw)) {
    const known = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (known === undefined) throw notDone(`${what} with ${name}`);
    if (known === true) continue;
    const items: unknown[] = Array.isArray(value) ? value : [value];
    for (const item of items) if (isRaw(item)) checkFields(item, known, what);
  }
}

const DATASET_REFERENCE: Fields = { projectId: true, datasetId: true };

/** Of `datasets.insert`. */
export const DATASET: Fields = { datasetReference: DATASET_REFERENCE, location: true };

/** Of `tables.insert`. */
export const TABLE: Fields = {
  tableReference: { ...DATASET_REFERENCE, tableId: true },
  schema: { fields: { name: true, type: true } },
  // No method reads it again.
  description: true,
};

/** Of `tables.patch`. The labels are checked one by one. */
export const TABLE_CHANGE: Fields = { labels: true };

/** Of `jobs.query`. */
export const QUERY_REQUEST: Fields = {
  query: true,
  useLegacySql: true,
  parameterMode: true,
  queryParameters: {
    name: true,
    parameterType: { type: true, arrayType: { type: true } },
    parameterValue: { value: true, arrayValues: { value: true } },
  },
  defaultDataset: DATASET_REFERENCE,
  location: true,
  maximumBytesBilled: true,
  labels: true,
  timeoutMs: true,
  maxResults: true,
  formatOptions: { useInt64Timestamp: true },
  createSession: true,
  connectionProperties: { key: true, value: true },
  requestId: true,
};
