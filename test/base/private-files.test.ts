import { chmodSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPrivate, keepPrivate } from '../../src/base/private-files.ts';
import { scratchFolder } from '../support/scratch.ts';

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

  it('is closed, once', () => {
    make('/', 0o755);
    make('queue/', 0o755);
    make('mirror.sqlite-wal', 0o644);
    make('own.db-shm', 0o644);
    const files = [join(dataDir, 'own.db'), join(root, 'elsewhere.db')];
    expect(keepPrivate(dataDir, files)).toEqual({ isMended: true, loose: null });
    expect(modeOf(dataDir)).toBe('700');
    expect(keepPrivate(dataDir, files)).toEqual({ isMended: false, loose: null });
  });

  it('with foreign files is named, and not changed', () => {
    make('/', 0o755);
    make('letters.txt', 0o644);
    expect(keepPrivate(dataDir, [])).toEqual({
      isMended: false,
      loose: {
        message: expect.stringMatching(/open to other users .*755.*letters\.txt/) as string,
        remedy: expect.stringContaining(`DATA_DIR=${join(dataDir, 'mirror')}`) as string,
      },
    });
    expect(modeOf(dataDir)).toBe('755');
  });

  it('that does not exist is not made', () => {
    expect(keepPrivate(dataDir, [])).toEqual({ isMended: false, loose: null });
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
