import { ApiError, datasetNotFound, invalid, tableNotFound } from './api-error.ts';
import type { BqType } from './types.ts';

/** A column of a table or view as the REST interface describes it. */
export interface Column {
  readonly name: string;
  readonly type: BqType;
  readonly isRequired: boolean;
  readonly description: string | undefined;
  /** Descriptions of the fields of a structure, and theirs. */
  readonly fields: readonly Column[];
}

export interface TimePartitioning {
  readonly type: 'HOUR' | 'DAY' | 'MONTH' | 'YEAR';
  /** Absent for partitions by time of ingestion, which are refused. */
  readonly field: string;
  readonly requireFilter: boolean;
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
  description: string | undefined;
  friendlyName: string | undefined;
  labels: Readonly<Record<string, string>>;
  partitioning: TimePartitioning | undefined;
  clustering: readonly string[];
  viewQuery: string | undefined;
  readonly createdMs: number;
  modifiedMs: number;
  etag: number;
  /** Goes up with each change of its rows. */
  version: number;
}

export interface Dataset {
  readonly project: string;
  readonly name: string;
  readonly location: string;
  description: string | undefined;
  friendlyName: string | undefined;
  labels: Readonly<Record<string, string>>;
  maxTimeTravelHours: string | undefined;
  storageBillingModel: string | undefined;
  readonly createdMs: number;
  modifiedMs: number;
  etag: number;
  readonly tables: Map<string, Table>;
}

/** What BigQuery takes for the name of a dataset. */
const DATASET_NAME = /^\w{1,1024}$/;
const TABLE_NAME = /^[\p{L}\p{M}\p{N}\p{Pc}\p{Pd}\p{Zs}]{1,1024}$/u;

/** All datasets with their tables and views. Names of tables are case-sensitive. */
export class Catalog {
  readonly #datasets = new Map<string, Dataset>();
  readonly #now: () => number;
  #nextTable = 1;

  constructor(now: () => number) {
    this.#now = now;
  }

  datasets(project: string): Dataset[] {
    return [...this.#datasets.values()].filter((dataset) => dataset.project === project);
  }

  /** The dataset; one that is not there is a 404. */
  dataset(project: string, name: string): Dataset {
    const dataset = this.findDataset(project, name);
    if (dataset === undefined) throw datasetNotFound(project, name);
    return dataset;
  }

  findDataset(project: string, name: string): Dataset | undefined {
    return this.#datasets.get(`${project}.${name}`);
  }

  addDataset(
    project: string,
    name: string,
    location: string,
    details: Partial<
      Pick<
        Dataset,
        'description' | 'friendlyName' | 'labels' | 'maxTimeTravelHours' | 'storageBillingModel'
      >
    > = {},
  ): Dataset {
    if (!DATASET_NAME.test(name)) {
      throw invalid(
        `Invalid dataset ID "${name}". Dataset IDs must be alphanumeric (plus underscores) and must be at most 1024 characters long.`,
      );
    }
    if (this.findDataset(project, name) !== undefined) {
      throw new ApiError('duplicate', `Already Exists: Dataset ${project}:${name}`);
    }
    const now = this.#now();
    const dataset: Dataset = {
      project,
      name,
      location,
      description: undefined,
      friendlyName: undefined,
      labels: {},
      maxTimeTravelHours: undefined,
      storageBillingModel: undefined,
      ...details,
      createdMs: now,
      modifiedMs: now,
      etag: 1,
      tables: new Map(),
    };
    this.#datasets.set(`${project}.${name}`, dataset);
    return dataset;
  }

  removeDataset(dataset: Dataset): void {
    this.#datasets.delete(`${dataset.project}.${dataset.name}`);
  }

  /** The table; one that is not there is a 404. */
  table(project: string, dataset: string, name: string): Table {
    const table = this.dataset(project, dataset).tables.get(name);
    if (table === undefined) throw tableNotFound(project, dataset, name);
    return table;
  }

  findTable(project: string, dataset: string, name: string): Table | undefined {
    return this.findDataset(project, dataset)?.tables.get(name);
  }

  /** A new table or view, not yet in its dataset: {@link add} puts it there. */
  draft(
    dataset: Dataset,
    name: string,
    shape: Pick<Table, 'kind' | 'columns'> &
      Partial<
        Pick<
          Table,
          'description' | 'friendlyName' | 'labels' | 'partitioning' | 'clustering' | 'viewQuery'
        >
      >,
  ): Table {
    if (!TABLE_NAME.test(name)) throw invalid(`Invalid table ID "${name}".`);
    const now = this.#now();
    return {
      project: dataset.project,
      dataset: dataset.name,
      name,
      physical: `t${this.#nextTable++}`,
      description: undefined,
      friendlyName: undefined,
      labels: {},
      partitioning: undefined,
      clustering: [],
      viewQuery: undefined,
      ...shape,
      createdMs: now,
      modifiedMs: now,
      etag: 1,
      version: 1,
    };
  }

  /** Puts a table into its dataset, in place of one of the same name. */
  add(table: Table): void {
    this.dataset(table.project, table.dataset).tables.set(table.name, table);
  }

  remove(table: Table): void {
    this.findDataset(table.project, table.dataset)?.tables.delete(table.name);
  }

  /** Notes a change of what describes the table. */
  touch(item: { modifiedMs: number; etag: number }): void {
    item.modifiedMs = this.#now();
    item.etag++;
  }
}

/** Notes a change of rows that others see from now on: the time of the last one tells it from any before. */
export function noteRowsChanged(table: Table, nowMs: number): void {
  table.version++;
  table.modifiedMs = Math.max(nowMs, table.modifiedMs + 1);
}

/** `project:dataset.table`, as messages name a table. */
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
