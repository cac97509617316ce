import { parseEnv } from 'node:util';
import { errorCode } from '../base/error-code.ts';
import type { SettingProblem } from './problems.ts';

/** Names and values, as in process.env. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Returns a file's text; throws like `readFileSync` (`code: 'ENOENT'` when there is none). */
export type ReadFile = (path: string) => string;

/** A variable that is set. Blank ones count as not set: compose files and CI pass those on. */
export interface Variable {
  readonly value: string;
  /** True when it is in `.env`, where every line is meant for us. */
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
  for (const [name, text] of entriesOf(readDotEnv(readFile, problems))) add(name, text, true);
  for (const [name, text] of entriesOf(env)) add(name, text, false);
  return variables;
}

/** Names of every machine that have two spellings; as everywhere the one in lower case wins. */
const IN_LOWER_CASE = new Set(['https_proxy', 'http_proxy', 'no_proxy']);

/** Each variable by the name of its setting, the one that wins last. */
function entriesOf(env: Environment): [name: string, text: string | undefined][] {
  const entries = Object.entries(env);
  const lower = entries.filter(([name]) => IN_LOWER_CASE.has(name));
  return [
    ...entries.filter(([name]) => !IN_LOWER_CASE.has(name)),
    ...lower.map(([name, text]): [string, string | undefined] => [name.toUpperCase(), text]),
  ];
}

function readDotEnv(readFile: ReadFile, problems: SettingProblem[]): Environment {
  try {
    return parseEnv(readFile(DOT_ENV).replace(/^\uFEFF/, ''));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return {};
    problems.push({
      variable: DOT_ENV,
      message: `is there but cannot be read (${errorCode(error) ?? 'unknown error'}): give this user the right to read it`,
      example: `chmod u+r ${DOT_ENV}`,
    });
    return {};
  }
}
