import { App } from '../app.ts';
import { printable } from '../base/printable.ts';
import { type LogLevel, type Logger, createLogger } from '../base/logger.ts';
import type { ConfigNeeds } from '../config.ts';
import { logSync, logWaits } from '../sync/sync-log.ts';
import type { Host } from './host.ts';

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
  const logger = await openLogger(host, config.logLevel ?? options.logLevel ?? 'warn');
  const app = new App(config, { clock: host.clock, logger });
  logWaits(app.events, logger);
  if (!options.reportsRuns || config.logLevel !== undefined) logSync(app.events, logger);
  return app;
}

/** A logger on stderr: JSON lines, or lines for people if stderr is a terminal. */
export async function openLogger({ terminal }: Host, level: LogLevel): Promise<Logger> {
  if (!terminal.interactive) {
    return createLogger(level, { write: (line) => terminal.say(line.trimEnd()) });
  }
  const { prettyFactory } = await import('pino-pretty');
  const pretty = prettyFactory({
    colorize: terminal.hasColors,
    translateTime: 'SYS:HH:MM:ss',
    singleLine: true,
    // The terminal shows only one process.
    ignore: 'pid,hostname',
  });
  return createLogger(level, {
    write: (line) => terminal.sayStyled(pretty(printableRecord(line)) ?? ''),
  });
}

/** A log line with printable texts instead of escapes, for a library that shows them. */
function printableRecord(line: string): string {
  return JSON.stringify(JSON.parse(line), (_key, value: unknown) =>
    typeof value === 'string' ? printable(value) : value,
  );
}
