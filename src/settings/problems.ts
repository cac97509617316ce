import { distance } from 'fastest-levenshtein';
import { MirrorError } from '../base/errors.ts';
import { SETTING_NAMES, type SettingName, settingOf, variableOf } from './settings-table.ts';
import type { Variable } from './variables.ts';

/** One mistake in the settings. Holds no secret: a value is quoted only where it cannot be one (L15). */
export interface SettingProblem {
  readonly variable: string;
  /** The mistake and its correction: goes on after the variable's name, ends without a full stop. */
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

/** One line: the variable, the mistake, an example. */
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

/** Prefixes that only this program uses: any unknown name with one is a mistake. */
const OUR_PREFIXES = ['FORMS_API_', 'TARGET_', 'SYNC_', 'MARK_', 'SHEETS_', 'RECONCILE_'];

/**
 * Variables that are not settings but were meant as one. With our own prefixes and in `.env`, where every line is ours,
 * anything like a setting counts; elsewhere only a name close to a long, distinctive one, so that `HOSTNAME` or
 * `LOGLEVEL` of the machine does not count. Values are never read.
 */
export function misspeltVariables(
  variables: ReadonlyMap<string, Variable>,
  targets: readonly string[],
): SettingProblem[] {
  const known = knownVariables(targets);
  const problems: SettingProblem[] = [];
  for (const [name, { ours }] of variables) {
    if (known.has(name)) continue;
    const problem =
      fileOfPlain(name, known) ?? otherTargets(name, targets) ?? resemblance(name, ours, known);
    if (problem !== undefined) problems.push(problem);
  }
  return problems;
}

/** Every variable that is read, and the setting it belongs to. */
function knownVariables(targets: readonly string[]): Map<string, SettingName> {
  const known = new Map<string, SettingName>();
  for (const setting of SETTING_NAMES) {
    for (const target of [undefined, ...targets]) {
      const variable = variableOf(setting, target);
      known.set(variable, setting);
      if (settingOf(setting).secret) known.set(`${variable}_FILE`, setting);
    }
  }
  return known;
}

/** `TARGET_FIELDS_FILE`: a file for a setting that is not secret. */
function fileOfPlain(
  name: string,
  known: ReadonlyMap<string, SettingName>,
): SettingProblem | undefined {
  const variable = /^(.+)_FILE$/.exec(name)?.[1] ?? '';
  const setting = known.get(variable);
  if (setting === undefined || settingOf(setting).commonName) return undefined;
  const message = `is not a setting, only secrets may come from a file: set ${variable} itself`;
  return { variable: name, message, example: exampleLine(setting, variable) };
}

/** `TARGET_B_URL` where TARGETS has no `b`. */
function otherTargets(name: string, targets: readonly string[]): SettingProblem | undefined {
  const match = /^TARGET_([A-Z0-9_]+?)_(URL|URL_FILE|FORMS|HASH_FIELDS|FIELDS)$/.exec(name);
  const target = match?.[1]?.toLowerCase();
  if (target === undefined) return undefined;
  const isNear = (other: string): boolean =>
    distance(other.replaceAll('-', '_'), target) <= Math.floor(other.length / 3);
  if (targets.some(isNear)) return undefined;
  return {
    variable: name,
    message: `belongs to a target ${target} that TARGETS does not name: add it there, or remove this line`,
    example: `TARGETS=${[...targets, target].join(',')}`,
  };
}

function resemblance(
  name: string,
  ours: boolean,
  known: ReadonlyMap<string, SettingName>,
): SettingProblem | undefined {
  const upper = name.toUpperCase();
  const claimed = OUR_PREFIXES.some((prefix) => upper.startsWith(prefix));
  const nearest = nearestOf(upper, claimed || ours ? known.keys() : distinctiveNames(known));
  const setting = nearest && known.get(nearest.name);
  if (nearest === undefined || setting === undefined) return undefined;
  const close = nearest.edits <= Math.floor(nearest.name.length / 6);
  if (!close && !claimed) return undefined;
  return {
    variable: name,
    message: close
      ? `is not a setting: did you mean ${nearest.name}?`
      : `is not a setting; the nearest is ${nearest.name}: correct the name, or remove this line`,
    example: exampleLine(setting, nearest.name),
  };
}

/** Names that no other variable of a machine is likely to resemble. */
function* distinctiveNames(known: ReadonlyMap<string, SettingName>): Iterable<string> {
  for (const [variable, setting] of known) {
    if (!settingOf(setting).commonName && variable.length >= 8) yield variable;
  }
}

function nearestOf(
  name: string,
  candidates: Iterable<string>,
): { name: string; edits: number } | undefined {
  let best: { name: string; edits: number } | undefined;
  for (const candidate of candidates) {
    const edits = distance(name, candidate);
    if (best === undefined || edits < best.edits) best = { name: candidate, edits };
  }
  return best;
}
