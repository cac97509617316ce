import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import type { Target } from '../../src/mirror/target.ts';
import { SqlTarget } from '../../src/targets/sql/sql-target.ts';
import { SqliteFile } from '../../src/targets/sql/sqlite/sqlite-database.ts';
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
    await using target = openFile(path, 3);
    const writer = await target.openWriter(FORM, AT_ONCE);
    await writer.prepare([NAME]);
    await writer.apply([row('a'), row('b')], []);
    await writer.apply([row('c')], []);
    expect(threads).toHaveLength(0);
    expect((await writer.apply([row('a'), row('d')], [])).outcomes).toEqual([
      'unchanged',
      'inserted',
    ]);
    expect(threads).toHaveLength(1);
    await expect(target.openWriter(FORM, AT_ONCE)).rejects.toMatchObject({ code: 'TARGET_BUSY' });
    await writer[Symbol.asyncDispose]();
    expect(threads[0]?.threadId).toBe(-1);
    await using next = await target.openWriter(FORM, AT_ONCE);
    expect(await sorted(next.liveIds())).toEqual(['a', 'b', 'c', 'd']);
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

  it('tells a locked file from others, and goes on once it is free', async () => {
    let now = 0;
    const clock: Clock = {
      now: () => now,
      sleep: async (ms) => {
        now += ms;
      },
    };
    await using target = openFile(path, 1, clock);
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
    await using target = openFile(path, 1);
    await using writer = await target.openWriter(FORM, AT_ONCE);
    await writer.prepare([NAME]);
    await writer.apply([row('a')], []);
    renameSync(path, `${path}.away`);
    await writer.apply([row('b')], []).catch(() => {});
    expect(existsSync(path)).toBe(false);
    expect(threads).toHaveLength(0);
  });

  it('L17: goes on with the file that it has where another comes to its place while the thread begins', async () => {
    await using target = openFile(path, 1);
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
    await using target = openFile(path, 1);
    await using writer = await target.openWriter(FORM, AT_ONCE);
    await writer.prepare([NAME]);
    await writer.apply([row('a')], []);
    process.once('worker', () => rmSync(path));
    await writer.apply([row('b')], []).catch(() => {});
    expect(existsSync(path)).toBe(false);
  });

  it('L5: keeps whole batches where its thread ends, and says so', async () => {
    await using target = openFile(path, 1);
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
