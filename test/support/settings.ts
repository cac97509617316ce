import { expect } from 'vitest';
import { type Config, type ConfigNeeds, loadConfig } from '../../src/settings/config.ts';
import { type SettingMistake, SettingsError } from '../../src/base/errors.ts';
import type { Environment } from '../../src/settings/settings-reader.ts';

/** A key that must never appear again. */
export const KEY = 'fk_live_abcdefghijklmnop';
/** A source that is configured. */
export const SOURCE = { FORMS_API_URL: 'https://forms.example.com/api/v1', FORMS_API_KEY: KEY };
const NEEDS: ConfigNeeds = { source: true, serves: 'PORT' };

/** A disk with only these files. */
export function disk(files: Record<string, string | Error>): (path: string) => string {
  return (path) => {
    const file = files[path];
    if (file instanceof Error) throw file;
    if (file === undefined) throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' });
    return file;
  };
}

/** Loads for a command that needs everything. */
export const load = (env: Environment, files: Record<string, string | Error> = {}): Config =>
  loadConfig(env, disk(files), NEEDS);

/** Every mistake in `env`. */
export function problemsOf(
  env: Environment,
  files: Record<string, string | Error> = {},
): SettingMistake[] {
  try {
    load(env, files);
  } catch (error) {
    if (error instanceof SettingsError) return [...error.problems];
    throw error;
  }
  return [];
}

/** The message about the only mistake in `env`, in addition to a source that is configured. */
export function onlyProblem(env: Environment, files: Record<string, string | Error> = {}): string {
  const problems = problemsOf({ ...SOURCE, ...env }, files);
  expect(problems).toHaveLength(1);
  return `${problems[0]?.variable} ${problems[0]?.message}`;
}
