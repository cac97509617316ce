import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { scratchFolder } from './scratch.ts';
import { freePort } from './servers.ts';

/** Several Redis servers that belong together, started for a test. */
export interface RedisGroup extends AsyncDisposable {
  /** As QUEUE_URL has it. */
  readonly url: string;
  /** Kills the master, by its process ID, and resolves when it is gone. */
  killMaster(): Promise<void>;
}

const SERVER = 'redis-server';
const PASSWORD = 'kZ4vQ1mW-group';
const GROUP_MB = 128;

/** Starts servers, and ends them all. */
class Servers implements AsyncDisposable {
  readonly folder = scratchFolder('redis-group', GROUP_MB);
  readonly #children = new Map<number, ChildProcess>();

  async start(port: number, lines: readonly string[], more: readonly string[] = []): Promise<void> {
    const folder = join(this.folder, String(port));
    mkdirSync(folder);
    const file = join(folder, 'redis.conf');
    const own = [`port ${port}`, 'bind 127.0.0.1', `dir ${folder}`, ...lines];
    writeFileSync(file, `${own.join('\n')}\n`);
    this.#children.set(port, spawn(SERVER, [file, ...more], { stdio: 'ignore' }));
    const [, password = ''] = /^requirepass (\S+)$/m.exec(own.join('\n')) ?? [];
    await until(() => ask(port, (client) => client.ping(), password));
  }

  async kill(port: number): Promise<void> {
    const child = this.#children.get(port);
    const gone = new Promise((done) => child?.once('exit', done));
    child?.kill('SIGKILL');
    await gone;
    this.#children.delete(port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#children.keys()].map((port) => this.kill(port)));
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Repeats what fails or is not so yet, for half a minute. */
async function until<T>(look: () => Promise<T>, is: (value: T) => boolean = Boolean): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      const value = await look();
      if (is(value)) return value;
    } catch (error) {
      if (tries > 600) throw error;
    }
    if (tries > 600) throw new Error('the servers did not come together');
    await wait(50);
  }
}

async function ask<T>(port: number, question: (client: Redis) => Promise<T>, password: string) {
  const client = new Redis({
    port,
    password,
    lazyConnect: true,
    retryStrategy: () => null,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await question(client);
  } finally {
    client.disconnect();
  }
}

const STORE = [
  'save ""',
  'appendonly no',
  'maxmemory-policy noeviction',
  'repl-diskless-sync-delay 0',
];

/** Resolves once a server holds what its master does, if it has one. */
const isCopied = (port: number): Promise<string> =>
  until(
    () => ask(port, (client) => client.info('replication'), PASSWORD),
    (text) => text.includes('role:master') || text.includes('master_link_status:up'),
  );

/** A master, a replica, and three sentinels, which want a password of their own. */
export async function startSentinels(): Promise<RedisGroup> {
  await using stack = new AsyncDisposableStack();
  const servers = stack.use(new Servers());
  const [first, second, ...sentinels] = await ports(5);
  const secret = [`requirepass ${PASSWORD}`, `masterauth ${PASSWORD}`];
  await servers.start(first, [...STORE, ...secret]);
  await servers.start(second, [...STORE, ...secret, `replicaof 127.0.0.1 ${first}`]);
  const watch = [
    `sentinel monitor mirror 127.0.0.1 ${first} 2`,
    `sentinel auth-pass mirror ${PASSWORD}`,
    'sentinel down-after-milliseconds mirror 500',
    'sentinel failover-timeout mirror 3000',
    'requirepass sentinels',
    'sentinel sentinel-pass sentinels',
  ];
  await Promise.all(sentinels.map((port) => servers.start(port, watch, ['--sentinel'])));
  await isCopied(second);
  const [one = 0] = sentinels;
  const master = (): Promise<Record<string, string>> =>
    ask(
      one,
      async (client) => {
        const flat = (await client.call('SENTINEL', 'MASTER', 'mirror')) as string[];
        const pairs = flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1]]] : []));
        return Object.fromEntries(pairs) as Record<string, string>;
      },
      'sentinels',
    );
  const isWhole = (state: Record<string, string>): boolean =>
    state['num-slaves'] === '1' && state['num-other-sentinels'] === '2';
  await until(master, isWhole);
  const others = sentinels.slice(1).map((port) => `sentinel=127.0.0.1:${port}`);
  const running = stack.move();
  return {
    url: `redis+sentinel://:${PASSWORD}@127.0.0.1:${one}/mirror?sentinelPassword=sentinels&${others.join('&')}`,
    killMaster: async () => servers.kill(Number((await master())['port'])),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function ports(count: number): Promise<[number, number, ...number[]]> {
  const found = new Set<number>();
  while (found.size < count) found.add(await freePort());
  return [...found] as [number, number, ...number[]];
}
