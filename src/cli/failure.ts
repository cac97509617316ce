import { MirrorError, isAbort, toMirrorError } from '../base/errors.ts';
import { SettingsError } from '../settings/problems.ts';
import type { Terminal } from './terminal.ts';

/** 0: done; 1: some pass failed; 2: wrong settings or usage; 130, 143: stopped by a signal. */
export type ExitCode = 0 | 1 | 2 | 130 | 143;

/** The exit code that an error ends a command with. */
export function exitCodeOf(error: unknown): ExitCode {
  const { code } = toMirrorError(error);
  if (code === 'SETTINGS' || code === 'USAGE') return 2;
  return isAbort(error) ? 130 : 1;
}

/** An error as `--json` tells it. */
export interface FailureDocument {
  readonly code: string;
  readonly message: string;
  /** Each mistake in the settings. */
  readonly problems?: readonly { variable: string; message: string; example: string }[];
}

/** What of an error is told: never a cause, a stack or a foreign message (L11, L15). */
export function failureDocument(error: unknown): FailureDocument {
  const { code, message } = toMirrorError(error);
  if (!(error instanceof SettingsError)) return { code, message };
  return { code, message, problems: error.problems };
}

/** Says what went wrong, on stderr: one line for each mistake. */
export function sayFailure(terminal: Terminal, error: unknown): void {
  const { code, message } = toMirrorError(error);
  const lines = message.split('\n');
  const [first = '', ...rest] = lines;
  if (lines.length === 1) {
    terminal.say(`${terminal.styleAside('red', '✗')} ${first} [${code}]`);
    if (code === 'INTERNAL') for (const frame of framesOf(error)) terminal.say(frame);
    return;
  }
  terminal.say(
    `${terminal.styleAside('red', '✗')} ${lines.length} settings are not right: [${code}]`,
  );
  for (const line of [first, ...rest]) terminal.say(`  ${line}`);
}

/** Where a defect happened, without the message that a stack begins with: that may quote an answer (L11). */
function framesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const origin = error instanceof MirrorError ? error.cause : error;
  const stack = origin instanceof Error ? (origin.stack ?? '') : '';
  return stack.split('\n').filter((line) => /^ {4}at .+:\d+:\d+\)?$/.test(line));
}
