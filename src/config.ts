import { readFileSync } from 'node:fs';
import type { LogLevel } from './base/logger.ts';
import { misspeltVariables } from './settings/misspelt.ts';
import { type SettingProblem, SettingsError } from './settings/problems.ts';
import {
  type GoogleSettings,
  type StatusSettings,
  readAlertUrl,
  readDataDir,
  readGoogle,
  readLogLevel,
  readQueueUrl,
  readStatusPage,
} from './settings/service-settings.ts';
import { SettingsReader } from './settings/settings-reader.ts';
import { type SourceSettings, readSource } from './settings/source-settings.ts';
import {
  type TargetSettings,
  readHashKey,
  readTargetNames,
  readTargets,
} from './settings/target-settings.ts';
import { type Environment, type ReadFile, readVariables } from './settings/variables.ts';
import {
  type MarkSettings,
  type ScheduleSettings,
  readMarking,
  readMaxDeleteFraction,
  readSchedule,
} from './settings/work-settings.ts';

/** All settings, checked and frozen. Nothing else of the program looks at the environment. */
export interface Config {
  /** Undefined only when it was not asked for and not set. */
  readonly source: SourceSettings | undefined;
  /** At least one. */
  readonly targets: readonly TargetSettings[];
  readonly hashKey: string | undefined;
  readonly schedule: ScheduleSettings;
  /** Undefined: never PATCH. */
  readonly marking: MarkSettings | undefined;
  readonly maxDeleteFraction: number;
  readonly google: GoogleSettings;
  /** Undefined: the embedded queue in `dataDir`. */
  readonly queueUrl: string | undefined;
  readonly dataDir: string;
  readonly status: StatusSettings;
  readonly alertUrl: string | undefined;
  /** Undefined: as the command thinks best. */
  readonly logLevel: LogLevel | undefined;
  /** What is not wrong but surely not meant, as sentences. */
  readonly warnings: readonly string[];
}

/** What a command cannot do without; everything that is set is checked whatever the command. */
export interface ConfigNeeds {
  /** FORMS_API_URL and FORMS_API_KEY. */
  readonly source?: boolean;
  /** A status page that is safe to show. */
  readonly statusPage?: boolean;
}

/**
 * Reads the settings from `env` and, where it says nothing, from `.env`. Pure but for `readFile`, which also reads
 * the files that `X_FILE` names. Throws {@link SettingsError} with every mistake at once.
 */
export function loadConfig(env: Environment, readFile: ReadFile, needs: ConfigNeeds = {}): Config {
  const problems: SettingProblem[] = [];
  const warnings: string[] = [];
  const variables = readVariables(env, readFile, problems);
  const reader = new SettingsReader(variables, readFile, problems);
  const names = readTargetNames(reader);
  problems.push(...misspeltVariables(variables, names ?? []));
  const dataDir = readDataDir(reader);
  const targets = readTargets(reader, names, dataDir);
  const config: Config = {
    source: readSource(reader, needs.source ?? false),
    targets,
    hashKey: readHashKey(reader, names, warnings),
    schedule: readSchedule(reader, warnings),
    marking: readMarking(reader, warnings),
    maxDeleteFraction: readMaxDeleteFraction(reader),
    google: readGoogle(reader),
    queueUrl: readQueueUrl(reader),
    dataDir,
    status: readStatusPage(reader, needs.statusPage ?? false),
    alertUrl: readAlertUrl(reader),
    logLevel: readLogLevel(reader),
    warnings,
  };
  if (problems.length > 0) throw new SettingsError(problems);
  return deepFreeze(config);
}

/** The settings of this process. */
export function loadProcessConfig(needs: ConfigNeeds = {}): Config {
  return loadConfig(process.env, (path) => readFileSync(path, 'utf8'), needs);
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}
