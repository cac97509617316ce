import { isAbort, toMirrorError } from './errors.ts';

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
