import { App } from '../app.ts';
import { type LogLevel, type Logger, createLogger } from '../base/logger.ts';
import type { ConfigNeeds } from '../settings/config.ts';
import { logSync, logWaits } from '../sync/sync-log.ts';
import type { Host } from './host.ts';
import type { Line } from './terminal.ts';

/** Which settings a command requires, and how its log works. */
export interface OpenAppOptions extends ConfigNeeds {
  /** The log level if LOG_LEVEL is not set; default `warn`, for a command that prints its own report. */
  readonly logLevel?: LogLevel;
  /** The command itself shows how runs end; the log repeats it only if LOG_LEVEL is set. */
  readonly reportsRuns?: boolean;
}

/** Reads the settings and puts the parts together. Throws SettingsError with every mistake at once. */
export async function openApp(host: Host, options: OpenAppOptions = {}): Promise<App> {
  const config = await host.loadConfig(options);
  const logger = openLogger(host, config.logLevel ?? options.logLevel ?? 'warn');
  const app = new App(config, { clock: host.clock, logger });
  const stopping = (): void => logger.info('Stopping after the current batch.');
  if (!host.terminal.interactive) host.stop.signal.addEventListener('abort', stopping);
  logWaits(app.events, logger);
  if (!options.reportsRuns || config.logLevel !== undefined) logSync(app.events, logger);
  return app;
}

/** A logger on stderr: JSON lines, or lines for people if stderr is a terminal. */
export function openLogger({ terminal }: Host, level: LogLevel): Logger {
  return createLogger(level, {
    write: (line) => terminal.say(terminal.interactive ? shownLine(line) : line.trimEnd()),
  });
}

interface LogLine extends Readonly<Record<string, unknown>> {
  readonly level: number;
  readonly time: string;
  readonly msg: string;
}

/** `! 14:03:12 The source does not answer. {"code":"FORMS_FAILED"}`, in local time. A terminal shows only one process. */
function shownLine(json: string): Line {
  const { level, time, msg, pid: _, hostname: __, ...fields } = JSON.parse(json) as LogLine;
  const sign = level >= 50 ? 'error' : level >= 40 ? 'warning' : 'note';
  const details = Object.keys(fields).length === 0 ? '' : ` ${JSON.stringify(fields)}`;
  return { sign, text: `${new Date(time).toTimeString().slice(0, 8)} ${msg}${details}` };
}
