import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, afterAll, describe, expect, it, vi } from 'vitest';
import { createSampleWorkspace } from '../../src/sandbox/sample-workspace.ts';
import { ChildPlace } from '../support/child-place.ts';
import { loosePaths, pathsBelow } from '../support/file-modes.ts';

const SOON = { timeout: 120_000, interval: 200 };

/** Only the owner may enter a folder, and read the files in it. */
function expectPrivate(folder: string): void {
  // PGlite lets everyone read its files, in a folder that nobody else can enter.
  const paths = pathsBelow(folder).filter((path) => !path.includes('/queue/'));
  expect(loosePaths(paths)).toEqual([]);
}

describe.skipIf(process.platform === 'win32')('files', { timeout: 240_000 }, () => {
  let umask = 0;
  // The most permissive umask, which child processes inherit.
  beforeAll(() => void (umask = process.umask(0)));
  afterAll(() => void process.umask(umask));

  it('can be read only by their owner: those of start, with the embedded queue and the default target, and those of a target elsewhere', async () => {
    const place = await ChildPlace.open({ store: createSampleWorkspace({ submissions: 60 }) });
    const dataDir = join(place.folder, 'data');
    place.env = { ...place.env, DATA_DIR: dataDir, TARGET_URL: undefined };
    const start = place.start(['start'], { SYNC_EVERY: '1s', RECONCILE_EVERY: '2s' });
    const file = join(dataDir, 'mirror.sqlite');
    await vi.waitFor(() => {
      using database = new DatabaseSync(file, { readOnly: true });
      const row = database.prepare('SELECT count(*) AS n FROM mirror_runs WHERE is_whole = 1');
      expect(row.get()?.['n']).toBeGreaterThan(0);
    }, SOON);
    expect(existsSync(`${file}-wal`)).toBe(true);
    expect(pathsBelow(dataDir).length).toBeGreaterThan(900);
    expectPrivate(dataDir);
    expect(await start.end('SIGTERM')).toEqual({ code: 0, signal: null });
    expectPrivate(dataDir);
    const elsewhere = join(place.folder, 'elsewhere');
    const env = { TARGET_URL: `sqlite:${join(elsewhere, 'copy.sqlite')}` };
    // In its own process, because it narrows the umask when it starts.
    expect(await place.start(['sync'], env).ended).toMatchObject({ code: 0 });
    expectPrivate(elsewhere);
  });
});
