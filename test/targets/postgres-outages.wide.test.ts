import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MirrorError } from '../../src/base/errors.ts';
import { withinTime } from '../../src/base/deadline.ts';
import type { FormWriter } from '../../src/mirror/target.ts';
import type { Row } from '../../src/mirror/types.ts';
import { systemClock } from '../../src/base/clock.ts';
import { parsePostgresUrl } from '../../src/targets/sql/postgres/postgres-address.ts';
import { PostgresDatabase } from '../../src/targets/sql/postgres/postgres-database.ts';
import { postgresDriver } from '../../src/targets/sql/postgres/postgres-driver.ts';
import { SqlTarget } from '../../src/targets/sql/sql-target.ts';
import { parseTargetUrl } from '../../src/targets/target-kinds.ts';
import { AT_ONCE, FORM, NAME, row, sorted, stageTargets } from '../contract/target-harness.ts';
import { Child } from '../support/child.ts';
import { postgresPlace } from '../support/postgres-place.ts';
import { startRelay } from '../support/relay.ts';
import {
  createDatabase,
  freePort,
  postgresMissing,
  startPostgres,
  type TestServer,
} from '../support/servers.ts';

const CHILD = join(import.meta.dirname, '../support/target-child.ts');

/** The error of opening a writer, and what `check` finds. */
async function failureOf(url: string): Promise<{ error: MirrorError; remedy: string }> {
  await using target = await parseTargetUrl(url).open('warehouse');
  const error: unknown = await target.openWriter(FORM, AT_ONCE).catch((thrown: unknown) => thrown);
  if (!(error instanceof MirrorError)) throw new Error('no MirrorError');
  const results = await target.check();
  const failed = results.find((result) => !result.ok);
  return { error, remedy: failed?.remedy ?? '' };
}

describe.skipIf(postgresMissing())('PostgreSQL that fails', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());
  // A database for each, as some are made read-only or closed.
  const stage = stageTargets(() => postgresPlace({ url: server.url }));
  const withUrl = (change: (url: URL) => void): string => {
    const url = new URL(stage.place.url);
    change(url);
    return url.href;
  };
  const write = async (...ids: string[]): Promise<FormWriter> => {
    const writer = await stage.target.openWriter(FORM, AT_ONCE);
    await writer.prepare([NAME]);
    await writer.apply(
      ids.map((id) => row(id)),
      [],
    );
    return writer;
  };

  it('is distinguished, each with its remedy and without a secret (L15)', async () => {
    await stage.place.query("CREATE ROLE reader LOGIN PASSWORD 'right'").catch(() => []);
    const unused = await freePort();
    const cases: [url: string, code: string, remedy: RegExp][] = [
      [withUrl((url) => (url.port = String(unused))), 'TARGET_UNREACHABLE', /host and port/],
      [withUrl((url) => (url.hostname = 'no.such.host.invalid')), 'TARGET_UNREACHABLE', /spelling/],
      [withUrl((url) => (url.pathname = '/nothing')), 'TARGET_DENIED', /CREATE DATABASE/],
      [withUrl((url) => (url.username = 'nobody')), 'TARGET_DENIED', /percent-encoded/],
      [withUrl((url) => (url.username = 'reader')), 'TARGET_DENIED', /GRANT/],
      [withUrl((url) => url.searchParams.set('sslmode', 'require')), 'TARGET_DENIED', /sslmode/],
    ];
    for (const [plain, code, expected] of cases) {
      const url = new URL(plain);
      url.password = 's3cret';
      const { error, remedy } = await failureOf(url.href);
      expect(error).toMatchObject({ code, retryable: code === 'TARGET_UNREACHABLE' });
      expect(error.message).toMatch(expected);
      expect(error.message).toMatch(/^Target warehouse \(postgres:\/\//);
      expect(error.message).not.toContain('s3cret');
      expect(remedy).toMatch(expected);
    }
  });

  it('asks for a password', async () => {
    if (process.env['TEST_POSTGRES_URL'] !== undefined) return;
    const [{ file } = {}] = await stage.place.query("SELECT current_setting('hba_file') AS file");
    await stage.place.query("CREATE ROLE keyed LOGIN PASSWORD 'right'");
    const trust = 'host all postgres 127.0.0.1/32 trust\n';
    writeFileSync(String(file), `${trust}host all all 127.0.0.1/32 scram-sha-256\n`);
    await stage.place.query('SELECT pg_reload_conf()');
    const as = (password: string): string =>
      withUrl((url) => {
        url.username = 'keyed';
        url.password = password;
      });
    const wrong = await failureOf(as('wr0ng'));
    expect(wrong.error).toMatchObject({ code: 'TARGET_DENIED', retryable: false });
    expect(wrong.error.message).toContain('refuses the user or the password');
    expect(wrong.error.message).not.toContain('wr0ng');
    const none = await failureOf(as(''));
    expect(none.error.message).toMatch(/wants a password|refuses the user/);
    const right = await failureOf(as('right'));
    expect(right.error.message).toContain('GRANT');
    writeFileSync(String(file), 'host all all 127.0.0.1/32 trust\n');
    await stage.place.query('SELECT pg_reload_conf()');
  });

  it('takes no COPY, where people secured a table by row: new rows are stored all the same', async () => {
    await stage.place.query('CREATE ROLE secured LOGIN');
    await stage.place.query(
      "DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO secured', current_database()); END $$",
    );
    const url = withUrl((one) => (one.username = 'secured'));
    await using target = await parseTargetUrl(url).open('warehouse');
    await using writer = await target.openWriter(FORM, AT_ONCE);
    await writer.prepare([NAME]);
    const table = stage.place.relation('contact_form');
    await stage.place.query(
      `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`,
    );
    await stage.place.query(`CREATE POLICY everything ON ${table} USING (true)`);
    const rows = [row('a', { field_1_a: 'x' }), row('b')];
    expect((await writer.apply(rows, [])).outcomes).toEqual(['inserted', 'inserted']);
    expect((await writer.apply(rows, [])).outcomes).toEqual(['unchanged', 'unchanged']);
  });

  it('takes no writes: says so', async () => {
    await (await write('a'))[Symbol.asyncDispose]();
    await stage.place.query(
      "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$",
    );
    const { error, remedy } = await failureOf(stage.place.url);
    expect(error).toMatchObject({ code: 'TARGET_DENIED' });
    expect(remedy).toContain('primary');
  });

  it('L5: restarts in the middle of a pass; the next one goes on, on the same target', async () => {
    const writer = await write('a');
    const reader = await stage.read();
    const { process: child } = server;
    if (child === undefined) return;
    const ended = new Promise((done) => child.once('exit', done));
    child.kill('SIGQUIT');
    await ended;
    await expect(writer.apply([row('b')], [])).rejects.toMatchObject({
      code: 'TARGET_UNREACHABLE',
      retryable: true,
    });
    await expect(reader.confirm(['a'])).rejects.toMatchObject({ code: 'TARGET_UNREACHABLE' });
    await writer[Symbol.asyncDispose]();
    await server.restart();
    expect(await reader.confirm(['a', 'b'])).toEqual(new Set(['a']));
    await using next = await write('b');
    expect(await sorted(next.liveIds())).toEqual(['a', 'b']);
  });

  it('L13: ends a connection; its writer stops, another one takes over', async () => {
    const writer = await write('a');
    await stage.place.query(
      // Waits until the session is gone, and its lock with it.
      "SELECT pg_terminate_backend(pid, 10000) FROM pg_locks WHERE locktype = 'advisory' AND pid <> pg_backend_pid()",
    );
    await expect(writer.apply([row('b')], [])).rejects.toMatchObject({
      code: 'TARGET_UNREACHABLE',
    });
    await using next = await write('c');
    await expect(writer.apply([row('b')], [])).rejects.toBeInstanceOf(MirrorError);
    expect(await sorted(next.liveIds())).toEqual(['a', 'c']);
    await writer[Symbol.asyncDispose]();
  });

  it('reads on when idle connections were cut', async () => {
    await (await write('a'))[Symbol.asyncDispose]();
    const reader = await stage.read();
    expect(await reader.confirm(['a'])).toEqual(new Set(['a']));
    await stage.place.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'forms-mirror' AND datname = current_database()",
    );
    expect(await reader.confirm(['a'])).toEqual(new Set(['a']));
  });

  it('L5, L13: a killed writer leaves whole batches and no lock', async ({ onTestFinished }) => {
    const args = [stage.place.url, FORM.id, '1000000', '50'];
    const child = new Child(CHILD, args).killedAfter(onTestFinished);
    await child.shows(/^stored 3$/m);
    await expect(stage.target.openWriter(FORM, AT_ONCE)).rejects.toMatchObject({
      code: 'TARGET_BUSY',
      message: expect.stringContaining(`process ${child.pid}`),
    });
    await child.end('SIGKILL');
    await using writer = await stage.target.openWriter(FORM, { waitMs: 10_000 });
    const ids = await sorted(writer.liveIds());
    expect(ids.length % 50).toBe(0);
    const reported = child.lines.filter((line) => line.startsWith('stored')).length;
    expect(ids.length / 50).toBeGreaterThanOrEqual(reported);
  });

  it('L12: takes several processes that begin at once in an empty database', async ({
    onTestFinished,
  }) => {
    const database = await createDatabase(server);
    const forms = ['one', 'two', 'three', 'two'];
    const children = forms.map((form) =>
      new Child(CHILD, [database, form, '10', '10']).killedAfter(onTestFinished),
    );
    expect(await Promise.all(children.map((child) => child.ended))).toEqual(
      forms.map(() => ({ code: 0, signal: null })),
    );
    await using target = await parseTargetUrl(database).open('default');
    const overview = await target.overview();
    expect(overview.map((form) => [form.name, form.rows])).toEqual([
      ['one', 100],
      ['three', 100],
      ['two', 100],
    ]);
    expect(overview[0]?.location).toBe('table public.one, view public.one_labelled');
  });

  it.each([
    ['questions', 1_000],
    ['answers', 200],
  ] as const)(
    'L5: cut off after whatever part of its %s, has each batch whole or not at all, and goes on',
    async (what, step) => {
      const sql = (text: string) =>
        stage.place.query(
          text.replace(/\{(\w+)\}/g, (_all, name: string) => stage.place.relation(name)),
        );
      const held = new Set<string>();
      let batches = 0;
      const batchOf = (many: number): Row[] => {
        batches++;
        return Array.from({ length: many }, (_, nth) => row(`${batches}_${nth}`));
      };
      await using direct = await stage.place.open();
      let isWhole = false;
      for (let bytes = 100; !isWhole; bytes += step) {
        const relay = await startRelay(Number(new URL(stage.place.url).port));
        const url = withUrl((one) => (one.port = String(relay.port)));
        await using target = await parseTargetUrl(url).open('warehouse');
        const writer = await target.openWriter(FORM, { waitMs: 10_000 });
        await writer.prepare([NAME]);
        const before = batchOf(5);
        await writer.apply(before, []);
        for (const { id } of before) held.add(id);
        // New rows by COPY, then some among stored ones by a statement that compares.
        const copied = batchOf(5);
        const mixed = [...batchOf(5), row('1_0', { f_name: String(bytes) })];
        relay.cutAfter(what, bytes);
        const stored = [writer.apply(copied, []), writer.apply(mixed, [])];
        const [first, second] = await Promise.allSettled(stored);
        isWhole = second?.status === 'fulfilled';
        await writer[Symbol.asyncDispose]();
        relay.close();
        await using next = await direct.openWriter(FORM, { waitMs: 10_000 });
        const there = new Set(await sorted(next.liveIds()));
        for (const [nth, batch] of [copied, mixed].entries()) {
          const now = batch.filter(({ id }) => there.has(id) && !held.has(id)).length;
          expect(now === 0 || now === 5, `${now} after ${bytes} bytes`).toBe(true);
          const isStored = [first, second][nth]?.status === 'fulfilled';
          expect(isStored && now === 0, `lost after ${bytes} bytes`).toBe(false);
          if (now === 5) for (const { id } of batch) held.add(id);
        }
        expect(there).toEqual(held);
        const [counts] = await sql('SELECT row_count, live_count FROM {mirror_forms}');
        expect([Number(counts?.['row_count']), Number(counts?.['live_count'])]).toEqual([
          held.size,
          held.size,
        ]);
        const [history] = await sql(
          'SELECT count(*) AS n, count(DISTINCT submission_id) AS ids FROM {mirror_status_history}',
        );
        expect([Number(history?.['n']), Number(history?.['ids'])]).toEqual([held.size, held.size]);
      }
      expect(batches).toBeGreaterThan(3 * 8);
    },
  );

  it.each(['mirror_forgotten', 'mirror_forms'])(
    'whose %s was renamed says so, not what became of the statements behind',
    async (table) => {
      await using writer = await stage.target.openWriter(FORM, AT_ONCE);
      await writer.prepare([NAME]);
      await stage.place.query(`ALTER TABLE ${stage.place.relation(table)} RENAME TO elsewhere`);
      await expect(writer.apply([row('b')], [])).rejects.toMatchObject({
        message: expect.stringContaining('was dropped or renamed meanwhile'),
      });
    },
  );

  it('goes silent: is noticed, and nothing waits for ever', async () => {
    const real = new URL(stage.place.url);
    const relay = await startRelay(Number(real.port));
    const address = parsePostgresUrl(withUrl((url) => (url.port = String(relay.port))));
    const database = new PostgresDatabase(
      address,
      postgresDriver(address.connectionString),
      systemClock,
      { answerMs: 300, rewriteMs: 300, closeMs: 100 },
    );
    const target = new SqlTarget('silent', database, systemClock);
    const writer = await target.openWriter(FORM, AT_ONCE);
    await writer.prepare([NAME]);
    await writer.confirm(['a']);
    relay.freeze();
    await expect(writer.apply([row('a')], [])).rejects.toMatchObject({
      code: 'TARGET_UNREACHABLE',
      retryable: true,
    });
    // Reading tries once more, on another connection.
    expect(await writer.confirm(['a'])).toEqual(new Set());
    await writer[Symbol.asyncDispose]();
    relay.close();
    await target[Symbol.asyncDispose]();
    const reader = await stage.read();
    expect(await reader.confirm(['a'])).toEqual(new Set());
  });

  it('keeps nobody waiting who is about to stop while a reader waits for a locked table', async () => {
    await using _writer = await write('a');
    const address = parsePostgresUrl(stage.place.url);
    const driver = postgresDriver(address.connectionString);
    const [found] = (await driver.pool.query({ text: 'SHOW lock_timeout' })).rows;
    expect(found).toEqual({ lock_timeout: '30s' });
    const timeouts = { answerMs: 60_000, rewriteMs: 60_000, closeMs: 100 };
    const database = new PostgresDatabase(address, driver, systemClock, timeouts);
    const target = new SqlTarget('locked', database, systemClock);
    const person = postgresDriver(address.connectionString).client();
    await person.connect();
    const table = database.dialect.relation('contact_form');
    await person.query({ text: `BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE` });
    const overview = target.overview();
    expect(await withinTime(overview, 300, systemClock)).toBeUndefined();
    await target[Symbol.asyncDispose]();
    await person.end();
    // What it goes on to ask finds the target closed.
    await overview.catch(() => undefined);
  });

  it('that hangs up while it is asked who we are is unreachable', async () => {
    const rude = createServer((socket) => socket.destroy());
    const port = await freePort();
    await new Promise<void>((done) => rude.listen(port, '127.0.0.1', done));
    const { error } = await failureOf(`postgres://x:s3cret@127.0.0.1:${port}/x`);
    expect(error).toMatchObject({ code: 'TARGET_UNREACHABLE', retryable: true });
    await new Promise((done) => rude.close(done));
  });
});
