import type { Clock } from '../base/clock.ts';
import { type LogLevel, type Logger, createLogger } from '../base/logger.ts';
import type { Config, ConfigNeeds } from '../config.ts';
import type { StopRequest } from './stop-signals.ts';
import type { Terminal } from './terminal.ts';

/** What a command gets from the process it runs in; tests hand in their own. */
export interface Host {
  readonly terminal: Terminal;
  /** Of the program. */
  readonly version: string;
  readonly clock: Clock;
  readonly stop: StopRequest;
  /** Throws SettingsError with every mistake at once. */
  loadConfig(needs?: ConfigNeeds): Config;
}

/** A logger on stderr: JSON lines, or lines for people where a person watches. */
export async function openLogger({ terminal }: Host, level: LogLevel): Promise<Logger> {
  if (!terminal.interactive) {
    return createLogger(level, { write: (line) => terminal.write(line) });
  }
  const { prettyFactory } = await import('pino-pretty');
  const pretty = prettyFactory({
    colorize: terminal.styleAside('red', 'x') !== 'x',
    translateTime: 'SYS:HH:MM:ss',
    singleLine: true,
  });
  return createLogger(level, { write: (line) => terminal.write(pretty(line) ?? line) });
}
