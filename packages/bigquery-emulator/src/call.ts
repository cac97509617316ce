import type { Catalog } from './catalog.ts';
import type { Raw } from './json-object.ts';
import type { Jobs } from './jobs.ts';
import type { Store } from './store.ts';

/** A parsed request to a method. */
export interface Call {
  readonly catalog: Catalog;
  readonly jobs: Jobs;
  readonly store: Store;
  /** The parts of the address that the method names, such as `datasetId`. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: Raw;
  /** The `If-Match` header. */
  readonly ifMatch: string | undefined;
  /** The client disconnected. */
  readonly signal: AbortSignal;
}

/** A method of the API. */
export interface Method {
  /** Google's name for it, such as `jobs.query`. */
  readonly name: string;
  /** Returns the body of the response. */
  run(call: Call): Promise<object>;
}

/** A part of the address. */
export function part(call: Call, name: string): string {
  const value = call.path[name];
  if (value === undefined) throw new Error(`The address has no ${name}.`);
  return value;
}

/** A whole number of the query string. */
export function numberParameter(call: Call, name: string): number | undefined {
  const text = call.query.get(name);
  return text === null || text === '' ? undefined : Number(text);
}
