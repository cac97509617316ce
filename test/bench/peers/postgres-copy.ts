import { pipeline } from 'node:stream/promises';
import { Client } from 'pg';
import { from } from 'pg-copy-streams';
import { PAGE_ROWS } from '../stages/program.ts';
import { WARM_UP_ROWS } from '../source/canned-source.ts';
import { type Measured, type StageCall, timed } from '../stages/stage.ts';
import { type WireRow, wireRows } from './wire-rows.ts';

/** As many rows as a run stores at a time. */
const BATCH_ROWS = 2_000;

/**
 * Writes rows that are in memory into a table like ours with one COPY, the fastest way that PostgreSQL offers to one
 * client; then, as `committed`, the least that a run does: a transaction for each batch, into a table with its index.
 */
export async function copyAlone(call: StageCall): Promise<Measured[]> {
  const rows = await wireRows(call);
  const columns = Object.entries(rows[0]?.data ?? {});
  const fieldIds = columns.map(([name]) => name);
  const types = columns.map(
    ([name, value]) => `"${name}" ${typeof value === 'number' ? 'numeric' : 'text'}`,
  );
  const names = ['id', 'status', 'created_at', ...fieldIds.map((name) => `"${name}"`)];
  names.push('_first_seen_at', '_changed_at');
  const client = new Client({ connectionString: call.targetUrl });
  await client.connect();
  const make = (table: string): Promise<unknown> =>
    client.query(
      `CREATE TABLE ${table} (id text PRIMARY KEY, status text NOT NULL, created_at timestamptz, ${types.join(', ')},
         _first_seen_at timestamptz NOT NULL, _changed_at timestamptz NOT NULL, _deleted_at timestamptz)`,
    );
  const copy = (table: string, some: readonly WireRow[]): Promise<unknown> => {
    const sql = `COPY ${table} (${names.join(', ')}) FROM STDIN`;
    return pipeline(chunks(some, fieldIds), client.query(from(sql)));
  };
  const commitEach = async (table: string): Promise<void> => {
    for (let at = 0; at < rows.length; at += BATCH_ROWS) {
      await client.query('BEGIN');
      await copy(table, rows.slice(at, at + BATCH_ROWS));
      await client.query('COMMIT');
    }
  };
  await make('warm_up');
  await copy('warm_up', rows.slice(0, WARM_UP_ROWS));
  await make('copied');
  const copied = await timed('copy', rows.length, () => copy('copied', rows));
  await make('committed');
  await client.query(`CREATE INDEX ON committed (created_at, status) WHERE _deleted_at IS NULL`);
  const committed = await timed('committed', rows.length, () => commitEach('committed'));
  await client.end();
  return [copied, committed];
}

/** Their text, made while it is sent. */
function* chunks(rows: readonly WireRow[], fieldIds: readonly string[]): Generator<Buffer> {
  const at = new Date().toISOString();
  for (let start = 0; start < rows.length; start += PAGE_ROWS) {
    let text = '';
    for (const row of rows.slice(start, start + PAGE_ROWS)) {
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
