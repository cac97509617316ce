import { rmSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import type { FormsStore } from '../../src/sandbox/store.ts';
import { accountOn, type SandboxOptions, startSandbox, type TestSandbox } from './sandbox.ts';
import { Child, type ChildEnv, type Finally, PROGRAM } from './child.ts';
import { type CliResult, runCli } from './cli-host.ts';
import { scratchFolder } from './scratch.ts';

/** A queue of `start`, with its log, and a SQLite file. */
const NEEDS_MB = 128;

/** A sandbox of the Forms API in this process, and processes and commands of the program that use it. */
export class ChildPlace {
  readonly sandbox: TestSandbox;
  readonly folder: string;
  /** The settings of every process; SQLite by default. */
  env: ChildEnv;
  /** Every process that was started, running or not. */
  readonly #children: Child[] = [];
  readonly #printed: string[] = [];

  private constructor(sandbox: TestSandbox) {
    this.sandbox = sandbox;
    this.folder = scratchFolder('child', NEEDS_MB);
    this.env = accountOn(sandbox, this.folder);
  }

  /** Opens one; `onFinished`: from the context of a concurrent test. After the test, its processes are killed, each by its own ID, and everything is removed. */
  static async open(
    options: SandboxOptions = {},
    onFinished: Finally = onTestFinished,
  ): Promise<ChildPlace> {
    const sandbox = await startSandbox(options);
    const place = new ChildPlace(sandbox);
    onFinished(async () => {
      await Promise.all(place.#children.map((child) => child.end('SIGKILL')));
      await sandbox.stop();
      rmSync(place.folder, { recursive: true, force: true });
    });
    return place;
  }

  get store(): FormsStore {
    return this.sandbox.store;
  }

  get targetUrl(): string {
    return this.env['TARGET_URL'] ?? '';
  }

  /** Starts a command. */
  start(args: readonly string[], env: ChildEnv = {}): Child {
    return this.startScript(PROGRAM, args, env);
  }

  /** Starts a script of the tests with the same settings. */
  startScript(script: string, args: readonly string[], env: ChildEnv = {}): Child {
    const child = new Child(script, args, { ...this.env, ...env }, this.folder);
    this.#children.push(child);
    return child;
  }

  /** Runs a command to its end. In this process, because most commands take less time than starting a process. */
  async run(args: readonly string[], env: ChildEnv = {}): Promise<CliResult> {
    const result = await runCli(args, { ...this.env, ...env });
    this.#printed.push(result.stdout + result.stderr);
    return result;
  }

  /** The output of each process and command so far. */
  get printed(): readonly string[] {
    return [...this.#children.map(({ stdout, stderr }) => stdout + stderr), ...this.#printed];
  }
}
