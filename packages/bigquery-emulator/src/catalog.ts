import { ApiError, datasetNotFound, invalid, tableNotFound } from './api-error.ts';
import type { BqType } from './types.ts';

/** A column of a table or view. */
export interface Column {
  readonly name: string;
  readonly type: BqType;
  readonly isRequired: boolean;
}

/** A table or a view. */
export interface Table {
  readonly project: string;
  readonly dataset: string;
  readonly name: string;
  readonly kind: 'TABLE' | 'VIEW';
  /** The table's name in the store. */
  readonly physical: string;
  columns: readonly Column[];
  labels: Readonly<Record<string, string>>;
  /** The column by whose months it is partitioned. */
  readonly partitionedBy: string | undefined;
  readonly viewQuery: string | undefined;
  etag: number;
  /** Increases with each change of its rows. */
  version: number;
}

export interface Dataset {
  readonly project: string;
  readonly name: string;
  readonly tables: Map<string, Table>;
}

/** The location of all datasets and jobs. */
export const LOCATION: string = 'US';

/** The valid names of a dataset in BigQuery. */
const DATASET_NAME = /^\w{1,1024}$/;
const TABLE_NAME = /^[\p{L}\p{M}\p{N}\p{Pc}\p{Pd}\p{Zs}]{1,1024}$/u;

/** All datasets with their tables and views. Names of tables are case-sensitive. */
export class Catalog {
  readonly #datasets = new Map<string, Dataset>();
  #nextTable = 1;

  /** The dataset; if it does not exist, a 404. */
  dataset(project: string, name: string): Dataset {
    const dataset = this.findDataset(project, name);
    if (dataset === undefined) throw datasetNotFound(project, name);
    return dataset;
  }

  findDataset(project: string, name: string): Dataset | undefined {
    return this.#datasets.get(`${project}.${name}`);
  }

  addDataset(project: string, name: string): Dataset {
    if (!DATASET_NAME.test(name)) {
      throw invalid(
        `Invalid dataset ID "${name}". Dataset IDs must be alphanumeric (plus underscores) and must be at most 1024 characters long.`,
      );
    }
    if (this.findDataset(project, name) !== undefined) {
      throw new ApiError('duplicate', `Already Exists: Dataset ${project}:${name}`);
    }
    const dataset: Dataset = { project, name, tables: new Map() };
    this.#datasets.set(`${project}.${name}`, dataset);
    return dataset;
  }

  /** The table; if it does not exist, a 404. */
  table(project: string, dataset: string, name: string): Table {
    const table = this.dataset(project, dataset).tables.get(name);
    if (table === undefined) throw tableNotFound(project, dataset, name);
    return table;
  }

  /** A new table or view, not yet in its dataset: {@link add} adds it. */
  draft(
    dataset: Dataset,
    name: string,
    shape: Pick<Table, 'kind' | 'columns'> & Partial<Pick<Table, 'partitionedBy' | 'viewQuery'>>,
  ): Table {
    if (!TABLE_NAME.test(name)) throw invalid(`Invalid table ID "${name}".`);
    return {
      project: dataset.project,
      dataset: dataset.name,
      name,
      physical: `t${this.#nextTable++}`,
      labels: {},
      partitionedBy: undefined,
      viewQuery: undefined,
      ...shape,
      etag: 1,
      version: 1,
    };
  }

  /** Adds a table to its dataset, in place of one with the same name. */
  add(table: Table): void {
    this.dataset(table.project, table.dataset).tables.set(table.name, table);
  }

  remove(table: Table): void {
    this.findDataset(table.project, table.dataset)?.tables.delete(table.name);
  }
}

/** `project:dataset.table`, the name of a table in messages. */
export const shownName = ({
  project,
  dataset,
  name,
}: Pick<Table, 'project' | 'dataset' | 'name'>): string => `${project}:${dataset}.${name}`;

/** `project.dataset.table`: the table's name for the analyzer, and the key of its locks. */
export const fullName = ({
  project,
  dataset,
  name,
}: Pick<Table, 'project' | 'dataset' | 'name'>): string => `${project}.${dataset}.${name}`;
