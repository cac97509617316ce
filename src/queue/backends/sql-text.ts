import type { PgPool } from 'bullmq';
import type { SharedText } from './backend.ts';

/** Beside BullMQ's tables. Not logged: it may be lost in a crash, and is written each second while requests are sent. */
const TABLE = 'forms_mirror_rate';

/** The part of a pool, or of a client, that is needed. */
type Asked = Pick<PgPool, 'query'>;

/**
 * Makes the table for {@link sqlText} in `schema`, unless it is there. Never rejects: several processes may make it at once,
 * and where it cannot be made, what is in it counts as lost.
 */
export async function makeTextTable(db: Asked, schema: string): Promise<void> {
  await make(db, schema).catch(() => undefined);
}

async function make(db: Asked, schema: string): Promise<void> {
  const { rows } = await db.query('SELECT to_regclass($1) IS NOT NULL AS is_there', [
    `${schema}.${TABLE}`,
  ]);
  if ((rows[0] as { is_there?: boolean } | undefined)?.is_there === true) return;
  await db.query(
    `CREATE UNLOGGED TABLE IF NOT EXISTS ${schema}.${TABLE} (name text PRIMARY KEY, text text NOT NULL)`,
  );
}

/** A shared text in PostgreSQL or PGlite, under `name`. */
export function sqlText(db: Asked, schema: string, name: string): SharedText {
  const table = `${schema}.${TABLE}`;
  return {
    async read() {
      const { rows } = await db.query<{ text: string | null; now_ms: string }>(
        `SELECT (SELECT text FROM ${table} WHERE name = $1) AS text, floor(extract(epoch FROM clock_timestamp()) * 1000)::text AS now_ms`,
        [name],
      );
      return { text: rows[0]?.text ?? null, nowMs: Number(rows[0]?.now_ms) };
    },
    async replace(known, text) {
      const { rowCount } =
        known === null
          ? await db.query(
              `INSERT INTO ${table} (name, text) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
              [name, text],
            )
          : await db.query(`UPDATE ${table} SET text = $3 WHERE name = $1 AND text = $2`, [
              name,
              known,
              text,
            ]);
      return rowCount === 1;
    },
  };
}
