import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createSampleWorkspace } from '../../src/sandbox/sample-workspace.ts';
import { ChildPlace } from '../support/child-place.ts';
import { syncDocument } from '../support/cli-host.ts';
import { MirrorView } from '../support/mirror-view.ts';
import {
  createDatabase,
  postgresMissing,
  startPostgres,
  type TestServer,
  stopProcess,
} from '../support/servers.ts';
import { breachesOf } from '../support/settled.ts';

const SOON = { timeout: 180_000, interval: 50 };

interface Place {
  readonly children: ChildPlace;
  readonly view: MirrorView;
}

/** One form with 550 submissions, and its target. */
async function openPlace(url: string): Promise<Place> {
  const store = createSampleWorkspace({ submissions: 550, forms: 1 });
  const children = await ChildPlace.open({ store });
  children.env = { ...children.env, TARGET_URL: url };
  return { children, view: new MirrorView(url) };
}

/** A run by a fresh process; then the copy is correct. */
async function recover({ children, view }: Place): Promise<void> {
  const first = await children.run(['sync', '--full', '--json']);
  expect([first.code, syncDocument(first).runs[0]?.error]).toEqual([0, null]);
  expect(await breachesOf(children.store, view)).toEqual([]);
}

/** A server from outside is not killed. */
const isLent = 'TEST_POSTGRES_URL' in process.env;

describe.skipIf(postgresMissing() || isLent)('PostgreSQL', { timeout: 600_000 }, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  it('L5: a run that is killed in the middle of a transaction leaves no part of it', async () => {
    const place = await openPlace(await createDatabase(server));
    await recover(place);
    await using block = await Block.open(place.children.targetUrl);
    const runs = await countRuns(place);
    const child = place.children.start(['sync', '--full']);
    await block.holdsSomebodyUp();
    await child.end('SIGKILL');
    await block.release();
    expect(await countRuns(place)).toBe(runs);
    await recover(place);
  });

  it('dies in the middle of a transaction: sync reports it in one line, and the next sync continues', async () => {
    const place = await openPlace(await createDatabase(server));
    await recover(place);
    place.children.store.setStatus(place.children.store.ids()[3]!, 'PAID');
    await using block = await Block.open(place.children.targetUrl);
    const child = place.children.start(['sync', '--full']);
    await block.holdsSomebodyUp();
    await killAndRestart(server);
    expect(await child.ended).toEqual({ code: 1, signal: null });
    expect(child.stdout + child.stderr).toContain('the server ended the connection');
    expect(child.stdout + child.stderr).not.toMatch(/\n\s+at |Error:/);
    await recover(place);
  });

  it('dies under `start`, which continues without help when the server is back', async () => {
    const { children, view } = await openPlace(await createDatabase(server));
    const start = children.start(['start'], { SYNC_EVERY: '1s', RECONCILE_EVERY: '2s' });
    await vi.waitFor(async () => {
      expect(await view.ask('SELECT * FROM _mirror_state WHERE revision > 1')).toHaveLength(1);
    }, SOON);
    await using block = await Block.open(children.targetUrl);
    await block.holdsSomebodyUp();
    for (const id of children.store.ids().slice(0, 9)) children.store.setStatus(id, 'ARCHIVED');
    await killAndRestart(server);
    await vi.waitFor(async () => expect(await breachesOf(children.store, view)).toEqual([]), SOON);
    expect(await start.end('SIGTERM')).toEqual({ code: 0, signal: null });
  });
});

async function countRuns({ view }: Place): Promise<number> {
  return Number((await view.ask('SELECT count(*) AS n FROM mirror_runs'))[0]?.['n']);
}

/** A session that locks the states, so that every commit waits in the middle of a transaction. */
class Block {
  readonly #holder: pg.Client;
  /** Inside a transaction the server would always show the same activity. */
  readonly #watcher: pg.Client;
  #pid = 0;

  private constructor(url: string) {
    [this.#holder, this.#watcher] = [newClient(url), newClient(url)];
  }

  static async open(url: string): Promise<Block> {
    const block = new Block(url);
    await Promise.all([block.#holder.connect(), block.#watcher.connect()]);
    await block.#holder.query('BEGIN');
    await block.#holder.query('SELECT * FROM _mirror_state FOR UPDATE');
    const sql = 'SELECT pg_backend_pid() AS pid';
    block.#pid = (await block.#holder.query<{ pid: number }>(sql)).rows[0]?.pid ?? 0;
    return block;
  }

  /** Resolves when another session waits for this one. */
  async holdsSomebodyUp(): Promise<void> {
    await vi.waitUntil(
      async () => (await this.#count(`${this.#pid} = ANY (pg_blocking_pids(pid))`)) > 0,
      SOON,
    );
  }

  /** Releases the lock, and waits until the sessions of killed processes are gone, too. */
  async release(): Promise<void> {
    await this.#holder.end();
    await vi.waitUntil(async () => (await this.#count('true')) === 0, SOON);
  }

  /** Sessions of others. */
  async #count(condition: string): Promise<number> {
    const sql = `SELECT count(*)::int AS n FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND ${condition}`;
    return (await this.#watcher.query<{ n: number }>(sql)).rows[0]?.n ?? 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled([this.#holder.end(), this.#watcher.end()]);
  }
}

function newClient(connectionString: string): pg.Client {
  const client = new pg.Client({ connectionString });
  client.on('error', () => {});
  return client;
}

/** Like a crash of the machine: no session gets a notice, and the log is replayed at the start. */
async function killAndRestart(server: TestServer): Promise<void> {
  await stopProcess(server.process, 'SIGKILL');
  // Its sessions notice within a moment; until then the new server refuses to start beside them.
  await vi.waitFor(() => server.restart(), SOON);
}
