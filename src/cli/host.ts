import type { Clock } from '../base/clock.ts';
import { isAbort, toMirrorError } from '../base/errors.ts';
import type { Config, ConfigNeeds } from '../config.ts';
import type { Terminal } from './terminal.ts';

/** The process that a command runs in; tests pass in their own. */
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

/** Where {@link listenForStop} gets its signals from: `process`, or a stand-in in tests. */
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
  source.on('SIGINT', () => receive(EXIT_CODES.INTERRUPTED.code));
  source.on('SIGTERM', () => receive(EXIT_CODES.TERMINATED.code));
  return { signal: controller.signal, exitCode: () => code };
}

/** Every exit code of the program, for docs/reference/commands.md as well. */
export const EXIT_CODES = {
  DONE: { code: 0, meaning: 'Done.' },
  FAILED: {
    code: 1,
    meaning:
      'A run, a check or the command itself failed, `verify` found a difference, or `status` does not know that every form is current.',
  },
  USAGE: { code: 2, meaning: 'Wrong settings or usage.' },
  INTERRUPTED: { code: 130, meaning: 'Stopped by SIGINT (Ctrl-C).' },
  TERMINATED: { code: 143, meaning: 'Stopped by SIGTERM.' },
} as const satisfies Record<string, { code: number; meaning: string }>;

/** One of the codes of {@link EXIT_CODES}. */
export type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES]['code'];

/** The exit code that an error ends a command with. */
export function exitCodeOf(error: unknown): ExitCode {
  const { code } = toMirrorError(error);
  if (code === 'SETTINGS' || code === 'USAGE') return EXIT_CODES.USAGE.code;
  return isAbort(error) ? EXIT_CODES.INTERRUPTED.code : EXIT_CODES.FAILED.code;
}
