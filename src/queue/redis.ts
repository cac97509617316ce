import { createRedisBackend } from 'bullmq';
import { Redis, type RedisOptions } from 'ioredis';
import { MirrorError } from '../base/errors.ts';
import {
  type BackendOptions,
  type QueueBackend,
  readPrefix,
  safeAddress,
  sentinelOptions,
  unreachable,
} from './backends.ts';

/** A server that is silent for this long is abandoned, and the master is looked up again. */
const SILENT_MS = 20_000;

/** The longest wait for a silent sentinel: two of them must leave time for a third. */
const ASK_MS = 2_000;

/** Opens Redis. Throws as `openBackend` does; if the server does not answer, the call may be repeated. */
export async function openRedis(url: URL, options: BackendOptions): Promise<QueueBackend> {
  // Braces put all keys of the mirror into one hash slot, which managed Redis may require.
  const prefix = `{${readPrefix(url)}}`;
  const address = safeAddress(url);
  assertSafe(await ask(url, address), address);

  const client = openClient(url, {
    // BullMQ requires this: a worker's commands wait for the connection to come back instead of failing.
    maxRetriesPerRequest: null,
    connectTimeout: 10_000,
    keepAlive: 30_000,
    // A server that fell silent keeps its connections; no command blocks for more than ten seconds.
    socketTimeout: SILENT_MS,
    // Follows a master that was demoted and keeps its connections.
    failoverDetector: true,
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
    close: async (force) => {
      if (!force) await client.quit().catch(() => undefined);
      client.disconnect();
    },
  };
}

/** A connection to the Redis at an address, or to the master that its sentinels name. The driver reads no option from the address. */
function openClient(url: URL, options: Omit<RedisOptions, 'replyMapping'>): Redis {
  const sentinel = sentinelOptions(url);
  return sentinel === undefined
    ? new Redis(url.href.replace(url.search, ''), options)
    : new Redis({ ...options, ...sentinel, sentinelCommandTimeout: ASK_MS });
}

/** The text of `INFO`. Not CONFIG, which managed services forbid. Throws QUEUE_FAILED. */
async function ask(url: URL, address: string): Promise<string> {
  const client = openClient(url, {
    lazyConnect: true,
    connectTimeout: 5_000,
    commandTimeout: 5_000,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    sentinelRetryStrategy: () => null,
  });
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
  return unreachable(`Redis at ${address}`, reason ?? error);
}

/** Throws QUEUE_FAILED for a server that may drop jobs, and SETTINGS for a node of a cluster. */
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
}
