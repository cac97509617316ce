import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Environment } from '../../src/settings/variables.ts';

const LAUNCHER = resolve(import.meta.dirname, '../../bin/forms-mirror.js');

/** The program as a process of its own, with these variables for its whole environment. */
export interface CliProcess {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Resolves once stdout or stderr holds what matches; rejects when the process ends before. */
  until(pattern: RegExp): Promise<void>;
  /** The exit code, or the signal it died of. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

/** Starts it; killed when the test has finished. `cwd` keeps a .env of this checkout out. */
export function spawnCli(args: readonly string[], env: Environment, cwd: string): CliProcess {
  const child = spawn(process.execPath, [LAUNCHER, ...args], {
    env: { PATH: process.env['PATH'], ...env },
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const text = { stdout: '', stderr: '' };
  const pulse = new EventEmitter();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      text[name] += chunk;
      pulse.emit('text');
    });
  }
  let closed = false;
  child.once('close', () => {
    closed = true;
    pulse.emit('text');
  });
  const ended = once(child, 'close').then(
    ([code, signal]) => (code ?? signal) as number | NodeJS.Signals | null,
  );
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await ended;
  });
  const matches = (pattern: RegExp): boolean =>
    pattern.test(text.stdout) || pattern.test(text.stderr);
  return {
    child,
    stdout: () => text.stdout,
    stderr: () => text.stderr,
    async until(pattern) {
      while (!matches(pattern)) {
        if (closed)
          throw new Error(`ended before ${pattern}: ${text.stdout}
${text.stderr}`);
        await once(pulse, 'text');
      }
    },
    ended,
  };
}
