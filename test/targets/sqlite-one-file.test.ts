import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import type { Target } from '../../src/mirror/target.ts';
import { openSqlite, SqliteFile } from '../../src/targets/sql/sqlite/sqlite-database.ts';
import { SqlTarget } from '../../src/targets/sql/sql-target.ts';
import { AT_ONCE, FORM, NAME, row } from '../contract/target-harness.ts';

describe('a SQLite file alone', () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'forms-mirror-one-file-'));
    path = join(folder, 'mirror.sqlite');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const store = async (target: Target, ...ids: string[]): Promise<void> => {
    await using writer = await target.openWriter(FORM, AT_ONCE);
    await writer.prepare([NAME]);
    const rows = ids.map((id) => row(id));
    await writer.apply(rows, []);
  };
  /** The rows of a copy of the file, without what stands beside it. */
  const copied = (): unknown[] => {
    const copy = join(folder, 'mailed.sqlite');
    copyFileSync(path, copy);
    using database = new DatabaseSync(copy, { readOnly: true });
    const rows = database.prepare('SELECT id FROM contact_form ORDER BY id').all();
    for (const end of ['', '-wal', '-shm']) rmSync(`${copy}${end}`, { force: true });
    return rows.map(({ id }) => id);
  };
  const beside = (): string[] => readdirSync(folder).filter((name) => /-(wal|shm)$/.test(name));

  it('holds everything once a writer has ended, while the target stays open', async () => {
    await using target = openSqlite('default', path);
    await store(target, 'a');
    expect(await target.overview()).toMatchObject([{ rows: 1 }]);
    expect(copied()).toEqual(['a']);
    await store(target, 'b');
    expect(copied()).toEqual(['a', 'b']);
  });

  it('holds everything that a thread of its own has stored', async () => {
    const file = new SqliteFile(path, systemClock, 1);
    await using target = new SqlTarget('default', file, systemClock);
    {
      await using writer = await target.openWriter(FORM, AT_ONCE);
      await writer.prepare([NAME]);
      await writer.apply([row('a')], []);
      await writer.apply([row('b')], []);
      expect(await target.overview()).toMatchObject([{ rows: 2 }]);
    }
    expect(copied()).toEqual(['a', 'b']);
  });

  it('has nothing beside it once the last connection is closed, whichever read or wrote last', async () => {
    const target = openSqlite('default', path);
    await store(target, 'a');
    expect(await target.overview()).toHaveLength(1);
    await target[Symbol.asyncDispose]();
    expect(beside()).toEqual([]);
    const reader = openSqlite('default', path);
    expect(await reader.overview()).toHaveLength(1);
    expect(existsSync(`${path}-wal`)).toBe(true);
    await reader[Symbol.asyncDispose]();
    expect(beside()).toEqual([]);
  });

  it('takes up what the WAL of a killed process holds, when the next one closes it', async () => {
    {
      await using target = openSqlite('default', path);
      await store(target, 'a');
    }
    using dead = new DatabaseSync(path);
    dead.exec("UPDATE contact_form SET id = 'killed'");
    const away = join(folder, 'away');
    for (const end of ['', '-wal']) copyFileSync(`${path}${end}`, `${away}${end}`);
    path = away;
    const target = openSqlite('default', path);
    expect(await target.overview()).toHaveLength(1);
    await target[Symbol.asyncDispose]();
    expect(copied()).toEqual(['killed']);
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  it('waits for nobody who still reads what stood there before, and is whole after the next writer', async () => {
    await using target = openSqlite('default', path);
    await store(target, 'a');
    using reader = new DatabaseSync(path, { readOnly: true });
    reader.exec('BEGIN');
    const read = reader.prepare('SELECT id FROM contact_form');
    expect(read.all()).toHaveLength(1);
    await store(target, 'b');
    await store(target, 'c');
    expect(read.all()).toHaveLength(1);
    reader.exec('COMMIT');
    expect(read.all()).toHaveLength(3);
    await store(target, 'd');
    expect(copied()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('stays in use while another process has it open', async () => {
    {
      await using target = openSqlite('default', path);
      await store(target, 'a');
    }
    using other = new DatabaseSync(path);
    other.exec('PRAGMA schema_version');
    {
      await using target = openSqlite('default', path);
      await target.overview();
    }
    expect(other.prepare('SELECT id FROM contact_form').all()).toHaveLength(1);
    other.exec("UPDATE contact_form SET id = 'b'");
    expect(existsSync(`${path}-wal`)).toBe(true);
  });
});
