import type { AnalyzedTable } from './analyzer.ts';
import { ApiError, invalidQuery, notDone } from './api-error.ts';
import { fullName, LOCATION, shownName, type Catalog, type Table } from './catalog.ts';
import type { Relation } from './emit.ts';

/** The meaning of names without a project or dataset. */
export interface Defaults {
  readonly project: string;
  readonly dataset: { readonly project: string; readonly name: string } | undefined;
}

/** The tables of a statement, for the analyzer and for the text that is written from its response. */
export interface Names {
  readonly tables: readonly AnalyzedTable[];
  readonly relations: ReadonlyMap<string, Relation>;
  /** Tables and views by the name that the analyzer returns for them. */
  readonly local: ReadonlyMap<string, Table>;
  /** Tables of the store that are read or changed, including those below views, by their full names. */
  readonly stored: ReadonlyMap<string, Table>;
}

/** Writes out the query of a view. Passed in because a view's query is a statement, too. */
export type ViewWriter = (query: string, view: Table) => Promise<{ sql: string; names: Names }>;

/** Looks up the names of a statement. A table that does not exist, or is elsewhere, is a 404 in Google's words. */
export async function resolveNames(
  spelled: readonly (readonly string[])[],
  catalog: Catalog,
  defaults: Defaults,
  writeView: ViewWriter,
): Promise<Names> {
  const tables: AnalyzedTable[] = [];
  const relations = new Map<string, Relation>();
  const stored = new Map<string, Table>();
  const local = new Map<string, Table>();
  const spellings = new Map<string, string>();
  for (const spelling of spelled) {
    const key = spelling.join('.');
    const known = spellings.get(key.toLowerCase());
    if (known === key) continue;
    // The analyzer would treat both as one.
    if (known !== undefined) throw notDone('two tables whose names differ by capitals alone');
    spellings.set(key.toLowerCase(), key);
    const parts = pathParts(spelling);
    const table = findTable(parts, catalog, defaults);
    const columns = table.columns.map(({ name, type }) => ({ name, type }));
    tables.push({ spelling, key, columns });
    local.set(key, table);
    const names = table.columns.map(({ name }) => name);
    if (table.viewQuery === undefined) {
      stored.set(fullName(table), table);
      relations.set(key, { sql: table.physical, columns: names });
    } else {
      const view = await writeView(table.viewQuery, table);
      for (const [name, inner] of view.names.stored) stored.set(name, inner);
      relations.set(key, { sql: `(${view.sql})`, columns: names });
    }
  }
  return { tables, relations, local, stored };
}

/** The parts of a path in a statement: dots inside backticks divide it. */
const pathParts = (spelling: readonly string[]): string[] =>
  spelling.flatMap((part) => part.split('.'));

/** Dataset and table of a path that a statement creates, changes or drops. */
export function splitPath(
  path: readonly string[],
  defaults: Defaults,
): { project: string; dataset: string; name: string } {
  const parts = pathParts(path);
  const name = parts.pop() ?? '';
  const dataset = parts.pop() ?? defaults.dataset?.name;
  if (dataset === undefined) {
    throw invalidQuery(`Table "${name}" must be qualified with a dataset (e.g. dataset.table).`);
  }
  const project = parts.join('.') || defaults.dataset?.project || defaults.project;
  return { project, dataset, name };
}

function findTable(parts: readonly string[], catalog: Catalog, defaults: Defaults): Table {
  if (parts.some((part) => part.toUpperCase() === 'INFORMATION_SCHEMA'))
    throw notDone('INFORMATION_SCHEMA');
  const { project, dataset: datasetName, name } = splitPath(parts, defaults);
  if (name.includes('*')) throw notDone('wildcard tables');
  const dataset = catalog.findDataset(project, datasetName);
  if (dataset === undefined) throw notFoundIn('Dataset', `${project}:${datasetName}`);
  const table = dataset.tables.get(name);
  if (table === undefined) {
    throw notFoundIn('Table', shownName({ project, dataset: datasetName, name }));
  }
  return table;
}

/** Google's sentence for a name that does not exist. */
export const notFoundIn = (what: 'Dataset' | 'Table', name: string): ApiError =>
  new ApiError('notFound', `Not found: ${what} ${name} was not found in location ${LOCATION}`);
