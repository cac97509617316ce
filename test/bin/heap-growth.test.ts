import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';

const BIN = join(import.meta.dirname, '../../bin');

/**
 * Acts like a command: a thread that finds the compile cache as SQLite's thread does, and a module that both compile.
 */
const COMMAND = `
  import { getCompileCacheDir } from 'node:module';
  import { dirname } from 'node:path';
  import { Worker } from 'node:worker_threads';
  const env = { NODE_COMPILE_CACHE: dirname(getCompileCacheDir()) };
  new Worker(new URL('thread.js', import.meta.url), { env });
`;

it.each([
  [4_096, true],
  // For example in a container of 1 GB: there V8 lets the heap grow to less than twice, and the flag would raise that.
  [512, false],
])('L14: limits a heap of up to %i MB, with a flag that this V8 knows: %s', (limitMb, isBound) => {
  const module = JSON.stringify(pathToFileURL(join(BIN, 'heap-growth.js')));
  const script = `import v8 from 'node:v8'; import { boundHeapGrowth } from ${module};
    const isBound = boundHeapGrowth();
    const { space_size: bytes } = v8.getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
    console.log(isBound, bytes >= 16 * 1_024 ** 2 && bytes < 32 * 1_024 ** 2);`;
  const args = [`--max-old-space-size=${limitMb}`, '--input-type=module', '-e', script];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  // V8 only warns of an unknown flag, and continues.
  expect([stdout, stderr]).toEqual([`${isBound} ${isBound}\n`, '']);
});

it('gives the program and the threads that it starts one compile cache', () => {
  const folder = mkdtempSync(join(tmpdir(), 'compile-cache-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(BIN, join(folder, 'bin'), { recursive: true });
  mkdirSync(join(folder, 'dist'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'dist/cli.js'), COMMAND);
  writeFileSync(join(folder, 'dist/thread.js'), `import './compiled.js';`);
  writeFileSync(join(folder, 'dist/compiled.js'), 'export const compiled = true;');
  const args = ['--max-old-space-size=4096', join(folder, 'bin/forms-mirror.js')];
  const env = { PATH: process.env['PATH'] };
  const { stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
  expect(stderr).toBe('');
  // One folder for each version of Node with its flags.
  expect(readdirSync(join(folder, 'node_modules/.cache/compile'))).toHaveLength(1);
});
