import {
  decoded,
  type Transport,
  postgresTransport,
  verifyCertificates,
} from '../../../base/transport.ts';
import { TargetUrlError } from '../../target-url-error.ts';

/** A parsed PostgreSQL target URL. */
export interface PostgresAddress {
  /** For the driver, with the password. */
  readonly connectionString: string;
  readonly database: string;
  readonly schema: string;
  /** For people: no password and no options but the schema (L15). */
  readonly shown: string;
  /** Equal for two addresses of one schema, for any user. */
  readonly place: string;
  readonly transport: Transport;
}

const EXAMPLE = 'postgres://user:password@host:5432/database?schema=forms';

/** Reads `postgres://…?schema=…`. Throws {@link TargetUrlError}. */
export function parsePostgresUrl(url: string): PostgresAddress {
  const parsed = URL.parse(url.trim());
  // An unencoded # or / in a password ends the host too early; what follows it then holds the real @.
  if (parsed === null || parsed.hash !== '' || parsed.pathname.includes('@')) {
    throw new TargetUrlError(
      'is not an address: special characters in a password must be percent-encoded (@ is %40, / is %2F, # is %23)',
      EXAMPLE,
    );
  }
  if (parsed.pathname.length <= 1) throw new TargetUrlError('names no database', EXAMPLE);
  const schema = parsed.searchParams.get('schema') ?? 'public';
  checkSchema(schema);
  const shown = shownAddress(parsed, schema);
  const transport = postgresTransport(parsed);
  parsed.searchParams.delete('schema');
  verifyCertificates(parsed.searchParams);
  const database = decoded(parsed.pathname.slice(1));
  return {
    connectionString: parsed.href,
    database,
    schema,
    shown,
    place: placeOf(shown),
    transport,
  };
}

function checkSchema(schema: string): void {
  const fits = schema !== '' && Buffer.byteLength(schema) <= 63 && !schema.includes('\0');
  if (fits && !/^pg_/i.test(schema) && schema !== 'information_schema') return;
  throw new TargetUrlError(
    "has a ?schema= that is not a name of 1 to 63 bytes, or one of PostgreSQL's own (pg_…)",
    EXAMPLE,
  );
}

function shownAddress(url: URL, schema: string): string {
  const shown = new URL(url);
  shown.password = '';
  shown.search = '';
  shown.hash = '';
  const host = url.searchParams.get('host');
  const options = [
    ...(host === null ? [] : [`host=${host}`]),
    ...(schema === 'public' ? [] : [`schema=${encodeURIComponent(schema)}`]),
  ];
  return `${shown.href}${options.length === 0 ? '' : `?${options.join('&')}`}`;
}

function placeOf(shown: string): string {
  const place = new URL(shown.replace(/^postgresql:/, 'postgres:'));
  place.username = '';
  if (place.port === '5432') place.port = '';
  return place.href.toLowerCase();
}
