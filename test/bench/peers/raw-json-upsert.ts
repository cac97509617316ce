import { Pool } from 'pg';
import { WARM_UP_ROWS } from '../source/canned-source.ts';
import { type Measured, type StageCall, timed } from '../stages/stage.ts';
import { type WireRow, wireRows } from './wire-rows.ts';

const BATCH_ROWS = 100;

/**
 * What Stripe's sync engine does to PostgreSQL, written anew after its published shape (destination-postgres, May 2026): each
 * record whole in a column `_raw_data`, every other column generated from it, and one INSERT … ON CONFLICT DO UPDATE for a
 * batch of 100, which leaves alone what is older, and returns what was created. Each sync has a time of its own: every other row is
 * written.
 */
export async function upsertRawJson(call: StageCall): Promise<Measured[]> {
  const rows = await wireRows(call);
  const changed = rows.map((row, nth) => (nth % 100 === 0 ? { ...row, status: 'REOPENED' } : row));
  const pool = new Pool({ connectionString: call.targetUrl, keepAlive: true });
  await createTable(pool, 'warm_up', rows[0]!);
  await createTable(pool, 'records', rows[0]!);
  for (let time = 0; time < 2; time++)
    await upsertAll(pool, 'warm_up', rows.slice(0, WARM_UP_ROWS));
  const measured: Measured[] = [];
  for (const [name, list] of [
    ['first', rows],
    ['unchanged', rows],
    ['changed', changed],
  ] as const) {
    measured.push(await timed(name, list.length, () => upsertAll(pool, 'records', list)));
  }
  await pool.end();
  return measured;
}

async function createTable(pool: Pool, table: string, { data }: WireRow): Promise<void> {
  const columns = Object.entries(data).map(([name, value]) =>
    typeof value === 'number'
      ? `"${name}" numeric GENERATED ALWAYS AS ((NULLIF(_raw_data->'data'->>'${name}', ''))::numeric) STORED`
      : `"${name}" text GENERATED ALWAYS AS ((_raw_data->'data'->>'${name}')::text) STORED`,
  );
  await pool.query(`CREATE TABLE ${table} (
    _raw_data jsonb NOT NULL,
    _synced_at timestamptz,
    _updated_at timestamptz NOT NULL,
    id text GENERATED ALWAYS AS ((_raw_data->>'id')::text) STORED PRIMARY KEY,
    status text GENERATED ALWAYS AS ((_raw_data->>'status')::text) STORED,
    "createdAt" text GENERATED ALWAYS AS ((_raw_data->>'createdAt')::text) STORED,
    ${columns.join(',\n    ')})`);
}

async function upsertAll(pool: Pool, table: string, rows: readonly WireRow[]): Promise<void> {
  for (let at = 0; at < rows.length; at += BATCH_ROWS) {
    await upsert(pool, table, rows.slice(at, at + BATCH_ROWS));
  }
}

async function upsert(pool: Pool, table: string, rows: readonly WireRow[]): Promise<void> {
  const syncedAt = new Date().toISOString();
  const params: unknown[] = [];
  const values = rows.map((row) => {
    params.push(JSON.stringify(row), syncedAt, row.createdAt);
    const last = params.length;
    return `($${last - 2}::jsonb, $${last - 1}, $${last})`;
  });
  const columns = ['_raw_data', '_synced_at', '_updated_at'];
  const differs = columns.map((name) => `${table}.${name} IS DISTINCT FROM excluded.${name}`);
  const { rows: stored } = await pool.query<{ created: boolean }>(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${values.join(', ')}
     ON CONFLICT (id) DO UPDATE SET ${columns.map((name) => `${name} = excluded.${name}`).join(', ')}
     WHERE (${differs.join(' OR ')}) AND excluded._updated_at >= ${table}._updated_at
     RETURNING (xmax = 0) AS created`,
    params,
  );
  if (stored.length !== rows.length) throw new Error(`${stored.length} rows of ${rows.length}`);
}
