import { asDescribed } from '../sql-errors.ts';
import { cellText } from '../../../mirror/cells.ts';
import { parseNumber } from '../../../mirror/json.ts';
import { type Cell, JsonText } from '../../../mirror/types.ts';
import type { Grain } from '../../../mirror/port.ts';
import {
  canonicalOf,
  type ColumnType,
  type Dialect,
  liveIndex,
  onConflict,
  type Param,
  quoted,
  textOf,
} from '../database.ts';
import { inSavepoint } from '../savepoint.ts';
import { stagedDelete, stagedUpsert } from '../staged-upsert.ts';
import { describePostgresError, refusalOf } from './postgres-errors.ts';
import { comment } from './postgres-comments.ts';
import { postgresStaging } from './postgres-upsert.ts';
import { postgresViews } from './postgres-views.ts';

/** How the first characters of an ISO time are written. */
const GRAINS: Readonly<Record<Grain, string | null>> = {
  all: null,
  day: 'YYYY-MM-DD',
  hour: 'YYYY-MM-DD"T"HH24',
  minute: 'YYYY-MM-DD"T"HH24:MI',
  second: 'YYYY-MM-DD"T"HH24:MI:SS',
  millisecond: 'YYYY-MM-DD"T"HH24:MI:SS.MS',
};

/** What jsonb refuses: U+0000 and half a character, as JSON writes them. */
const REFUSED_IN_JSON = /\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})/;

/** How PostgreSQL does things. Every value is read as the text that the server sends: numbers keep all their digits. */
export const postgresDialect: Dialect = {
  product: 'PostgreSQL',
  version: "current_setting('server_version')",
  types: {
    number: 'numeric',
    text: 'text',
    json: 'jsonb',
    time: 'timestamptz',
    integer: 'bigint',
    key: 'text',
    id: 'text',
    word: 'text',
  },
  // A row must fit into a page of 8 kB: values longer than 24 bytes leave a pointer of 18 bytes.
  maxColumns: 300,
  takesNul: false,

  timeOf: canonicalOf,
  timeParam: (time) => time,
  boundOf: (ms) => new Date(ms).toISOString(),
  nameOf(us) {
    const [ms, rest] = [Math.floor(us / 1_000), us % 1_000];
    return `${new Date(ms).toISOString().slice(0, -1)}${String(rest).padStart(3, '0')}Z`;
  },
  grainOf(expression, grain) {
    const format = GRAINS[grain];
    return format === null ? null : `to_char(${expression} AT TIME ZONE 'UTC', '${format}')`;
  },
  among,
  onConflict,
  /** Each statement sees what others have committed by then, so two transactions could know different views as ours. */
  async alone(tx) {
    await tx.query(
      `SELECT pg_advisory_xact_lock(hashtextextended('forms-mirror ' || current_schema(), 0))`,
    );
  },

  async columnsOf(session, table) {
    const rows = await session.query(
      'SELECT attname FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped',
      [quoted(table)],
    );
    return new Set(rows.map((row) => textOf(row['attname'])));
  },
  async relations(session) {
    const rows = await session.query(
      `SELECT relname, relkind FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f')`,
    );
    return new Map(
      rows.map(
        (row) => [textOf(row['relname']), row['relkind'] === 'v' ? 'view' : 'table'] as const,
      ),
    );
  },

  encode,
  decode,
  upsert: (tx, batch, versions) => stagedUpsert(tx, postgresStaging, batch, versions),
  markDeleted: (tx, target, versions) => stagedDelete(tx, postgresStaging, target, versions, among),
  refusal: refusalOf,
  views: postgresViews,
  async indexLive(session, table) {
    await session.run(liveIndex(table));
  },
  /** Replaces the view in place if possible, which keeps rights on it and views built on it. */
  async putView(tx, name, select) {
    const create = `VIEW ${quoted(name)} AS ${select}`;
    // An open transaction that has read the view blocks this. Wait only briefly: the next run tries again.
    await tx.run(`SET LOCAL lock_timeout = '2s'`);
    try {
      await inSavepoint(tx, () => tx.run(`CREATE OR REPLACE ${create}`));
    } catch {
      await inSavepoint(tx, async () => {
        const grants = await grantsOn(tx, name);
        await tx.run(`DROP VIEW IF EXISTS ${quoted(name)}`);
        await tx.run(`CREATE ${create}`);
        for (const grant of grants) await tx.run(grant);
      });
    }
  },
  comment,
  describe: (error) => asDescribed(error, describePostgresError(error)),
};

function among(expression: string, param: string): string {
  return `${expression} IN (SELECT jsonb_array_elements_text(${param}::jsonb))`;
}

async function grantsOn(tx: Parameters<Dialect['putView']>[0], view: string): Promise<string[]> {
  const rows = await tx.query(
    `SELECT a.privilege_type AS privilege, coalesce(r.rolname, '') AS role FROM pg_class AS c, aclexplode(c.relacl) AS a
     LEFT JOIN pg_roles AS r ON r.oid = a.grantee WHERE c.oid = to_regclass($1) AND a.grantee <> c.relowner`,
    [quoted(view)],
  );
  return rows.map((row) => {
    const role = textOf(row['role']);
    return `GRANT ${textOf(row['privilege'])} ON ${quoted(view)} TO ${role === '' ? 'PUBLIC' : quoted(role)}`;
  });
}

function encode(cell: Cell, type: ColumnType): Param | undefined {
  if (cell === null || typeof cell === 'string') return cell;
  const text = cellText(cell) ?? '';
  return type === 'json' && REFUSED_IN_JSON.test(text) ? undefined : text;
}

function decode(value: unknown, type: ColumnType): Cell {
  if (value === null || value === undefined) return null;
  const text = textOf(value);
  if (type === 'json') return new JsonText(text);
  return type === 'number' ? (parseNumber(text) ?? text) : text;
}
