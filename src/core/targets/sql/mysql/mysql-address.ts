import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'mysql2';
import { MirrorError } from '../../../../base/errors.ts';
import { decoded } from '../../../../base/transport.ts';

const DEFAULT_PORT = 3306;
const OPTIONS = new Set(['ssl-mode', 'ssl-ca', 'socket']);
const TLS_MODES = new Set(['DISABLED', 'REQUIRED', 'VERIFY_CA', 'VERIFY_IDENTITY']);

/** What the driver needs of an address `mysql://…` or `mariadb://…`. Throws SETTINGS. */
export function connectionOptions(url: string): ConnectionOptions & { readonly database: string } {
  const parsed = URL.parse(url.trim());
  // An unencoded # or / in a password ends the host too early; what follows it then holds the real @.
  if (parsed === null || parsed.hash !== '' || parsed.pathname.includes('@'))
    throw wrong(
      'is no address: special characters in a password must be percent-encoded (@ is %40, / is %2F, # is %23)',
    );
  const database = decoded(parsed.pathname.slice(1));
  if (database.length < 1 || database.length > 64 || /[/\0]/.test(database))
    throw wrong('names no database');
  if ([...parsed.searchParams.keys()].some((name) => !OPTIONS.has(name)))
    throw wrong('has an option other than ssl-mode, ssl-ca and socket');
  const socketPath = parsed.searchParams.get('socket');
  return {
    ...(socketPath === null
      ? {
          host: decoded(parsed.hostname).replace(/^\[(.*)\]$/, '$1') || 'localhost',
          port: parsed.port === '' ? DEFAULT_PORT : Number(parsed.port),
        }
      : { socketPath }),
    user: decoded(parsed.username),
    password: decoded(parsed.password),
    database,
    ...tlsOptions(parsed.searchParams),
  };
}

function tlsOptions(options: URLSearchParams): Pick<ConnectionOptions, 'ssl'> {
  const mode = (options.get('ssl-mode') ?? 'DISABLED').toUpperCase().replaceAll('-', '_');
  if (!TLS_MODES.has(mode))
    throw wrong('has an ssl-mode other than DISABLED, REQUIRED, VERIFY_CA and VERIFY_IDENTITY');
  if (mode === 'DISABLED') return {};
  const authority = options.get('ssl-ca');
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
    throw wrong('names a file in ssl-ca that cannot be read');
  }
}

const wrong = (what: string): MirrorError =>
  new MirrorError(
    'SETTINGS',
    `The address of a MySQL target ${what}. It looks like mysql://user:password@host:3306/database?ssl-mode=VERIFY_IDENTITY.`,
  );
