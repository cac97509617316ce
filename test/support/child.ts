import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** A Node process of a test, told by its lines. */
export interface Child {
  readonly process: ChildProcess;
  readonly lines: readonly string[];
  /** Resolves when it has said a line that begins so; rejects when it ends without. */
  said(beginning: string): Promise<void>;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

/** Starts a TypeScript file of the tests. */
export function startChild(script: string, args: readonly string[]): Child {
  const child = spawn(process.execPath, [script, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  const wake = (): void => waiting.forEach((check) => check());
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    wake();
  });
  let isOver = false;
  const ended = new Promise<number | NodeJS.Signals | null>((done) => {
    child.on('close', (code, signal) => {
      isOver = true;
      wake();
      done(signal ?? code);
    });
  });
  return {
    process: child,
    lines,
    ended,
    said: (beginning) =>
      new Promise((done, fail) => {
        const check = (): void => {
          if (lines.some((line) => line.startsWith(beginning))) done();
          else if (isOver) fail(new Error(`ended without saying ${beginning}`));
          else return;
          waiting.delete(check);
        };
        waiting.add(check);
        check();
      }),
  };
}
