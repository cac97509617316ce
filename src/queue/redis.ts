import { createRedisBackend } from 'bullmq';
import { Redis } from 'ioredis';
import { MirrorError } from '../base/errors.ts';
import { DEFAULT_RETRY, withRetry } from '../base/retry.ts';
import { isLoopback } from '../base/transport.ts';
import {
  type BackendOptions,
  type QueueBackend,
  readPrefix,
  safeAddress,
  sentinelAddress,
  unreachable,
} from './backends.ts';

/** BullMQ works on 5, but its scripts are slow on lists there. It recommends 6.2. */
const OLDEST: readonly [number, number] = [6, 2];

/** A server without a response for this long is given up, and the master looked up again. */
const SILENT_MS = 20_000;

/** A sentinel that is silent is waited for no longer: two of them must leave time for a third (see {@link PROBE}). */
const ASK_MS = 2_000;

/** Opens Redis. Throws as `openBackend` does. */
export async function openRedis(url: URL, options: BackendOptions): Promise<QueueBackend> {
  // Braces make all keys of the mirror one hash slot, which managed Redis may ask for.
  const prefix = `{${readPrefix(url)}}`;
  const address = safeAddress(url);
  const info = await withRetry(() => ask(url, address), {
    policy: DEFAULT_RETRY,
    clock: options.clock,
    onRetry: ({ delayMs }) =>
      options.logger.warn({ address, delayMs }, 'Redis does not answer yet; trying again.'),
  });
  assertSafe(info, address);

  const client = openClient(url, {
    // BullMQ requires this: a worker's commands wait for the connection to come back instead of failing.
    maxRetriesPerRequest: null,
    connectTimeout: 10_000,
    keepAlive: 30_000,
    // A server that fell silent keeps its connections; no command blocks for more than ten seconds.
    socketTimeout: SILENT_MS,
  });
  client.setMaxListeners(0);
  client.on('error', options.onError);
  return {
    kind: 'redis',
    address,
    factory: (name, opts, extra) => {
      const withConnection = { ...opts, prefix, connection: client };
      return createRedisBackend(name, withConnection, extra);
    },
    queueName: (name) => name,
    close: async (force) => {
      if (!force) await client.quit().catch(() => undefined);
      client.disconnect();
    },
  };
}

/**
 * The address as the driver is to take it. It lets any parameter win over the scheme: an empty `tls` would have it send the
 * password to a `rediss://` address in plain text (L15).
 */
export function driverAddress(url: URL): string {
  const copy = new URL(url);
  copy.searchParams.delete('prefix');
  if (copy.protocol === 'rediss:') copy.searchParams.delete('tls');
  return copy.href;
}

/** Options of the driver that differ between asking and working. */
interface ClientOptions {
  readonly lazyConnect?: boolean;
  readonly connectTimeout: number;
  readonly commandTimeout?: number;
  readonly keepAlive?: number;
  readonly socketTimeout?: number;
  readonly maxRetriesPerRequest: number | null;
  readonly retryStrategy?: () => null;
}

/** A connection to the Redis of an address, or to the master that its sentinels name. */
function openClient(url: URL, options: ClientOptions): Redis {
  const found = sentinelAddress(url);
  if (found === undefined) return new Redis(driverAddress(url), options);
  const isEncrypted = url.protocol.startsWith('rediss');
  const isHere = found.sentinels.every(({ host }) => isLoopback(host));
  return new Redis({
    ...options,
    ...found,
    ...(isEncrypted && { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true }),
    ...(options.retryStrategy && { sentinelRetryStrategy: options.retryStrategy }),
    sentinelCommandTimeout: ASK_MS,
    // Asked of each server that a sentinel names, before it is connected to. Where the address itself names another machine,
    // ALLOW_PLAINTEXT was asked.
    natMap: (place) => {
      const host = place.slice(0, place.lastIndexOf(':'));
      if (!isEncrypted && isHere && !isLoopback(host)) throw new Error(NAMED_AWAY);
      return null;
    },
    // A master that became a replica while we were connected: the command goes to the new one.
    reconnectOnError: ({ message }) => /^(READONLY|MASTERDOWN|UNBLOCKED)\b/.test(message) && 2,
  });
}

/** A server on another machine that only sentinels name would get a password in plain text (L15). */
const NAMED_AWAY =
  'asks for no TLS, and the servers that it names, all on this machine, send us to one on another, so that the password could be read on the way: write rediss+…://, or, if no one else is on that network, name them by their addresses in it, here and in ALLOW_PLAINTEXT';

const PROBE = {
  lazyConnect: true,
  connectTimeout: 5_000,
  commandTimeout: 5_000,
  maxRetriesPerRequest: 0,
  retryStrategy: () => null,
} as const satisfies ClientOptions;

/** The text of `INFO`, or why there is none. CONFIG is not asked: managed services forbid it. */
async function ask(url: URL, address: string): Promise<string> {
  const client = openClient(url, PROBE);
  let reason: unknown;
  client.on('error', (error) => {
    reason = error;
  });
  try {
    await client.connect();
    return await client.info();
  } catch (error) {
    throw translate(error, reason, address);
  } finally {
    client.disconnect();
  }
}

/** The connection's own error is more precise than the command's "Connection is closed". */
function translate(error: unknown, reason: unknown, address: string): MirrorError {
  const texts = [reason, error].map((cause) => (cause instanceof Error ? cause.message : ''));
  if (texts.some((text) => /WRONGPASS|NOAUTH|NOPERM|invalid password|ERR AUTH/i.test(text))) {
    return new MirrorError(
      'QUEUE_FAILED',
      `Redis at ${address} refused the user or password of QUEUE_URL: correct it, with special characters percent-encoded.`,
      { cause: reason ?? error, retryable: false },
    );
  }
  if (texts.some((text) => text.includes(NAMED_AWAY))) {
    return new MirrorError('SETTINGS', `QUEUE_URL ${NAMED_AWAY}.`, { cause: error });
  }
  return unreachable(`Redis at ${address}`, reason ?? error);
}

/** Throws QUEUE_FAILED for a server that may drop jobs, and SETTINGS for a node of a cluster or an old version. */
export function assertSafe(info: string, address: string): void {
  // Its keys move to other nodes, where no job would be found.
  if (/^redis_mode:cluster\b/m.test(info)) {
    throw new MirrorError(
      'SETTINGS',
      `Redis at ${address} is a node of a Redis Cluster, which cannot hold the queue: set QUEUE_URL to the address of a single Redis (redis://… or rediss://…), or of one that sentinels watch (redis+sentinel://…).`,
    );
  }
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? 'noeviction';
  if (policy !== 'noeviction') {
    throw new MirrorError(
      'QUEUE_FAILED',
      `Redis at ${address} has maxmemory-policy ${policy} and may drop jobs: set it to noeviction (redis-cli CONFIG SET maxmemory-policy noeviction, and in redis.conf), or use a Redis of its own for the queue.`,
      { retryable: false },
    );
  }
  const version = /^redis_version:(\d+)\.(\d+)/m.exec(info);
  if (version === null) return;
  const [major, minor] = [Number(version[1]), Number(version[2])];
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return;
  throw new MirrorError(
    'SETTINGS',
    `Redis at ${address} is version ${major}.${minor}: QUEUE_URL needs ${OLDEST.join('.')} or newer.`,
  );
}
