import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, vi } from 'vitest';
import { createSampleWorkspace } from '../../src/sandbox/sample-workspace.ts';
import { ChildPlace } from '../support/child-place.ts';
import type { Finally } from '../support/child.ts';

const SOON = { timeout: 120_000, interval: 200 };
const SUBMISSIONS = 300;

/** Readers of SQLite that share no code with ours; those that this machine has. */
const READERS = [
  {
    name: "python's sqlite3",
    command: 'python3',
    args: (file: string, sql: string) => [
      '-c',
      'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchone()[0])',
      file,
      sql,
    ],
  },
  {
    name: 'the sqlite3 shell',
    command: 'sqlite3',
    args: (file: string, sql: string) => [file, sql],
  },
].filter(({ command }) => {
  try {
    execFileSync('sh', ['-c', `command -v ${command}`]);
    return true;
  } catch {
    return false;
  }
});

async function openPlace(onFinished: Finally) {
  const store = createSampleWorkspace({ submissions: SUBMISSIONS });
  const place = await ChildPlace.open(onFinished, { store });
  const file = join(place.folder, 'copy.sqlite');
  return { place, store, file };
}

/** How many rows a copy of only the file has, in all tables of forms, as each reader says. */
function countCopied(file: string, folder: string): Set<number> {
  const copy = join(folder, `mailed-${readdirSync(folder).length}.sqlite`);
  copyFileSync(file, copy);
  using database = new DatabaseSync(copy, { readOnly: true });
  const tables = database.prepare('SELECT table_name AS name FROM mirror_forms').all();
  // A run has not come so far yet.
  if (tables.length === 0) return new Set([0]);
  const counts = tables.map(({ name }) => `(SELECT count(*) FROM "${String(name)}")`);
  const sql = `SELECT ${counts.join(' + ')} AS n`;
  const said = READERS.map(({ command, args }) =>
    Number(execFileSync(command, args(copy, sql), { encoding: 'utf8' })),
  );
  return new Set([Number(database.prepare(sql).get()?.['n']), ...said]);
}

describe('a copy of only the SQLite file', { timeout: 240_000 }, () => {
  it('has every row right after sync, and no file is beside it', async ({ onTestFinished }) => {
    const { place, file } = await openPlace(onTestFinished);
    expect(await place.run(['sync'])).toMatchObject({ code: 0 });
    const beside = (): string[] =>
      readdirSync(place.folder).filter((name) => /^copy\.sqlite-(wal|shm)$/.test(name));
    expect(beside()).toEqual([]);
    expect(countCopied(file, place.folder)).toEqual(new Set([SUBMISSIONS]));
    for (const command of ['status', 'verify', 'check']) {
      expect(await place.run([command])).toMatchObject({ code: 0 });
      expect([command, beside()]).toEqual([command, []]);
    }
  });

  it('has every row while start runs, and after it was killed and started again', async ({
    onTestFinished,
  }) => {
    const { place, store, file } = await openPlace(onTestFinished);
    const env = { SYNC_EVERY: '10s' };
    const first = place.start(['start'], env);
    await vi.waitFor(() => {
      expect(existsSync(file)).toBe(true);
      expect(countCopied(file, place.folder)).toEqual(new Set([SUBMISSIONS]));
    }, SOON);
    expect(await first.end('SIGKILL')).toMatchObject({ signal: 'SIGKILL' });
    const [form] = store.forms();
    for (let n = 0; n < 5; n++) store.insert({ formId: form!.id, data: {} });
    const second = place.start(['start'], env);
    await vi.waitFor(() => {
      expect(countCopied(file, place.folder)).toEqual(new Set([SUBMISSIONS + 5]));
    }, SOON);
    expect(await second.end('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(existsSync(`${file}-wal`)).toBe(false);
    expect(countCopied(file, place.folder)).toEqual(new Set([SUBMISSIONS + 5]));
  });
});
