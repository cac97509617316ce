import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';
import { canonicalTime } from '../../src/mirror/canonical-time.ts';

/** A stored row, of any database. */
export interface MirrorRow {
  readonly id: string;
  readonly status: string;
  readonly createdAtMs: number | null;
  readonly deleted: boolean;
  readonly changedAt: string;
  /** By field ID, as text; null where empty. */
  readonly cells: ReadonlyMap<string, string | null>;
}

/** Reads a SQL target from outside, through no code of ours. */
export class MirrorView {
  readonly #query: (sql: string) => Promise<Record<string, unknown>[]>;

  /** `url`: a target URL, for the schema `public` where it is PostgreSQL. */
  constructor(url: string) {
    this.#query = url.startsWith('sqlite:')
      ? async (sql) => askSqlite(url.slice('sqlite:'.length), sql)
      : (sql) => (url.startsWith('postgres') ? askPostgres(url, sql) : askMysql(url, sql));
  }

  /** Rows of a statement; none while the file or its tables are yet to be made. */
  async ask(sql: string): Promise<Record<string, unknown>[]> {
    try {
      return await this.#query(sql);
    } catch (error) {
      if (
        error instanceof Error &&
        /no such table|does not exist|doesn't exist/.test(error.message)
      )
        return [];
      throw error;
    }
  }

  /** How many rows a form has, deleted ones included. */
  async count(formId: string): Promise<number> {
    const table = await this.tableOf(formId);
    if (table === undefined) return 0;
    const [row] = await this.ask(`SELECT count(*) AS n FROM "${table}"`);
    return Number(row?.['n'] ?? 0);
  }

  async tableOf(formId: string): Promise<string | undefined> {
    const sql = `SELECT table_name FROM mirror_forms WHERE form_id = '${formId}'`;
    const [form] = await this.ask(sql);
    return form?.['table_name'] as string | undefined;
  }

  /** Columns by field ID. */
  async columns(formId: string): Promise<Map<string, string>> {
    const sql = `SELECT field_id, column_name FROM mirror_fields WHERE form_id = '${formId}'`;
    const rows = await this.ask(sql);
    return new Map(rows.map((row) => [String(row['field_id']), String(row['column_name'])]));
  }

  /** The faults of the history of a form's rows, as sentences: its end equals the present rows. */
  async historyBreaches(formId: string): Promise<string[]> {
    const table = await this.tableOf(formId);
    if (table === undefined) return [];
    const odd = await this.ask(
      `SELECT t.id FROM "${table}" AS t
       WHERE coalesce((SELECT h.status FROM mirror_status_history AS h
         WHERE h.submission_id = t.id AND h.form_id = '${formId}' ORDER BY h.seen_at DESC LIMIT 1), '') <> t.status
       UNION ALL
       SELECT h.submission_id FROM mirror_status_history AS h
       WHERE h.form_id = '${formId}' AND h.not_before > h.seen_at OR h.status = (
         SELECT p.status FROM mirror_status_history AS p
         WHERE p.submission_id = h.submission_id AND p.form_id = h.form_id AND p.seen_at < h.seen_at
         ORDER BY p.seen_at DESC LIMIT 1)`,
    );
    return odd.map(({ id }) => `history: the statuses of ${String(id)}`);
  }

  /** Every row of a form; a table with two rows of one ID, or a column that belongs to no field, is an error. */
  async rows(formId: string): Promise<Map<string, MirrorRow>> {
    const table = await this.tableOf(formId);
    if (table === undefined) return new Map();
    const columns = await this.columns(formId);
    const found = await this.ask(`SELECT * FROM "${table}"`);
    const pairs = await this.ask(
      `SELECT column_name AS own, text_column AS beside FROM mirror_fields WHERE form_id = '${formId}' AND text_column IS NOT NULL`,
    );
    for (const row of found) {
      for (const { own, beside } of pairs) joinAnswer(row, String(own), String(beside));
    }
    const strangers = Object.keys(found[0] ?? {}).filter((name) => !known(name, columns));
    if (strangers.length > 0) throw new Error(`L9: columns of no field: ${strangers.join(', ')}`);
    const rows = new Map(found.map((row) => [String(row['id']), toRow(row, columns)]));
    if (rows.size !== found.length) throw new Error('L5: an ID has two rows');
    return rows;
  }
}

const SYSTEM = new Set([
  'id',
  'status',
  'created_at',
  '_first_seen_at',
  '_changed_at',
  '_deleted_at',
]);

function known(name: string, columns: ReadonlyMap<string, string>): boolean {
  return SYSTEM.has(name) || [...columns.values()].includes(name);
}

function toRow(row: Record<string, unknown>, columns: ReadonlyMap<string, string>): MirrorRow {
  const createdAt = row['created_at'] as string | null;
  const cells = [...columns].map(([id, column]) => [id, textOf(row[column])] as const);
  return {
    id: String(row['id']),
    status: String(row['status']),
    createdAtMs: createdAt === null ? null : Date.parse(createdAt),
    deleted: row['_deleted_at'] !== null,
    changedAt: String(row['_changed_at']),
    cells: new Map(cells),
  };
}

function textOf(value: unknown): string | null {
  return typeof value === 'number' || typeof value === 'bigint'
    ? String(value)
    : (value as string | null);
}

function askSqlite(path: string, sql: string): Record<string, unknown>[] {
  if (!existsSync(path)) return [];
  using database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  return database.prepare(sql).all();
}

/** A connection for each question: nothing is kept over a restart of the server. */
async function askPostgres(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const types = { getTypeParser: () => (text: string) => text };
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>({ text: sql, types })).rows;
  } finally {
    await client.end();
  }
}

/** The same of MariaDB; times as the mirror writes them. */
async function askMysql(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = await createConnection({ uri: url, dateStrings: true });
  try {
    await client.query("SET sql_mode = 'ANSI_QUOTES'");
    const [rows] = await client.query(sql);
    return (rows as Record<string, unknown>[]).map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [
          name,
          name.endsWith('_at') && typeof value === 'string'
            ? canonicalTime(`${value.replace(' ', 'T')}Z`)
            : value,
        ]),
      ),
    );
  } finally {
    await client.end();
  }
}

/** Puts the value beside a column in its place: all digits of a number, or an answer of another type. */
function joinAnswer(row: Record<string, unknown>, own: string, beside: string): void {
  row[own] = row[beside] ?? row[own];
  delete row[beside];
}
