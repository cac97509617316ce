import { MirrorError } from '../base/errors.ts';
import { type SettingName, settingOf, variableOf } from './settings-table.ts';

/** One mistake in the settings. Holds no secret: a value is quoted only where it cannot be one (L15). */
export interface SettingProblem {
  readonly variable: string;
  /** What is wrong and what would be right: goes on after the variable's name, ends without a full stop. */
  readonly message: string;
  /** A line to copy and adapt, `NAME=value`. */
  readonly example: string;
}

/** All mistakes at once: code SETTINGS, exit code 2. */
export class SettingsError extends MirrorError {
  readonly problems: readonly SettingProblem[];

  constructor(problems: readonly SettingProblem[]) {
    super('SETTINGS', problems.map(describeProblem));
    this.problems = problems;
  }
}

/** One line: the variable, what is wrong, an example. */
function describeProblem(problem: SettingProblem): string {
  const { variable, message, example } = problem;
  return `${variable} ${message}${message.endsWith('?') ? '' : '.'} Example: ${example}`;
}

/** A problem with a setting of the table, its example included. */
export function problemWith(name: SettingName, message: string, target?: string): SettingProblem {
  const variable = variableOf(name, target);
  return { variable, message, example: exampleLine(name, variable) };
}

/** `NAME=value` as `.env` and a shell take it: quoted where they would cut it or fill it in. */
export function exampleLine(name: SettingName, variable: string): string {
  if (variable.endsWith('_FILE')) return `${variable}=/run/secrets/${name.toLowerCase()}`;
  const { example } = settingOf(name);
  return `${variable}=${/[\s#"*]/.test(example) ? `'${example}'` : example}`;
}
