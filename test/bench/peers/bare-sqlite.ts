import { DatabaseSync } from 'node:sqlite';
import { WARM_UP_ROWS } from '../source/canned-source.ts';
import { type Measured, type StageCall, timed } from '../stages/stage.ts';
import { BarePages } from './bare-pages.ts';
import { type WireRow, wireRows } from './wire-rows.ts';

/**
 * Rows into a table like ours by bare INSERTs of one transaction, which prove nothing, and then our index: of rows that are in memory (`insert`), and as they are read from the source in the same thread (`run`).
 */
export async function copyIntoSqlite(call: StageCall): Promise<Measured[]> {
  const rows = await wireRows(call);
  await using pages = new BarePages(call);
  const database = new DatabaseSync(call.targetUrl.replace('sqlite:', ''));
  database.exec('PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  const columns = Object.keys(rows[0]?.data ?? {});
  const inserted = async (table: string, source: Source): Promise<void> => {
    const insert = database.prepare(createTable(database, table, columns));
    const at = new Date().toISOString();
    database.exec('BEGIN');
    for await (const some of source) {
      for (const row of some) {
        const answers = columns.map((name) => bound(row.data[name]));
        insert.run(row.id, row.status, row.createdAt, ...answers, at, at);
      }
    }
    database.exec(
      `CREATE INDEX ${table}_i ON ${table} (created_at, status) WHERE _deleted_at IS NULL; COMMIT`,
    );
  };
  await inserted('warm_up', [rows.slice(0, WARM_UP_ROWS)]);
  await inserted('warm_run', pages.read(WARM_UP_ROWS));
  const measured = [
    await timed('insert', rows.length, () => inserted('inserted', [rows])),
    await timed('run', call.rows, () => inserted('measured', pages.read(call.rows))),
  ];
  database.close();
  return measured;
}

type Source = Iterable<readonly WireRow[]> | AsyncIterable<readonly WireRow[]>;

/** Returns the statement that inserts a row: ID, status, date, answers, and two times. */
function createTable(database: DatabaseSync, table: string, columns: readonly string[]): string {
  const names = columns.map((name) => `"${name}"`);
  database.exec(
    `CREATE TABLE ${table} (id TEXT NOT NULL PRIMARY KEY, status TEXT, created_at TEXT, ${names.join(', ')},
      _first_seen_at TEXT, _changed_at TEXT, _deleted_at TEXT)`,
  );
  return `INSERT INTO ${table} VALUES (${Array(columns.length + 5)
    .fill('?')
    .join(', ')}, NULL)`;
}

function bound(value: unknown): string | number | null {
  if (value === undefined || value === null || value === '') return null;
  return typeof value === 'string' || typeof value === 'number' ? value : JSON.stringify(value);
}
