import type { BackendFactory, IQueueBackend } from 'bullmq';
import type { Clock } from '../base/clock.ts';
import { MirrorError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { FaultLog } from './fault-log.ts';

/** The stores a queue can live in. */
export type BackendKind = 'redis' | 'postgres' | 'embedded';

/** BullMQ's factory with the connection already inside; what callers pass as `connection` is not looked at. */
export type StoreFactory = BackendFactory<IQueueBackend, object>;

/** An open store. All queues and workers of a process share it. */
export interface QueueBackend {
  readonly kind: BackendKind;
  /** Where it is, for people: no password (L15). */
  readonly address: string;
  readonly factory: StoreFactory;
  /** The full name of a queue: several mirrors can share a store. */
  queueName(name: string): string;
  /** Closes the connections, at once where `force` is set. Never rejects. */
  close(force: boolean): Promise<void>;
}

/** What opening a store needs. */
export interface BackendOptions {
  /** Absent for the embedded store. */
  readonly url: URL | undefined;
  /** Where the embedded store may keep its files. */
  readonly dataDir: string;
  /** How many workers this process will have: each holds a connection of its own. */
  readonly workers: number;
  readonly upkeepMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly faults: FaultLog;
}

/** What each kind of store is like. The one place that tells them apart; the rest of the queue is the same on all. */
interface Profile {
  readonly schemes: readonly string[];
  /** Whether several processes can share it. */
  readonly scalesOut: boolean;
  /** Loads its driver only when it is chosen. */
  readonly open: (options: BackendOptions) => Promise<QueueBackend>;
}

const PROFILES: Readonly<Record<BackendKind, Profile>> = {
  redis: {
    schemes: ['redis:', 'rediss:'],
    scalesOut: true,
    open: async (options) => (await import('./backends/redis.ts')).openRedis(options),
  },
  postgres: {
    schemes: ['postgres:', 'postgresql:'],
    scalesOut: true,
    open: async (options) => (await import('./backends/postgres.ts')).openPostgres(options),
  },
  embedded: {
    schemes: [],
    scalesOut: false,
    open: async (options) => (await import('./backends/embedded.ts')).openEmbedded(options),
  },
};

/** The kind of store that QUEUE_URL selects. Throws SETTINGS. */
export function backendKindOf(url: URL | undefined): BackendKind {
  if (url === undefined) return 'embedded';
  for (const kind of ['redis', 'postgres'] as const) {
    if (PROFILES[kind].schemes.includes(url.protocol)) return kind;
  }
  throw new MirrorError(
    'SETTINGS',
    `QUEUE_URL begins with ${url.protocol}//: write redis://…, rediss://… or postgres://…, or leave it unset for the embedded queue.`,
  );
}

/** QUEUE_URL as a URL. Throws SETTINGS without repeating it: it may hold a password. */
export function parseQueueUrl(text: string | undefined): URL | undefined {
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (url !== null) return url;
  throw new MirrorError(
    'SETTINGS',
    'QUEUE_URL is no address: write redis://host:6379 or postgres://user:password@host/database, with special characters of a password percent-encoded.',
  );
}

/**
 * Opens the store, trying for some seconds while it does not answer. Throws SETTINGS, QUEUE_UNREACHABLE, QUEUE_DENIED,
 * QUEUE_UNSAFE or QUEUE_BUSY.
 */
export async function openBackend(
  role: 'all' | 'worker',
  options: BackendOptions,
): Promise<QueueBackend> {
  const profile = PROFILES[backendKindOf(options.url)];
  if (role === 'worker' && !profile.scalesOut) {
    throw new MirrorError(
      'SETTINGS',
      'A separate worker needs a queue that several processes can share: set QUEUE_URL (redis://… or postgres://…) here and for `start`. The embedded queue belongs to one process.',
    );
  }
  return profile.open(options);
}

/** The address without user, password and parameters. */
export function safeAddress(url: URL): string {
  return `${url.protocol}//${url.host}${url.pathname === '/' ? '' : url.pathname}`;
}

/** The name under which this mirror's queues stand apart from others in one store: `?prefix=…` of QUEUE_URL. */
export function readPrefix(url: URL): string {
  const prefix = url.searchParams.get('prefix') ?? 'forms-mirror';
  if (/^[\w.-]{1,40}$/.test(prefix)) return prefix;
  throw new MirrorError(
    'SETTINGS',
    'prefix in QUEUE_URL may hold letters, digits, dots, dashes and underscores only, at most 40: redis://host:6379?prefix=my-mirror',
  );
}
