import { existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { makeFolder } from '../../src/base/private-files.ts';
import { scratchFolder } from '../support/scratch.ts';

const root = scratchFolder('folder');
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('making a folder', () => {
  it('makes missing folders, and none twice', () => {
    const path = join(root, 'a', 'b', 'c');
    makeFolder(path);
    makeFolder(path);
    expect(statSync(path).isDirectory()).toBe(true);
  });

  it.runIf(existsSync('/proc/self'))(
    'fails, and does not hang, where no folder can be made',
    () => {
      expect(() => makeFolder('/proc/nowhere/deeper')).toThrow('ENOENT');
    },
  );
});
