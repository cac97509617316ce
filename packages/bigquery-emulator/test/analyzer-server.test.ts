import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

const SERVER = resolve(import.meta.dirname, '../src/analyzer-server.ts');

it('ends the analyzer with the process that started it, even by kill -9', async () => {
  const script = `const { port } = await (await import(${JSON.stringify(SERVER)})).analyzerServer(); console.log(port); setInterval(() => {}, 1e6);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line]: unknown[] = await once(child.stdout, 'data');
  const port = Number(String(line));
  expect(await listens(port)).toBe(true);
  child.kill('SIGKILL');
  await expect.poll(() => listens(port), { timeout: 30_000 }).toBe(false);
});

function listens(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, 'localhost');
    socket.once('connect', () => {
      socket.destroy();
      done(true);
    });
    socket.once('error', () => done(false));
  });
}
