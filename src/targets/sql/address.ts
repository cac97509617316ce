import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'mysql2';
import { type Clock, systemClock } from '../../base/clock.ts';
import { MirrorError } from '../../base/errors.ts';
import {
  AddressError,
  decoded,
  LOCAL,
  optionOf,
  plainHost,
  postgresTransport,
  serverUrl,
  transportTo,
  unsafe,
  verifyCertificates,
} from '../../base/transport.ts';
import type { Address, OpenTargetOptions } from '../target-address.ts';
import type { Driver } from './database.ts';

/** Opens a target in a database, which connects at first use. `shown`: see {@link Address}. `driver`: loads only the driver of its kind. */
export const sqlOpener =
  (
    shown: string,
    driver: (clock: Clock, options: OpenTargetOptions) => Promise<Driver>,
  ): Address['open'] =>
  async (name, options = {}) => {
    const { clock = systemClock, history = 'status' } = options;
    const { Database } = await import('./database.ts');
    const { SqlStore } = await import('./store.ts');
    const connected = await driver(clock, options);
    const database = new Database(connected, `Target ${name} (${shown})`);
    return new SqlStore(database, { name, clock, history });
  };

/** Reads `sqlite:<path>` or `sqlite://<path>`. Throws {@link AddressError}. */
export function parseSqliteUrl(url: string): Address {
  const path = /^sqlite:(?:\/\/)?(.+)$/i.exec(url.trim())?.[1];
  if (path === undefined || path.includes('\0')) throw new AddressError('names no file');
  const shown = `sqlite:${path}`;
  return {
    shown,
    place: shown,
    transport: LOCAL,
    open: sqlOpener(shown, async (clock) => {
      const { sqliteDriver } = await import('./sqlite/sqlite-connection.ts');
      return sqliteDriver(path, clock);
    }),
  };
}

/** Other notations, such as those of JDBC and libpq. */
const SCHEMA_SLIP = /sc?h?ema|search_?path/i;

/** Reads `postgres://…?schema=…`. Throws {@link AddressError}. */
export function parsePostgresUrl(url: string): Address {
  const { parsed } = parseServerUrl(url);
  const options = parsed.searchParams;
  // The driver ignores names that it does not know, and everything would be written into `public`.
  const slip = options.keys().find((name) => name !== 'schema' && SCHEMA_SLIP.test(name));
  if (slip !== undefined) throw new AddressError(`has ?${slip}=: write ?schema=`);
  const schema = options.get('schema') ?? 'public';
  // PostgreSQL would cut a longer name, and then not find it.
  if (schema === '' || Buffer.byteLength(schema) > 63)
    throw new AddressError('has a ?schema= that is not 1 to 63 bytes long');
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
    open: sqlOpener(shown, async () => {
      const { postgresDriver } = await import('./postgres/postgres-connection.ts');
      return postgresDriver(connectionString, schema);
    }),
  };
}

const MYSQL_PORT = 3306;
const MYSQL_OPTIONS = new Set(['ssl-mode', 'ssl-ca', 'socket']);

/** Reads `mysql://…` or `mariadb://…`. Throws {@link AddressError}. */
export function parseMysqlUrl(url: string): Address {
  const { parsed, database } = parseServerUrl(url);
  if ([...parsed.searchParams.keys()].some((name) => !MYSQL_OPTIONS.has(name)))
    throw new AddressError('has an option other than ssl-mode, ssl-ca and socket');
  const mode = (optionOf(parsed, 'ssl-mode') ?? 'DISABLED').toUpperCase().replaceAll('-', '_');
  if (!/^(?:DISABLED|REQUIRED|VERIFY_CA|VERIFY_IDENTITY)$/.test(mode))
    throw new AddressError(
      'has an ssl-mode other than DISABLED, REQUIRED, VERIFY_CA and VERIFY_IDENTITY',
    );
  const [socket, authority] = [optionOf(parsed, 'socket'), optionOf(parsed, 'ssl-ca')];
  // Without the check, anyone with a certificate of a public authority can pretend to be the server.
  const isSafe = mode === 'VERIFY_IDENTITY' || (mode === 'VERIFY_CA' && Boolean(authority));
  const weaknesses = isSafe ? [] : [unsafe('ssl-mode=VERIFY_IDENTITY', 'ssl-ca')];
  const shown = shownAddress(parsed, socket === undefined ? [] : [`socket=${socket}`]);
  const host = plainHost(decoded(parsed.hostname)) || 'localhost';
  const connection: ConnectionOptions = {
    ...(socket === undefined
      ? { host, port: parsed.port === '' ? MYSQL_PORT : Number(parsed.port) }
      : { socketPath: socket }),
    user: decoded(parsed.username),
    password: decoded(parsed.password),
    database,
  };
  return {
    shown,
    place: placeOf(shown, 'mysql:', MYSQL_PORT),
    transport: socket === undefined ? transportTo(host, weaknesses) : LOCAL,
    open: sqlOpener(shown, async () => {
      const { mysqlDriver } = await import('./mysql/mysql-connection.ts');
      return mysqlDriver({ ...connection, ...tlsOptions(mode, authority) });
    }),
  };
}

/**
 * TLS according to `ssl-mode`, as in the client programs of MySQL and MariaDB. `authority`: the file of your own authority, which
 * is read here.
 */
function tlsOptions(mode: string, authority: string | undefined): Pick<ConnectionOptions, 'ssl'> {
  if (mode === 'DISABLED') return {};
  return {
    ssl: {
      minVersion: 'TLSv1.2',
      rejectUnauthorized: mode !== 'REQUIRED',
      verifyIdentity: mode === 'VERIFY_IDENTITY',
      ...(authority === undefined ? {} : { ca: readAuthority(authority) }),
    },
  };
}

function readAuthority(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new MirrorError(
      'SETTINGS',
      'The file that ssl-ca names in the URL of the target cannot be read.',
    );
  }
}

function parseServerUrl(url: string): { parsed: URL; database: string } {
  const parsed = serverUrl(url);
  const database = decoded(parsed.pathname.slice(1));
  if (database === '') throw new AddressError('names no database');
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
