import { readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, it, vi, onTestFinished } from 'vitest';
import { FormsStore } from '../../src/sandbox/store.ts';
import type { Child } from '../support/child.ts';
import { ChildPlace } from '../support/child-place.ts';
import { type CliResult, syncDocument } from '../support/cli-host.ts';
import { filesBelow, leaksIn } from '../support/leaks.ts';
import { lentPostgres } from '../support/lent-server.ts';
import { MirrorView } from '../support/mirror-view.ts';
import {
  createDatabase,
  postgresMissing,
  redisMissing,
  startRedis,
  stopProcess,
} from '../support/servers.ts';
import { breachesOf } from '../support/settled.ts';

const SOON = { timeout: 240_000, interval: 200 };
const FORMS = Array.from({ length: 6 }, (_, index) => `form-${index}`);
const SELECTED = 'field_1_name';
const UNSELECTED = 'field_2_secret';
const SECRETS = {
  'the key of the API': 'fk_PLANTED_api_key_0123456789',
  'the password of PostgreSQL': 'PLANTED-pg-password',
  'the password of Redis': 'PLANTED-redis-password',
  'an answer that was not selected': 'PLANTED-answer',
};

/** Forms with 250 submissions and an answer that must not leave the source. */
function createStore(): FormsStore {
  const store = new FormsStore({ seed: 'redis' });
  for (const id of FORMS) {
    const fields = [
      { id: SELECTED, label: 'Name' },
      { id: UNSELECTED, label: 'Health' },
    ];
    store.addForm({ id, slug: id, name: `Form ${id}`, fields });
    for (let n = 0; n < 250; n++) submit(store, id, n, Date.UTC(2026, 2, 1) + n * 1_000);
  }
  return store;
}

function submit(store: FormsStore, formId: string, n: number, createdAt = Date.now()): void {
  const data = { [SELECTED]: `Žofie ${n}`, [UNSELECTED]: `PLANTED-answer ${n}` };
  store.insert({ formId, data, createdAt, status: n % 5 === 0 ? 'NEW' : 'PAID' });
}

/** Whether a process has the lock of a form in SQLite: Linux shows which files it has open. */
function isWriting({ pid }: Child): boolean {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).some((name) => {
    try {
      return readlinkSync(join(folder, name)).includes('copy.sqlite-lock-');
    } catch {
      return false; // It has been closed in the meantime.
    }
  });
}

/** Runs that were not proven, with the reasons. */
const unproven = (result: CliResult): unknown[] =>
  syncDocument(result).runs.flatMap(({ form, target, outcome, error }) =>
    outcome === 'ok' ? [] : [{ form, target, outcome, error }],
  );

/** A server from outside is neither flushed nor killed. */
const isLent = ['TEST_REDIS_URL', 'TEST_POSTGRES_URL'].some((name) => name in process.env);

it.skipIf(redisMissing() || postgresMissing() || isLent || process.platform !== 'linux')(
  'L5, L7, L11, L13, L15: the laws hold with a killed worker, a flushed and a killed Redis, and sync by hand',
  { timeout: 600_000 },
  async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const store = createStore();
    const apiKey = SECRETS['the key of the API'];
    const children = await ChildPlace.open({ store, apiKey });
    const { faults } = children.sandbox;
    const file = `sqlite:${join(children.folder, 'copy.sqlite')}`;
    const database = await createDatabase(await lentPostgres());
    const [big, queue] = [new URL(database), new URL(redis.url)];
    big.password = SECRETS['the password of PostgreSQL'];
    [queue.username, queue.password] = ['default', SECRETS['the password of Redis']];
    children.env = {
      ...children.env,
      QUEUE_URL: queue.href,
      TARGET_URL: undefined,
      TARGETS: 'lite,big',
      TARGET_LITE_URL: file,
      TARGET_BIG_URL: big.href,
      TARGET_FIELDS: SELECTED,
      MARK_STATUS: 'DONE',
      SYNC_EVERY: '1s',
      RECONCILE_EVERY: '15s',
      LOG_LEVEL: 'trace',
    };
    const views = [new MirrorView(file), new MirrorView(database)];
    const settled = (): Promise<void> =>
      vi.waitFor(async () => {
        expect(store.all().filter(({ status }) => status === 'NEW')).toEqual([]);
        for (const view of views) expect(await breachesOf(store, view)).toEqual([]);
      }, SOON);
    const asked = async <T>(ask: (client: Redis) => Promise<T>): Promise<T> => {
      const client = new Redis(redis.url);
      try {
        return await ask(client);
      } finally {
        client.disconnect();
      }
    };
    const flush = (): Promise<unknown> => asked((client) => client.flushall());

    // Every run is delayed at its last page, so that all workers have one.
    const slow = { path: '/submissions', query: { page: '3' }, delayMs: 3_000, times: 60 };
    const undo = faults.add(slow);
    const start = children.start(['start']);
    const [first, second] = [children.start(['worker']), children.start(['worker'])] as const;
    await vi.waitUntil(() => isWriting(second), SOON);
    await vi.waitUntil(() => isWriting(first), SOON);
    await first.end('SIGKILL');
    undo();
    await settled();

    // Everything at once: newcomers, faults at the source, a flushed Redis, a killed Redis, manual runs.
    for (const [n, formId] of FORMS.entries()) submit(store, formId, 1_000 + 5 * n);
    faults.add({ path: '/submissions', cutBodyAt: 900, after: 20, times: 5 });
    const html = '<html>PLANTED-answer</html>';
    faults.add({ path: '/submissions', status: 502, body: html, after: 30, times: 5 });
    faults.add({ method: 'PATCH', status: 500, applied: true, after: 3, times: 4 });
    const third = children.start(['worker']);
    const byHand = children.run(['sync', '--full', '--json']);
    await flush();
    expect(unproven(await byHand)).toEqual([]);
    await stopProcess(redis.process, 'SIGKILL');
    expect(unproven(await children.run(['sync', '--json']))).toEqual([]);
    await redis.restart();
    await flush();
    await settled();

    // Without help: everything that was lost with the queue is scheduled again.
    submit(store, FORMS[0]!, 100_000);
    await settled();
    // Its file has every command that it ever got, also those that were flushed.
    const home: unknown = await asked((client) => client.config('GET', 'dir'));
    const stored = filesBelow(String((home as unknown[])[1]));
    expect(leaksIn(stored, { form: FORMS[0]! })).not.toEqual([]);
    for (const child of [start, second, third]) {
      expect(await child.end('SIGTERM')).toEqual({ code: 0, signal: null });
    }
    const places = new Map([...filesBelow(children.folder), ...stored]);
    for (const [at, text] of children.printed.entries()) places.set(`output ${at}`, text);
    expect(leaksIn(places, SECRETS)).toEqual([]);
    // The search would find it: it finds permitted text.
    expect(leaksIn(places, { selected: 'Žofie 1' })).not.toEqual([]);
    expect(await children.run(['verify'])).toMatchObject({ code: 0 });
  },
);
