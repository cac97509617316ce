import { parseEnv } from 'node:util';
import type { SettingProblem } from './problems.ts';

/** What the environment is: names and values, as process.env. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Gives a file's text; throws like `readFileSync` (`code: 'ENOENT'` when there is none). */
export type ReadFile = (path: string) => string;

/** A variable that was given. Blank ones count as not given: compose files and CI hand those on. */
export interface Variable {
  readonly value: string;
  /** True when it stands in `.env`, where every line is meant for us. */
  readonly ours: boolean;
}

/** The file beside the program that settings are read from when it is there. */
const DOT_ENV = '.env';

/** The environment and `.env` in one; the environment wins. */
export function readVariables(
  env: Environment,
  readFile: ReadFile,
  problems: SettingProblem[],
): Map<string, Variable> {
  const variables = new Map<string, Variable>();
  const add = (name: string, text: string | undefined, ours: boolean): void => {
    if (text === undefined) return;
    const value = text.trim();
    // `NAME= forms-mirror …` takes back what .env says.
    if (value === '') variables.delete(name);
    else variables.set(name, { value, ours });
  };
  for (const [name, text] of Object.entries(readDotEnv(readFile, problems))) add(name, text, true);
  for (const [name, text] of Object.entries(env)) add(name, text, false);
  return variables;
}

function readDotEnv(readFile: ReadFile, problems: SettingProblem[]): Environment {
  try {
    return parseEnv(readFile(DOT_ENV).replace(/^\uFEFF/, ''));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return {};
    problems.push({
      variable: DOT_ENV,
      message: `is there but cannot be read (${errorCode(error)}): give this user the right to read it`,
      example: `chmod u+r ${DOT_ENV}`,
    });
    return {};
  }
}

/** The code of a file error, for a message: `ENOENT`. */
export function errorCode(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^[A-Z0-9_]{2,40}$/.test(code) ? code : 'unknown error';
}
