import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqlite } from '../../src/targets/sql/sqlite/sqlite-database.ts';
import { AT_ONCE, FORM, sorted } from '../contract/target-harness.ts';
import { Child, type Finally } from '../support/child.ts';

const CHILD = join(import.meta.dirname, '../support/target-child.ts');
const ENDED_WELL = { code: 0, signal: null };

const startChild = (onFinished: Finally, ...args: string[]): Child =>
  new Child(CHILD, args).killedAfter(onFinished);

describe('processes on one SQLite file', () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'forms-mirror-file-'));
    path = join(folder, 'mirror.sqlite');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('L5, L13: a killed writer leaves whole batches and no lock', async ({ onTestFinished }) => {
    const child = startChild(onTestFinished, `sqlite:${path}`, FORM.id, '1000000', '50');
    await child.shows(/^stored 3$/m);
    await using target = openSqlite('default', path);
    await expect(target.openWriter(FORM, AT_ONCE)).rejects.toMatchObject({
      code: 'TARGET_BUSY',
      message: expect.stringContaining(`process ${child.pid}`),
    });
    expect(await child.end('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' });
    await using writer = await target.openWriter(FORM, AT_ONCE);
    const ids = await sorted(writer.liveIds());
    expect(ids.length % 50).toBe(0);
    const reported = child.lines.filter((line) => line.startsWith('stored')).length;
    expect(ids.length / 50).toBeGreaterThanOrEqual(reported);
    using database = new DatabaseSync(path);
    expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  });

  it('L12: takes several processes that write different forms at once', async ({
    onTestFinished,
  }) => {
    const children = ['one', 'two', 'three'].map((form) =>
      startChild(onTestFinished, `sqlite:${path}`, form, '40', '25'),
    );
    expect(await Promise.all(children.map((child) => child.ended))).toEqual(
      children.map(() => ENDED_WELL),
    );
    await using target = openSqlite('default', path);
    const overview = await target.overview();
    expect(overview.map((form) => [form.name, form.rows])).toEqual([
      ['one', 1_000],
      ['three', 1_000],
      ['two', 1_000],
    ]);
  });

  it('L13: lets processes that want one form take turns', async ({ onTestFinished }) => {
    const children = [1, 2, 3].map(() =>
      startChild(onTestFinished, `sqlite:${path}`, FORM.id, '5', '10'),
    );
    expect(await Promise.all(children.map((child) => child.ended))).toEqual(
      children.map(() => ENDED_WELL),
    );
    await using target = openSqlite('default', path);
    expect(await target.overview()).toMatchObject([{ rows: 50 }]);
  });
});
