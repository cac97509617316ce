import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPrivate, keepPrivate } from '../../src/base/private-files.ts';
import { scratchFolder } from '../support/scratch.ts';

const isRoot = process.getuid?.() === 0;

describe.skipIf(process.platform === 'win32')('DATA_DIR', () => {
  let root: string;
  let dataDir: string;
  beforeEach(() => {
    root = scratchFolder('private');
    dataDir = join(root, 'data');
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  /** Makes a file or, for a path that ends so, a folder, with these rights. */
  const make = (path: string, mode: number): string => {
    const full = join(dataDir, path);
    if (path.endsWith('/')) mkdirSync(full, { recursive: true });
    else writeFileSync(full, 'x');
    chmodSync(full, mode);
    return full;
  };
  const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

  it('and what the program made in it is closed, at any depth; a second look changes nothing', () => {
    make('/', 0o755);
    const paths = [
      make('queue/', 0o755),
      make('queue/base/', 0o777),
      make('queue/base/pg_hba.conf', 0o666),
      make('queue.lock', 0o644),
      make('queue.broken-1/', 0o755),
      make('queue.broken-1/old', 0o664),
      make('failures/', 0o755),
      make('failures/a.json', 0o644),
      make('processes/', 0o755),
      make('notify.json', 0o640),
      make('mirror.sqlite', 0o644),
      make('mirror.sqlite-wal', 0o644),
      make('mirror.sqlite-locks/', 0o755),
      make('own.db', 0o644),
      make('own.db-shm', 0o644),
    ];
    const files = [join(dataDir, 'own.db'), join(root, 'elsewhere.db')];
    expect(keepPrivate(dataDir, files)).toMatchObject({ mended: paths.length, loose: [] });
    const modes = Object.fromEntries([dataDir, ...paths].map((path) => [path, modeOf(path)]));
    expect(Object.values(modes).filter((mode) => mode !== '700' && mode !== '600')).toEqual([]);
    expect(keepPrivate(dataDir, files)).toMatchObject({ mended: 0, loose: [] });
  });

  it('with foreign files is named, and only our files in it are closed', () => {
    make('/', 0o755);
    const theirs = make('letters.txt', 0o644);
    const ours = make('mirror.sqlite', 0o644);
    const { mended, loose } = keepPrivate(dataDir, []);
    expect(mended).toBe(1);
    expect(loose).toEqual([
      {
        message: expect.stringMatching(/open to other users .*0755.*letters\.txt/) as string,
        remedy: expect.stringContaining(`DATA_DIR=${join(dataDir, 'mirror')}`) as string,
      },
    ]);
    expect([dataDir, theirs, ours].map(modeOf)).toEqual(['755', '644', '600']);
    chmodSync(dataDir, 0o700);
    expect(keepPrivate(dataDir, []).loose).toEqual([]);
  });

  it('is not left by a link: the file behind it is not changed', () => {
    make('/', 0o700);
    const outside = join(root, 'outside');
    writeFileSync(outside, 'x');
    chmodSync(outside, 0o644);
    symlinkSync(outside, join(dataDir, 'mirror.sqlite'));
    make('failures/', 0o755);
    symlinkSync(root, join(dataDir, 'failures', 'up'));
    expect(keepPrivate(dataDir, [])).toMatchObject({ mended: 1, loose: [] });
    expect(modeOf(outside)).toBe('644');
  });

  it.runIf(isRoot)('of another user is named, with the user to run it as', () => {
    make('/', 0o755);
    chownSync(dataDir, 65_534, 65_534);
    const { loose } = keepPrivate(dataDir, []);
    expect(loose).toHaveLength(1);
    expect(loose[0]?.message).toContain('belongs to user 65534');
    expect(loose[0]?.remedy).toContain('as user 65534');
    expect(modeOf(dataDir)).toBe('755');
  });

  it('that does not exist is not made', () => {
    expect(keepPrivate(dataDir, [])).toMatchObject({ mended: 0, loose: [] });
    expect(existsSync(dataDir)).toBe(false);
  });

  it('a file is made private under any umask, and an existing one is not changed', () => {
    make('/', 0o700);
    const before = process.umask(0);
    createPrivate(join(dataDir, 'new'));
    process.umask(before);
    const old = make('old', 0o644);
    createPrivate(old);
    createPrivate(join(dataDir, 'no', 'folder'));
    expect([join(dataDir, 'new'), old].map(modeOf)).toEqual(['600', '644']);
  });
});
