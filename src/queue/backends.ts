import type { BackendFactory, IQueueBackend } from 'bullmq';
import type { Clock } from '../base/clock.ts';
import { errorCode, MirrorError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { DEFAULT_RETRY, withRetry } from '../base/retry.ts';
import {
  AddressError,
  decoded,
  plainHost,
  postgresTransport,
  serverUrl,
  type Transport,
  transportTo,
} from '../base/transport.ts';
import type { ErrorListener } from './error-log.ts';

/** The stores that a queue can use. */
export type BackendKind = 'redis' | 'postgres' | 'embedded';

/** An open store. All queues and workers of a process share it. */
export interface QueueBackend {
  readonly kind: BackendKind;
  /** Its address for people, without password (L15). */
  readonly address: string;
  /**
   * BullMQ's factory with the connection inside; it ignores the `connection` that callers pass. It separates the queues of several
   * mirrors in one store.
   */
  readonly factory: BackendFactory<IQueueBackend, object>;
  /** Closes the connections; at once if `force` is set. Never rejects. */
  close(force: boolean): Promise<void>;
}

/** Which store to open. */
export interface StoreOptions {
  /** `redis://`, `rediss://` or `postgres://`; undefined for the embedded store. `?prefix=` separates mirrors in one store. */
  readonly queueUrl: URL | undefined;
  /** The folder for the files of the embedded store. */
  readonly dataDir: string;
  /** `start` also keeps the schedule. Any number of `worker`s can help it, unless the store is embedded. */
  readonly role: 'start' | 'worker';
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How to open it. */
export interface BackendOptions extends StoreOptions {
  /** How many workers this process will have; each has a connection of its own. */
  readonly workers: number;
  readonly upkeepMs: number;
  readonly onError: ErrorListener;
}

/** Opens the store, and retries for some seconds if it does not answer. Throws SETTINGS or QUEUE_FAILED. */
export async function openBackend(options: BackendOptions): Promise<QueueBackend> {
  const { queueUrl: url, role, clock, logger } = options;
  // A driver is loaded only if it is needed.
  if (url === undefined) {
    if (role === 'start') return (await import('./embedded.ts')).openEmbedded(options);
    throw new MirrorError(
      'SETTINGS',
      'A separate worker needs a queue that several processes can share: set QUEUE_URL (redis://… or postgres://…) here and for `start`. The embedded queue belongs to one process.',
    );
  }
  const open =
    backendKindOf(url) === 'redis'
      ? (await import('./redis.ts')).openRedis
      : (await import('./postgres.ts')).openPostgres;
  return withRetry(() => open(url, options), {
    policy: DEFAULT_RETRY,
    clock,
    onRetry: ({ delayMs }) =>
      logger.warn(
        { address: safeAddress(url), delayMs },
        'The queue does not answer yet; trying again.',
      ),
  });
}

/** The kind of server at an address. Throws {@link AddressError} for another scheme. */
export function backendKindOf({ protocol }: URL): BackendKind {
  if (/^rediss?([+]sentinel)?:$/.test(protocol)) return 'redis';
  if (/^postgres(ql)?:$/.test(protocol)) return 'postgres';
  throw new AddressError(
    'is of an unknown kind: write redis://…, rediss://… or postgres://…, or leave it unset for the embedded queue',
  );
}

/** Parses QUEUE_URL; nothing else does. Throws {@link AddressError}. */
export function parseQueueUrl(text: string): URL {
  const url = serverUrl(text);
  queueTransport(url);
  readPrefix(url);
  return url;
}

/** What an address of Redis may hold after its `?`. The driver takes many more, which could lead to another server. */
const REDIS_OPTIONS = new Set(['prefix', 'sentinel', 'sentinelPassword']);

/** How securely the queue at an address is reached. Throws {@link AddressError}. */
export function queueTransport(url: URL): Transport {
  if (backendKindOf(url) === 'postgres') return postgresTransport(url);
  if (url.searchParams.keys().some((option) => !REDIS_OPTIONS.has(option)))
    throw new AddressError(
      'has an option that is not known after its ?: Redis takes prefix, and its sentinels sentinel and sentinelPassword',
    );
  const weaknesses: string[] = [];
  if (!url.protocol.startsWith('rediss')) {
    weaknesses.push('does not ask for TLS, so others could read the password: write rediss://');
  }
  if (decoded(url.password).trim() === '') {
    weaknesses.push('holds no password, so anyone who reaches the server could add jobs: set one');
  }
  const { sentinels } = sentinelOptions(url) ?? {};
  // Sentinels may name a master on another machine, so even a sentinel on this machine is not local.
  if (sentinels !== undefined) return { hosts: sentinels.map(({ host }) => host), weaknesses };
  return transportTo(decoded(url.hostname) || 'localhost', weaknesses);
}

/**
 * The driver's options for `redis+sentinel://:password@host:26379/master?sentinel=other:26379` (`rediss+…` for TLS). Undefined for the
 * address of Redis itself. Throws {@link AddressError}.
 */
export function sentinelOptions(url: URL) {
  const { protocol, searchParams, username, password } = url;
  if (!protocol.endsWith('+sentinel:')) return undefined;
  const name = decoded(url.pathname.slice(1));
  const sentinels = [url.host, ...searchParams.getAll('sentinel')].map((text) => {
    const place = URL.parse(`redis://${text}`);
    if (place === null || place.host !== text || text === '' || !/^[\w.-]+$/.test(name)) {
      throw new AddressError(
        'does not name sentinels and what they call the master: write redis+sentinel://host:26379/master?sentinel=other:26379',
      );
    }
    return { host: plainHost(place.hostname), port: Number(place.port || 26_379) };
  });
  const sentinelPassword = searchParams.get('sentinelPassword');
  return {
    sentinels,
    name,
    ...(username !== '' && { username: decoded(username) }),
    ...(password !== '' && { password: decoded(password) }),
    ...(sentinelPassword !== null && { sentinelPassword }),
    ...(protocol.startsWith('rediss') && {
      tls: {},
      sentinelTLS: {},
      enableTLSForSentinelMode: true,
    }),
  };
}

/** The address without user, password and parameters. */
export function safeAddress(url: URL): string {
  return `${url.protocol}//${url.host}${url.pathname === '/' ? '' : url.pathname}`;
}

/** The prefix that separates this mirror's queues from others in the same store: `?prefix=…`. Throws {@link AddressError}. */
export function readPrefix(url: URL): string {
  const prefix = url.searchParams.get('prefix') ?? 'forms-mirror';
  if (/^[\w.-]{1,40}$/.test(prefix)) return prefix;
  throw new AddressError(
    'has a prefix with other characters than letters, digits, dots, dashes and underscores, or more than 40: write redis://host:6379?prefix=my-mirror',
  );
}

/** QUEUE_FAILED: `server` (its name and address, no password) does not answer, or its certificate is not trusted. */
export function unreachable(server: string, cause: unknown): MirrorError {
  const code = errorCode(cause) ?? '';
  if (/CERT|SELF_SIGNED/.test(code)) {
    return new MirrorError(
      'QUEUE_FAILED',
      `${server} shows a certificate that is not trusted here (${code}): name its authority's file in NODE_EXTRA_CA_CERTS, or correct the host in QUEUE_URL.`,
      { cause, retryable: false },
    );
  }
  const message = `${server} does not answer${code === '' ? '' : ` (${code})`}: is it running, and is QUEUE_URL right?`;
  return new MirrorError('QUEUE_FAILED', message, { cause });
}
