import { MirrorError } from '../base/errors.ts';
import { LOCAL, type Transport, postgresTransport, redisTransport } from '../base/transport.ts';
import { REDIS_SCHEMES, SINGLE_REDIS, sentinelAddress } from './backends/redis-address.ts';
import type { BackendKind, BackendOptions, QueueBackend } from './backends/backend.ts';

/** A kind of store. The only place that distinguishes them; the rest of the queue is the same on all. */
interface Profile {
  readonly schemes: readonly string[];
  /** Whether several processes can share it. */
  readonly scalesOut: boolean;
  /** How safely an address is reached. */
  readonly transport: (url: URL) => Transport;
  /** Loads its driver only when it is chosen. */
  readonly open: (options: BackendOptions) => Promise<QueueBackend>;
}

const PROFILES: Readonly<Record<BackendKind, Profile>> = {
  redis: {
    schemes: REDIS_SCHEMES,
    scalesOut: true,
    transport: redisTransport,
    open: async (options) => (await import('./backends/redis.ts')).openRedis(options),
  },
  postgres: {
    schemes: ['postgres:', 'postgresql:'],
    scalesOut: true,
    transport: postgresTransport,
    open: async (options) => (await import('./backends/postgres.ts')).openPostgres(options),
  },
  embedded: {
    schemes: [],
    scalesOut: false,
    transport: () => LOCAL,
    open: async (options) => (await import('./backends/embedded.ts')).openEmbedded(options),
  },
};

/** The kind of store at an address; without one it is embedded. Throws {@link QueueUrlError} for another scheme. */
export function backendKindOf(url: URL | undefined): BackendKind {
  if (url === undefined) return 'embedded';
  for (const kind of ['redis', 'postgres'] as const) {
    if (PROFILES[kind].schemes.includes(url.protocol)) return kind;
  }
  throw new QueueUrlError(UNKNOWN_KIND);
}

/** QUEUE_URL, parsed here alone. Throws {@link QueueUrlError}. */
export function parseQueueUrl(text: string): URL {
  const scheme = /^[a-z+]+:(?=\/\/)/i.exec(text)?.[0].toLowerCase();
  if (/^rediss?[+]cluster:/.test(scheme ?? '')) throw new QueueUrlError(CLUSTER);
  const isKnown = Object.values(PROFILES).some(({ schemes }) => schemes.includes(scheme ?? ''));
  if (!isKnown) throw new QueueUrlError(UNKNOWN_KIND);
  const url = URL.parse(text);
  // An unencoded # or / in a password ends the host too early; what follows it then holds the real @.
  if (url === null || url.hash !== '' || url.pathname.includes('@')) {
    throw new QueueUrlError(NO_ADDRESS);
  }
  const found = sentinelAddress(url);
  if (typeof found === 'string') throw new QueueUrlError(found);
  return url;
}

/** How safely the queue at an address is reached. */
export const queueTransport = (url: URL): Transport => PROFILES[backendKindOf(url)].transport(url);

/** A QUEUE_URL that cannot be used. Neither message nor problem repeats it: it may hold a password (L15). */
export class QueueUrlError extends MirrorError {
  /** What is wrong and what would be right: continues after the variable's name, without a full stop. */
  readonly problem: string;

  constructor(problem: string) {
    super('SETTINGS', `QUEUE_URL ${problem}.`);
    this.problem = problem;
  }
}

const UNKNOWN_KIND =
  'is of an unknown kind: write redis://…, rediss://… or postgres://…, or leave it unset for the embedded queue';
const CLUSTER = `names a Redis Cluster, which cannot hold the queue: write ${SINGLE_REDIS}`;
const NO_ADDRESS =
  'is not an address: a password with special characters must be percent-encoded (@ is %40, / is %2F, # is %23)';

/**
 * Opens the store, trying for some seconds while it does not answer. Throws SETTINGS, QUEUE_FAILED, QUEUE_FAILED,
 * QUEUE_FAILED or QUEUE_BUSY.
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
