import { readFileSync } from 'node:fs';
import type { LogLevel } from './base/logger.ts';
import type { ProxySettings } from './base/proxy.ts';
import type { NotifySettings } from './notify/notifier.ts';
import type { Schedule } from './queue/scheduler.ts';
import { misspeltVariables } from './settings/misspelt.ts';
import {
  type GoogleSettings,
  readGoogle,
  readNotify,
  readProxy,
  readQueueUrl,
  readRule,
  readSource,
  readStatusPage,
  type SourceSettings,
  type StatusSettings,
  uncheckedCertificates,
} from './settings/service-settings.ts';
import { SettingsError } from './base/errors.ts';
import { type Environment, type ReadFile, SettingsReader } from './settings/settings-reader.ts';
import { readSchedule } from './settings/sync-settings.ts';
import type { WriteBackRule } from './sync/write-back.ts';
import { readHashKey, readTargets, type TargetSettings } from './settings/target-settings.ts';

/** All settings, checked. Nothing else of the program looks at the environment. */
export interface Config {
  /** Undefined only when it is not required and not set. */
  readonly source: SourceSettings | undefined;
  /** At least one. */
  readonly targets: readonly TargetSettings[];
  readonly hashKey: string | undefined;
  readonly schedule: Schedule;
  /** Within this time every row is compared. */
  readonly compareEveryMs: number;
  /** Null: never PATCH. */
  readonly rule: WriteBackRule | null;
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
 * Reads the settings from `env`, and missing ones from `.env`. Pure except for `readFile`, which also reads the
 * files that `X_FILE` names. Throws {@link SettingsError} with every mistake at once.
 */
export function loadConfig(env: Environment, readFile: ReadFile, needs: ConfigNeeds = {}): Config {
  const reader = new SettingsReader(env, readFile);
  const names = reader.read('TARGETS');
  reader.problems.push(...misspeltVariables(reader.variables, names ?? []));
  reader.problems.push(...uncheckedCertificates(reader));
  // Also without any connection to another machine, where no other check finds it.
  reader.read('ALLOW_PLAINTEXT');
  const dataDir = reader.read('DATA_DIR');
  const targets = readTargets(reader, names, dataDir);
  const source = readSource(reader, needs.source ?? false);
  const workerPort = reader.read('WORKER_PORT');
  const config: Config = {
    source,
    targets,
    hashKey: readHashKey(reader, names),
    ...readSchedule(reader, source?.url),
    rule: readRule(reader),
    maxDeleteFraction: reader.read('MAX_DELETE_FRACTION'),
    purgeDeletedAfterMs: reader.read('PURGE_DELETED_AFTER'),
    purgeHistoryAfterMs: reader.read('PURGE_HISTORY_AFTER'),
    google: readGoogle(reader),
    proxy: readProxy(reader),
    queueUrl: readQueueUrl(reader),
    dataDir,
    status: readStatusPage(reader, shownBy(needs, workerPort)),
    workerPort,
    notify: readNotify(reader),
    logLevel: reader.read('LOG_LEVEL'),
  };
  if (reader.problems.length > 0) throw new SettingsError(reader.problems);
  return config;
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
