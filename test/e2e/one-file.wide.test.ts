import { copyFileSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, vi } from 'vitest';
import { createSampleWorkspace } from '../../src/sandbox/sample-workspace.ts';
import { ChildPlace } from '../support/child-place.ts';
import type { Finally } from '../support/child.ts';

const SOON = { timeout: 120_000, interval: 200 };
const SUBMISSIONS = 300;

async function openPlace(onFinished: Finally) {
  const store = createSampleWorkspace({ submissions: SUBMISSIONS });
  const place = await ChildPlace.open(onFinished, { store });
  const file = join(place.folder, 'copy.sqlite');
  return { place, store, file };
}

/** How many rows a copy of only the file has, in all form tables. */
function countCopied(file: string, folder: string): number {
  const copy = join(folder, `mailed-${readdirSync(folder).length}.sqlite`);
  copyFileSync(file, copy);
  using database = new DatabaseSync(copy, { readOnly: true });
  const tables = database.prepare('SELECT table_name AS name FROM mirror_forms').all();
  const counts = tables.map(({ name }) =>
    database.prepare(`SELECT count(*) AS n FROM "${String(name)}"`).get(),
  );
  return counts.reduce((sum, row) => sum + Number(row?.['n']), 0);
}

describe('a copy of only the SQLite file', { timeout: 240_000 }, () => {
  it('has every row right after sync, without any file beside it', async ({ onTestFinished }) => {
    const { place, file } = await openPlace(onTestFinished);
    expect(await place.run(['sync'])).toMatchObject({ code: 0 });
    const beside = (): string[] =>
      readdirSync(place.folder).filter((name) => /^copy\.sqlite-(wal|shm)$/.test(name));
    expect(beside()).toEqual([]);
    expect(countCopied(file, place.folder)).toBe(SUBMISSIONS);
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
      expect(countCopied(file, place.folder)).toBe(SUBMISSIONS);
    }, SOON);
    expect(await first.end('SIGKILL')).toMatchObject({ signal: 'SIGKILL' });
    const [form] = store.forms();
    for (let n = 0; n < 5; n++) store.insert({ formId: form!.id, data: {} });
    const second = place.start(['start'], env);
    await vi.waitFor(() => {
      expect(countCopied(file, place.folder)).toBe(SUBMISSIONS + 5);
    }, SOON);
    expect(await second.end('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(existsSync(`${file}-wal`)).toBe(false);
    expect(countCopied(file, place.folder)).toBe(SUBMISSIONS + 5);
  });
});
