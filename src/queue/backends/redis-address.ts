import { isLoopback } from '../../base/loopback.ts';
import { decoded } from '../../base/transport.ts';

/** The schemes of QUEUE_URL that mean Redis. */
export const REDIS_SCHEMES = ['redis:', 'rediss:', 'redis+sentinel:', 'rediss+sentinel:'];

/** What an address says that finds the master by Sentinel. */
export interface SentinelAddress {
  /** At least one. */
  readonly sentinels: readonly { readonly host: string; readonly port: number }[];
  /** What the sentinels call the master. */
  readonly master: string;
  /** User and password of the master; undefined: none. */
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** Of the sentinels themselves. */
  readonly sentinelPassword: string | undefined;
  /** To the sentinels and to the master. */
  readonly tls: boolean;
}

const DEFAULT_PORT = 26_379;

/**
 * Reads `redis+sentinel://:password@host:26379/master?sentinel=other:26379` (`rediss+…` for TLS). Undefined for the address of
 * Redis itself; a text for one that cannot be used, which says what would be right and repeats nothing of it (L15).
 */
export function sentinelAddress(url: URL): SentinelAddress | string | undefined {
  if (!url.protocol.endsWith('+sentinel:')) return undefined;
  const named = [url.host, ...url.searchParams.getAll('sentinel')].map(placeOf);
  const sentinels = named.filter((place) => place !== undefined);
  if (sentinels.length < named.length) {
    return 'names a sentinel that is no host and port: write redis+sentinel://host:26379/master?sentinel=other:26379';
  }
  const master = decoded(url.pathname.slice(1));
  if (!/^[\w.-]+$/.test(master)) {
    return 'does not say what the sentinels call the master: write redis+sentinel://host:26379/master';
  }
  return {
    sentinels,
    master,
    username: textOr(url.username),
    password: textOr(url.password),
    sentinelPassword: url.searchParams.get('sentinelPassword') ?? undefined,
    tls: url.protocol.startsWith('rediss'),
  };
}

/** What {@link refuseAway} says of a server, after the setting's name. */
export const NAMED_AWAY =
  'asks for no TLS, and its sentinels, all on this machine, name a server on another one, so that the password could be read on the way: write rediss+sentinel://, or, where nobody else is on that network, name the sentinels by their addresses in it, here and in ALLOW_PLAINTEXT';

/**
 * Throws, with {@link NAMED_AWAY}, for a server (`host:port`) on another machine that only the sentinels name, and that would
 * get a password in plain text (L15). Where the address itself names another machine, ALLOW_PLAINTEXT was asked.
 */
export function refuseAway({ tls, sentinels }: SentinelAddress, place: string): void {
  if (tls || !sentinels.every(({ host }) => isLoopback(host))) return;
  if (!isLoopback(place.slice(0, place.lastIndexOf(':')))) throw new Error(NAMED_AWAY);
}

const textOr = (text: string): string | undefined => (text === '' ? undefined : decoded(text));

function placeOf(text: string): { host: string; port: number } | undefined {
  const url = URL.parse(`redis://${text}`);
  if (url === null || url.hostname === '' || url.host !== text) return undefined;
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  return { host, port: url.port === '' ? DEFAULT_PORT : Number(url.port) };
}
