import { type ChildProcess, execFileSync, spawn, type SpawnOptions } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { connect } from 'node:net';
import { scratchFolder } from './scratch.ts';

/** A real server started for a test file. */
export interface TestServer {
  url: string;
  /** The process; absent if the environment gave the URL. Kill it to test an outage. */
  process?: ChildProcess;
  /** Starts it again on the same port and directory after a kill. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** The maximum size of a server's data. */
const STORE_MB = 3_000;

/** Ports that no system assigns to a connection automatically: those may be in use between two lives of a server. */
const [FIRST_PORT, PORTS] = [15_000, 15_000];

/** A free TCP port on loopback, which no other process uses by chance before a server listens there. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORTS);
    const server = createServer();
    const isFree = await new Promise<boolean>((done) => {
      server.once('error', () => done(false));
      server.listen(port, '127.0.0.1', () => done(true));
    });
    if (!isFree) continue;
    await new Promise((done) => server.close(done));
    return port;
  }
}

function findBinary(name: string): string | undefined {
  const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql') : [];
  const folders = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    ...versions.map((version) => `/usr/lib/postgresql/${version}/bin`),
    '/opt/homebrew/bin',
    '/usr/local/bin',
    '/usr/sbin',
  ];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** Why real-server tests are skipped, or undefined if they can run. With CI=true a missing binary is an error. */
function missing(binary: string, variable: string, install: string): string | undefined {
  if (process.env[variable] !== undefined || findBinary(binary) !== undefined) return undefined;
  const message = `${binary} not found: install it (${install}) or set ${variable}`;
  if (process.env['CI'] === 'true') throw new Error(message);
  process.stderr.write(`skipped: ${message}\n`);
  return message;
}

/** For `describe.skipIf(redisMissing())`. */
export const redisMissing = (): boolean =>
  missing('redis-server', 'TEST_REDIS_URL', 'apt-get install redis-server') !== undefined;

/** For `describe.skipIf(postgresMissing())`. */
export const postgresMissing = (): boolean =>
  missing('initdb', 'TEST_POSTGRES_URL', 'apt-get install postgresql') !== undefined;

/** For `describe.skipIf(mariadbMissing())`. */
export const mariadbMissing = (): boolean =>
  missing('mariadbd', 'TEST_MYSQL_URL', 'apt-get install mariadb-server') !== undefined;

/** For the tests in which Prometheus itself evaluates alert rules. */
export const promtoolMissing = (): boolean =>
  missing('promtool', 'TEST_PROMTOOL', 'apt-get install prometheus') !== undefined;

/** A server is asked every 50 ms, for two minutes: on a busy machine it starts slowly. */
const MOST_TRIES = 2_400;

async function waitForPort(port: number, child: ChildProcess, what: string): Promise<void> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    if (child.exitCode !== null) throw new Error(`${what} ended with code ${child.exitCode}`);
    const open = await new Promise<boolean>((done) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => done(socket.destroy() && true));
      socket.once('error', () => done(false));
    });
    if (open) return;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error(`${what} did not open port ${port}`);
}

/** Ends a server, and waits until it has ended; does nothing if it already has. */
export async function stopProcess(
  child: ChildProcess | undefined,
  signal: NodeJS.Signals,
): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((done) => child.once('exit', done));
  child.kill(signal);
  await exited;
}

/** How a server that answers at `port` is started and ended. */
interface Serving {
  readonly url: string;
  readonly port: number;
  /** Its data, removed at the end. */
  readonly dir: string;
  readonly binary: string;
  readonly args: readonly string[];
  readonly options?: SpawnOptions;
  readonly stopSignal?: NodeJS.Signals;
  /** Resolves when it can be used, if an open port is not enough. */
  readonly isReady?: () => Promise<void>;
}

async function serve(serving: Serving): Promise<TestServer> {
  const { url, port, dir, binary, args, options = {}, stopSignal = 'SIGKILL', isReady } = serving;
  const server: TestServer = {
    url,
    async restart() {
      const child = spawn(binary, args, { ...options, stdio: 'ignore' });
      server.process = child;
      await waitForPort(port, child, binary);
      await isReady?.();
    },
    async stop() {
      await stopProcess(server.process, stopSignal);
      rmSync(dir, { recursive: true, force: true });
    },
  };
  await server.restart();
  return server;
}

/** A private redis-server without persistence, or the server of TEST_REDIS_URL. */
export async function startRedis(options: readonly string[] = []): Promise<TestServer> {
  const given = process.env['TEST_REDIS_URL'];
  if (given !== undefined) return external(given);
  const port = await freePort();
  const dir = mkdtempSync(join(tmpdir(), 'forms-mirror-redis-'));
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', dir];
  args.push('--save', '', '--appendonly', 'yes', '--maxmemory-policy', 'noeviction', ...options);
  const binary = findBinary('redis-server') ?? 'redis-server';
  return serve({ url: `redis://127.0.0.1:${port}`, port, dir, binary, args });
}

/** PostgreSQL refuses to run as root: then its processes run as the `postgres` user, which Debian's package creates. */
function postgresUser(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string): number =>
    Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/**
 * A private PostgreSQL cluster (user `postgres`, trust), or the server of TEST_POSTGRES_URL. Create a database per test with {@link
 * createDatabase}.
 */
export async function startPostgres(): Promise<TestServer> {
  const given = process.env['TEST_POSTGRES_URL'];
  if (given !== undefined) return external(given);
  const port = await freePort();
  const dir = scratchFolder('pg', STORE_MB);
  const user = postgresUser();
  if (user.uid !== undefined && user.gid !== undefined) chownSync(dir, user.uid, user.gid);
  const options = { cwd: dir, ...user };
  const initdb = findBinary('initdb') ?? 'initdb';
  const cluster = '-U postgres -A trust -E UTF8 --no-sync --locale=C'.split(' ');
  execFileSync(initdb, ['-D', dir, ...cluster], { ...options, stdio: 'ignore' });
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  return serve({
    url,
    port,
    dir,
    binary: initdb.replace(/initdb$/, 'postgres'),
    args: ['-D', dir, '-p', String(port), '-h', '127.0.0.1', '-k', dir, '-c', 'fsync=off'],
    options,
    stopSignal: 'SIGINT',
    isReady: () => waitUntilReady(url),
  });
}

/** An open port is not enough: PostgreSQL answers 57P03 while it recovers. */
async function waitUntilReady(url: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return void (await (await view()).askPostgres(url, 'select 1'));
    } catch (error) {
      if (tries >= MOST_TRIES) throw error;
      await new Promise((done) => setTimeout(done, 50));
    }
  }
}

/** Loaded when the first server is asked: its drivers take time. */
const view = () => import('./mirror-view.ts');

let databases = 0;

/** Creates an empty database by a statement on `server`; returns its URL. */
async function created(
  server: { readonly url: string },
  ask: 'askPostgres' | 'askMysql',
): Promise<string> {
  const name = `t_${process.pid}_${Date.now().toString(36)}_${databases++}`;
  await (await view())[ask](server.url, `create database ${name}`);
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  return url.href;
}

/** A fresh, empty database on `server`; returns its URL. */
export const createDatabase = (server: { readonly url: string }): Promise<string> =>
  created(server, 'askPostgres');

/**
 * A private MariaDB (user `root`, no password), or the server of TEST_MYSQL_URL. Its defaults are the least helpful ones: texts
 * in latin1, and no mode. Create a database per test with {@link createMysqlDatabase}.
 */
export async function startMariadb(): Promise<TestServer> {
  const given = process.env['TEST_MYSQL_URL'];
  if (given !== undefined) return external(given);
  const port = await freePort();
  const dir = scratchFolder('mysql', STORE_MB);
  const user = userInfo().username;
  const own = ['--no-defaults', `--datadir=${dir}`, `--user=${user}`];
  const install = findBinary('mariadb-install-db') ?? 'mariadb-install-db';
  const plain = ['--auth-root-authentication-method=normal', '--skip-test-db'];
  execFileSync(install, [...own, ...plain], { stdio: 'ignore', cwd: dir });
  const args = [
    ...own,
    `--port=${port}`,
    '--bind-address=127.0.0.1',
    `--socket=${join(dir, 'server.sock')}`,
    `--pid-file=${join(dir, 'server.pid')}`,
    // Each one removes tables at its start that it considers left over, in the database that all share.
    `--tmpdir=${dir}`,
    '--skip-name-resolve',
    '--character-set-server=latin1',
    '--sql-mode=',
    '--innodb-buffer-pool-size=128M',
    '--innodb-flush-log-at-trx-commit=2',
    '--innodb-doublewrite=OFF',
  ];
  const binary = findBinary('mariadbd') ?? 'mariadbd';
  return serve({ url: `mysql://root@127.0.0.1:${port}/mysql`, port, dir, binary, args });
}

/** The same for {@link startMariadb}: encoded in latin1, the server's default. */
export const createMysqlDatabase = (server: { readonly url: string }): Promise<string> =>
  created(server, 'askMysql');

/** How each kind of SQL server is started, and how a database is created in it. */
export const SQL_SERVERS: Readonly<
  Record<string, { start(): Promise<TestServer>; database(server: TestServer): Promise<string> }>
> = {
  postgres: { start: startPostgres, database: createDatabase },
  mariadb: { start: startMariadb, database: createMysqlDatabase },
};

function external(url: string): TestServer {
  return { url, restart: async () => {}, stop: async () => {} };
}
