import { once } from 'node:events';
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import type { Target } from '../../src/mirror/target.ts';
import { run } from '../../src/targets/sql/sql-session.ts';
import { SqlTarget } from '../../src/targets/sql/sql-target.ts';
import { SqliteFile } from '../../src/targets/sql/sqlite/sqlite-database.ts';
import { SqliteEngineThread } from '../../src/targets/sql/sqlite/sqlite-engine-thread.ts';
import { describeSqlLimits } from '../contract/sql-target-limits.ts';
import { describeSqlSwallowed } from '../contract/sql-swallowed.ts';
import { AT_ONCE, FORM, NAME, row, sorted, stageTargets } from '../contract/target-harness.ts';
import { describeRows } from '../contract/target-rows.ts';
import { describeValues } from '../contract/target-values.ts';
import { sqlitePlace } from '../support/sqlite-place.ts';

const openFile = (path: string, fromRows: number, clock: Clock = systemClock): Target =>
  new SqlTarget('default', new SqliteFile(path, clock, fromRows), clock);

describe('the contract over SQLite in a thread', () => {
  const stage = stageTargets(async () => {
    const place = await sqlitePlace();
    return { ...place, open: async () => openFile(place.url.slice('sqlite:'.length), 0) };
  });
  describeRows(stage);
  describeValues(stage);
  describeSqlLimits(stage);
  describeSqlSwallowed(stage);
});

describe('a SQLite file that much is stored in', () => {
  let folder: string;
  let path: string;
  let threads: Worker[];
  const count = (thread: Worker): void => void threads.push(thread);
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'forms-mirror-thread-'));
    path = join(folder, 'mirror.sqlite');
    threads = [];
    process.on('worker', count);
  });
  afterEach(() => {
    process.off('worker', count);
    rmSync(folder, { recursive: true, force: true });
  });

  it('L13: is written by a thread from then on, which has ended when the form is released', async () => {
    await using target = openFile(path, 2);
    const writer = await target.openWriter(FORM, AT_ONCE);
    await writer.prepare([NAME]);
    await writer.apply([row('a'), row('b')], []);
    expect(threads).toHaveLength(0);
    // It begins beside this one, and is waited for by the next.
    await writer.apply([row('c'), row('d')], []);
    const { outcomes } = await writer.apply([row('a'), row('e')], []);
    expect(outcomes).toEqual(['unchanged', 'inserted']);
    expect(threads).toHaveLength(1);
    await expect(target.openWriter(FORM, AT_ONCE)).rejects.toMatchObject({ code: 'TARGET_BUSY' });
    await writer[Symbol.asyncDispose]();
    expect(threads[0]?.threadId).toBe(-1);
    await using next = await target.openWriter(FORM, AT_ONCE);
    expect(await sorted(next.liveIds())).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('L13: ends with the form where its thread has only begun', async () => {
    await using target = openFile(path, 1);
    const writer = await target.openWriter(FORM, AT_ONCE);
    await writer.prepare([NAME]);
    await writer.apply([row('a')], []);
    const begun = once(process, 'worker');
    await writer.apply([row('b')], []);
    await begun;
    await writer[Symbol.asyncDispose]();
    expect(threads.map(({ threadId }) => threadId)).toEqual([-1]);
    await using next = await target.openWriter(FORM, AT_ONCE);
    expect(await sorted(next.liveIds())).toEqual(['a', 'b']);
  });

  it('is waited for where it is abandoned while its first answer is on the way', async () => {
    new DatabaseSync(path).close();
    const begun = once(process, 'worker') as Promise<Worker[]>;
    const thread = new SqliteEngineThread(path);
    const ready = thread.exec('').catch(() => 'ended');
    const worker = (await begun)[0]!;
    const abandoned = thread.abandon();
    const unref = vi.spyOn(worker, 'unref');
    worker.emit('message', { value: undefined });
    await abandoned;
    expect(unref).not.toHaveBeenCalled();
    expect(await ready).toBe('ended');
  });

  it('L7: outlasts a power failure, and forgets what is overwritten, as without one', async () => {
    const connection = await new SqliteFile(path, systemClock, 0).lockForm(FORM.id, AT_ONCE);
    const settings = await connection?.connection.transaction(async (tx) => {
      const read = async (name: string): Promise<unknown> => {
        const [[value] = []] = await tx.queryArrays(`PRAGMA ${name}`);
        return value;
      };
      return [await read('journal_mode'), await read('synchronous'), await read('secure_delete')];
    });
    expect(threads).toHaveLength(1);
    expect(settings).toEqual(['wal', 2n, 1n]);
    await connection?.release();
  });

  it('L5: commits nothing where a statement failed that nobody waited for', async () => {
    const locked = await new SqliteFile(path, systemClock, 0).lockForm(FORM.id, AT_ONCE);
    if (locked === undefined) throw new Error('not locked');
    const { connection } = locked;
    await connection.transaction((tx) => tx.exec('CREATE TABLE t (id TEXT PRIMARY KEY)'));
    const failed = connection.transaction(async (tx) => {
      for (const id of ['a', 'a', 'b']) await run(tx, 'INSERT INTO t VALUES ($1)', [id]);
    });
    await expect(failed).rejects.toThrow('UNIQUE constraint failed');
    const told = connection.transaction(async (tx) => {
      await run(tx, 'INSERT INTO t VALUES ($1), ($1)', ['c']);
      await tx.query('SELECT 1');
    });
    await expect(told).rejects.toThrow('UNIQUE constraint failed');
    await connection.transaction((tx) => run(tx, 'INSERT INTO t VALUES ($1)', ['d']));
    expect(await connection.query('SELECT id FROM t')).toEqual([{ id: 'd' }]);
    expect(threads).toHaveLength(1);
    await locked.release();
  });

  it.each([0, Infinity])(
    'L5: commits nothing of a batch whose transaction a trigger rolls back, nor of what is told before that is known (a thread after %d rows)',
    async (fromRows) => {
      await using target = openFile(path, fromRows);
      const writer = await target.openWriter(FORM, AT_ONCE);
      await writer.prepare([NAME]);
      const people = new DatabaseSync(path);
      people.exec(`CREATE TRIGGER no BEFORE INSERT ON contact_form WHEN new.id = 'row 0'
        BEGIN SELECT RAISE(ROLLBACK, 'no'); END`);
      people.close();
      // More than are stored at a time; the first of them is refused.
      const rows = Array.from({ length: 4_010 }, (_, nth) => row(`row ${nth}`));
      await expect(writer.apply(rows, [])).rejects.toMatchObject({
        code: 'TARGET_FAILED',
        message: expect.stringContaining('rolled back the whole batch'),
      });
      expect(await sorted(writer.liveIds())).toEqual([]);
      expect((await writer.apply([row('other')], [])).outcomes).toEqual(['inserted']);
      expect(await writer.losses()).toEqual([]);
      await writer[Symbol.asyncDispose]();
    },
  );

  it('L5: commits nothing where its thread ends among statements that nobody waits for', async () => {
    const locked = await new SqliteFile(path, systemClock, 0).lockForm(FORM.id, AT_ONCE);
    if (locked === undefined) throw new Error('not locked');
    const { connection } = locked;
    await connection.transaction((tx) => tx.exec('CREATE TABLE t (id TEXT PRIMARY KEY)'));
    const cut = connection.transaction(async (tx) => {
      await run(tx, 'INSERT INTO t VALUES ($1)', ['a']);
      await tx.query('SELECT 1');
      await threads[0]?.terminate();
      await run(tx, 'INSERT INTO t VALUES ($1)', ['b']);
    });
    await expect(cut).rejects.toThrow('the thread has ended');
    await locked.release();
    using people = new DatabaseSync(path);
    expect(people.prepare('SELECT id FROM t').all()).toEqual([]);
  });

  it('tells a locked file from others, and goes on once it is free', async () => {
    let now = 0;
    const clock: Clock = {
      now: () => now,
      sleep: async (ms) => {
        now += ms;
      },
    };
    await using target = openFile(path, 0.5, clock);
    await using writer = await target.openWriter(FORM, AT_ONCE);
    await writer.prepare([NAME]);
    await writer.apply([row('a')], []);
    await writer.apply([row('b')], []);
    expect(threads).toHaveLength(1);
    using browser = new DatabaseSync(path);
    browser.exec('BEGIN IMMEDIATE');
    await expect(writer.apply([row('c')], [])).rejects.toMatchObject({
      code: 'TARGET_FAILED',
      retryable: true,
      message: expect.stringContaining('another program has kept the file locked'),
    });
    browser.exec('COMMIT');
    expect((await writer.apply([row('c')], [])).outcomes).toEqual(['inserted']);
  });

  it('makes no new file where the one that it writes was taken away', async () => {
    await using target = openFile(path, 0.5);
    await using writer = await target.openWriter(FORM, AT_ONCE);
    await writer.prepare([NAME]);
    await writer.apply([row('a')], []);
    renameSync(path, `${path}.away`);
    await writer.apply([row('b')], []).catch(() => {});
    expect(existsSync(path)).toBe(false);
    expect(threads).toHaveLength(0);
  });

  it('L17: goes on with the file that it has where another comes to its place while the thread begins', async () => {
    await using target = openFile(path, 0.5);
    const writer = await target.openWriter(FORM, AT_ONCE);
    await writer.prepare([NAME]);
    await writer.apply([row('a')], []);
    using other = new DatabaseSync(path);
    other.exec(`VACUUM INTO '${path}.other'`);
    process.once('worker', () => {
      for (const end of ['-wal', '-shm']) rmSync(`${path}${end}`);
      renameSync(`${path}.other`, path);
    });
    await writer.apply([row('b')], []);
    await writer[Symbol.asyncDispose]();
    expect(threads[0]?.threadId).toBe(-1);
    const placed = new DatabaseSync(path, { readOnly: true });
    expect(placed.prepare('SELECT id FROM contact_form').all()).toEqual([{ id: 'a' }]);
    placed.close();
  });

  it('makes no new file where the one that it writes is taken away while the thread begins', async () => {
    await using target = openFile(path, 0.5);
    await using writer = await target.openWriter(FORM, AT_ONCE);
    await writer.prepare([NAME]);
    await writer.apply([row('a')], []);
    process.once('worker', () => rmSync(path));
    await writer.apply([row('b')], []).catch(() => {});
    expect(existsSync(path)).toBe(false);
  });

  it('L5: keeps whole batches where its thread ends, and says so', async () => {
    await using target = openFile(path, 0.5);
    const writer = await target.openWriter(FORM, AT_ONCE);
    await writer.prepare([NAME]);
    await writer.apply([row('a')], []);
    await writer.apply([row('b')], []);
    await threads[0]?.terminate();
    await expect(writer.apply([row('c')], [])).rejects.toMatchObject({
      code: 'TARGET_FAILED',
      message: expect.stringContaining('the thread that writes the file has ended'),
    });
    await writer[Symbol.asyncDispose]();
    await using next = await target.openWriter(FORM, AT_ONCE);
    expect(await sorted(next.liveIds())).toEqual(['a', 'b']);
  });
});
