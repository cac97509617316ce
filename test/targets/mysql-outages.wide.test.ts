import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { MirrorError } from '../../src/base/errors.ts';
import type { FormWriter } from '../../src/mirror/target.ts';
import { type FormIdentity, JsonText, type PickedField } from '../../src/mirror/types.ts';
import { parseMysqlUrl } from '../../src/targets/sql/mysql/mysql-address.ts';
import { MysqlDatabase } from '../../src/targets/sql/mysql/mysql-database.ts';
import { mysqlDriver } from '../../src/targets/sql/mysql/mysql-driver.ts';
import { DEFAULT_TIMEOUTS } from '../../src/targets/sql/mysql/mysql-session.ts';
import { SqlTarget } from '../../src/targets/sql/sql-target.ts';
import { parseTargetUrl } from '../../src/targets/target-kinds.ts';
import {
  AT_ONCE,
  CHECKPOINT,
  field,
  FORM,
  NAME,
  pass,
  row,
  sorted,
  stageTargets,
} from '../contract/target-harness.ts';
import { Child } from '../support/child.ts';
import { mysqlPlace } from '../support/mysql-place.ts';
import { startRelay } from '../support/relay.ts';
import {
  createMysqlDatabase,
  freePort,
  mariadbMissing,
  startMariadb,
  type TestServer,
} from '../support/servers.ts';

const CHILD = join(import.meta.dirname, '../support/target-child.ts');
const TLS = join(import.meta.dirname, '../fixtures/tls');
const AUTHORITY = join(TLS, 'authority.pem');

/** The error of opening a writer, and what `check` finds. */
async function failureOf(url: string): Promise<{ error: MirrorError; remedy: string }> {
  await using target = await parseTargetUrl(url).open('warehouse');
  const error: unknown = await target.openWriter(FORM, AT_ONCE).catch((thrown: unknown) => thrown);
  if (!(error instanceof MirrorError)) throw new Error('no MirrorError');
  const results = await target.check();
  const failed = results.find((result) => !result.ok);
  return { error, remedy: failed?.remedy ?? '' };
}

describe.skipIf(mariadbMissing())('MariaDB that fails', () => {
  let server: TestServer;
  beforeAll(async () => {
    const tls = [
      `--ssl-ca=${AUTHORITY}`,
      `--ssl-cert=${join(TLS, 'certificate.pem')}`,
      `--ssl-key=${join(TLS, 'key.pem')}`,
    ];
    server = await startMariadb(tls);
  });
  afterAll(() => server.stop());
  const stage = stageTargets(() => mysqlPlace({ url: server.url }));
  const sql = (text: string): Promise<unknown> => stage.place.query(text);
  const withUrl = (change: (url: URL) => void): string => {
    const url = new URL(stage.place.url);
    change(url);
    return url.href;
  };
  const database = (): string => new URL(stage.place.url).pathname.slice(1);
  const write = async (...ids: string[]): Promise<FormWriter> => {
    const writer = await stage.target.openWriter(FORM, AT_ONCE);
    await writer.prepare([NAME]);
    await writer.apply(
      ids.map((id) => row(id)),
      [],
    );
    return writer;
  };
  /** A user who may do these things in the database of the test. */
  const userWith = async (rights: string): Promise<string> => {
    await sql("CREATE OR REPLACE USER plain@'127.0.0.1' IDENTIFIED BY 'right'");
    if (rights !== '') await sql(`GRANT ${rights} ON ${database()}.* TO plain@'127.0.0.1'`);
    return withUrl((url) => {
      url.username = 'plain';
      url.password = 'right';
    });
  };

  it('is distinguished, each with its remedy and without a secret (L15)', async () => {
    const unused = await freePort();
    const plain = await userWith('SELECT');
    const cases: [url: string, code: string, remedy: RegExp][] = [
      [withUrl((url) => (url.port = String(unused))), 'TARGET_UNREACHABLE', /host and port/],
      [withUrl((url) => (url.hostname = 'no.such.host.invalid')), 'TARGET_UNREACHABLE', /spelling/],
      [withUrl((url) => (url.pathname = '/nothing')), 'TARGET_DENIED', /CREATE DATABASE/],
      [withUrl((url) => (url.username = 'nobody')), 'TARGET_DENIED', /percent-encoded/],
      [plain.replace('right', 's3cret'), 'TARGET_DENIED', /percent-encoded/],
      [plain, 'TARGET_DENIED', /GRANT SELECT, INSERT/],
      [
        withUrl((url) => url.searchParams.set('ssl-mode', 'VERIFY_IDENTITY')),
        'TARGET_DENIED',
        /ssl-ca/,
      ],
    ];
    for (const [url, code, expected] of cases) {
      const { error, remedy } = await failureOf(url);
      expect(error).toMatchObject({ code, retryable: code === 'TARGET_UNREACHABLE' });
      expect(error.message).toMatch(expected);
      expect(error.message).toMatch(/^Target warehouse \(mysql:\/\//);
      expect(error.message).not.toMatch(/s3cret|:right/);
      expect(remedy).toMatch(expected);
    }
  });

  it('speaks TLS with a certificate that is checked, by its name too', async () => {
    const tls = (mode: string, host = 'localhost'): string =>
      withUrl((url) => {
        url.hostname = host;
        url.searchParams.set('ssl-mode', mode);
        url.searchParams.set('ssl-ca', AUTHORITY);
      });
    await sql("CREATE OR REPLACE USER safe@'%' IDENTIFIED BY 'right' REQUIRE SSL");
    await sql(`GRANT ALL ON ${database()}.* TO safe@'%'`);
    for (const mode of ['VERIFY_IDENTITY', 'VERIFY_CA', 'REQUIRED']) {
      const url = tls(mode, '127.0.0.1').replace('root@', 'safe:right@');
      await using target = await parseTargetUrl(url).open('warehouse');
      expect((await target.check()).filter(({ ok }) => !ok)).toEqual([]);
      await using writer = await target.openWriter(FORM, AT_ONCE);
      await writer.prepare([NAME]);
    }
    const plain = withUrl((url) => (url.username = 'safe')).replace('safe@', 'safe:right@');
    expect((await failureOf(plain)).error).toMatchObject({ code: 'TARGET_DENIED' });
  });

  it('takes no writes: says so', async () => {
    await (await write('a'))[Symbol.asyncDispose]();
    const url = await userWith('ALL');
    await sql('SET GLOBAL read_only = 1');
    try {
      const { error, remedy } = await failureOf(url);
      expect(error).toMatchObject({ code: 'TARGET_DENIED' });
      expect(remedy).toContain('primary');
    } finally {
      await sql('SET GLOBAL read_only = 0');
    }
  });

  it('has no connection left: says so', async () => {
    await sql("CREATE OR REPLACE USER few@'127.0.0.1' WITH MAX_USER_CONNECTIONS 1");
    await sql(`GRANT ALL ON ${database()}.* TO few@'127.0.0.1'`);
    await using target = await parseTargetUrl(withUrl((url) => (url.username = 'few'))).open('few');
    await using _writer = await target.openWriter(FORM, AT_ONCE);
    await expect(target.overview()).rejects.toMatchObject({
      code: 'TARGET_UNREACHABLE',
      message: expect.stringContaining('max_connections'),
    });
  });

  it('L6: takes no statement for a very long answer: that row is listed, and holds up no other', async () => {
    await sql('SET GLOBAL max_allowed_packet = 1048576');
    try {
      await using writer = await stage.target.openWriter(FORM, AT_ONCE);
      await writer.prepare([NAME]);
      const rows = [row('a'), row('b', { field_1_a: 'x'.repeat(2_000_000) }), row('c')];
      const { outcomes, rejections } = await writer.apply(rows, []);
      expect(outcomes).toEqual(['inserted', 'rejected', 'inserted']);
      expect(rejections[0]?.reason).toContain('max_allowed_packet');
    } finally {
      await sql('SET GLOBAL max_allowed_packet = 16777216');
    }
  });

  it('L17: takes no statement for a view of very many fields: what it lacks is told of until it does', async () => {
    const store = async (form: FormIdentity, fields: readonly PickedField[]): Promise<unknown> => {
      await using target = await stage.place.open();
      await using writer = await target.openWriter(form, AT_ONCE);
      await writer.prepare(fields);
      await writer.apply(
        [row(form.id, Object.fromEntries(fields.map(({ id }) => [id, new JsonText('["x"]')])))],
        [],
      );
      return await writer.finish(pass({ kind: 'full' }), { checkpoint: CHECKPOINT });
    };
    const fields = Array.from({ length: 150 }, (_, at) =>
      field(`f${at}`, `Field ${at}`, { position: at }),
    );
    await store(FORM, fields);
    await sql('SET GLOBAL max_allowed_packet = 16384');
    const other = { id: 'frm_2', slug: 'event', name: 'Event' };
    try {
      expect(await store(other, [NAME])).toMatchObject([
        {
          code: 'VIEW_BEHIND',
          tab: 'answers',
          message: expect.stringContaining('max_allowed_packet'),
          remedy: expect.stringContaining('max_allowed_packet'),
        },
      ]);
      expect(await sql('SELECT submission_id FROM submissions')).toHaveLength(2);
      expect(await sql('SELECT submission_id FROM answers')).toHaveLength(150);
    } finally {
      await sql('SET GLOBAL max_allowed_packet = 16777216');
    }
    expect(await store(other, [NAME])).toEqual([]);
    expect(await sql('SELECT submission_id FROM answers')).toHaveLength(151);
  });

  it('L5: restarts in the middle of a pass; the next one goes on, on the same target', async () => {
    const writer = await write('a');
    const reader = await stage.read();
    const { process: child } = server;
    if (child === undefined) return;
    const ended = new Promise((done) => child.once('exit', done));
    child.kill('SIGKILL');
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

  /** Ends the connections of others to the database of the test. */
  const killAll = async (): Promise<void> => {
    const found = await stage.place.query(
      `SELECT id FROM information_schema.processlist WHERE db = database() AND id <> connection_id()`,
    );
    for (const { id } of found) await sql(`KILL ${String(id)}`);
  };

  it('L13: ends a connection; its writer stops, another one takes over', async () => {
    const writer = await write('a');
    await killAll();
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
    await killAll();
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
    const url = await createMysqlDatabase(server);
    const forms = ['one', 'two', 'three', 'two'];
    const children = forms.map((form) =>
      new Child(CHILD, [url, form, '10', '10']).killedAfter(onTestFinished),
    );
    expect(await Promise.all(children.map((child) => child.ended))).toEqual(
      forms.map(() => ({ code: 0, signal: null })),
    );
    await using target = await parseTargetUrl(url).open('default');
    const overview = await target.overview();
    expect(overview.map((form) => [form.name, form.rows])).toEqual([
      ['one', 100],
      ['three', 100],
      ['two', 100],
    ]);
    expect(overview[0]?.location).toBe('table one, view one_labelled');
  });

  it('goes silent: is noticed, and nothing waits for ever', async () => {
    const relay = await startRelay(Number(new URL(stage.place.url).port));
    const address = parseMysqlUrl(withUrl((url) => (url.port = String(relay.port))));
    const timeouts = { ...DEFAULT_TIMEOUTS, answerMs: 300, rewriteMs: 300, closeMs: 100 };
    const silent = new MysqlDatabase(
      address,
      mysqlDriver(address.connection),
      systemClock,
      timeouts,
    );
    const target = new SqlTarget('silent', silent, systemClock);
    await (await write('z'))[Symbol.asyncDispose]();
    const writer = await target.openWriter(FORM, AT_ONCE);
    relay.freeze();
    await expect(writer.apply([row('a')], [])).rejects.toMatchObject({
      code: 'TARGET_UNREACHABLE',
      retryable: true,
    });
    await writer[Symbol.asyncDispose]();
    relay.close();
    await target[Symbol.asyncDispose]();
    expect(await (await stage.read()).confirm(['a', 'z'])).toEqual(new Set(['z']));
  });

  it('L13: a process that is stopped loses what it holds after a while, and writes nothing more', async () => {
    const address = parseMysqlUrl(stage.place.url);
    const timeouts = { ...DEFAULT_TIMEOUTS, leaseMs: 1_000 };
    const driver = mysqlDriver(address.connection);
    const database = new MysqlDatabase(address, driver, systemClock, timeouts);
    const target = new SqlTarget('asleep', database, systemClock);
    await using writer = await target.openWriter(FORM, AT_ONCE);
    await writer.prepare([NAME]);
    // Heard all the while.
    await expect(stage.target.openWriter(FORM, { waitMs: 2_500 })).rejects.toMatchObject({
      code: 'TARGET_BUSY',
    });
    await writer.apply([row('a')], []);
    await target[Symbol.asyncDispose]();
  });

  it('that hangs up while it is asked who we are is unreachable', async () => {
    const rude = createServer((socket) => socket.destroy());
    const port = await freePort();
    await new Promise<void>((done) => rude.listen(port, '127.0.0.1', done));
    const { error } = await failureOf(`mysql://x:s3cret@127.0.0.1:${port}/x`);
    expect(error).toMatchObject({ code: 'TARGET_UNREACHABLE', retryable: true });
    await new Promise((done) => rude.close(done));
  });
});
