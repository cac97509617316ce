import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'mysql2';
import { decoded, mysqlTransport, type Transport } from '../../../base/transport.ts';
import { TargetUrlError } from '../../target-url-error.ts';

/** A parsed MySQL or MariaDB target URL. */
export interface MysqlAddress {
  /** For the driver, with the password. */
  readonly connection: Readonly<ConnectionOptions>;
  readonly database: string;
  /** `ssl-mode`: whether TLS is used, and what of the certificate is checked. */
  readonly tls: TlsMode;
  /** `ssl-ca`: the file of an authority of one's own. */
  readonly authority: string | null;
  /** For people: no password and no options (L15). */
  readonly shown: string;
  /** Equal for two addresses of one database, for any user. */
  readonly place: string;
  readonly transport: Transport;
}

/** As the client programs of both products have it. */
type TlsMode = 'DISABLED' | 'REQUIRED' | 'VERIFY_CA' | 'VERIFY_IDENTITY';

const EXAMPLE = 'mysql://user:password@host:3306/database?ssl-mode=VERIFY_IDENTITY';
const DEFAULT_PORT = 3306;
const OPTIONS = new Set(['ssl-mode', 'ssl-ca', 'socket']);

/** Reads `mysql://…` or `mariadb://…`. Throws {@link TargetUrlError}. */
export function parseMysqlUrl(url: string): MysqlAddress {
  const parsed = URL.parse(url.trim());
  // An unencoded # or / in a password ends the host too early; what follows it then holds the real @.
  if (parsed === null || parsed.hash !== '' || parsed.pathname.includes('@')) {
    throw new TargetUrlError(
      'is not an address: special characters in a password must be percent-encoded (@ is %40, / is %2F, # is %23)',
      EXAMPLE,
    );
  }
  const database = decoded(parsed.pathname.slice(1));
  if (database === '') throw new TargetUrlError('names no database', EXAMPLE);
  if (database.length > 64 || /[/\0]/.test(database)) {
    throw new TargetUrlError('names a database that has no name of 1 to 64 characters', EXAMPLE);
  }
  const unknown = [...parsed.searchParams.keys()].find((name) => !OPTIONS.has(name));
  if (unknown !== undefined) {
    throw new TargetUrlError('has an option other than ssl-mode, ssl-ca and socket', EXAMPLE);
  }
  const socket = parsed.searchParams.get('socket');
  const tls = tlsMode(parsed.searchParams.get('ssl-mode'));
  const shown = shownAddress(parsed);
  return {
    connection: {
      ...(socket === null
        ? {
            host: decoded(parsed.hostname).replace(/^\[(.*)\]$/, '$1') || 'localhost',
            port: parsed.port === '' ? DEFAULT_PORT : Number(parsed.port),
          }
        : { socketPath: socket }),
      user: decoded(parsed.username),
      password: decoded(parsed.password),
      database,
    },
    database,
    tls: tls ?? 'DISABLED',
    authority: parsed.searchParams.get('ssl-ca'),
    shown,
    place: placeOf(shown),
    transport: mysqlTransport(parsed),
  };
}

/** The driver's TLS options. Reads the authority's file. Throws {@link TargetUrlError} where that can't be read. */
export function tlsOptions({ tls, authority }: MysqlAddress): Pick<ConnectionOptions, 'ssl'> {
  if (tls === 'DISABLED') return {};
  const isChecked = tls !== 'REQUIRED';
  return {
    ssl: {
      minVersion: 'TLSv1.2',
      rejectUnauthorized: isChecked,
      verifyIdentity: tls === 'VERIFY_IDENTITY',
      ...(authority === null ? {} : { ca: readAuthority(authority) }),
    },
  };
}

function readAuthority(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new TargetUrlError('names a file in ssl-ca that cannot be read', EXAMPLE);
  }
}

function tlsMode(text: string | null): TlsMode | undefined {
  if (text === null) return undefined;
  const mode = text.toUpperCase().replaceAll('-', '_');
  if (/^(?:DISABLED|REQUIRED|VERIFY_CA|VERIFY_IDENTITY)$/.test(mode)) return mode as TlsMode;
  throw new TargetUrlError(
    'has an ssl-mode other than DISABLED, REQUIRED, VERIFY_CA and VERIFY_IDENTITY',
    EXAMPLE,
  );
}

function shownAddress(url: URL): string {
  const shown = new URL(url);
  shown.password = '';
  shown.search = '';
  shown.hash = '';
  const socket = url.searchParams.get('socket');
  return socket === null ? shown.href : `${shown.href}?socket=${socket}`;
}

function placeOf(shown: string): string {
  const place = new URL(shown.replace(/^mariadb:/, 'mysql:'));
  place.username = '';
  if (place.port === String(DEFAULT_PORT)) place.port = '';
  return place.href.toLowerCase();
}
