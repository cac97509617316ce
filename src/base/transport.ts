import { MirrorError } from './errors.ts';

/** An address in the settings that cannot be used (SETTINGS). It does not quote the address, which may contain a password (L15). */
export class AddressError extends MirrorError {
  /** The mistake and its correction: continues after the variable's name, without a period. */
  readonly problem: string;

  constructor(problem: string) {
    super('SETTINGS', `The address ${problem}.`);
    this.problem = problem;
  }
}

/** The address of a server. Throws {@link AddressError}. */
export function serverUrl(text: string): URL {
  const url = URL.parse(text.trim());
  // An unencoded # or / in a password ends the host too early; the real @ is then after it.
  if (url === null || url.hash !== '' || url.pathname.includes('@'))
    throw new AddressError(
      'is not an address: special characters in a password must be percent-encoded (@ is %40, / is %2F, # is %23)',
    );
  return url;
}

/** How a server is reached, according to its address. */
export interface Transport {
  /** Without ports, in lower case; empty for a place on this machine. Contains no user and no password. */
  readonly hosts: readonly string[];
  /** The risks of this connection, each as part of a sentence after the setting's name, without a period. */
  readonly weaknesses: readonly string[];
}

/** A place on this machine: a file, a Unix socket, a loopback address. */
export const LOCAL: Transport = { hosts: [], weaknesses: [] };

/** A host as in messages and settings: in lower case, without the brackets of IPv6. */
export const plainHost = (host: string): string => host.toLowerCase().replace(/^\[(.*)\]$/, '$1');

/** An option of an address. The last one counts, as in the drivers. */
export const optionOf = ({ searchParams }: URL, name: string): string | undefined =>
  searchParams.getAll(name).at(-1);

/** The transport of an address at `host`, which may be a path to a Unix socket. */
export function transportTo(host: string, weaknesses: readonly string[]): Transport {
  const name = plainHost(host);
  return name.startsWith('/') || isLoopback(name) ? LOCAL : { hosts: [name], weaknesses };
}

/** The risk of a connection to a database without TLS, or without a check of the certificate. */
export const unsafe = (setting: string, authority: string): string =>
  `does not ask for TLS with a checked certificate, so others could read the answers and the password: add ${setting}, with ${authority}=<file> for an authority of your own`;

/** The modes of `sslmode` that never continue without TLS. */
const WITH_TLS = new Set(['require', 'verify-ca', 'verify-full']);

/**
 * How a `postgres://` address is reached, read as the driver does: a parameter wins over the address, and its last value counts.
 * Throws {@link AddressError} if it names no host.
 */
export function postgresTransport(url: URL): Transport {
  const host = optionOf(url, 'host') || decoded(url.hostname);
  if (host === '') throw new AddressError('names no host: write it, localhost for this machine');
  const mode = optionOf(url, 'sslmode') ?? '';
  // In libpq, `require` encrypts but checks nothing.
  const isUnchecked = optionOf(url, 'uselibpqcompat') === 'true' && mode === 'require';
  const isSafe = WITH_TLS.has(mode) && !isUnchecked;
  return transportTo(host, isSafe ? [] : [unsafe('sslmode=verify-full', 'sslrootcert')]);
}

/** A decoded part of an address: `%2Frun%2Fpostgresql` is a path to a socket, `p%40ss` a password. An invalid escape stays unchanged. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Makes the driver check certificates whenever it uses TLS. Today it treats `require`, `prefer` and `verify-ca` as `verify-full`,
 * and warns on stderr about each. Setting it here avoids the warning, and stays correct if the driver changes.
 * `uselibpqcompat=true` means what libpq means, `sslmode=no-verify` means no check.
 */
export function verifyCertificates(options: URLSearchParams): void {
  const mode = options.getAll('sslmode').at(-1) ?? '';
  if (options.get('uselibpqcompat') === 'true') return;
  if (['require', 'prefer', 'verify-ca'].includes(mode)) options.set('sslmode', 'verify-full');
}

/** Whether a host name or address never leaves the machine: 127.0.0.0/8, ::1 with or without brackets, localhost. */
export function isLoopback(host: string): boolean {
  const name = plainHost(host);
  return name === 'localhost' || name === '::1' || /^127(\.\d{1,3}){3}$/.test(name);
}
