import { parseEnv } from 'node:util';
import type { z } from 'zod';
import { errorCode } from '../base/errors.ts';
import { count, wordList } from '../base/format.ts';
import type { SettingMistake } from '../base/errors.ts';
import {
  exampleLine,
  type SettingName,
  settingOf,
  type Settings,
  variableOf,
} from './settings-table.ts';

/** Names and values, as in process.env. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Returns a file's text; throws like `readFileSync` (`code: 'ENOENT'` if there is none). */
export type ReadFile = (path: string) => string;

/** A variable that is set. A blank one counts as not set, because compose files and CI pass blanks on. */
export interface Variable {
  readonly value: string;
  /** Whether it is in `.env`, where every line is meant for us. */
  readonly ours: boolean;
}

/** A shorter key may be a word in any value. */
const LEAST_KEY = 8;

/** The file in the working directory from which settings are read, if it exists. */
const DOT_ENV = '.env';

/** The value of a setting: undefined if it is not set and the table has no default. */
export type ValueOf<N extends SettingName> =
  | z.output<Settings[N]['schema']>
  | (Settings[N] extends { readonly default: string } ? never : undefined);

/**
 * Reads settings one by one from the environment, and missing ones from `.env`, and collects every mistake, so that all are
 * reported at once. A wrong value counts as the default (undefined if there is none), and reading continues.
 */
export class SettingsReader {
  readonly problems: SettingMistake[] = [];
  readonly variables = new Map<string, Variable>();
  readonly #readFile: ReadFile;

  constructor(env: Environment, readFile: ReadFile) {
    this.#readFile = readFile;
    this.#add(this.#dotEnv(), true);
    this.#add(env, false);
  }

  /** If a setting of a target is not set, the unnamed setting's value applies. */
  read<N extends SettingName>(name: N, target?: string): ValueOf<N> {
    const { schema, default: preset } = settingOf(name);
    const variable = variableOf(name, this.sourceOf(name, target));
    const given = this.#text(name, variable);
    if (given !== undefined) {
      const { data, error } = schema.safeParse(given);
      const problem = this.#complaintAboutApiKey(name, given) ?? error?.issues[0]?.message;
      if (problem === undefined) return data as ValueOf<N>;
      this.#record(name, variable, problem);
    }
    return (preset === undefined ? undefined : schema.parse(preset)) as ValueOf<N>;
  }

  /** Whether the setting was given, right or wrong. The unnamed one does not count for a named target. */
  isGiven(name: SettingName, target?: string): boolean {
    const variable = variableOf(name, target);
    const isInFile = settingOf(name).secret === true && this.variables.has(`${variable}_FILE`);
    return isInFile || this.variables.has(variable);
  }

  /**
   * The target whose variable provides a setting: the target's own, or the unnamed one (undefined), which is the default for all.
   * If neither was given, its own.
   */
  sourceOf(name: SettingName, target: string | undefined): string | undefined {
    return this.isGiven(name, target) || !this.isGiven(name) ? target : undefined;
  }

  /** Records a mistake; the same one only once. */
  complain(name: SettingName, message: string, target?: string): void {
    this.#record(name, variableOf(name, target), message);
  }

  #record(name: SettingName, variable: string, message: string): void {
    const isKnown = this.problems.some(
      (problem) => problem.variable === variable && problem.message === message,
    );
    if (!isKnown) this.problems.push({ variable, message, example: exampleLine(name, variable) });
  }

  /**
   * The API key gives access to all answers. In another setting it would get into a message or a page (L15), or be a password that
   * others know.
   */
  #complaintAboutApiKey(name: SettingName, value: string): string | undefined {
    if (name === 'FORMS_API_KEY') return undefined;
    const key = this.#text('FORMS_API_KEY', 'FORMS_API_KEY')?.toLowerCase() ?? '';
    return key.length >= LEAST_KEY && value.toLowerCase().includes(key)
      ? 'contains the value of FORMS_API_KEY, which must not be used anywhere else'
      : undefined;
  }

  #text(name: SettingName, variable: string): string | undefined {
    const plain = this.variables.get(variable)?.value;
    const isSecret = settingOf(name).secret === true;
    const path = isSecret ? this.variables.get(`${variable}_FILE`)?.value : undefined;
    if (path === undefined) return plain;
    if (plain === undefined) return this.#fileText(name, `${variable}_FILE`, path);
    this.#record(name, variable, `and ${variable}_FILE are both set: keep one of them`);
    return plain;
  }

  #fileText(name: SettingName, variable: string, path: string): string | undefined {
    try {
      const content = this.#readFile(path)
        .replace(/^\uFEFF/, '')
        .trim();
      if (content !== '') return content;
      this.#record(name, variable, 'names an empty file: put the value into it');
    } catch (error) {
      const code = errorCode(error) ?? 'unknown error';
      const problem = `names a file that cannot be read (${code}): check the path and this user's rights`;
      this.#record(name, variable, problem);
    }
    return undefined;
  }

  /** A blank in the environment cancels the value in .env. */
  #add(env: Environment, ours: boolean): void {
    // Some names have two spellings on every machine. As everywhere, the lowercase one wins, so it comes last.
    const isLower = (name: string): boolean => /^(?:https?|no)_proxy$/.test(name);
    const names = Object.keys(env).toSorted((a, b) => Number(isLower(a)) - Number(isLower(b)));
    for (const name of names) {
      const variable = isLower(name) ? name.toUpperCase() : name;
      const value = env[name]?.trim();
      if (value) this.variables.set(variable, { value, ours });
      else if (value !== undefined) this.variables.delete(variable);
    }
  }

  #dotEnv(): Environment {
    try {
      const text = this.#readFile(DOT_ENV).replace(/^\uFEFF/, '');
      // As Windows PowerShell writes files.
      if (text.includes('\0')) {
        this.problems.push({
          variable: DOT_ENV,
          message: 'is not UTF-8 text: save it with the encoding UTF-8',
          example: exampleLine('FORMS_API_URL', 'FORMS_API_URL'),
        });
        return {};
      }
      const lines = linesWithoutEquals(text);
      if (lines.length > 0)
        this.problems.push({
          variable: DOT_ENV,
          message: `has no = in line ${wordList(lines.map(count), 'and')}: write NAME=value there, or begin a comment with #`,
          example: exampleLine('FORMS_API_URL', 'FORMS_API_URL'),
        });
      return parseEnv(text);
    } catch (error) {
      const code = errorCode(error) ?? 'unknown error';
      if (code !== 'ENOENT')
        this.problems.push({
          variable: DOT_ENV,
          message: `is there but cannot be read (${code}): give this user the right to read it`,
          example: `chmod u+r ${DOT_ENV}`,
        });
      return {};
    }
  }
}

/**
 * The numbers of lines that `parseEnv` passes over, although they are neither blank nor a comment. Lines of a quoted value do not
 * count: `parseEnv` itself finds them, because a name put before one is part of the value.
 */
function linesWithoutEquals(text: string): number[] {
  const named = text
    .split('\n')
    .map((line, index) => (/^\s*$|^\s*#|=/.test(line) ? line : `line ${index + 1}=x${line}`));
  return Object.keys(parseEnv(named.join('\n')))
    .filter((name) => /^line \d+$/.test(name))
    .map((name) => Number(name.slice('line '.length)))
    .toSorted((a, b) => a - b);
}
