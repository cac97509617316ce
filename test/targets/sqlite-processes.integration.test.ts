import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqlite } from '../../src/targets/sql/sqlite/open-sqlite.ts';
import { AT_ONCE, FORM, sorted } from '../contract/target-harness.ts';
import { startChild } from '../support/child.ts';

const CHILD = join(import.meta.dirname, '../support/target-child.ts');

describe('processes on one SQLite file', () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'forms-mirror-file-'));
    path = join(folder, 'mirror.sqlite');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('L5, L13: a killed writer leaves whole batches and no lock', async () => {
    const child = startChild(CHILD, [`sqlite:${path}`, FORM.id, '1000000', '50']);
    await child.said('stored 3');
    await using target = openSqlite('default', `sqlite:${path}`);
    await expect(target.openWriter(FORM, AT_ONCE)).rejects.toMatchObject({
      code: 'TARGET_BUSY',
      message: expect.stringContaining(`process ${child.process.pid}`),
    });
    child.process.kill('SIGKILL');
    expect(await child.ended).toBe('SIGKILL');
    await using writer = await target.openWriter(FORM, AT_ONCE);
    const ids = await sorted(writer.liveIds());
    expect(ids.length % 50).toBe(0);
    const told = child.lines.filter((line) => line.startsWith('stored')).length;
    expect(ids.length / 50).toBeGreaterThanOrEqual(told);
    using database = new DatabaseSync(path);
    expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  });

  it('L12: takes several processes that write different forms at once', async () => {
    const children = ['one', 'two', 'three'].map((form) =>
      startChild(CHILD, [`sqlite:${path}`, form, '40', '25']),
    );
    expect(await Promise.all(children.map((child) => child.ended))).toEqual([0, 0, 0]);
    await using target = openSqlite('default', `sqlite:${path}`);
    const overview = await target.overview();
    expect(overview.map((form) => [form.name, form.rows])).toEqual([
      ['one', 1_000],
      ['three', 1_000],
      ['two', 1_000],
    ]);
  });

  it('L13: lets processes that want one form take turns', async () => {
    const children = [1, 2, 3].map(() => startChild(CHILD, [`sqlite:${path}`, FORM.id, '5', '10']));
    expect(await Promise.all(children.map((child) => child.ended))).toEqual([0, 0, 0]);
    await using target = openSqlite('default', `sqlite:${path}`);
    expect(await target.overview()).toMatchObject([{ rows: 50 }]);
  });
});
