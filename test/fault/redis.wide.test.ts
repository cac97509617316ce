import { readdirSync, readlinkSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { describe, expect, it, vi } from 'vitest';
import type { Submission } from '../../src/mirror/types.ts';
import type { RequestInfo } from '../../src/sandbox/sandbox.ts';
import { FormsStore } from '../../src/sandbox/store.ts';
import type { Child } from '../support/child.ts';
import { ChildPlace, type ChildResult, runsOf } from '../support/child-place.ts';
import { filesBelow, keysOfRedis, leaksIn, type Places } from '../support/leaks.ts';
import { lentPostgres } from '../support/lent-server.ts';
import { MirrorView } from '../support/mirror-view.ts';
import {
  createDatabase,
  postgresMissing,
  redisMissing,
  startRedis,
  type TestServer,
} from '../support/servers.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { breachesOf } from '../support/settled.ts';

const SOON = { timeout: 180_000, interval: 100 };
const FORMS = Array.from({ length: 6 }, (_, index) => `form-${index}`);
const SELECTED = 'field_1_name';
const UNSELECTED = 'field_2_secret';
const SECRETS = {
  'the key of the API': 'fk_PLANTED_api_key_0123456789',
  'the password of PostgreSQL': 'PLANTED-pg-password',
  'the password of Redis': 'PLANTED-redis-password',
  'an answer that was not selected': 'PLANTED-answer',
};

/** Forms of 250 with an answer that must not leave the source; the clock of the source is real. */
function createStore(): FormsStore {
  const store = new FormsStore({ seed: 'redis' });
  for (const id of FORMS) {
    const fields = [
      { id: SELECTED, label: 'Name' },
      { id: UNSELECTED, label: 'Health' },
    ];
    store.addForm({ id, slug: id, name: `Form ${id}`, fields });
    const start = Date.UTC(2026, 2, 1);
    for (let n = 0; n < 250; n++) submit(store, id, n, start + n * 1_000);
  }
  return store;
}

function submit(store: FormsStore, formId: string, n: number, createdAt?: number): void {
  const data = { [SELECTED]: `Žofie ${n}`, [UNSELECTED]: `PLANTED-answer ${n}` };
  const status = n % 5 === 0 ? 'NEW' : 'PAID';
  store.insert({ formId, data, status, ...(createdAt === undefined ? {} : { createdAt }) });
}

/** People and colleagues. They act once in 20 requests, so that they never outpace a slow machine: L2 needs reading to end. */
function traffic(store: FormsStore): () => void {
  const random = seededRandom(11);
  const statuses = ['NEW', 'IN_PROGRESS', 'PAID', 'ARCHIVED'];
  let requests = 0;
  return () => {
    if (++requests % 20 !== 0) return;
    const n = 250 + requests / 20;
    const formId = FORMS[n % FORMS.length]!;
    submit(store, formId, n);
    const ids = store.ids(formId);
    const pick = (): string => ids[Math.floor(random() * ids.length)]!;
    store.setStatus(pick(), statuses[n % 4]!);
    if (n % 7 === 0) store.delete(pick());
  };
}

interface Works {
  readonly children: ChildPlace;
  readonly redis: TestServer;
  readonly views: readonly MirrorView[];
  readonly watchman: Watchman;
}

/** Two targets, SQLite and PostgreSQL, a Redis with a password, and a watchman who looks at every PATCH. */
async function openWorks(onFinished: (work: () => Promise<void> | void) => void): Promise<Works> {
  const [redis, postgres] = await Promise.all([startRedis(), lentPostgres()]);
  onFinished(() => redis.stop());
  const store = createStore();
  const watchman = new Watchman(store);
  const children = await ChildPlace.open(onFinished, {
    store,
    apiKey: SECRETS['the key of the API'],
    onRequest: (request) => watchman.look(request),
  });
  const file = join(children.folder, 'copy.sqlite');
  watchman.file = file;
  const database = await createDatabase(postgres);
  const withPassword = new URL(database);
  withPassword.password = SECRETS['the password of PostgreSQL'];
  const queue = new URL(redis.url);
  [queue.username, queue.password] = ['default', SECRETS['the password of Redis']];
  const { TARGET_URL: _, ...env } = children.env;
  children.env = {
    ...env,
    QUEUE_URL: queue.href,
    TARGETS: 'lite,big',
    TARGET_LITE_URL: `sqlite:${file}`,
    TARGET_BIG_URL: withPassword.href,
    TARGET_FIELDS: SELECTED,
    MARK_STATUS: 'DONE',
    SYNC_EVERY: '1s',
    RECONCILE_EVERY: '15s',
    LOG_LEVEL: 'trace',
  };
  const views = [new MirrorView(`sqlite:${file}`), new MirrorView(database)];
  return { children, redis, views, watchman };
}

/** How long a status may have been known when it is acted on: that of a busy machine. */
const FRESH_MS = 15_000;

/** Looks at every PATCH: the row is stored, and the mirror has just read that the status is one it may change (L7). */
class Watchman {
  /** Breaches of L7 seen at the source. */
  readonly breaches: string[] = [];
  file = '';
  /** What people do at each request; null where nobody changes anything. */
  people: (() => void) | null = null;
  readonly #store: FormsStore;
  readonly #readNewAt = new Map<string, number>();

  constructor(store: FormsStore) {
    this.#store = store;
  }

  look({ method, path }: RequestInfo): void {
    this.people?.();
    const [, id] = /^\/submissions\/([^/]+)/.exec(path) ?? [];
    const submission = id === undefined ? undefined : this.#store.get(id);
    if (submission === undefined) return;
    if (method === 'PATCH') this.#judge(submission);
    else if (submission.status === 'NEW') this.#readNewAt.set(submission.id, Date.now());
  }

  #judge({ id, formId }: Submission): void {
    const readAt = this.#readNewAt.get(id) ?? 0;
    if (Date.now() - readAt > FRESH_MS) this.breaches.push(`L7: PATCH of ${id}, not read as NEW`);
    using database = new DatabaseSync(this.file, { readOnly: true, timeout: 5_000 });
    const row = database.prepare(`SELECT 1 FROM "${tableName(formId)}" WHERE id = ?`).get(id);
    if (row === undefined) this.breaches.push(`L7: PATCH of ${id} before it was stored`);
  }
}

/** Whether a process has the lock of a form in SQLite: Linux shows which files it has open. */
function isWriting({ pid }: Child): boolean {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).some((name) => {
    try {
      return readlinkSync(join(folder, name)).includes('copy.sqlite-lock-');
    } catch {
      return false; // It was closed by now.
    }
  });
}

async function settled({ children, views }: Works): Promise<void> {
  await vi.waitFor(
    async () => {
      const unmarked = [...children.store.all()].filter(({ status }) => status === 'NEW');
      expect(unmarked.map(({ id }) => id)).toEqual([]);
      for (const view of views) expect(await breachesOf(children.store, view)).toEqual([]);
    },
    { timeout: 240_000, interval: 500 },
  );
}

/** Where what must not be seen might be seen: logs, every key of Redis, every table and file. */
async function everywhere({ children, redis, views }: Works): Promise<Places> {
  const places: Places = new Map(filesBelow(children.folder));
  for (const child of children.children) {
    places.set(`output of process ${child.pid}`, child.stdout + child.stderr);
  }
  for (const [key, content] of await keysOfRedis(redis.url)) places.set(key, content);
  const tables = [
    'mirror_runs',
    'mirror_rejected',
    '_mirror_state',
    '_mirror_records',
    ...FORMS.map(tableName),
  ];
  for (const table of tables) {
    places.set(table, JSON.stringify(await views[1]?.ask(`SELECT * FROM "${table}"`)));
  }
  return places;
}

const tableName = (formId: string): string => formId.replace('-', '_');

async function expectNoLeaks(works: Works): Promise<void> {
  const places = await everywhere(works);
  expect(leaksIn(places, SECRETS)).toEqual([]);
  // It would be found: what may be seen is.
  expect(leaksIn(places, { selected: 'Žofie 1' })).toContain('selected in form_0');
}

/** A server that someone lends us is neither flushed nor killed. */
const isLent = ['TEST_REDIS_URL', 'TEST_POSTGRES_URL'].some((name) => name in process.env);

describe.skipIf(redisMissing() || postgresMissing() || isLent || process.platform !== 'linux')(
  'Redis and several workers',
  () => {
    it(
      'L5, L7, L11, L13, L15: killed workers, a flushed and a killed Redis, sync by hand: the laws hold',
      { timeout: 600_000 },
      async ({ onTestFinished }) => {
        const works = await openWorks(onTestFinished);
        const { children, redis } = works;
        const { store, sandbox } = children;

        // Every run stays at its last page for a while: all workers have one.
        const slow = { path: '/submissions', query: { page: '3' }, delayMs: 3_000, times: 60 };
        const undo = sandbox.faults.add(slow);
        const start = children.start(['start']);
        const [first, second] = [children.start(['worker']), children.start(['worker'])] as const;
        await vi.waitUntil(() => isWriting(second), SOON);
        await vi.waitUntil(() => isWriting(first), SOON);
        await first.end('SIGKILL');
        undo();
        await settled(works);
        expect(store.count()).toBe(250 * FORMS.length);

        // Everything at once: traffic, faults at the source, a flushed Redis, one that dies, runs by hand.
        works.watchman.people = traffic(store);
        sandbox.faults.add({ path: '/submissions', cutBodyAt: 900, after: 20, times: 5 });
        const html = '<html>PLANTED-answer</html>';
        sandbox.faults.add({ path: '/submissions', status: 502, body: html, after: 30, times: 5 });
        sandbox.faults.add({ method: 'PATCH', status: 500, applied: true, after: 3, times: 4 });
        const third = children.start(['worker']);
        const byHand = children.run(['sync', '--full', '--json']);
        await expectNoLeaks(works);
        await flush(redis);
        expect(unproven(await byHand)).toEqual([]);
        await killRedis(redis);
        expect(unproven(await children.run(['sync', '--json']))).toEqual([]);
        await redis.restart();
        await flush(redis);
        works.watchman.people = null;
        await settled(works);
        expect(works.watchman.breaches).toEqual([]);

        // Again by themselves: whatever was lost with the queue is scheduled anew.
        submit(store, FORMS[0]!, 100_000);
        await settled(works);
        await expectNoLeaks(works);
        for (const child of [start, second, third]) {
          expect(await child.end('SIGTERM')).toEqual({ code: 0, signal: null });
        }
        await expectNoLeaks(works);
        expect(runsOf(await children.run(['sync', '--full', '--json']))).toHaveLength(12);
        expect(await children.run(['verify'])).toMatchObject({ code: 0 });
      },
    );
  },
);

/** Runs that were not proven, and why. */
const unproven = (result: ChildResult): unknown[] =>
  runsOf(result).flatMap(({ form, target, outcome, error }) =>
    outcome === 'ok' ? [] : [{ form, target, outcome, error }],
  );

async function flush(server: TestServer): Promise<void> {
  const client = new Redis(server.url);
  await client.flushall();
  client.disconnect();
}

async function killRedis(server: TestServer): Promise<void> {
  const died = server.process!;
  const exited = new Promise((done) => died.once('exit', done));
  died.kill('SIGKILL');
  await exited;
}
