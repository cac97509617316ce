import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The program's own script. */
export const PROGRAM = join(import.meta.dirname, '../../bin/forms-mirror.js');

/** How a process ended. */
export interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Variables of a process. */
export type ChildEnv = Readonly<Record<string, string | undefined>>;

/** Runs an action after the test. A test's own context provides it, also for concurrent tests. */
export type Finally = (work: () => Promise<void> | void) => void;

/**
 * Only these variables of our own environment are passed on; the compile cache halves the time that a process takes to
 * start.
 */
const HANDED_ON = ['PATH', 'HOME', 'NODE_COMPILE_CACHE'] as const;

/** A separate Node process: a command of the program, or a script of the tests. */
export class Child {
  readonly process: ChildProcess;
  readonly ended: Promise<ChildEnd>;
  stdout = '';
  stderr = '';
  #isClosed = false;
  #onOutput = new Set<() => void>();

  /** Starts it. The default `cwd` excludes a .env of this checkout. */
  constructor(script: string, args: readonly string[], env: ChildEnv = {}, cwd = tmpdir()) {
    const own = Object.fromEntries(HANDED_ON.map((name) => [name, process.env[name]]));
    this.process = spawn(process.execPath, [script, ...args], {
      cwd,
      env: { ...own, NO_COLOR: '1', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const name of ['stdout', 'stderr'] as const) {
      this.process[name]?.setEncoding('utf8').on('data', (chunk: string) => {
        this[name] += chunk;
        for (const look of this.#onOutput) look();
      });
    }
    // `close`, not `exit`: by then all output has arrived.
    this.ended = once(this.process, 'close').then(([code, signal]) => {
      this.#isClosed = true;
      for (const look of this.#onOutput) look();
      return { code, signal };
    });
  }

  /** A command of the program. */
  static cli(args: readonly string[], env?: ChildEnv): Child {
    return new Child(PROGRAM, args, env);
  }

  get pid(): number {
    return this.process.pid ?? -1;
  }

  get isRunning(): boolean {
    return this.process.exitCode === null && this.process.signalCode === null;
  }

  /** The whole lines that it wrote to stdout. */
  get lines(): string[] {
    return this.stdout.split('\n').slice(0, -1);
  }

  /** Kills it after the test if it still runs. */
  killedAfter(onFinished: Finally): this {
    onFinished(async () => void (await this.end('SIGKILL')));
    return this;
  }

  /** The first match in its output; if the process ends without one, rejects with its stderr. */
  async shows(pattern: RegExp, stream: 'stdout' | 'stderr' = 'stdout'): Promise<RegExpExecArray> {
    const found = Promise.withResolvers<RegExpExecArray>();
    const look = (): void => {
      const match = pattern.exec(this[stream]);
      if (match !== null) found.resolve(match);
      else if (this.#isClosed) {
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
}
