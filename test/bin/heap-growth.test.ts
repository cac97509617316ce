import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';

const BIN = join(import.meta.dirname, '../../bin');

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
