import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, afterAll, describe, expect, it, vi } from 'vitest';
import { createSampleWorkspace } from '../../src/sandbox/sample-workspace.ts';
import { ChildPlace } from '../support/child-place.ts';
import { loosePaths, pathsBelow, reachedByOthers } from '../support/other-user.ts';

const SOON = { timeout: 120_000, interval: 200 };

/** A place whose folder others may enter, with a DATA_DIR below it that does not exist yet, and the default target. */
async function openPlace() {
  const store = createSampleWorkspace({ submissions: 60 });
  const place = await ChildPlace.open({ store });
  chmodSync(place.folder, 0o755);
  const dataDir = join(place.folder, 'data');
  place.env = { ...place.env, DATA_DIR: dataDir, TARGET_URL: undefined };
  const control = join(place.folder, 'open.txt');
  writeFileSync(control, 'x');
  chmodSync(control, 0o644);
  return { place, dataDir, control };
}

/** Only the owner may read below a folder. Otherwise open files would be found. */
function expectPrivate(folder: string, control: string): void {
  const paths = pathsBelow(folder);
  // PGlite lets everyone read its files, in a folder that nobody else can enter.
  expect(loosePaths(paths.filter((path) => !path.includes('/queue/')))).toEqual([]);
  const reached = reachedByOthers([control, ...paths]);
  expect(reached ?? [control]).toEqual([control]);
}

describe.skipIf(process.platform === 'win32')('files', { timeout: 240_000 }, () => {
  let umask = 0;
  // The most permissive umask, which child processes inherit.
  beforeAll(() => void (umask = process.umask(0)));
  afterAll(() => void process.umask(umask));

  it('can be read only by their owner: those of start, with the embedded queue and the default target, and those of a target elsewhere', async () => {
    const { place, dataDir, control } = await openPlace();
    const start = place.start(['start'], { SYNC_EVERY: '1s', RECONCILE_EVERY: '2s' });
    const file = join(dataDir, 'mirror.sqlite');
    await vi.waitFor(() => {
      using database = new DatabaseSync(file, { readOnly: true });
      const row = database.prepare('SELECT count(*) AS n FROM mirror_runs WHERE is_whole = 1');
      expect(row.get()?.['n']).toBeGreaterThan(0);
    }, SOON);
    expect(existsSync(`${file}-wal`)).toBe(true);
    expect(pathsBelow(dataDir).length).toBeGreaterThan(900);
    expectPrivate(dataDir, control);
    expect(await start.end('SIGTERM')).toEqual({ code: 0, signal: null });
    expectPrivate(dataDir, control);
    const elsewhere = join(place.folder, 'elsewhere');
    const env = { TARGET_URL: `sqlite:${join(elsewhere, 'copy.sqlite')}` };
    // In its own process, because it narrows the umask when it starts.
    expect(await place.start(['sync'], env).ended).toMatchObject({ code: 0 });
    expectPrivate(elsewhere, control);
  });
});
