import type { BackendFactory, IQueueBackend } from 'bullmq';
import type { Clock } from '../../base/clock.ts';
import { errorCode } from '../../base/error-code.ts';
import { MirrorError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { ErrorListener } from '../error-log.ts';

/** The stores a queue can live in. */
export type BackendKind = 'redis' | 'postgres' | 'embedded';

/** BullMQ's factory with the connection already inside; the `connection` that callers pass is ignored. */
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

/** How to open a store. */
export interface BackendOptions {
  /** Undefined for the embedded store. */
  readonly url: URL | undefined;
  /** Where the embedded store may keep its files. */
  readonly dataDir: string;
  /** How many workers this process will have: each holds a connection of its own. */
  readonly workers: number;
  readonly upkeepMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onError: ErrorListener;
}

/** The address without user, password and parameters. */
export function safeAddress(url: URL): string {
  return `${url.protocol}//${url.host}${url.pathname === '/' ? '' : url.pathname}`;
}

/** The prefix that separates this mirror's queues from others in the same store: `?prefix=…` of QUEUE_URL. */
export function readPrefix(url: URL): string {
  const prefix = url.searchParams.get('prefix') ?? 'forms-mirror';
  if (/^[\w.-]{1,40}$/.test(prefix)) return prefix;
  throw new MirrorError(
    'SETTINGS',
    'prefix in QUEUE_URL may hold letters, digits, dots, dashes and underscores only, at most 40: redis://host:6379?prefix=my-mirror',
  );
}

/** QUEUE_FAILED: `server` (its name and address, no password) does not answer, or its certificate is not trusted. */
export function unreachable(server: string, error: unknown): MirrorError {
  const code = errorCode(error) ?? '';
  if (/CERT|SELF_SIGNED/.test(code)) {
    return new MirrorError(
      'QUEUE_FAILED',
      `${server} shows a certificate that is not trusted here (${code}): name its authority's file in NODE_EXTRA_CA_CERTS, or correct the host in QUEUE_URL.`,
      { cause: error, retryable: false },
    );
  }
  return new MirrorError(
    'QUEUE_FAILED',
    `${server} does not answer${code === '' ? '' : ` (${code})`}: is it running, and is QUEUE_URL right?`,
    { cause: error },
  );
}
