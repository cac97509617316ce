import { App } from '../app.ts';
import type { LogLevel, Logger } from '../base/logger.ts';
import type { ConfigNeeds } from '../config.ts';
import { logSync } from '../sync/sync-log.ts';
import { type Host, openLogger } from './host.ts';

/** What {@link openApp} takes. */
export interface AppNeeds extends ConfigNeeds {
  /** What is logged where LOG_LEVEL does not say; a command that prints a report of its own keeps to warnings. */
  readonly logLevel?: LogLevel;
  /** The command tells itself how passes end, so that the log need not, unless somebody asked for it. */
  readonly reports?: boolean;
}

/** Reads the settings and puts the parts together. Throws SettingsError with every mistake at once. */
export async function openApp(host: Host, needs: AppNeeds = {}): Promise<App> {
  const config = host.loadConfig(needs);
  const logger: Logger = await openLogger(host, config.logLevel ?? needs.logLevel ?? 'warn');
  for (const warning of config.warnings) logger.warn(warning);
  const app = new App(config, { clock: host.clock, logger });
  if (!needs.reports || config.logLevel !== undefined) logSync(app.events, logger);
  return app;
}
