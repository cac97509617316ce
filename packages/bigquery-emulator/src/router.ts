import type { Method } from './call.ts';
import { DATASET_METHODS } from './rest-datasets.ts';
import { JOB_METHODS } from './rest-jobs.ts';
import { TABLE_METHODS } from './rest-tables.ts';

/** The method of an address, with the parameters in the address. */
export interface Route {
  readonly method: Method;
  readonly path: Readonly<Record<string, string>>;
}

interface Pattern {
  readonly verb: string;
  readonly path: RegExp;
  readonly method: Method;
}

const PROJECT = '^/bigquery/v2/projects/{projectId}';
const DATASETS = '/datasets';
const DATASET = `${DATASETS}/{datasetId}`;
const TABLES = `${DATASET}/tables`;
const TABLE = `${TABLES}/{tableId}`;

function pattern(verb: string, path: string, method: Method): Pattern {
  const shape = `${PROJECT}${path}$`.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/:]+)');
  return { verb, path: new RegExp(shape), method };
}

const PATTERNS: readonly Pattern[] = [
  pattern('POST', DATASETS, DATASET_METHODS.insert),
  pattern('GET', DATASET, DATASET_METHODS.get),
  pattern('GET', TABLES, TABLE_METHODS.list),
  pattern('POST', TABLES, TABLE_METHODS.insert),
  pattern('GET', TABLE, TABLE_METHODS.get),
  pattern('PATCH', TABLE, TABLE_METHODS.patch),
  pattern('POST', '/queries', JOB_METHODS.query),
  pattern('GET', '/queries/{jobId}', JOB_METHODS.getQueryResults),
];

/** The route of an address; undefined for an unsupported address. */
export function routeOf(verb: string, path: string): Route | undefined {
  for (const { verb: wanted, path: shape, method } of PATTERNS) {
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
