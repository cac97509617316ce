import type { Clock } from '../base/clock.ts';
import type { Config, ConfigNeeds } from '../settings/config.ts';
import type { Terminal } from './terminal.ts';

/** The process that a command runs in; tests pass their own. */
export interface Host {
  readonly terminal: Terminal;
  /** Version of the program. */
  readonly version: string;
  readonly clock: Clock;
  readonly stop: StopRequest;
  /** Asks the person at the terminal, and resolves to the line that they type; undefined without a terminal. */
  readonly ask?: ((question: string) => Promise<string>) | undefined;
  /** Rejects with SettingsError, which lists every mistake. */
  loadConfig(needs?: ConfigNeeds): Promise<Config>;
}

/** Whether the process was asked to stop. */
export interface StopRequest {
  /** Aborts at the first SIGINT or SIGTERM: finish the current batch, then end. */
  readonly signal: AbortSignal;
  /** 130 after SIGINT, 143 after SIGTERM; undefined before either. */
  exitCode(): ExitCode | undefined;
}

/** The source of signals for {@link listenForStop}: `process`, or a stand-in in tests. */
export interface SignalSource {
  on(signal: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
  exit(code: number): unknown;
}

/** The first signal asks the command to stop and calls `onFirst`; the second ends the process at once. */
export function listenForStop(source: SignalSource, onFirst: () => void): StopRequest {
  const controller = new AbortController();
  let code: ExitCode | undefined;
  const receive = (exitCode: ExitCode): void => {
    if (code !== undefined) {
      source.exit(exitCode);
      return;
    }
    code = exitCode;
    onFirst();
    controller.abort();
  };
  source.on('SIGINT', () => receive(130));
  source.on('SIGTERM', () => receive(143));
  return { signal: controller.signal, exitCode: () => code };
}

/** The exit codes of the program and their meanings, also for docs/reference/commands.md. */
export const EXIT_CODES = {
  0: 'Done. A command that runs until it is stopped, such as `start` or `worker`, also ends with 0 after SIGINT or SIGTERM.',
  1: 'A run or the command itself failed, `check` found something that does not work, `verify` found a difference, or `status` shows anything but "Up to date".',
  2: 'Wrong settings or usage.',
  130: 'Stopped by SIGINT (Ctrl-C) before it was done.',
  143: 'Stopped by SIGTERM before it was done.',
} as const;

/** One of the codes of {@link EXIT_CODES}. */
export type ExitCode = keyof typeof EXIT_CODES;

/** One call of a command: its arguments and options from commander, and its process. */
export interface CommandCall<Options extends object = object> {
  readonly host: Host;
  readonly args: readonly string[];
  readonly options: Options;
}

/**
 * Runs a command. Resolves to 0 if it did everything that it was asked to. After a request to stop, any other code becomes the
 * signal's. Throws MirrorError with the message for the person.
 */
export type RunCommand = (call: CommandCall<never>) => Promise<ExitCode>;

/** The form and the target that a command is about; absent: all. */
export type PlaceOptions = { readonly form?: string; readonly target?: string };
