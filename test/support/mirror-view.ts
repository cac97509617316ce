import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';

/** Reads a SQL target from outside, without our code. */
export class MirrorView {
  readonly #query: (sql: string) => Promise<Record<string, unknown>[]>;

  /** `url`: a target URL, for the schema `public` of PostgreSQL. */
  constructor(url: string) {
    this.#query = url.startsWith('sqlite:')
      ? async (sql) => askSqlite(url.slice('sqlite:'.length), sql)
      : (sql) => (url.startsWith('postgres') ? askPostgres(url, sql) : askMysql(url, sql));
  }

  /** Rows of a statement; none while the file or its tables do not exist yet. */
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

  /** How many rows a form has, including deleted ones. */
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
}

function askSqlite(path: string, sql: string): Record<string, unknown>[] {
  if (!existsSync(path)) return [];
  using database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  return database.prepare(sql).all();
}

/** Rows of a statement, each value as a text. One connection per query: nothing is kept across a restart of the server. */
export async function askPostgres(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const types = { getTypeParser: () => (text: string) => text };
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query<Record<string, unknown>>({ text: sql, types })).rows;
  } finally {
    await client.end().catch(() => {});
  }
}

/** The same for MariaDB. */
export async function askMysql(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = await createConnection({ uri: url, dateStrings: true });
  try {
    await client.query("SET sql_mode = 'ANSI_QUOTES'");
    const [rows] = await client.query(sql);
    return rows as Record<string, unknown>[];
  } finally {
    await client.end();
  }
}
