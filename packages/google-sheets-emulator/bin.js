#!/usr/bin/env node
import { existsSync } from 'node:fs';

// A checkout runs its TypeScript as it is; the published package has only dist/.
const source = new URL('./src/command.ts', import.meta.url);
const built = new URL('./dist/command.js', import.meta.url);
const { runCommand } = await import(existsSync(source) ? source.href : built.href);

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort());
process.exitCode = await runCommand(
  process.argv.slice(2),
  (text) => process.stdout.write(text),
  (text) => process.stderr.write(text),
  stop.signal,
);
