import type { HeldTable } from './bigquery-tables.ts';
import type { Store } from './store.ts';

/** A table as it is there. */
export interface PresentTable {
  readonly columns: readonly string[];
  /** Another one after any change of the table; undefined where that is not known. */
  readonly mark: string | undefined;
}

/** Tables that are asked for at once: Google takes a hundred such questions a second. */
const AT_ONCE = 8;
/** Of more tables than these one statement tells, which is billed, as asking would take too long. */
const MOST_ASKED = 200;

/** Those of these tables that are there. Bills nothing, but for a dataset with very many forms. */
export async function presentTables(
  store: Store,
  names: readonly string[],
  mostAsked = MOST_ASKED,
): Promise<ReadonlyMap<string, PresentTable>> {
  if (names.length > mostAsked) return listedTables(store);
  const present = new Map<string, PresentTable>();
  const queue = new Set(names).values();
  const askOneByOne = async (): Promise<void> => {
    for (const name of queue) {
      const table = await store.jobs.table(name);
      if (table === undefined) continue;
      const columns = table.columns.map((column) => column.name);
      present.set(name, { columns, mark: markOf(table) });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, askOneByOne));
  return present;
}

/** See {@link PresentTable.mark}. */
export const markOf = ({ changedAt, rows }: HeldTable): string => JSON.stringify([changedAt, rows]);

async function listedTables(store: Store): Promise<Map<string, PresentTable>> {
  const columns = `\`${store.jobs.project}.${store.jobs.dataset}\`.INFORMATION_SCHEMA.COLUMNS`;
  const rows = await store.queryHeld({
    sql: `SELECT table_name, STRING_AGG(column_name, ' ') AS columns FROM ${columns} GROUP BY table_name`,
    parameters: {},
  });
  return new Map(
    rows.map((row) => [
      row['table_name'] ?? '',
      { columns: row['columns']?.split(' ') ?? [], mark: undefined },
    ]),
  );
}
