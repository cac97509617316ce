import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { LOG_LEVELS, type LogLevel } from './base/logger.ts';
import type { ProxySettings } from './base/proxy.ts';
import type { NotifySettings } from './notify/notifier.ts';
import { readNotify } from './settings/alert-settings.ts';
import { uncheckedCertificates } from './settings/plaintext.ts';
import { type SettingProblem, SettingsError, misspeltVariables } from './settings/problems.ts';
import {
  type GoogleSettings,
  type SourceSettings,
  type StatusSettings,
  readGoogle,
  readProxy,
  readQueueUrl,
  readSource,
  readStatusPage,
} from './settings/service-settings.ts';
import { SettingsReader } from './settings/settings-reader.ts';
import {
  type MarkSettings,
  type ScheduleSettings,
  readMarking,
  readSchedule,
} from './settings/sync-settings.ts';
import {
  idleHistories,
  readHashKey,
  readTargetNames,
  readTargets,
  type TargetSettings,
} from './settings/target-settings.ts';
import { duration, fraction, oneOf, wholeNumber } from './settings/value-schemas.ts';
import { type Environment, type ReadFile, readVariables } from './settings/variables.ts';

/** All settings, checked and frozen. Nothing else of the program looks at the environment. */
export interface Config {
  /** Undefined only when it is not required and not set. */
  readonly source: SourceSettings | undefined;
  /** At least one. */
  readonly targets: readonly TargetSettings[];
  readonly hashKey: string | undefined;
  readonly schedule: ScheduleSettings;
  /** Undefined: never PATCH. */
  readonly marking: MarkSettings | undefined;
  readonly maxDeleteFraction: number;
  /** How long rows marked deleted stay; undefined: for ever. */
  readonly purgeDeletedAfterMs: number | undefined;
  /** How long histories keep former values; undefined: for ever. */
  readonly purgeHistoryAfterMs: number | undefined;
  readonly google: GoogleSettings;
  /** Undefined: everything is reached directly. */
  readonly proxy: ProxySettings | undefined;
  /** Undefined: the embedded queue in `dataDir`. */
  readonly queueUrl: URL | undefined;
  readonly dataDir: string;
  readonly status: StatusSettings;
  /** Where a worker reports that it is alive; undefined: nowhere. */
  readonly workerPort: number | undefined;
  readonly notify: NotifySettings;
  /** Undefined: the command's own default. */
  readonly logLevel: LogLevel | undefined;
  /** Settings that are valid but surely not meant, as sentences. */
  readonly warnings: readonly string[];
}

/** The settings that a command requires; every other one is checked if it is set. */
export interface ConfigNeeds {
  /** FORMS_API_URL and FORMS_API_KEY. */
  readonly source?: boolean;
  /** A status page that is safe to show. */
  readonly statusPage?: boolean;
  /** The same for a worker, where WORKER_PORT is set. */
  readonly workerServer?: boolean;
}

/**
 * Reads the settings from `env`, and those that it lacks from `.env`. Pure but for `readFile`, which also reads
 * the files that `X_FILE` names. Throws {@link SettingsError} with every mistake at once.
 */
export function loadConfig(env: Environment, readFile: ReadFile, needs: ConfigNeeds = {}): Config {
  const problems: SettingProblem[] = [];
  const warnings: string[] = [];
  const variables = readVariables(env, readFile, problems);
  const reader = new SettingsReader(variables, readFile, problems);
  const names = readTargetNames(reader);
  problems.push(...misspeltVariables(variables, names ?? []));
  problems.push(...[uncheckedCertificates(variables)].filter((problem) => problem !== undefined));
  const dataDir = reader.readWithDefault('DATA_DIR', z.string());
  const targets = readTargets(reader, names, dataDir);
  warnings.push(...idleHistories(targets));
  const source = readSource(reader, needs.source ?? false);
  const workerPort = reader.read('WORKER_PORT', wholeNumber(0, 65_535));
  const config: Config = {
    source,
    targets,
    hashKey: readHashKey(reader, names),
    schedule: readSchedule(reader, warnings, source?.url),
    marking: readMarking(reader, warnings),
    maxDeleteFraction: reader.readWithDefault('MAX_DELETE_FRACTION', fraction),
    purgeDeletedAfterMs: reader.read('PURGE_DELETED_AFTER', duration),
    purgeHistoryAfterMs: reader.read('PURGE_HISTORY_AFTER', duration),
    google: readGoogle(reader),
    proxy: readProxy(reader),
    queueUrl: readQueueUrl(reader),
    dataDir,
    status: readStatusPage(reader, shownBy(needs, workerPort)),
    workerPort,
    notify: readNotify(reader, warnings),
    logLevel: reader.read('LOG_LEVEL', oneOf(LOG_LEVELS)),
    warnings,
  };
  if (problems.length > 0) throw new SettingsError(problems);
  return deepFreeze(config);
}

/** What of the command others may reach, if HOST lets them. */
function shownBy(
  { statusPage = false, workerServer = false }: ConfigNeeds,
  workerPort: number | undefined,
): string | undefined {
  if (statusPage) return 'the status page';
  return workerServer && workerPort !== undefined ? 'WORKER_PORT' : undefined;
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
