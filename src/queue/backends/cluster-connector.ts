import { createConnection } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { AbstractConnector, Redis, type RedisOptions } from 'ioredis';
import { ASK_MS, NO_CLUSTER, refuseAway, type ServerPlace } from './redis-address.ts';

/** How a connection to a cluster finds its way. */
export interface ClusterRoute {
  /** Nodes that are asked for the way, in this order; at least one. */
  readonly nodes: readonly ServerPlace[];
  /** All that the connection is used for lies in the hash slot of this key. */
  readonly key: string;
}

/** What ioredis hands to a connector, as far as it is used here. */
type ConnectionOptions = Pick<
  RedisOptions,
  'username' | 'password' | 'tls' | 'disconnectTimeout' | 'retryStrategy'
>;

/** Answers of a node that is not, or no longer, the master of the slot: the way has to be found anew. */
export const isMisdirected = ({ message }: Error): boolean =>
  /^(MOVED|ASK|TRYAGAIN|CLUSTERDOWN|READONLY|MASTERDOWN|UNBLOCKED)\b/.test(message);

/**
 * Connects to the one master that holds the slot of a key, as all keys of a mirror lie in one: each time a connection is made,
 * the named nodes are asked for it. So a cluster is a single Redis that moves, like one that sentinels watch. (ioredis' own client for
 * clusters was tried: workers hung on their blocking connections after a master had died.)
 */
export function clusterConnector({
  nodes,
  key,
}: ClusterRoute): new (options: unknown) => AbstractConnector {
  let order = nodes;
  return class ClusterConnector extends AbstractConnector {
    readonly #options: ConnectionOptions;

    constructor(options: unknown) {
      const known = options as ConnectionOptions;
      super(known.disconnectTimeout ?? ASK_MS);
      this.#options = known;
    }

    /** False for a node that is a replica by now. */
    override check(info: { readonly role?: string } | undefined): boolean {
      return info?.role !== 'slave';
    }

    override async connect(onError: (type: string, error: Error) => void) {
      this.connecting = true;
      for (let times = 1; ; times++) {
        try {
          const { place, by } = await masterOf(order, key, this.#options);
          // First for the next time: a silent one before it costs every connection seconds.
          order = [by, ...order.filter((node) => node !== by)];
          if (!this.#options.tls) refuseAway(nodes, place.host);
          if (!this.connecting) throw new Error('Connection is closed.');
          return this.#open(place);
        } catch (error) {
          const delayMs = this.connecting ? this.#options.retryStrategy?.(times) : null;
          if (typeof delayMs !== 'number') throw error;
          onError('error', error instanceof Error ? error : new Error(String(error)));
          await wait(delayMs);
        }
      }
    }

    #open({ host, port }: ServerPlace) {
      const { tls } = this.#options;
      this.stream = tls ? connectTls({ ...tls, host, port }) : createConnection({ host, port });
      this.stream.once('error', (error: Error) => {
        this.firstError = error;
      });
      return this.stream;
    }
  };
}

/** The node that answers for a key, by the word of the first that answers at all. Throws why one refused us, or else why one does not answer. */
async function masterOf(
  nodes: readonly ServerPlace[],
  key: string,
  options: ConnectionOptions,
): Promise<{ readonly place: ServerPlace; readonly by: ServerPlace }> {
  let failure: unknown;
  for (const by of nodes) {
    try {
      return { place: await askedOf(by, key, options), by };
    } catch (error) {
      if (failure === undefined || isRefusal(error)) failure = error;
    }
  }
  throw failure;
}

/** An answer, where others are merely away: only a person can mend what it says. */
const isRefusal = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'ReplyError' || error.message === NO_CLUSTER);

async function askedOf(
  node: ServerPlace,
  key: string,
  { username, password, tls }: ConnectionOptions,
): Promise<ServerPlace> {
  const client = new Redis({
    ...node,
    username,
    password,
    ...(tls !== undefined && { tls }),
    lazyConnect: true,
    enableReadyCheck: false,
    disableClientInfo: true,
    connectTimeout: ASK_MS,
    commandTimeout: ASK_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let reason: unknown;
  client.on('error', (error) => {
    reason = error;
  });
  try {
    await client.connect();
    await client.get(key);
    // Jobs that are put on a server beside the cluster would be found by nobody.
    if (/^cluster_enabled:0/m.test(await client.info('cluster'))) throw new Error(NO_CLUSTER);
    return node;
  } catch (error) {
    const place = movedTo(error, node);
    if (place !== undefined) return place;
    // The connection's own error says more than the command's "Connection is closed".
    throw reason ?? error;
  } finally {
    client.disconnect();
  }
}

/** Redis: `MOVED 3999 host:6381`; without a host it is the one that was asked. */
function movedTo(error: unknown, { host }: ServerPlace): ServerPlace | undefined {
  const text = error instanceof Error ? error.message : '';
  const [, named = '', port = ''] = /^MOVED \d+ (.*):(\d+)$/.exec(text) ?? [];
  return port === '' ? undefined : { host: named || host, port: Number(port) };
}
