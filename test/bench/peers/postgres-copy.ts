import { pipeline } from 'node:stream/promises';
import { Client } from 'pg';
import { from } from 'pg-copy-streams';
import { PAGE_ROWS } from '../stages/program.ts';
import { WARM_UP_ROWS } from '../source/canned-source.ts';
import { type Measured, type StageCall, timed } from '../stages/stage.ts';
import { BarePages } from './bare-pages.ts';
import { type WireRow, wireRows } from './wire-rows.ts';

/**
 * Rows into a table like ours by one bare COPY, their text made on the way: of rows that are in memory (`copy`), the most that
 * PostgreSQL takes from one client, and as they are read from the source (`run`).
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
    ['run', 'warm_run', pages.read(WARM_UP_ROWS)],
    ['copy', 'copied', inPages(rows)],
    ['run', 'measured', pages.read(call.rows)],
  ] as const) {
    await client.query(create(table));
    const text = chunks(some, fieldIds);
    measured.push(await timed(name, call.rows, () => copyIn(client, copyInto(table), text)));
  }
  await client.end();
  return measured.slice(2);
}

function* inPages(rows: readonly WireRow[]): Generator<readonly WireRow[]> {
  for (let at = 0; at < rows.length; at += PAGE_ROWS) yield rows.slice(at, at + PAGE_ROWS);
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

/** COPY … FROM STDIN. */
const copyIn = (client: Client, sql: string, source: AsyncIterable<Buffer>): Promise<void> =>
  pipeline(source, client.query(from(sql)));
