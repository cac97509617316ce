import { createConnection } from 'mysql2/promise';
import { WARM_UP_ROWS } from '../source/canned-source.ts';
import { type Measured, type StageCall, timed } from '../stages/stage.ts';
import { type WireRow, wireRows } from './wire-rows.ts';

const BATCH_ROWS = 1_000;

/**
 * What the sinks of sync tools (Airbyte's, Debezium's JDBC sink) do to MySQL and MariaDB: each batch is one INSERT … ON
 * DUPLICATE KEY UPDATE of every column, into a table like ours, even if nothing changed. mysql2 writes the values.
 */
export async function upsertEachBatch(call: StageCall): Promise<Measured[]> {
  const rows = await wireRows(call);
  const fields = Object.entries(rows[0]?.data ?? {});
  const client = await createConnection({ uri: call.targetUrl, flags: ['-FOUND_ROWS'] });
  const columns = fields.map(
    ([name, value]) => `\`${name}\` ${typeof value === 'number' ? 'double' : 'longtext'}`,
  );
  const names = ['id', 'status', 'created_at', ...fields.map(([name]) => name), '_changed_at'];
  const quoted = names.map((name) => `\`${name}\``);
  const valuesOf = ({ id, status, createdAt, data }: WireRow, now: Date): unknown[] => {
    const answers: unknown[] = fields.map(([name]) => cellOf(data[name]));
    return [id, status, new Date(createdAt), ...answers, now];
  };
  const upsert = async (table: string, list: readonly WireRow[]): Promise<void> => {
    for (let at = 0; at < list.length; at += BATCH_ROWS) {
      const now = new Date();
      const values = list.slice(at, at + BATCH_ROWS).map((row) => valuesOf(row, now));
      await client.beginTransaction();
      await client.query(
        `INSERT INTO ${table} (${quoted.join(', ')}) VALUES ? ON DUPLICATE KEY UPDATE ${quoted.map((name) => `${name} = VALUES(${name})`).join(', ')}`,
        [values],
      );
      await client.commit();
    }
  };
  for (const table of ['warm_up', 'records']) {
    await client.query(
      `CREATE TABLE ${table} (id varchar(255) PRIMARY KEY, status varchar(255) NOT NULL, created_at datetime(6),
         ${columns.join(', ')}, _changed_at datetime(6) NOT NULL, INDEX (status), INDEX (created_at))
       DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
    );
  }
  for (let time = 0; time < 2; time++) await upsert('warm_up', rows.slice(0, WARM_UP_ROWS));
  const measured: Measured[] = [];
  for (const name of ['first', 'unchanged']) {
    measured.push(await timed(name, rows.length, () => upsert('records', rows)));
  }
  await client.end();
  return measured;
}

/** Multiple choices as JSON; a missing answer as NULL, because a number column takes no empty text. */
function cellOf(answer: unknown): unknown {
  if (answer === undefined || answer === null || answer === '') return null;
  return typeof answer === 'object' ? JSON.stringify(answer) : answer;
}
