import { MirrorError } from './errors.ts';

/** An address in the settings that cannot be used (SETTINGS). It does not quote the address, which may hold a password (L15). */
export class AddressError extends MirrorError {
  /** The mistake and its correction: continues after the variable's name, without a full stop. */
  readonly problem: string;

  constructor(problem: string) {
    super('SETTINGS', `The address ${problem}.`);
    this.problem = problem;
  }
}

/** The address of a server. Throws {@link AddressError}. */
export function serverUrl(text: string): URL {
  const url = URL.parse(text.trim());
  // An unencoded # or / in a password ends the host too early; what follows it then holds the real @.
  if (url === null || url.hash !== '' || url.pathname.includes('@'))
    throw new AddressError(
      'is not an address: special characters in a password must be percent-encoded (@ is %40, / is %2F, # is %23)',
    );
  return url;
}

/** How a server is reached, according to its address. */
export interface Transport {
  /** Without a port, in lower case; undefined for what never leaves this machine. Holds no user and no password. */
  readonly host: string | undefined;
  /** Further servers that the address names, in the same way; absent where there are none. */
  readonly others?: readonly string[];
  /** The risks of this connection, each as a part of a sentence after the setting's name, without a full stop. */
  readonly weaknesses: readonly string[];
}

/** What stays on this machine: a file, a Unix socket, a loopback address. */
export const LOCAL: Transport = { host: undefined, weaknesses: [] };

/** A host as messages and settings write it: in lower case, without the brackets of IPv6. */
export const plainHost = (host: string): string => host.toLowerCase().replace(/^\[(.*)\]$/, '$1');

/** The transport of an address at `host`, which may be a path to a Unix socket. */
function transportTo(host: string, weaknesses: readonly string[]): Transport {
  const name = plainHost(host);
  return name.startsWith('/') || isLoopback(name) ? LOCAL : { host: name, weaknesses };
}

/** What a connection to a database risks that may go without TLS, or without a check of the certificate. */
const unsafe = (setting: string, authority: string): string =>
  `asks for no TLS with a checked certificate, so answers and the password could be read on the way: add ${setting}, with ${authority}=<file> for an authority of your own`;

/** The modes of `sslmode` that never continue without TLS. */
const WITH_TLS = new Set(['require', 'verify-ca', 'verify-full']);

/** How a `postgres://` address is reached, as the driver reads it: a parameter wins over the address, its last value counts. */
export function postgresTransport(url: URL): Transport {
  const option = (name: string): string | undefined => url.searchParams.getAll(name).at(-1);
  const host = option('host') || decoded(url.hostname);
  if (host === '')
    return { host: '', weaknesses: ['names no host: write it, localhost for this machine'] };
  const mode = option('sslmode') ?? '';
  // With libpq's meaning `require` encrypts and checks nothing, unless an authority is named: an empty name names none.
  const isUnchecked =
    option('uselibpqcompat') === 'true' && mode === 'require' && !option('sslrootcert');
  const isSafe = WITH_TLS.has(mode) && !isUnchecked;
  return transportTo(host, isSafe ? [] : [unsafe('sslmode=verify-full', 'sslrootcert')]);
}

/** How a `mysql://` or `mariadb://` address is reached. */
export function mysqlTransport(url: URL): Transport {
  const option = (name: string): string | undefined => url.searchParams.getAll(name).at(-1);
  if (option('socket') !== undefined) return LOCAL;
  const mode = option('ssl-mode')?.toUpperCase().replaceAll('-', '_');
  // Anyone with a certificate of a public authority passes for any other host.
  const isSafe = mode === 'VERIFY_IDENTITY' || (mode === 'VERIFY_CA' && option('ssl-ca'));
  const host = decoded(url.hostname) || 'localhost';
  return transportTo(host, isSafe ? [] : [unsafe('ssl-mode=VERIFY_IDENTITY', 'ssl-ca')]);
}

/** How a Redis is reached, and the sentinels that name it, as the driver reads it. */
export function redisTransport(url: URL): Transport {
  const option = (name: string): string => url.searchParams.getAll(name).at(-1) ?? '';
  if (option('path') !== '') return LOCAL;
  const weaknesses: string[] = [];
  if (!url.protocol.startsWith('rediss')) {
    weaknesses.push(
      'asks for no TLS, so that the password could be read on the way: write rediss://',
    );
  }
  // The one in the address wins.
  if (passwordOf(url).trim() === '') {
    weaknesses.push('holds no password, so anyone who reaches the server could add jobs: set one');
  }
  const main = decoded(url.hostname) || option('host') || 'localhost';
  if (!url.protocol.endsWith('+sentinel:')) return transportTo(main, weaknesses);
  // Sentinels may name a master on any machine, so one on this machine is no better.
  const hosts = url.searchParams.getAll('sentinel').map((text) => {
    return plainHost(URL.parse(`redis://${text}`)?.hostname ?? '');
  });
  return { host: plainHost(main), others: hosts, weaknesses };
}

/** The password in an address, as the drivers read it; empty: none. */
function passwordOf(url: URL): string {
  return decoded(url.password) || (url.searchParams.getAll('password').at(-1) ?? '');
}

/** A part of an address: `%2Frun%2Fpostgresql` is a path to a socket, `p%40ss` a password. An invalid escape stays unchanged. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The header that sends the user name and password of an address, which the client itself leaves out; none without them. */
export function loginOf(address: string | URL): Readonly<Record<string, string>> {
  const { username, password } = new URL(address);
  if (username === '' && password === '') return {};
  const login = Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64');
  return { authorization: `Basic ${login}` };
}

/**
 * Makes the driver check certificates wherever it uses TLS. It treats `require`, `prefer` and `verify-ca` as
 * `verify-full` today, and warns on stderr about each. Setting it here avoids the warning, and stays right if the
 * driver changes. `uselibpqcompat=true` gives libpq's meaning, `sslmode=no-verify` no check.
 */
export function verifyCertificates(options: URLSearchParams): void {
  const mode = options.getAll('sslmode').at(-1) ?? '';
  if (options.get('uselibpqcompat') === 'true') return;
  if (['require', 'prefer', 'verify-ca'].includes(mode)) options.set('sslmode', 'verify-full');
}

/** True for a host name or address that never leaves the machine: 127.0.0.0/8, ::1 with or without its brackets, localhost. */
export function isLoopback(host: string): boolean {
  const name = plainHost(host);
  return name === 'localhost' || name === '::1' || /^127(\.\d{1,3}){3}$/.test(name);
}
