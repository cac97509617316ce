import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PROGRAM = join(import.meta.dirname, '../../bin/forms-mirror.js');

/** Halves the time that a process takes to start. */
const NODE_COMPILE_CACHE = join(tmpdir(), `forms-mirror-compile-cache-${process.getuid?.() ?? 0}`);

/** How a process ended. */
export interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Variables of a process; nothing of our own environment but PATH and HOME goes along. */
export type ChildEnv = Readonly<Record<string, string>>;

/** A process of its own: a command of the program, or a script of the tests. */
export class Child {
  readonly process: ChildProcess;
  readonly ended: Promise<ChildEnd>;
  stdout = '';
  stderr = '';
  #onOutput = new Set<() => void>();

  constructor(script: string, args: readonly string[], env: ChildEnv, cwd: string) {
    const { PATH = '', HOME = '' } = process.env;
    this.process = spawn(process.execPath, [script, ...args], {
      cwd,
      env: { PATH, HOME, NO_COLOR: '1', NODE_COMPILE_CACHE, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.process.stdout?.on('data', (chunk: Buffer) => this.#take('stdout', chunk));
    this.process.stderr?.on('data', (chunk: Buffer) => this.#take('stderr', chunk));
    // `close`, not `exit`: by then all output has come.
    this.ended = once(this.process, 'close').then(([code, signal]) => {
      for (const look of this.#onOutput) look();
      return { code, signal };
    });
  }

  /** A command of the program. */
  static cli(args: readonly string[], env: ChildEnv, cwd: string): Child {
    return new Child(PROGRAM, args, env, cwd);
  }

  get pid(): number {
    return this.process.pid ?? -1;
  }

  get isRunning(): boolean {
    return this.process.exitCode === null && this.process.signalCode === null;
  }

  /** The first match in what it writes; rejects when it ends without, with its stderr. */
  async shows(pattern: RegExp, stream: 'stdout' | 'stderr' = 'stdout'): Promise<RegExpExecArray> {
    const found = Promise.withResolvers<RegExpExecArray>();
    const look = (): void => {
      const match = pattern.exec(this[stream]);
      if (match !== null) found.resolve(match);
      else if (!this.isRunning) {
        found.reject(
          new Error(`it ended without ${String(pattern)}:\n${this.stderr.slice(-2_000)}`),
        );
      }
    };
    this.#onOutput.add(look);
    look();
    return found.promise.finally(() => this.#onOutput.delete(look));
  }

  /** Sends it a signal, unless it has ended, and waits for its end. */
  async end(signal: NodeJS.Signals): Promise<ChildEnd> {
    if (this.isRunning) this.process.kill(signal);
    return this.ended;
  }

  #take(stream: 'stdout' | 'stderr', chunk: Buffer): void {
    this[stream] += chunk.toString();
    for (const look of this.#onOutput) look();
  }
}
