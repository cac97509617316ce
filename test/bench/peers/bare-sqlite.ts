import { DatabaseSync } from 'node:sqlite';
import { WARM_UP_ROWS } from '../source/canned-source.ts';
import { type Measured, type StageCall, timed } from '../stages/stage.ts';
import { BarePages } from './bare-pages.ts';
import { type WireRow, wireRows } from './wire-rows.ts';

/**
 * Rows into a table like ours by bare INSERTs of one transaction, which look nothing up and prove nothing, and then our two
 * indexes: of rows that are in memory (`insert`), and as they are read from the source in the same thread (`pass`).
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
    database.exec(`CREATE INDEX ${table}_s ON ${table} (status, id) WHERE _deleted_at IS NULL;
      CREATE INDEX ${table}_c ON ${table} (_changed_at); COMMIT`);
  };
  await inserted('warm_up', [rows.slice(0, WARM_UP_ROWS)]);
  await inserted('warm_pass', pages.read(WARM_UP_ROWS));
  const measured = [
    await timed('insert', rows.length, () => inserted('inserted', [rows])),
    await timed('pass', call.rows, () => inserted('passed', pages.read(call.rows))),
    ...(await inBatches(database, rows, columns)),
  ];
  database.close();
  return measured;
}

const BATCH_ROWS = 2_000;
const LOOKED_UP_ROWS = 500;

/**
 * What SQLite itself takes to store rows as ours are: each batch a commit that outlasts a power failure, its IDs looked up
 * before, an entry of history for each row, and the index by date there from the beginning (`batches`); and to read the same
 * rows and compare them (`compared`). All in this thread, where ours has one that stores beside one that joins rows.
 */
async function inBatches(
  database: DatabaseSync,
  rows: readonly WireRow[],
  columns: readonly string[],
): Promise<Measured[]> {
  database.exec(`PRAGMA secure_delete = ON; PRAGMA cache_size = -8192; PRAGMA wal_autocheckpoint = 2000;
    CREATE TABLE history (id INTEGER PRIMARY KEY, form_id TEXT NOT NULL, submission_id TEXT NOT NULL, status TEXT NOT NULL,
      not_before TEXT, seen_at TEXT NOT NULL)`);
  const insert = database.prepare(createTable(database, 'kept', columns));
  database.exec(`CREATE INDEX kept_d ON kept (created_at, status) WHERE _deleted_at IS NULL`);
  const among = 'WHERE id IN (SELECT value FROM json_each(?))';
  const lookUp = database.prepare(`SELECT * FROM kept ${among}`);
  lookUp.setReturnArrays(true);
  const note = database.prepare(
    `INSERT INTO history (form_id, submission_id, status, seen_at)
     SELECT 'frm-1', value ->> 0, value ->> 1, ? FROM json_each(?)`,
  );
  const at = new Date().toISOString();
  const cellsOf = (row: WireRow): readonly (string | number | null)[] => {
    const answers = columns.map((name) => bound(row.data[name]));
    return [row.id, row.status, row.createdAt, ...answers];
  };
  const store = (batch: readonly WireRow[]): void => {
    for (let from = 0; from < batch.length; from += LOOKED_UP_ROWS) {
      const some = batch.slice(from, from + LOOKED_UP_ROWS);
      const found = lookUp.all(JSON.stringify(some.map(({ id }) => id))) as unknown as unknown[][];
      const stored = new Map(found.map((cells) => [cells[0], cells]));
      for (const row of some) {
        const [cells, before] = [cellsOf(row), stored.get(row.id)];
        if (before === undefined) insert.run(...cells, at, at);
        else if (!cells.every((cell, nth) => cell === before[nth])) throw new Error('it differs');
      }
      if (found.length === 0) note.run(at, JSON.stringify(some.map((row) => [row.id, row.status])));
    }
  };
  const storeAll = async (): Promise<void> => {
    for (let from = 0; from < rows.length; from += BATCH_ROWS) {
      database.exec('BEGIN IMMEDIATE');
      store(rows.slice(from, from + BATCH_ROWS));
      database.exec('COMMIT');
    }
  };
  return [
    await timed('batches', rows.length, storeAll),
    await timed('compared', rows.length, storeAll),
  ];
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
