import { MirrorError } from '../base/errors.ts';

/** One mistake in the settings. Holds no secret (L15). */
export interface SettingProblem {
  readonly variable: string;
  /** The mistake and its correction: the rest of a sentence after the variable's name, without a full stop. */
  readonly message: string;
  /** A line to copy and adapt, `NAME=value`. */
  readonly example: string;
}

/** All mistakes at once: code SETTINGS, exit code 2. Each is one line: the variable, the mistake, an example. */
export class SettingsError extends MirrorError {
  readonly problems: readonly SettingProblem[];

  constructor(problems: readonly SettingProblem[]) {
    super(
      'SETTINGS',
      problems.map(({ variable, message, example }) => {
        const end = message.endsWith('?') ? '' : '.';
        return `${variable} ${message}${end} Example: ${example}`;
      }),
    );
    this.problems = problems;
  }
}
