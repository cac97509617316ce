import { chmodSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createPrivate } from '../../src/base/private-files.ts';
import { scratchFolder } from '../support/scratch.ts';

it('a file is made private under any umask, and an existing one is not changed', ({ skip }) => {
  skip(process.platform === 'win32', 'Windows has no such rights');
  const root = scratchFolder('private');
  mkdirSync(root, { recursive: true });
  const [made, old] = [join(root, 'new'), join(root, 'old')];
  writeFileSync(old, 'x');
  chmodSync(old, 0o644);
  const before = process.umask(0);
  createPrivate(made);
  process.umask(before);
  createPrivate(old);
  createPrivate(join(root, 'no', 'folder'));
  const modes = [made, old].map((path) => (statSync(path).mode & 0o777).toString(8));
  expect(modes).toEqual(['600', '644']);
  rmSync(root, { recursive: true, force: true });
});
