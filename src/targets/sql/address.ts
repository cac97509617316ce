import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'mysql2';
import type { Clock } from '../../base/clock.ts';
import {
  decoded,
  LOCAL,
  mysqlTransport,
  postgresTransport,
  type Transport,
  verifyCertificates,
} from '../../base/transport.ts';
import type { Store, TargetRelations } from '../../mirror/port.ts';
import { TargetUrlError } from '../target-url-error.ts';
import type { Driver } from './database.ts';
import type { SqlStoreOptions } from './store.ts';

/** The address of a target in a database. The password is only in what `connect` closes over (L15). */
export interface SqlAddress {
  /** For people: no password, and no options but the schema and the socket. */
  readonly shown: string;
  /** Equal for two addresses of one place, for any user. */
  readonly place: string;
  readonly transport: Transport;
  /** The place of its tables, in the words of tools that connect to the database. */
  readonly tables: Pick<TargetRelations, 'database' | 'schema'>;
  /** Loads the driver of its kind and no other. */
  readonly driver: (clock: Clock) => Promise<Driver>;
}

/** Opens a target in a database. It connects at first use. */
export async function openSqlStore(
  { shown, tables, driver }: Pick<SqlAddress, 'shown' | 'tables' | 'driver'>,
  options: SqlStoreOptions,
): Promise<Store> {
  const { Database } = await import('./database.ts');
  const { SqlStore } = await import('./store.ts');
  const database = new Database(
    await driver(options.clock),
    `Target ${options.name} (${shown})`,
    options.clock,
  );
  return new SqlStore(database, options, tables);
}

/** Reads `sqlite:<path>` or `sqlite://<path>`. Throws {@link TargetUrlError}. */
export function parseSqliteUrl(url: string): SqlAddress {
  const path = /^sqlite:(?:\/\/)?(.+)$/i.exec(url.trim())?.[1];
  if (path === undefined || path.includes('\0'))
    throw new TargetUrlError('names no file', 'sqlite:./data/mirror.sqlite');
  const shown = `sqlite:${path}`;
  return {
    shown,
    place: shown,
    transport: LOCAL,
    tables: { database: null, schema: 'main' },
    async driver(clock) {
      const { sqliteDriver } = await import('./sqlite/sqlite-connection.ts');
      return sqliteDriver(path, clock);
    },
  };
}

const POSTGRES_EXAMPLE = 'postgres://user:password@host:5432/database?schema=forms';

/** Reads `postgres://…?schema=…`. Throws {@link TargetUrlError}. */
export function parsePostgresUrl(url: string): SqlAddress {
  const { parsed, database } = parseServerUrl(url, POSTGRES_EXAMPLE);
  const options = parsed.searchParams;
  const schema = options.get('schema') ?? 'public';
  const fits = schema !== '' && Buffer.byteLength(schema) <= 63 && !schema.includes('\0');
  if (!fits || /^pg_/i.test(schema) || schema === 'information_schema')
    throw new TargetUrlError(
      "has a ?schema= that is not a name of 1 to 63 bytes, or one of PostgreSQL's own (pg_…)",
      POSTGRES_EXAMPLE,
    );
  const host = options.get('host');
  const shown = shownAddress(parsed, [
    ...(host === null ? [] : [`host=${host}`]),
    ...(schema === 'public' ? [] : [`schema=${encodeURIComponent(schema)}`]),
  ]);
  const transport = postgresTransport(parsed);
  options.delete('schema');
  verifyCertificates(options);
  const connectionString = parsed.href;
  return {
    shown,
    place: placeOf(shown, 'postgres:', 5432),
    transport,
    tables: { database, schema },
    async driver() {
      const { postgresDriver } = await import('./postgres/postgres-connection.ts');
      return postgresDriver(connectionString, schema);
    },
  };
}

const MYSQL_EXAMPLE = 'mysql://user:password@host:3306/database?ssl-mode=VERIFY_IDENTITY';
const MYSQL_PORT = 3306;
const MYSQL_OPTIONS = new Set(['ssl-mode', 'ssl-ca', 'socket']);

/** Reads `mysql://…` or `mariadb://…`. Throws {@link TargetUrlError}. */
export function parseMysqlUrl(url: string): SqlAddress {
  const { parsed, database } = parseServerUrl(url, MYSQL_EXAMPLE);
  const options = parsed.searchParams;
  if (database.length > 64 || /[/\0]/.test(database))
    throw new TargetUrlError(
      'names a database that has no name of 1 to 64 characters',
      MYSQL_EXAMPLE,
    );
  if ([...options.keys()].some((name) => !MYSQL_OPTIONS.has(name)))
    throw new TargetUrlError('has an option other than ssl-mode, ssl-ca and socket', MYSQL_EXAMPLE);
  const mode = (options.get('ssl-mode') ?? 'DISABLED').toUpperCase().replaceAll('-', '_');
  if (!/^(?:DISABLED|REQUIRED|VERIFY_CA|VERIFY_IDENTITY)$/.test(mode))
    throw new TargetUrlError(
      'has an ssl-mode other than DISABLED, REQUIRED, VERIFY_CA and VERIFY_IDENTITY',
      MYSQL_EXAMPLE,
    );
  const socket = options.get('socket');
  const shown = shownAddress(parsed, socket === null ? [] : [`socket=${socket}`]);
  const host = decoded(parsed.hostname).replace(/^\[(.*)\]$/, '$1') || 'localhost';
  const connection: ConnectionOptions = {
    ...(socket === null
      ? { host, port: parsed.port === '' ? MYSQL_PORT : Number(parsed.port) }
      : { socketPath: socket }),
    user: decoded(parsed.username),
    password: decoded(parsed.password),
    database,
  };
  return {
    shown,
    place: placeOf(shown, 'mysql:', MYSQL_PORT),
    transport: mysqlTransport(parsed),
    tables: { database, schema: database },
    async driver() {
      const { mysqlDriver } = await import('./mysql/mysql-connection.ts');
      return mysqlDriver({ ...connection, ...tlsOptions(mode, options.get('ssl-ca')) });
    },
  };
}

/** TLS as `ssl-mode` has it in the client programs of MySQL and MariaDB. `authority`: the file of one's own, read here. */
function tlsOptions(mode: string, authority: string | null): Pick<ConnectionOptions, 'ssl'> {
  if (mode === 'DISABLED') return {};
  return {
    ssl: {
      minVersion: 'TLSv1.2',
      rejectUnauthorized: mode !== 'REQUIRED',
      verifyIdentity: mode === 'VERIFY_IDENTITY',
      ...(authority === null ? {} : { ca: readAuthority(authority) }),
    },
  };
}

function readAuthority(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new TargetUrlError('names a file in ssl-ca that cannot be read', MYSQL_EXAMPLE);
  }
}

function parseServerUrl(url: string, example: string): { parsed: URL; database: string } {
  const parsed = URL.parse(url.trim());
  // An unencoded # or / in a password ends the host too early; what follows it then holds the real @.
  if (parsed === null || parsed.hash !== '' || parsed.pathname.includes('@'))
    throw new TargetUrlError(
      'is not an address: special characters in a password must be percent-encoded (@ is %40, / is %2F, # is %23)',
      example,
    );
  const database = decoded(parsed.pathname.slice(1));
  if (database === '') throw new TargetUrlError('names no database', example);
  return { parsed, database };
}

function shownAddress(url: URL, options: readonly string[]): string {
  const shown = new URL(url);
  shown.password = '';
  shown.search = '';
  return `${shown.href}${options.length === 0 ? '' : `?${options.join('&')}`}`;
}

function placeOf(shown: string, protocol: string, port: number): string {
  const place = new URL(shown.replace(/^\w+:/, protocol));
  place.username = '';
  if (place.port === String(port)) place.port = '';
  return place.href.toLowerCase();
}
