import { pipeline } from 'node:stream/promises';
import { Client } from 'pg';
import { from } from 'pg-copy-streams';
import { PAGE_ROWS } from '../stages/program.ts';
import { WARM_UP_ROWS } from '../source/canned-source.ts';
import { type Measured, type StageCall, timed } from '../stages/stage.ts';
import { type WireRow, wireRows } from './wire-rows.ts';

/**
 * Writes rows that are in memory into a table like ours with one COPY, the fastest way that PostgreSQL offers to one
 * client.
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
  const copyInto = async (table: string, some: readonly WireRow[]): Promise<Measured> => {
    await client.query(
      `CREATE TABLE ${table} (id text PRIMARY KEY, status text NOT NULL, created_at timestamptz, ${types.join(', ')},
         _first_seen_at timestamptz NOT NULL, _changed_at timestamptz NOT NULL, _deleted_at timestamptz)`,
    );
    const sql = `COPY ${table} (${names.join(', ')}) FROM STDIN`;
    return timed('copy', some.length, () =>
      pipeline(chunks(some, fieldIds), client.query(from(sql))),
    );
  };
  await copyInto('warm_up', rows.slice(0, WARM_UP_ROWS));
  const measured = await copyInto('copied', rows);
  await client.end();
  return [measured];
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
