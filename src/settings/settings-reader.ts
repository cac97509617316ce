import type { z } from 'zod';
import { errorCode } from '../base/error-code.ts';
import { type SettingProblem, exampleLine, problemWith } from './problems.ts';
import { type SettingName, settingOf, variableOf } from './settings-table.ts';
import { Secrets } from './secrets.ts';
import type { ReadFile, Variable } from './variables.ts';

/**
 * Reads settings one by one and collects every mistake, so that all are reported at once. A value that is wrong reads as
 * its default (undefined when it has none), and reading goes on.
 */
export class SettingsReader {
  readonly problems: SettingProblem[];
  readonly #variables: ReadonlyMap<string, Variable>;
  readonly #readFile: ReadFile;
  readonly #secrets: Secrets;
  /** Each `_FILE` is read, and complained about, once, however many targets share it. */
  readonly #files = new Map<string, string | undefined>();

  constructor(
    variables: ReadonlyMap<string, Variable>,
    readFile: ReadFile,
    problems: SettingProblem[],
  ) {
    this.#variables = variables;
    this.#readFile = readFile;
    this.#secrets = new Secrets(variables, readFile);
    this.problems = problems;
  }

  /** True when the setting was given, right or wrong; the unnamed one does not count for a named target. */
  isGiven(name: SettingName, target?: string): boolean {
    const variable = variableOf(name, target);
    return this.#value(variable) !== undefined || this.#path(name, variable) !== undefined;
  }

  /** Records a mistake; the same one only once. */
  complain(name: SettingName, message: string, target?: string): void {
    this.#record(problemWith(name, message, target));
  }

  /**
   * The variable that a setting of a target is taken from: its own, or the unnamed one that is the default for all; its
   * own when neither was given.
   */
  sourceOf(name: SettingName, target: string | undefined): string | undefined {
    return this.isGiven(name, target) || !this.isGiven(name) ? target : undefined;
  }

  /** The setting by its schema; its default when unset or wrong. Without a default: undefined. */
  read<T>(name: SettingName, schema: z.ZodType<T, string>, target?: string): T | undefined {
    const from = this.sourceOf(name, target);
    const byDefault = settingOf(name).default;
    const fallback = (): T | undefined =>
      byDefault === undefined ? undefined : schema.parse(byDefault);
    if (!this.isGiven(name, from)) return fallback();
    const variable = variableOf(name, from);
    const text = this.#text(name, variable);
    if (text === undefined) return fallback();
    const result = schema.safeParse(text);
    const said = result.success ? undefined : (result.error.issues[0]?.message ?? 'is wrong');
    const wrong = this.#secrets.complaintAbout(name, variable, text, said);
    if (result.success && wrong === undefined) return result.data;
    this.complain(name, wrong ?? 'is wrong', from);
    return fallback();
  }

  /** As {@link read}, for a setting whose default is in the table. */
  readWithDefault<T>(name: SettingName, schema: z.ZodType<T, string>, target?: string): T {
    const value = this.read(name, schema, target);
    if (value === undefined) throw new TypeError(`${name} has no default in the table`);
    return value;
  }

  /** The unnamed setting is read once for each target that takes it as its default: it is complained about once. */
  #record(problem: SettingProblem): void {
    const known = this.problems.some(
      ({ variable, message }) => variable === problem.variable && message === problem.message,
    );
    if (!known) this.problems.push(problem);
  }

  #value(variable: string): string | undefined {
    return this.#variables.get(variable)?.value;
  }

  #path(name: SettingName, variable: string): string | undefined {
    return settingOf(name).secret === true ? this.#value(`${variable}_FILE`) : undefined;
  }

  #text(name: SettingName, variable: string): string | undefined {
    const [plain, path] = [this.#value(variable), this.#path(name, variable)];
    if (path === undefined) return plain;
    if (plain === undefined) return this.#fileText(name, `${variable}_FILE`, path);
    const message = `and ${variable}_FILE are both set: keep one of them`;
    this.#record({ variable, message, example: exampleLine(name, `${variable}_FILE`) });
    return plain;
  }

  #fileText(name: SettingName, variable: string, path: string): string | undefined {
    if (!this.#files.has(variable)) this.#files.set(variable, this.#readText(name, variable, path));
    return this.#files.get(variable);
  }

  #readText(name: SettingName, variable: string, path: string): string | undefined {
    const complain = (message: string): undefined => {
      this.#record({ variable, message, example: exampleLine(name, variable) });
    };
    try {
      const text = this.#readFile(path)
        .replace(/^\uFEFF/, '')
        .trim();
      return text === '' ? complain('names an empty file: put the value into it') : text;
    } catch (error) {
      const code = errorCode(error) ?? 'unknown error';
      return complain(
        `names a file that cannot be read (${code}): check the path and this user's rights`,
      );
    }
  }
}
