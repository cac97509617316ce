import { fullName, type Table } from './catalog.ts';
import { quoted } from './emit.ts';
import { readsOf, type Range, type Read } from './pruning.ts';
import type { Prepared } from './statement.ts';
import type { StoreConnection } from './store.ts';
import type { BqType } from './types.ts';

/** The bytes that a statement reads, and those that it is billed for. */
export interface Bytes {
  readonly processed: number;
  readonly billed: number;
}

const MB = 1_048_576;
const MINIMUM_MB = 10;
/** Every row without a date, or without partitions. */
const NO_PARTITION = '';

interface Sizes {
  version: number;
  /** Bytes of a column, by the start of the partition in microseconds. */
  readonly columns: Map<string, ReadonlyMap<string, number>>;
}

/**
 * Computes bytes as the service bills on-demand queries: the columns that are read, in the partitions that literals do
 * not exclude; for UPDATE, DELETE and a MERGE with them, every column of the table. At least 10 MB per table.
 */
export class Reckoning {
  readonly #sizes = new WeakMap<Table, Sizes>();

  async of(connection: StoreConnection, prepared: Prepared): Promise<Bytes> {
    const reads = readsOf(prepared);
    let processed = 0;
    let billedMb = 0;
    for (const table of prepared.names.stored.values()) {
      const own = reads.filter(({ name }) => name === fullName(table));
      const bytes = await this.#bytes(connection, table, own);
      processed += bytes;
      billedMb += Math.max(MINIMUM_MB, Math.ceil(bytes / MB));
    }
    return { processed, billed: billedMb * MB };
  }

  async #bytes(connection: StoreConnection, table: Table, reads: readonly Read[]): Promise<number> {
    const all = table.columns.map(({ name }) => name);
    const wanted = reads.map((read) => ({
      keeps: read.keeps,
      names: new Set(read.isRewritten ? all : read.columns),
    }));
    const sizes = await this.#sizesOf(
      connection,
      table,
      new Set(wanted.flatMap(({ names }) => [...names])),
    );
    let total = 0;
    for (const { names, keeps } of wanted) {
      for (const name of names) {
        for (const [partition, bytes] of sizes.get(name) ?? []) {
          if (keeps(rangeOf(partition))) total += bytes;
        }
      }
    }
    return total;
  }

  /** The sizes of columns; sizes that are unknown for the current table are queried at once. */
  async #sizesOf(
    connection: StoreConnection,
    table: Table,
    wanted: ReadonlySet<string>,
  ): Promise<Sizes['columns']> {
    let sizes = this.#sizes.get(table);
    if (sizes?.version !== table.version) {
      sizes = { version: table.version, columns: new Map() };
      this.#sizes.set(table, sizes);
    }
    const { columns } = sizes;
    const missing = table.columns.filter(({ name }) => wanted.has(name) && !columns.has(name));
    if (missing.length === 0) return columns;
    const sums = missing.map(
      ({ name, type }) => `CAST(sum(${sizeSql(quoted(name), type)}) AS VARCHAR)`,
    );
    const rows = await connection.rows(
      `SELECT ${partitionSql(table)} AS p, ${sums.join(', ')} FROM ${table.physical} GROUP BY 1`,
    );
    for (const [index, { name }] of missing.entries()) {
      const found = rows.map(([key, ...bytes]): [string, number] => [
        typeof key === 'string' ? key : NO_PARTITION,
        Number(bytes[index] ?? 0),
      ]);
      columns.set(name, new Map(found));
    }
    return columns;
  }
}

function partitionSql({ partitionedBy }: Table): string {
  if (partitionedBy === undefined) return "''";
  return `coalesce(CAST(epoch_us(date_trunc('month', ${quoted(partitionedBy)})) AS VARCHAR), '')`;
}

/** The times of a partition in microseconds, without the end; undefined for rows without a date. */
function rangeOf(partition: string): Range | undefined {
  if (partition === NO_PARTITION) return undefined;
  const start = BigInt(partition);
  const day = new Date(Number(start / 1_000n));
  day.setUTCMonth(day.getUTCMonth() + 1);
  return { start, end: BigInt(day.getTime()) * 1_000n };
}

/** Bytes of a value according to Google's page on data sizes; NULL has none. */
function sizeSql(sql: string, { kind }: BqType): string {
  if (kind === 'STRING') return `coalesce(strlen(${sql}) + 2, 0)`;
  return `CASE WHEN ${sql} IS NULL THEN 0 ELSE ${kind === 'BOOL' ? 1 : 8} END`;
}
