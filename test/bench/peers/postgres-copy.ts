import { Client, type Connection, type Submittable } from 'pg';
import { PAGE_ROWS } from '../stages/program.ts';
import { WARM_UP_ROWS } from '../source/canned-source.ts';
import { type Measured, type StageCall, timed } from '../stages/stage.ts';
import { BarePages } from './bare-pages.ts';
import { type WireRow, wireRows } from './wire-rows.ts';

/**
 * Rows into a table like ours by one bare COPY, their text made on the way: of rows that are in memory (`copy`), the most that
 * PostgreSQL takes from one client, as they are read from the source (`pass`), and in batches with what ours notes (`batches`).
 */
export async function copyAlone(call: StageCall): Promise<Measured[]> {
  const rows = await wireRows(call);
  await using pages = new BarePages(call);
  const columns = Object.entries(rows[0]?.data ?? {});
  const types = columns.map(
    ([name, value]) => `"${name}" ${typeof value === 'number' ? 'numeric' : 'text'}`,
  );
  const names = ['id', 'status', 'created_at', ...columns.map(([name]) => `"${name}"`)];
  names.push('_first_seen_at', '_changed_at');
  const client = new Client({ connectionString: call.targetUrl });
  await client.connect();
  const fieldIds = columns.map(([name]) => name);
  const create = (table: string): string =>
    `CREATE TABLE ${table} (id text PRIMARY KEY, status text NOT NULL, created_at timestamptz, ${types.join(', ')},
       _first_seen_at timestamptz NOT NULL, _changed_at timestamptz NOT NULL, _deleted_at timestamptz)`;
  const copyInto = (table: string): string => `COPY ${table} (${names.join(', ')}) FROM STDIN`;
  const measured: Measured[] = [];
  for (const [name, table, some] of [
    ['copy', 'warm_up', inPages(rows.slice(0, WARM_UP_ROWS))],
    ['pass', 'warm_pass', pages.read(WARM_UP_ROWS)],
    ['copy', 'copied', inPages(rows)],
    ['pass', 'passed', pages.read(call.rows)],
  ] as const) {
    await client.query(create(table));
    const text = chunks(some, fieldIds);
    measured.push(await timed(name, call.rows, () => copyIn(client, copyInto(table), text)));
  }
  for (const [table, some] of [
    ['warm_kept', rows.slice(0, WARM_UP_ROWS)],
    ['kept', rows],
  ] as const) {
    await client.query(create(table));
    await client.query(TABLES_BESIDE);
    const keep = (): Promise<void> => inBatches(client, { sql: copyInto(table), fieldIds }, some);
    measured.push(await timed('batches', call.rows, keep));
  }
  await client.end();
  return measured.filter((_, at) => ![0, 1, 4].includes(at));
}

/** What our batches write besides their rows. */
const TABLES_BESIDE = `
  CREATE TABLE IF NOT EXISTS history (entry bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, form_id text NOT NULL,
    submission_id text NOT NULL, status text NOT NULL, not_before timestamptz, seen_at timestamptz NOT NULL);
  CREATE INDEX IF NOT EXISTS history_s ON history USING hash (submission_id);
  CREATE TABLE IF NOT EXISTS form (form_id text PRIMARY KEY, epoch bigint NOT NULL);
  INSERT INTO form VALUES ('frm-1', 1) ON CONFLICT DO NOTHING`;

const BATCH_ROWS = 2_000;

/**
 * What PostgreSQL itself takes to store rows as ours are: each batch a commit, an entry of history for each row, and the form's
 * row locked so that nobody else writes. The indexes that ours makes once the rows are there are
 * left out, and so is the program: what it joins, checks, compares and answers.
 */
async function inBatches(
  client: Client,
  { sql, fieldIds }: { sql: string; fieldIds: readonly string[] },
  rows: readonly WireRow[],
): Promise<void> {
  const at = new Date().toISOString();
  for (let from = 0; from < rows.length; from += BATCH_ROWS) {
    const some = rows.slice(from, from + BATCH_ROWS);
    await client.query(`BEGIN; SELECT epoch FROM form WHERE form_id = 'frm-1' FOR UPDATE`);
    await copyIn(client, sql, chunks(inPages(some), fieldIds));
    const entries = some.map((row) => `frm-1\t${escaped(row.id)}\t${escaped(row.status)}\t${at}\n`);
    const history = 'COPY history (form_id, submission_id, status, seen_at) FROM STDIN';
    await copyIn(client, history, [Buffer.from(entries.join(''))]);
    await client.query('COMMIT');
  }
}

function* inPages(rows: readonly WireRow[]): Generator<readonly WireRow[]> {
  for (let from = 0; from < rows.length; from += PAGE_ROWS)
    yield rows.slice(from, from + PAGE_ROWS);
}

async function* chunks(
  pages: Iterable<readonly WireRow[]> | AsyncIterable<readonly WireRow[]>,
  fieldIds: readonly string[],
): AsyncGenerator<Buffer> {
  const at = new Date().toISOString();
  for await (const rows of pages) {
    let text = '';
    for (const row of rows) {
      text += `${escaped(row.id)}\t${escaped(row.status)}\t${row.createdAt}`;
      for (const id of fieldIds) text += `\t${escaped(row.data[id])}`;
      text += `\t${at}\t${at}\n`;
    }
    yield Buffer.from(text);
  }
}

function escaped(value: unknown): string {
  if (value === undefined || value === null || value === '') return String.raw`\N`;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /[\\\n\r\t]/.test(text) ? text.replaceAll(/[\\\n\r\t]/g, (one) => ESCAPES[one]!) : text;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': String.raw`\\`,
  '\n': String.raw`\n`,
  '\r': String.raw`\r`,
  '\t': String.raw`\t`,
};

/** pg's connection has the messages of COPY; its types do not. */
interface CopyConnection extends Connection {
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}

/** COPY … FROM STDIN as pg takes a query of one's own; waits for the socket where it is full. */
function copyIn(
  client: Client,
  sql: string,
  source: AsyncIterable<Buffer> | Iterable<Buffer>,
): Promise<void> {
  const done = Promise.withResolvers<void>();
  const send = async (connection: CopyConnection): Promise<void> => {
    for await (const chunk of source) {
      connection.sendCopyFromChunk(chunk);
      const { stream } = connection;
      if (stream.writableNeedDrain) await new Promise((go) => stream.once('drain', go));
    }
    connection.endCopyFrom();
  };
  const query: Submittable & Record<string, unknown> = {
    submit: (connection: Connection) => (connection as CopyConnection).query(sql),
    handleCopyInResponse: (connection: CopyConnection) => void send(connection).catch(done.reject),
    handleCommandComplete: () => {},
    handleReadyForQuery: () => done.resolve(),
    handleError: (error: Error) => done.reject(error),
  };
  client.query(query);
  return done.promise;
}
