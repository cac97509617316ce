import { readFileSync } from 'node:fs';
import { misspeltVariables } from './misspelt.ts';
import {
  readHost,
  readNotify,
  readProxy,
  readQueueUrl,
  readRule,
  readSchedule,
  readSource,
  uncheckedCertificates,
} from './service-settings.ts';
import { SettingsError } from '../base/errors.ts';
import { type Environment, type ReadFile, SettingsReader } from './settings-reader.ts';
import { readHashKey, readTargets } from './target-settings.ts';

/** The settings that a command requires. All others are checked if they are set. */
export interface ConfigNeeds {
  /** FORMS_API_URL and FORMS_API_KEY. */
  readonly source?: boolean;
  /** TARGET_FIELDS of each target, or of the target with this name (L11). */
  readonly fields?: true | string;
  /** The setting of the port that the command opens. If it is set, the port must be safe to open. */
  readonly serves?: 'PORT' | 'WORKER_PORT';
}

/** All settings, checked. Nothing else in the program reads the environment. */
export type Config = Readonly<ReturnType<typeof loadConfig>>;

/**
 * Reads the settings from `env`, and missing ones from `.env`. Pure except for `readFile`, which also reads the
 * files that `X_FILE` names. Throws {@link SettingsError} with every mistake at once.
 */
export function loadConfig(env: Environment, readFile: ReadFile, needs: ConfigNeeds = {}) {
  const reader = new SettingsReader(env, readFile);
  const names = reader.read('TARGETS');
  reader.problems.push(...misspeltVariables(reader.variables, names ?? []));
  reader.problems.push(...uncheckedCertificates(reader));
  const dataDir = reader.read('DATA_DIR');
  const source = readSource(reader, needs.source ?? false);
  const config = {
    /** Undefined only if it is not required and not set. */
    source,
    /** At least one. */
    targets: readTargets(reader, names, dataDir, needs.fields),
    hashKey: readHashKey(reader, names),
    ...readSchedule(reader, source?.baseUrl),
    /** Null: never PATCH. */
    rule: readRule(reader),
    maxDeleteFraction: reader.read('MAX_DELETE_FRACTION'),
    /** How long rows marked deleted stay; undefined: forever. */
    purgeDeletedAfterMs: reader.read('PURGE_DELETED_AFTER'),
    /** How long histories keep earlier values; undefined: forever. */
    purgeHistoryAfterMs: reader.read('PURGE_HISTORY_AFTER'),
    /** Access to Google Sheets and BigQuery. If all are undefined: the machine's own Google account. */
    google: {
      credentialsJson: reader.read('GOOGLE_CREDENTIALS_JSON'),
      credentialsFile: reader.read('GOOGLE_APPLICATION_CREDENTIALS'),
      emulatorUrl: reader.read('SHEETS_EMULATOR_URL'),
      summary: reader.read('SHEETS_SUMMARY') === 'true',
    },
    /** Undefined: everything is reached directly. */
    proxy: readProxy(reader),
    /** Undefined: the embedded queue in `dataDir`. */
    queueUrl: readQueueUrl(reader),
    dataDir,
    host: readHost(reader, needs.serves),
    /** Of the status page. */
    port: reader.read('PORT'),
    /** The port at which a worker reports that it is alive; undefined: none. */
    workerPort: reader.read('WORKER_PORT'),
    adminPassword: reader.read('ADMIN_PASSWORD'),
    notify: readNotify(reader),
    /** Undefined: the command's own default. */
    logLevel: reader.read('LOG_LEVEL'),
  };
  if (reader.problems.length > 0) throw new SettingsError(reader.problems);
  return config;
}

/** The settings of this process. */
export function loadProcessConfig(needs: ConfigNeeds = {}): Config {
  return loadConfig(process.env, (path) => readFileSync(path, 'utf8'), needs);
}
