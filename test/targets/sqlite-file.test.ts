import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Clock } from '../../src/base/clock.ts';
import type { FormWriter, Target } from '../../src/mirror/target.ts';
import type { PassRecord } from '../../src/mirror/types.ts';
import { parseTargetUrl } from '../../src/targets/target-kinds.ts';
import { openSqlite } from '../../src/targets/sql/sqlite/sqlite-database.ts';
import {
  describeSqliteError,
  sqliteRowDefect,
} from '../../src/targets/sql/sqlite/sqlite-errors.ts';
import { AGE, AT_ONCE, FORM, NAME, pass, row, sorted } from '../contract/target-harness.ts';

describe('a SQLite file', () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'forms-mirror-file-'));
    path = join(folder, 'mirror.sqlite');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const store = async (file: string, ...ids: string[]): Promise<void> => {
    await using target = openSqlite('default', file);
    await using writer = await target.openWriter(FORM, AT_ONCE);
    await writer.prepare([NAME]);
    await writer.apply(
      ids.map((id) => row(id)),
      [],
    );
  };

  it('is made with its folders by the first write, and by nothing else', async () => {
    const deep = join(folder, 'a/b/c.sqlite');
    await using target = await parseTargetUrl(`sqlite://${deep}`).open('default');
    expect(await target.check()).toMatchObject([{ ok: true }]);
    expect(await target.overview()).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
    await store(deep, 'a');
    expect(await target.overview()).toMatchObject([{ rows: 1 }]);
  });

  it('L14: is counted by indices alone for an overview, however large its tables are', async () => {
    await store(path, 'a', 'b');
    const asked = vi.spyOn(DatabaseSync.prototype, 'prepare');
    onTestFinished(() => asked.mockRestore());
    await using target = openSqlite('default', path);
    expect(await target.overview()).toMatchObject([{ rows: 2, deletedRows: 0 }]);
    const counts = asked.mock.calls.map(([sql]) => sql).filter((sql) => / AS live/.test(sql));
    expect(counts).toHaveLength(1);
    asked.mockRestore();
    using database = new DatabaseSync(path, { readOnly: true });
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${counts[0]}`).all(FORM.id);
    const table = database.prepare('SELECT table_name AS name FROM mirror_forms').get()?.['name'];
    const scans = plan
      .map(({ detail }) => String(detail))
      .filter((text) => text.includes(String(table)));
    expect(scans).toHaveLength(2);
    for (const scan of scans) expect(scan).toMatch(/ USING (COVERING )?INDEX /);
  });

  it('L14: has an index by which marking finds its rows once a first pass is through', async () => {
    const indexes = (): unknown[] => {
      using database = new DatabaseSync(path, { readOnly: true });
      const found = "SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE INDEX%(status,id)%'";
      return database.prepare(found).all();
    };
    await using target = openSqlite('default', path);
    const write = async (end: PassRecord): Promise<void> => {
      await using writer = await target.openWriter(FORM, AT_ONCE);
      await writer.prepare([NAME]);
      await writer.apply([row('a')], []);
      await writer.finish(end, {});
    };
    await write(pass({ kind: 'full', outcome: 'failed' }));
    expect(indexes()).toEqual([]);
    await write(pass({ kind: 'full', outcome: 'incomplete' }));
    expect(indexes()).toHaveLength(1);
    await write(pass({ kind: 'full' }));
    expect(indexes()).toHaveLength(1);
  });

  it('L15: shows where it is', () => {
    expect(openSqlite('x', './data/m.sqlite').address).toBe('sqlite:./data/m.sqlite');
    expect(() => parseTargetUrl('sqlite:')).toThrow('./data/mirror.sqlite');
  });

  it.each([
    ['a file that is no database', () => writeFileSync(path, 'x'.repeat(5_000)), 'no SQLite'],
    ['a folder', () => mkdirSync(path), 'cannot be opened'],
    [
      'a path through a file',
      () => {
        writeFileSync(path, '');
        path = join(path, 'x.sqlite');
      },
      'not a folder',
    ],
  ])('says what to do about %s', async (_what, make, words) => {
    make();
    await using target = openSqlite('sheet', path);
    await expect(target.openWriter(FORM, AT_ONCE)).rejects.toMatchObject({
      code: 'TARGET_DENIED',
      retryable: false,
      message: expect.stringMatching(new RegExp(`^Target sheet .*${words}.*\\. \\w+`)),
    });
    const results = await target.check();
    expect(results.at(-1)).toMatchObject({ ok: false, remedy: expect.stringMatching(/\w/) });
  });

  it('leaves a database of another program as it is when reading it', async () => {
    const theirs = new DatabaseSync(path);
    theirs.exec('CREATE TABLE mine (x)');
    theirs.close();
    await using target = openSqlite('default', path);
    expect(await target.overview()).toEqual([]);
    const results = await target.check();
    expect(results.every((result) => result.ok)).toBe(true);
    using database = new DatabaseSync(path);
    expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'delete' });
    expect(database.prepare('SELECT name FROM sqlite_schema').all()).toEqual([{ name: 'mine' }]);
  });

  it('that was deleted and created again is read from its new copy', async () => {
    await store(path, 'old');
    await using target = openSqlite('default', path);
    expect(await (await target.reader(FORM.id))?.confirm(['old'])).toEqual(new Set(['old']));
    for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
    expect(await target.overview()).toEqual([]);
    await store(path, 'new');
    const reader = await target.reader(FORM.id);
    expect(await reader?.confirm(['old', 'new'])).toEqual(new Set(['new']));
  });

  describe('between two writers', () => {
    const write = async (target: Target, id: string): Promise<string[]> => {
      await using writer = await target.openWriter(FORM, AT_ONCE);
      await writer.prepare([NAME]);
      await writer.apply([row(id)], []);
      return sorted(writer.liveIds());
    };
    /** How many connections that write `work` opens. */
    const opened = async (work: () => Promise<unknown>): Promise<number> => {
      const asked = vi.spyOn(DatabaseSync.prototype, 'exec');
      await work();
      const many = asked.mock.calls.filter(([sql]) => sql.includes('wal_autocheckpoint')).length;
      asked.mockRestore();
      return many;
    };

    it('keeps the connections of a few that write at once, until it is closed', async () => {
      const target = openSqlite('default', path);
      const others = (many: number): Promise<FormWriter[]> =>
        Promise.all(
          Array.from({ length: many }, (_, n) =>
            target.openWriter({ ...FORM, id: `other ${n}` }, AT_ONCE),
          ),
        );
      const end = (writers: readonly FormWriter[]): Promise<unknown> =>
        Promise.all(writers.map((writer) => writer[Symbol.asyncDispose]()));
      await write(target, 'a');
      expect(await opened(() => write(target, 'b'))).toBe(0);
      const writers = await others(1);
      expect(await opened(() => write(target, 'c'))).toBe(1);
      await end(writers);
      expect(await opened(async () => end(await others(2)))).toBe(0);
      await end(await others(6));
      expect(await opened(async () => end(await others(6)))).toBe(2);
      await target[Symbol.asyncDispose]();
      using database = new DatabaseSync(path);
      // Another connection would keep it from changing that.
      expect(database.prepare('PRAGMA journal_mode = DELETE').get()).toEqual({
        journal_mode: 'delete',
      });
    });

    it('L7: makes all that it stores outlast a power failure, and leaves to that what came first', async () => {
      await using target = openSqlite('default', path);
      await write(target, 'a');
      const asked = vi.spyOn(DatabaseSync.prototype, 'exec');
      await write(target, 'b');
      await write(target, 'c');
      const levels: (string | undefined)[] = [];
      let level: string | undefined;
      for (const [sql] of asked.mock.calls) {
        level = /synchronous = (\w+)/.exec(sql)?.[1] ?? level;
        if (sql === 'COMMIT') levels.push(level);
      }
      asked.mockRestore();
      // Of each writer its epoch, the columns and the row.
      expect(levels).toEqual(['NORMAL', 'FULL', 'FULL', 'NORMAL', 'FULL', 'FULL']);
    });

    it('L13: lets another one open the form as soon as a writer has ended', async () => {
      await using one = openSqlite('one', path);
      await using two = openSqlite('two', path);
      for (const id of ['a', 'b']) for (const at of [one, two]) await write(at, `${at.name} ${id}`);
      expect(await write(one, 'c')).toEqual(['c', 'one a', 'one b', 'two a', 'two b']);
    });

    it.each([
      ['a copy is written over it', () => copyFileSync(`${path}.kept`, path)],
      ['a copy takes its place', () => renameSync(`${path}.kept`, path)],
      ['its rights change', () => chmodSync(path, 0o640)],
      ['its WAL is gone', () => rmSync(`${path}-wal`)],
    ])('opens it anew when %s', async (_what, change) => {
      await store(path, 'a');
      copyFileSync(path, `${path}.kept`);
      await using target = openSqlite('default', path);
      await target.recordLook({ at: '2026-01-01T00:00:00.000Z', open: [], others: null });
      expect(await opened(() => write(target, 'c'))).toBe(0);
      change();
      expect(await opened(() => write(target, 'b').catch(() => {}))).toBeGreaterThan(0);
    });

    it('goes on with none that failed', async () => {
      await using target = openSqlite('default', path);
      await write(target, 'a');
      await using writer = await target.openWriter(FORM, AT_ONCE);
      using database = new DatabaseSync(path);
      database.exec('UPDATE mirror_locks SET epoch = epoch + 1');
      await expect(writer.prepare([NAME])).rejects.toMatchObject({ code: 'TARGET_LOST_LOCK' });
      await writer[Symbol.asyncDispose]();
      expect(await opened(() => write(target, 'b'))).toBe(1);
    });
  });

  it('waits for another program that writes, and goes on afterwards', async () => {
    await store(path, 'a');
    await using target = openSqlite('default', path);
    await using writer = await target.openWriter(FORM, AT_ONCE);
    await writer.prepare([NAME]);
    const browser = new DatabaseSync(path);
    browser.exec('BEGIN IMMEDIATE');
    const stored = writer.apply([row('b')], []);
    expect(await Promise.race([stored, new Promise((done) => setImmediate(done, 'waits'))])).toBe(
      'waits',
    );
    expect(await sorted(writer.liveIds())).toEqual(['a']);
    browser.exec('COMMIT');
    browser.close();
    expect((await stored).outcomes).toEqual(['inserted']);
  });

  it('kept locked for too long is reported, and can be tried again', async () => {
    await store(path, 'a');
    let now = 0;
    const clock: Clock = {
      now: () => now,
      sleep: async (ms) => {
        now += ms;
      },
    };
    await using target = openSqlite('default', path, clock);
    await using writer = await target.openWriter(FORM, AT_ONCE);
    await writer.prepare([NAME]);
    using browser = new DatabaseSync(path);
    browser.exec('BEGIN IMMEDIATE');
    await expect(writer.apply([row('b')], [])).rejects.toMatchObject({
      code: 'TARGET_FAILED',
      retryable: true,
      message: expect.stringContaining('locked'),
    });
    browser.exec('COMMIT');
    expect((await writer.apply([row('b')], [])).outcomes).toEqual(['inserted']);
  });

  it('keeps a trigger and former names that others rely on when labels change', async () => {
    await using target = openSqlite('default', path);
    await using writer = await target.openWriter(FORM, AT_ONCE);
    await writer.prepare([NAME, AGE]);
    using database = new DatabaseSync(path, { timeout: 5_000 });
    database.exec(
      'CREATE TABLE log (x); CREATE TRIGGER theirs INSTEAD OF INSERT ON contact_form_labelled BEGIN INSERT INTO log VALUES (new."Full name"); END; CREATE VIEW report AS SELECT "Full name" FROM contact_form_labelled',
    );
    const relabelled = { ...NAME, label: 'Name' };
    await writer.prepare([relabelled, AGE]);
    database.exec(`INSERT INTO contact_form_labelled ("Full name") VALUES ('x')`);
    expect(database.prepare('SELECT x FROM log').all()).toEqual([{ x: 'x' }]);
    expect(database.prepare('SELECT * FROM report').all()).toEqual([]);
    const version = (): unknown => database.prepare('PRAGMA schema_version').get();
    const before = version();
    await writer.prepare([relabelled, AGE]);
    expect(version()).toEqual(before);
    database.exec('DROP TRIGGER theirs; DROP VIEW report');
    await writer.prepare([{ ...NAME, label: 'Who' }, AGE]);
    const columns = database.prepare("SELECT name FROM pragma_table_info('contact_form_labelled')");
    expect(columns.all().map((one) => one['name'])).not.toContain('Full name');
  });
});

describe('a SQLite database in memory', () => {
  it('works like a file and is gone with its target', async () => {
    await using target = openSqlite('default', ':memory:');
    expect(await target.overview()).toEqual([]);
    {
      await using writer = await target.openWriter(FORM, AT_ONCE);
      await writer.prepare([NAME]);
      expect((await writer.apply([row('a')], [])).outcomes).toEqual(['inserted']);
      await expect(target.openWriter(FORM, AT_ONCE)).rejects.toMatchObject({ code: 'TARGET_BUSY' });
    }
    await using writer = await target.openWriter(FORM, AT_ONCE);
    expect(await sorted(writer.liveIds())).toEqual(['a']);
    await using other = openSqlite('default', ':memory:');
    expect(await other.overview()).toEqual([]);
    expect(existsSync(':memory:')).toBe(false);
  });
});

describe('SQLite errors', () => {
  const sqlite = (errcode: number, message = 'secret answer'): Error =>
    Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR', errcode });

  it.each([
    [13, 'TARGET_FULL'],
    [8, 'TARGET_DENIED'],
    [1544, 'TARGET_DENIED'],
    [14, 'TARGET_DENIED'],
    [26, 'TARGET_DENIED'],
    [11, 'TARGET_FAILED'],
    [261, 'TARGET_FAILED'],
    [1, 'TARGET_FAILED'],
  ])('%i is %s', (errcode, code) => {
    const description = describeSqliteError(sqlite(errcode));
    expect(description).toMatchObject({ code });
    expect(JSON.stringify(description)).not.toContain('secret');
  });

  it('of the file system are distinguished', () => {
    const system = (code: string): Error => Object.assign(new Error('secret'), { code });
    expect(describeSqliteError(system('EACCES'))).toMatchObject({ code: 'TARGET_DENIED' });
    expect(describeSqliteError(system('ENOSPC'))).toMatchObject({ code: 'TARGET_FULL' });
    expect(describeSqliteError(new TypeError('secret'))).toBeUndefined();
  });

  it('L6: blame a row only where a row can be to blame', () => {
    expect(sqliteRowDefect(sqlite(18))).toMatchObject({
      reason: expect.stringContaining('too large'),
      isOfRow: true,
    });
    expect(sqliteRowDefect(sqlite(1299, 'NOT NULL constraint failed: t.x'))).toMatchObject({
      reason: expect.stringContaining('t.x'),
      isOfRow: false,
    });
    expect(sqliteRowDefect(sqlite(1811))?.reason).not.toContain('secret');
    expect(sqliteRowDefect(sqlite(13))).toBeUndefined();
  });
});
