import { MirrorError } from '../../../base/errors.ts';

/** Where a PostgreSQL target is. */
export interface PostgresAddress {
  /** For the driver, with the password. */
  readonly connectionString: string;
  readonly schema: string;
  /** For people: no password and no options but the schema (L15). */
  readonly shown: string;
}

const EXAMPLE = 'Example: postgres://user:password@host:5432/database?schema=forms.';

/** Reads `postgres://…?schema=…`. Throws SETTINGS when it can't be used; never quotes it (L15). */
export function parsePostgresUrl(url: string): PostgresAddress {
  const parsed = URL.parse(url.trim());
  if (parsed === null || !/^postgres(ql)?:$/.test(parsed.protocol)) {
    throw new MirrorError(
      'SETTINGS',
      `The PostgreSQL target URL can not be read: special characters in a password must be percent-encoded (@ is %40, / is %2F, # is %23). ${EXAMPLE}`,
    );
  }
  if (parsed.pathname.length <= 1) {
    throw new MirrorError('SETTINGS', `The PostgreSQL target URL names no database. ${EXAMPLE}`);
  }
  const schema = parsed.searchParams.get('schema') ?? 'public';
  checkSchema(schema);
  const shown = shownAddress(parsed, schema);
  parsed.searchParams.delete('schema');
  verifyCertificates(parsed.searchParams);
  return { connectionString: parsed.href, schema, shown };
}

function checkSchema(schema: string): void {
  const fits = schema !== '' && Buffer.byteLength(schema) <= 63 && !schema.includes('\0');
  if (fits && !/^pg_/i.test(schema) && schema !== 'information_schema') return;
  throw new MirrorError(
    'SETTINGS',
    `The ?schema= of the PostgreSQL target URL must be a name of 1 to 63 bytes that is not one of PostgreSQL's own (pg_…). ${EXAMPLE}`,
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

/**
 * The driver takes `require`, `prefer` and `verify-ca` for `verify-full`, and warns on stderr about each; we say it
 * ourselves. Who wants libpq's meaning sets `uselibpqcompat=true`, who wants no check at all `sslmode=no-verify`.
 */
function verifyCertificates(options: URLSearchParams): void {
  const mode = options.get('sslmode') ?? '';
  if (options.get('uselibpqcompat') === 'true') return;
  if (['require', 'prefer', 'verify-ca'].includes(mode)) options.set('sslmode', 'verify-full');
}
