import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

const MODULE = new URL('../../src/base/heap-growth.ts', import.meta.url).href;

it('L14: bounds the growth of the heap by a flag that this V8 knows', () => {
  const script = `import { boundHeapGrowth } from '${MODULE}'; boundHeapGrowth(); console.log('bounded')`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
  });
  // V8 says of a flag that it does not know that it is none, and goes on.
  expect([stdout, stderr]).toEqual(['bounded\n', '']);
});
