import type { Client } from 'pg';
import { errorCode } from '../../src/base/errors.ts';
import type { TestServer } from '../support/servers.ts';
import { databaseOf } from './environment.ts';
import { type Copy, readCopy, readSqlite } from './copy.ts';
import type { Random } from './random.ts';
import { newSheet, stopSheets } from './sheet-copy.ts';

/** Kinds of target for a history. */
export const STORES = ['sqlite', 'postgres', 'mysql', 'bigquery', 'sheets'] as const;
export type StoreKind = (typeof STORES)[number];

/** The place of one target in one history. */
export interface Place {
  /** As in the settings. */
  readonly url: string;
  /** Its other settings. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The copy, as an analyst reads it. */
  read(): Promise<Copy>;
  /** A person performs an act on the tab of a form; its name, or null if it is impossible. */
  damage?(deed: string, formId: string, random: Random): string | null;
  /** Ends everything that prevents the program from writing. */
  mend?(): void;
  /** A person does something to the tab of a form; null: nothing happened. */
  act?(random: Random): PersonAct | null;
  /** Whether a statement waits for the lock of another one; absent if there is no server. */
  isBlocked?(): Promise<boolean>;
  /** Removes it. */
  dispose(): Promise<void>;
}

/** A person's act on the tab of a form. */
export interface PersonAct {
  readonly formId: string;
  readonly text: string;
  /** Whether mirrored cells have changed, or can no longer be written. */
  readonly effect: 'none' | 'loss' | 'protection';
}

/** A separate place for a target; a file is below `dir`. */
export async function newPlace(kind: StoreKind, dir: string, target: string): Promise<Place> {
  if (kind === 'postgres') return postgresPlace();
  if (kind === 'sheets') return newSheet();
  if (kind === 'mysql') return mysqlPlace();
  if (kind === 'bigquery') return bigQueryPlace();
  return sqlitePlace(databaseOf(dir, target));
}

const sqlitePlace = (path: string): Place => ({
  url: `sqlite:${path}`,
  read: async () => readSqlite(path),
  dispose: async () => {},
});

interface Postgres {
  readonly server: TestServer;
  readonly database: string;
  readonly client: Client;
}

let postgres: Promise<Postgres> | undefined;
let schemas = 0;

async function startedPostgres(): Promise<Postgres> {
  const { default: pg } = await import('pg');
  // Only here, so that the simulation of SQLite needs nothing outside of its folder.
  const { createDatabase, startPostgres } = await import('../support/servers.ts');
  const server = await startPostgres();
  process.on('exit', () => server.process?.kill('SIGKILL'));
  const database = await createDatabase(server);
  const client = new pg.Client({ connectionString: database });
  client.on('error', () => {});
  await client.connect();
  return { server, database, client };
}

/** A schema, which the program creates. */
async function postgresPlace(): Promise<Place> {
  postgres ??= startedPostgres();
  const { database, client } = await postgres;
  const schema = `simulated_${schemas++}`;
  return {
    url: `${database}?schema=${schema}`,
    async read() {
      await client.query(`SET search_path = ${schema}`);
      return readCopy(async (sql) => (await client.query<Record<string, unknown>>(sql)).rows);
    },
    async isBlocked() {
      const waiting = await client.query(
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
      return waiting.rows.length > 0;
    },
    async dispose() {
      // The server ends with a soak that is stopped.
      await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`).catch(() => {});
    },
  };
}

let mariadb: Promise<TestServer> | undefined;

async function startedMariadb(): Promise<TestServer> {
  const { startMariadb } = await import('../support/servers.ts');
  const server = await startMariadb();
  process.on('exit', () => server.process?.kill('SIGKILL'));
  return server;
}

/** A separate database: it has no schemas. */
async function mysqlPlace(): Promise<Place> {
  mariadb ??= startedMariadb();
  const server = await mariadb;
  const { createConnection } = await import('mysql2/promise');
  const { createMysqlDatabase } = await import('../support/servers.ts');
  const url = await createMysqlDatabase(server);
  const client = await createConnection({ uri: url, charset: 'utf8mb4', timezone: 'Z' });
  return {
    url,
    read: () =>
      readCopy(async (sql) => {
        const [rows] = await client.query(sql);
        return rows as Record<string, unknown>[];
      }, '`'),
    async isBlocked() {
      const [waiting] = await client.query(
        "SELECT 1 FROM information_schema.processlist WHERE db = database() AND (state LIKE '%lock%' OR id IN (SELECT trx_mysql_thread_id FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'))",
      );
      return (waiting as unknown[]).length > 0;
    },
    async dispose() {
      await client.query(`DROP DATABASE ${new URL(url).pathname.slice(1)}`);
      await client.end();
    },
  };
}

/** The parts of the BigQuery target's tests that are used. */
interface BigQueryPlaces {
  readonly newPlace: () => Promise<{ readonly dataset: string; readonly url: string }>;
  readonly ask: (dataset: string, sql: string) => Promise<Record<string, unknown>[]>;
  readonly stopEmulator: () => Promise<void>;
}

let bigQuery: Promise<BigQueryPlaces> | undefined;

/**
 * They start the emulator, whose dependencies are not this project's: without them its types cannot be checked, so this path is not a literal.
 */
async function bigQueryPlaces(): Promise<BigQueryPlaces> {
  const path: string = '../../packages/target-bigquery/test/place.ts';
  try {
    return (await import(path)) as BigQueryPlaces;
  } catch (error) {
    if (errorCode(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    const install = 'npm ci --prefix packages/bigquery-emulator';
    throw new Error(`the emulator of BigQuery is not installed: ${install}`, { cause: error });
  }
}

/** A separate dataset, which the program creates. */
async function bigQueryPlace(): Promise<Place> {
  bigQuery ??= bigQueryPlaces();
  const { newPlace: newDataset, ask } = await bigQuery;
  const { dataset, url } = await newDataset();
  return {
    url,
    read: () => readCopy((sql) => ask(dataset, sql), '`'),
    // The emulator ends with all of its datasets.
    dispose: async () => {},
  };
}

/** Stops the servers that were started. */
export async function stopServers(): Promise<void> {
  await stopSheets();
  const places = await bigQuery;
  bigQuery = undefined;
  await places?.stopEmulator();
  if (postgres !== undefined) {
    const { server, client } = await postgres;
    postgres = undefined;
    await client.end();
    await server.stop();
  }
  const server = await mariadb;
  mariadb = undefined;
  await server?.stop();
}
