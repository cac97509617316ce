import { Writable } from 'node:stream';
import { WriteStream } from 'node:tty';
import { expect } from 'vitest';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import type { ExitCode } from '../../src/cli/host.ts';
import { runProgram } from '../../src/cli/program.ts';
import { listenForStop } from '../../src/cli/host.ts';
import { Terminal, type OutputStream } from '../../src/cli/terminal.ts';
import { loadConfig } from '../../src/settings/config.ts';
import type { Environment } from '../../src/settings/settings-reader.ts';
import { disk } from './settings.ts';

/** A stream that records its text. */
export class RecordedStream extends Writable implements OutputStream {
  readonly isTTY: boolean;
  readonly columns = 100;
  text = '';

  constructor(isTTY = false) {
    super({ decodeStrings: false });
    this.isTTY = isTTY;
  }

  override _write(chunk: string | Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }

  /** As the stream of a terminal with colors, also in CI; it reads NO_COLOR. */
  getColorDepth(): number {
    const { CI: _, ...env } = process.env;
    return WriteStream.prototype.getColorDepth.call(this, { ...env, TERM: 'xterm-256color' });
  }
}

/** The output of a command and its exit code. */
export interface CliResult {
  readonly code: ExitCode;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that runs in this process, with these variables as its whole environment and without a .env file. */
export interface RunningCli {
  readonly stdout: RecordedStream;
  readonly stderr: RecordedStream;
  /** Sends a signal, as a person or a supervisor would. */
  send(signal: 'SIGINT' | 'SIGTERM'): void;
  readonly done: Promise<CliResult>;
}

/**
 * Starts a command. `exit` of the process is never called; the second signal rejects `done`. `isTTY`: its streams are
 * terminals; `ask`: the answers of the person; `clock`: its clock.
 */
export function startCli(
  args: readonly string[],
  env: Environment = {},
  isTTY = false,
  ask?: (question: string) => Promise<string>,
  clock: Clock = systemClock,
): RunningCli {
  const [stdout, stderr] = [new RecordedStream(isTTY), new RecordedStream(isTTY)];
  const listeners = new Map<string, () => void>();
  const killed = Promise.withResolvers<never>();
  const source = {
    on: (signal: string, listener: () => void) => listeners.set(signal, listener),
    exit: (code: number) => killed.reject(new Error(`exit ${code}`)),
  };
  const terminal = new Terminal(stdout, stderr);
  const host = {
    terminal,
    ask,
    version: '0.0.0-test',
    clock,
    stop: listenForStop(source, () => {}),
    loadConfig: async (needs = {}) => loadConfig(env, disk({}), needs),
  };
  const run = runProgram(COMMANDS, host, args);
  const done = Promise.race([run, killed.promise]).then((code) => ({
    code,
    stdout: stdout.text,
    stderr: stderr.text,
  }));
  return { stdout, stderr, send: (signal) => listeners.get(signal)?.(), done };
}

/** Runs a command to its end. */
export const runCli = (
  args: readonly string[],
  env: Environment = {},
  isTTY = false,
  clock: Clock = systemClock,
): Promise<CliResult> => startCli(args, env, isTTY, undefined, clock).done;

/** Runs commands with some settings. */
export type Run = (
  /** Its words, separated by blanks, or one by one. */
  command: string | readonly string[],
  /** Other settings, only for this command. */
  changes?: Environment,
) => Promise<CliResult>;

export const runIn =
  (env: Environment): Run =>
  (command, changes) =>
    runCli(typeof command === 'string' ? command.split(' ') : command, { ...env, ...changes });

/** Expects that a command ends with this code, and prints each of these on stdout. */
export async function expectEnd(
  command: Promise<CliResult>,
  code: ExitCode,
  ...said: (string | RegExp)[]
): Promise<CliResult> {
  const result = await command;
  expect(result).toMatchObject({ code });
  for (const text of said) expect(result.stdout).toMatch(text);
  return result;
}

/** Expects that a command does nothing: its words or the settings are a mistake, and it prints each of these on stderr. */
export async function expectMistake(
  command: Promise<CliResult>,
  ...said: (string | RegExp)[]
): Promise<void> {
  const result = await command;
  expect(result).toMatchObject({ code: 2, stdout: '' });
  for (const text of said) expect(result.stderr).toMatch(text);
}

/** What `sync --json` prints, as far as tests read it. */
interface SyncDocument {
  readonly runs: readonly {
    readonly form: string;
    readonly target: string;
    readonly outcome: string;
    readonly code: string | null;
    readonly inserted: number;
    readonly error: string | null;
  }[];
  readonly writeBacks: readonly {
    readonly outcome: string;
    readonly written: number;
    readonly error: string | null;
  }[];
  readonly changes?: readonly {
    readonly kind: string;
    readonly id: string;
    readonly columns: readonly string[];
  }[];
}

/** The document of a `sync --json`. Throws if nothing was printed. */
export function syncDocument({ stdout, stderr }: CliResult): SyncDocument {
  if (stdout === '') throw new Error(`nothing on stdout; stderr: ${stderr}`);
  return JSON.parse(stdout) as SyncDocument;
}
