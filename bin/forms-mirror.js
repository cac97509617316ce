#!/usr/bin/env node
// Plain JavaScript that any Node can parse: an old Node gets one clear line instead of a syntax error.
import { existsSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';
import { boundHeapGrowth } from './heap-growth.js';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 12)) {
  process.stderr.write(
    `forms-mirror needs Node 24.12 or newer; this is ${process.versions.node} (${process.execPath}). ` +
      'In a checkout, run ./forms-mirror instead: it brings its own Node.\n',
  );
  process.exit(2);
}
boundHeapGrowth();
// Code that was compiled once starts in half the time. The cache is kept beside the code, where only the owner of the code
// may write. If another user runs the program, each start compiles again, as without a cache.
module.enableCompileCache?.(
  fileURLToPath(new URL('../node_modules/.cache/compile', import.meta.url)),
);
// A checkout runs its TypeScript directly; the published package has only dist/.
const source = new URL('../src/cli.ts', import.meta.url);
await import(existsSync(source) ? source.href : new URL('../dist/cli.js', import.meta.url).href);
