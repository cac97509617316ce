import type { Method } from './call.ts';
import { DATASET_METHODS } from './rest-datasets.ts';
import { JOB_METHODS, undone } from './rest-jobs.ts';
import { testPermissions } from './rest-permissions.ts';
import { tableMethods } from './rest-tables.ts';
import type { ViewReader } from './table-change.ts';

/** The method that an address names, with the parts that it names besides. */
export interface Route {
  readonly method: Method;
  readonly path: Readonly<Record<string, string>>;
}

interface Pattern {
  readonly verb: string;
  readonly path: RegExp;
  readonly method: Method;
}

const BASE = '^/(?:upload/)?bigquery/v2/projects';

function pattern(verb: string, path: string, method: Method): Pattern {
  const shape = path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/:]+)');
  return { verb, path: new RegExp(`${BASE}${shape}$`), method };
}

const DATASETS = '/{projectId}/datasets';
const DATASET = `${DATASETS}/{datasetId}`;
const TABLES = `${DATASET}/tables`;
const TABLE = `${TABLES}/{tableId}`;
const JOBS = '/{projectId}/jobs';

/** Finds the method of an address. */
export class Router {
  readonly #patterns: readonly Pattern[];

  constructor(readView: ViewReader) {
    const tables = tableMethods(readView);
    this.#patterns = [
      pattern('GET', DATASETS, DATASET_METHODS.list),
      pattern('POST', DATASETS, DATASET_METHODS.insert),
      pattern('GET', DATASET, DATASET_METHODS.get),
      pattern('PATCH', DATASET, DATASET_METHODS.patch),
      pattern('PUT', DATASET, DATASET_METHODS.update),
      pattern('DELETE', DATASET, DATASET_METHODS.delete),
      pattern('GET', TABLES, tables.list),
      pattern('POST', TABLES, tables.insert),
      pattern('GET', TABLE, tables.get),
      pattern('PATCH', TABLE, tables.patch),
      pattern('PUT', TABLE, tables.update),
      pattern('DELETE', TABLE, tables.delete),
      pattern('POST', `${TABLE}:testIamPermissions`, {
        name: 'tables.testIamPermissions',
        run: async (call) => testPermissions(call),
      }),
      pattern('POST', `${TABLE}/insertAll`, undone('tabledata.insertAll', 'streaming inserts')),
      pattern('GET', `${TABLE}/data`, undone('tabledata.list', 'tabledata.list')),
      pattern('POST', '/{projectId}/queries', JOB_METHODS.query),
      pattern('GET', '/{projectId}/queries/{jobId}', JOB_METHODS.getQueryResults),
      pattern('GET', JOBS, JOB_METHODS.list),
      pattern('POST', JOBS, JOB_METHODS.insert),
      pattern('GET', `${JOBS}/{jobId}`, JOB_METHODS.get),
      pattern('POST', `${JOBS}/{jobId}/cancel`, JOB_METHODS.cancel),
      pattern('GET', '/{projectId}/serviceAccount', {
        name: 'projects.getServiceAccount',
        run: async () => ({
          kind: 'bigquery#getServiceAccountResponse',
          email: 'bq-100000000000@bigquery-encryption.iam.gserviceaccount.com',
        }),
      }),
      pattern('GET', '', {
        name: 'projects.list',
        run: async () => ({ kind: 'bigquery#projectList', totalItems: 0 }),
      }),
    ];
  }

  /** The route of an address; undefined for one that Google does not have. */
  routeOf(verb: string, path: string): Route | undefined {
    for (const { verb: wanted, path: shape, method } of this.#patterns) {
      if (wanted !== verb) continue;
      const match = shape.exec(path);
      if (match === null) continue;
      const parts = Object.entries(match.groups ?? {}).map(([name, text]) => [
        name,
        decodeURIComponent(text ?? ''),
      ]);
      return { method, path: Object.fromEntries(parts) };
    }
    return undefined;
  }
}
