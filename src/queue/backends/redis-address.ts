import { decoded, isLoopback } from '../../base/transport.ts';

/** The schemes of QUEUE_URL that mean Redis. */
export const REDIS_SCHEMES = ['redis:', 'rediss:', 'redis+sentinel:', 'rediss+sentinel:'];

/** What to use where a Redis Cluster was given. */
export const SINGLE_REDIS =
  'the address of a single Redis (redis://… or rediss://…), or of one that sentinels watch (redis+sentinel://…)';

/** A server. */
interface ServerPlace {
  /** Without the brackets of IPv6. */
  readonly host: string;
  readonly port: number;
}

/** What an address says that finds the master by Sentinel. */
export interface SentinelAddress {
  /** At least one. */
  readonly sentinels: readonly ServerPlace[];
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

const SENTINEL_PORT = 26_379;

/**
 * Reads `redis+sentinel://:password@host:26379/master?sentinel=other:26379` (`rediss+…` for TLS). Undefined for the address of
 * Redis itself; a text for one that cannot be used, which says what would be right and repeats nothing of it (L15).
 */
export function sentinelAddress(url: URL): SentinelAddress | string | undefined {
  if (!url.protocol.endsWith('+sentinel:')) return undefined;
  const sentinels = placesIn(url);
  if (sentinels === undefined) {
    return 'names a sentinel that is not a host and port: write redis+sentinel://host:26379/master?sentinel=other:26379';
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

/** The host of an address and those that its parameters name; undefined where one is none. */
function placesIn(url: URL): ServerPlace[] | undefined {
  const named = [url.host, ...url.searchParams.getAll('sentinel')].map(placeOf);
  const places = named.filter((place) => place !== undefined);
  return places.length < named.length ? undefined : places;
}

/** What {@link refuseAway} says of a server, after the setting's name. */
export const NAMED_AWAY =
  'asks for no TLS, and the servers that it names, all on this machine, send us to one on another, so that the password could be read on the way: write rediss+…://, or, if no one else is on that network, name them by their addresses in it, here and in ALLOW_PLAINTEXT';

/**
 * Throws, with {@link NAMED_AWAY}, for a server on another machine that only sentinels name, and that would get a
 * password in plain text (L15). Where the address itself names another machine, ALLOW_PLAINTEXT was asked.
 */
export function refuseAway(named: readonly ServerPlace[], host: string): void {
  if (!isLoopback(host) && named.every((one) => isLoopback(one.host))) throw new Error(NAMED_AWAY);
}

const textOr = (text: string): string | undefined => (text === '' ? undefined : decoded(text));

function placeOf(text: string): ServerPlace | undefined {
  const url = URL.parse(`redis://${text}`);
  if (url === null || url.hostname === '' || url.host !== text) return undefined;
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  return { host, port: url.port === '' ? SENTINEL_PORT : Number(url.port) };
}
