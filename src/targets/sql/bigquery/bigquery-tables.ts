import type { bigquery_v2 } from 'googleapis/build/src/apis/bigquery/v2.js';
import type { BigQueryCalls } from './bigquery-calls.ts';
import { BigQueryError } from './bigquery-errors.ts';
import { describedTable, heldTable, restField, restTable } from './rest-table.ts';

/** The types that columns of ours have. */
export type ColumnKind = 'STRING' | 'INT64' | 'NUMERIC' | 'TIMESTAMP' | 'JSON' | 'BOOL';

/** A column of a table or view. */
export interface ColumnShape {
  readonly name: string;
  readonly type: ColumnKind;
  /** It takes no NULL. */
  readonly isRequired?: boolean;
  /** What is longer than 1,024 characters is cut. */
  readonly description?: string;
}

/** A table or view as REST tells of it. */
export interface TableShape {
  readonly name: string;
  readonly kind: 'table' | 'view';
  readonly description: string;
  readonly columns: readonly ColumnShape[];
  /** A TIMESTAMP column whose months are the partitions. */
  readonly partitionedBy?: string;
  readonly clusteredBy?: readonly string[];
}

/** A table as it is there. */
export interface HeldTable extends TableShape {
  /** Of a view. */
  readonly sql?: string;
  /** Rows, as far as they are counted; of a view 0. Reading it costs nothing. */
  readonly rows: number;
  /** When its rows or columns last changed, as the service writes it: another text after any change. */
  readonly changedAt: string;
  /** Something of that name which is neither a table nor a view of ours to use: a snapshot, an external table. */
  readonly isForeign: boolean;
}

/** What the list of a dataset tells of a table or view. */
export interface ListedTable {
  /** When it was made, as Google writes it. */
  readonly madeAt: string;
  readonly isView: boolean;
}

const DEFAULT_LOCATION = 'US';
const PATCH_TRIES = 5;

/** The dataset and its tables, by REST: free of charge, and harmless when repeated. */
export class BigQueryTables {
  readonly #calls: BigQueryCalls;
  readonly #wanted: string | undefined;
  readonly #ids: { readonly projectId: string; readonly datasetId: string };
  #location: Promise<string | undefined> | undefined;
  #madeMs = Number.NEGATIVE_INFINITY;
  /** Tables and views that were made or changed here, and not told of since: what is absent of them is so for a moment. */
  readonly #unseen = new Set<string>();

  constructor(calls: BigQueryCalls, wanted: string | undefined) {
    this.#calls = calls;
    this.#wanted = wanted;
    this.#ids = { projectId: calls.options.project, datasetId: calls.options.dataset };
  }

  /** Where jobs have to run: as the address says, else where the dataset is; undefined while there is none. */
  async location(signal?: AbortSignal): Promise<string | undefined> {
    if (this.#wanted !== undefined) return this.#wanted;
    this.#location ??= this.heldDataset(signal).then((dataset) => dataset?.location ?? undefined);
    try {
      const location = await this.#location;
      if (location === undefined) this.#location = undefined;
      return location;
    } catch (error) {
      this.#location = undefined;
      throw error;
    }
  }

  /** True when a dataset, table or view was made or changed here in the last `ms`: it may not be known everywhere yet. */
  madeWithin(ms: number): boolean {
    return this.#calls.options.clock.now() - this.#madeMs < ms;
  }

  /** The dataset; undefined when there is none. */
  heldDataset(signal?: AbortSignal): Promise<bigquery_v2.Schema$Dataset | undefined> {
    return orAbsent(
      this.#calls.repeated((client, options) => client.datasets.get(this.#ids, options), {
        signal,
      }),
    );
  }

  /** Makes the dataset where there is none. Throws TARGET_DENIED where it lies elsewhere than the address says. */
  async ensureDataset(): Promise<void> {
    const dataset = (await this.heldDataset()) ?? (await this.#makeDataset());
    const location = dataset?.location ?? undefined;
    if (this.#wanted === undefined || location === undefined) return;
    if (location.toLowerCase() !== this.#wanted.toLowerCase()) {
      throw elsewhere(this.#calls.options, location, this.#wanted);
    }
  }

  async #makeDataset(): Promise<bigquery_v2.Schema$Dataset | undefined> {
    const requestBody = {
      datasetReference: this.#ids,
      location: this.#wanted ?? DEFAULT_LOCATION,
      description: 'Submissions of forms, kept up to date by forms-mirror.',
    };
    await isMade(
      this.#calls.repeated(
        (client, options) =>
          client.datasets.insert({ projectId: this.#ids.projectId, requestBody }, options),
        { writes: true },
      ),
    );
    this.#made();
    return this.heldDataset();
  }

  /** The names of all tables and views. */
  async tables(): Promise<readonly string[]> {
    return [...(await this.listed()).keys()];
  }

  /** All tables and views by their names. */
  async listed(): Promise<ReadonlyMap<string, ListedTable>> {
    const names = new Map<string, ListedTable>();
    let pageToken: string | undefined;
    do {
      const answer = await orAbsent(
        this.#calls.repeated((client, options) =>
          client.tables.list(
            { ...this.#ids, maxResults: 1_000, ...(pageToken !== undefined && { pageToken }) },
            options,
          ),
        ),
      );
      for (const { tableReference, creationTime, type } of answer?.tables ?? []) {
        if (!tableReference?.tableId) continue;
        const listed = { madeAt: creationTime ?? '', isView: type === 'VIEW' };
        names.set(tableReference.tableId, listed);
      }
      pageToken = answer?.nextPageToken ?? undefined;
    } while (pageToken !== undefined);
    return names;
  }

  /** A table or view; undefined when there is none of that name. */
  async table(name: string): Promise<HeldTable | undefined> {
    const found = await this.#get(name);
    return found && heldTable(name, found);
  }

  /**
   * Of these permissions those that the account has at a table that is there. Google says that it may name too many, so
   * what is missing is missing, and what is named may still be refused.
   */
  async permissionsOf(
    table: string,
    permissions: readonly string[],
    signal?: AbortSignal,
  ): Promise<readonly string[]> {
    const { projectId, datasetId } = this.#ids;
    const resource = `projects/${projectId}/datasets/${datasetId}/tables/${table}`;
    const answer = await this.#calls.repeated(
      (client, options) =>
        client.tables.testIamPermissions(
          { resource, requestBody: { permissions: [...permissions] } },
          options,
        ),
      { signal },
    );
    return answer.permissions ?? [];
  }

  /** Makes a table; one of that name that is there already is left as it is. */
  async createTable(shape: TableShape): Promise<void> {
    await isMade(this.#insert(shape.name, restTable(shape)));
  }

  /** Adds the columns that are missing, at the end, and leaves all else as it is. */
  async addColumns(table: string, columns: readonly ColumnShape[]): Promise<void> {
    await this.#change(table, (held) => {
      const fields = held.schema?.fields ?? [];
      const names = new Set(fields.map(({ name }) => name?.toLowerCase()));
      const missing = columns.filter(({ name }) => !names.has(name.toLowerCase()));
      if (missing.length === 0) return undefined;
      return { schema: { fields: [...fields, ...missing.map(restField)] } };
    });
  }

  /**
   * Gives a table or view, and columns by name, these descriptions; does nothing where they have them. Columns that are not
   * named keep theirs.
   */
  async describe(
    table: string,
    description: string,
    columns: Readonly<Record<string, string>>,
  ): Promise<void> {
    await this.#change(table, (held) => describedTable(held, description, columns));
  }

  /** Makes a view, or makes it what it is to be, with descriptions of its columns. Does nothing where it is that already. */
  async saveView(
    name: string,
    sql: string,
    description: string,
    columns: Readonly<Record<string, string>>,
  ): Promise<void> {
    const view = { query: sql, useLegacySql: false };
    // Google takes no schema with a view that is made.
    const isNew = await isMade(this.#insert(name, { view, description }));
    if (!isNew)
      await this.#change(name, (held) => (held.view?.query === sql ? undefined : { view }));
    if (isNew && Object.keys(columns).length === 0) return;
    await this.describe(name, description, columns);
  }

  /**
   * Makes the text of a view what `change` makes of it, which may be asked several times: somebody else may have been faster,
   * or an answer lost. Undefined leaves the view as it is; of none there is `change` gets undefined, and it is made. For texts
   * that change all the time: nothing waits for such a view to be known everywhere.
   */
  async changeView(
    name: string,
    description: string,
    change: (sql: string | undefined) => string | undefined,
  ): Promise<void> {
    const viewOf = (
      sql: string | undefined,
    ): { view: bigquery_v2.Schema$ViewDefinition } | undefined => {
      const query = change(sql);
      return query === undefined ? undefined : { view: { query, useLegacySql: false } };
    };
    if ((await this.#get(name)) === undefined) {
      const made = viewOf(undefined);
      if (made === undefined) return;
      const requestBody = {
        ...made,
        description,
        tableReference: { ...this.#ids, tableId: name },
      };
      const making = this.#calls.repeated(
        (client, options) => client.tables.insert({ ...this.#ids, requestBody }, options),
        { writes: true },
      );
      if (await isMade(making)) return;
    }
    await this.#change(name, (held) => viewOf(held.view?.query ?? undefined), 'changes often');
  }

  /** Removes a table or view; none is fine. */
  async dropTable(name: string): Promise<void> {
    this.#unseen.delete(name);
    await orAbsent(
      this.#calls.repeated(
        (client, options) => client.tables.delete({ ...this.#ids, tableId: name }, options),
        { writes: true },
      ),
    );
  }

  async #get(name: string): Promise<bigquery_v2.Schema$Table | undefined> {
    const found = await orAbsent(
      this.#calls.retrying(
        () =>
          this.#calls.repeated((client, options) =>
            client.tables.get({ ...this.#ids, tableId: name }, options),
          ),
        undefined,
        (fault) => fault === 'absent' && this.#unseen.has(name),
      ),
    );
    this.#unseen.delete(name);
    return found;
  }

  async #insert(name: string, table: bigquery_v2.Schema$Table): Promise<void> {
    const requestBody = { ...table, tableReference: { ...this.#ids, tableId: name } };
    await this.#calls.repeated(
      (client, options) => client.tables.insert({ ...this.#ids, requestBody }, options),
      { writes: true },
    );
    this.#unseen.add(name);
    this.#made();
  }

  /** Patches a table as it was read; reads it again when somebody else was faster. */
  async #change(
    name: string,
    patch: (held: bigquery_v2.Schema$Table) => bigquery_v2.Schema$Table | undefined,
    which?: 'changes often',
  ): Promise<void> {
    let tries = 0;
    await this.#calls.retrying(
      async () => {
        tries++;
        const held = await this.#calls.repeated((client, options) =>
          client.tables.get({ ...this.#ids, tableId: name }, options),
        );
        const requestBody = patch(held);
        if (requestBody === undefined) return;
        const headers = held.etag ? { 'If-Match': held.etag } : {};
        await this.#calls.once(
          (client, options) =>
            client.tables.patch(
              { ...this.#ids, tableId: name, requestBody },
              { ...options, headers },
            ),
          { writes: true },
        );
        if (which === 'changes often') return;
        this.#unseen.add(name);
        this.#made();
      },
      undefined,
      (fault) =>
        tries < PATCH_TRIES &&
        (fault === 'changed' ||
          fault === 'unclear' ||
          fault === 'throttled' ||
          (fault === 'absent' && this.madeWithin(60_000))),
    );
  }

  #made(): void {
    this.#madeMs = this.#calls.options.clock.now();
  }
}

/** The dataset lies elsewhere than the address says. */
export const elsewhere = (
  { project, dataset }: { readonly project: string; readonly dataset: string },
  location: string,
  wanted: string,
): BigQueryError =>
  new BigQueryError('final', 'TARGET_DENIED', [
    `The dataset ${project}.${dataset} lies in ${location}, not in ${wanted}.`,
    `Write ?location=${location} in the address, or leave it out; a dataset cannot be moved.`,
  ]);

/** Undefined in place of what is not there. */
async function orAbsent<T>(work: Promise<T>): Promise<T | undefined> {
  return work.catch((error: unknown) => {
    if (error instanceof BigQueryError && error.fault === 'absent') return undefined;
    throw error;
  });
}

/** False where somebody else made it first, or an earlier try whose answer was lost. */
async function isMade(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (error instanceof BigQueryError && error.fault === 'exists') return false;
    throw error;
  }
}
