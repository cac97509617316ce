import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { DEFAULT_TIMINGS } from '../../src/queue/jobs.ts';
import { lentPostgres } from '../support/lent-server.ts';
import { Child } from '../support/child.ts';
import { askPostgres } from '../support/mirror-view.ts';
import { scratchFolder } from '../support/scratch.ts';
import {
  type TestServer,
  createDatabase,
  freePort,
  postgresMissing,
  redisMissing,
  startRedis,
} from '../support/servers.ts';
import { TestClock } from '../support/test-clock.ts';
import { FakeHandlers } from './fake-handlers.ts';
import { startAt } from './harness.ts';
import { SOON } from './waits.ts';

const WORKER = join(import.meta.dirname, 'child-worker.ts');
const handlers = new FakeHandlers([]);

/** How opening the queue at `queueUrl` fails. */
async function failure(
  queueUrl: string,
  clock = new TestClock(Date.now()),
): Promise<{ code: string; message: string }> {
  const place = { queueUrl, dataDir: '/nonexistent' };
  return startAt(place, handlers, { clock }).then(
    () => ({ code: 'none', message: 'it opened' }),
    (error: { code: string; message: string }) => error,
  );
}

describe.skipIf(redisMissing())('opening Redis', () => {
  let server: TestServer;
  const configure = async (name: string, value: string, password?: string): Promise<void> => {
    const client = new Redis(server.url, password === undefined ? {} : { password });
    await client.config('SET', name, value);
    client.disconnect();
  };
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(async () => server.stop());

  it.runIf(process.env['TEST_REDIS_URL'] === undefined)(
    'L17: reports a server that takes no polls because it is full, until it takes them',
    async () => {
      const place = { queueUrl: `${server.url}?prefix=full`, dataDir: '/nonexistent' };
      const queue = await startAt(place, handlers, { schedule: { everyMs: 100 } });
      const problem = async () => (await queue.status()).problem?.message ?? '';
      await configure('maxmemory', '1');
      await expect.poll(problem, SOON).toContain('takes no new jobs');
      expect(queue.errors).toContain('ReplyError OOM');
      await configure('maxmemory', '0');
      await expect.poll(problem, SOON).toBe('');
      await queue.stop();
    },
  );

  it.runIf(process.env['TEST_REDIS_URL'] === undefined)(
    'refuses a server that may lose jobs, and says what to do',
    async () => {
      await configure('maxmemory-policy', 'allkeys-lru');
      const { code, message } = await failure(server.url);
      expect(code).toBe('QUEUE_FAILED');
      expect(message).toContain('CONFIG SET maxmemory-policy noeviction');
      await configure('maxmemory-policy', 'noeviction');
    },
  );

  it.runIf(process.env['TEST_REDIS_URL'] === undefined)(
    'L15: reports a wrong password at once, without repeating it',
    async () => {
      await configure('requirepass', 'the right one');
      const url = new URL(server.url);
      url.password = 'the-wrong-one';
      const clock = new TestClock(Date.now());
      for (const wrong of [url.href, server.url]) {
        const { code, message } = await failure(wrong, clock);
        expect(code).toBe('QUEUE_FAILED');
        expect(message).toContain(url.host);
        expect(message).not.toContain('the-wrong-one');
      }
      expect(clock.sleeps).toEqual([]);
      await configure('requirepass', '', 'the right one');
    },
  );

  it('L15: tries an unreachable server for a while, then reports it without its password', async () => {
    const port = await freePort();
    const clock = new TestClock(Date.now());
    const { code, message } = await failure(`redis://u:s3cret@127.0.0.1:${port}/3`, clock);
    expect(code).toBe('QUEUE_FAILED');
    expect(message).toContain(`redis://127.0.0.1:${port}/3`);
    expect(message).toContain('ECONNREFUSED');
    expect(message).not.toContain('s3cret');
    expect(clock.sleeps).toHaveLength(5);
  });
});

describe.skipIf(postgresMissing())('opening PostgreSQL', () => {
  it('reports a database that does not exist, and a missing right', async () => {
    const database = new URL(await createDatabase(await lentPostgres()));
    const missing = new URL(database);
    missing.pathname = '/no_such_database';
    expect(await failure(missing.href)).toMatchObject({ code: 'QUEUE_FAILED' });
    const role = `reader_${process.pid}`;
    await askPostgres(database.href, `CREATE ROLE ${role} LOGIN PASSWORD 's3cret'`);
    database.username = role;
    database.password = 's3cret';
    const { code, message } = await failure(database.href);
    expect(code).toBe('QUEUE_FAILED');
    expect(message).toContain('GRANT CREATE ON DATABASE');
    expect(message).not.toContain('s3cret');
  });
});

describe('opening the embedded queue', () => {
  const root = scratchFolder('open', 256);
  const place = { queueUrl: undefined, dataDir: join(root, 'data') };
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  it('is for one process: another is refused, whatever happens to the first', async ({
    onTestFinished,
  }) => {
    const child = new Child(WORKER, [JSON.stringify(place), '2000']);
    child.killedAfter(onTestFinished);
    await child.shows(/^began f1$/m);
    await expect(startAt(place, handlers)).rejects.toMatchObject({ code: 'QUEUE_FAILED' });
    await child.end('SIGKILL');
    // A killed worker's run is made again when its lock has expired.
    const forms = new FakeHandlers(['f1']);
    const timings = { ...DEFAULT_TIMINGS, lockDurationMs: 2_000, stalledIntervalMs: 500 };
    const first = await startAt(place, forms, { timings });
    await vi.waitFor(() => expect(forms.syncs).toHaveLength(1), SOON);
    await expect(startAt(place, handlers)).rejects.toMatchObject({ code: 'QUEUE_FAILED' });
    await first.stop();
    await (await startAt(place, handlers)).stop();
  });

  it('does not scale out', async () => {
    const started = startAt(place, handlers, { role: 'worker' });
    await expect(started).rejects.toMatchObject({
      code: 'SETTINGS',
      message: expect.stringContaining('QUEUE_URL') as string,
    });
  });

  it('reports a data directory that cannot be written', async () => {
    const file = join(root, 'file');
    writeFileSync(file, '');
    const started = startAt({ queueUrl: undefined, dataDir: join(file, 'data') }, handlers);
    await expect(started).rejects.toMatchObject({ code: 'SETTINGS' });
  });

  it('makes a broken directory again, and starts empty', async () => {
    // As a torn write after a power failure leaves it.
    writeFileSync(join(place.dataDir, 'queue', 'global', 'pg_control'), Buffer.alloc(8192));
    const forms = new FakeHandlers(['f1']);
    const rebuilt = await startAt(place, forms);
    await rebuilt.pollNow();
    await vi.waitFor(() => expect(forms.syncs).toHaveLength(1), { timeout: 100_000 });
    await rebuilt.stop();
    expect(readdirSync(place.dataDir).toSorted()).toEqual(['queue', 'queue.lock']);
  });
});
