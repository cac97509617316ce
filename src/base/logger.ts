import { AsyncLocalStorage } from 'node:async_hooks';
import { hostname } from 'node:os';
import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino';
import { errorCode, MirrorError } from './errors.ts';
import { printableJson } from './printable.ts';

export type { Logger } from 'pino';

/** Property names under which a secret or an answer might be logged by mistake (L11, L15). */
const REDACTED = [
  'key',
  'apiKey',
  'password',
  'authorization',
  'credentials',
  'data',
  'answers',
  'cells',
];

/** The levels that LOG_LEVEL takes. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
/** One of {@link LOG_LEVELS}. */
export type LogLevel = (typeof LOG_LEVELS)[number];

const fieldsOfWork = new AsyncLocalStorage<Readonly<Record<string, string>>>();

/** Runs `work`. Every line that it logs, at any depth, has these fields (a run ID, a job ID) and those of the surrounding context. */
export function withLogFields<T>(fields: Readonly<Record<string, string>>, work: () => T): T {
  return fieldsOfWork.run({ ...fieldsOfWork.getStore(), ...fields }, work);
}

/**
 * Writes JSON lines into `destination` (stderr in the program), without characters that control a terminal. Logs only code and
 * message of an error: a cause or a stack of a foreign error may quote answers or passwords.
 */
export function createLogger(level: LogLevel, destination: DestinationStream): Logger {
  return pino(
    {
      level,
      // Several processes, on several machines, may write into one log.
      base: { pid: process.pid, hostname: hostname() },
      mixin: () => ({ ...fieldsOfWork.getStore() }),
      timestamp: stdTimeFunctions.isoTime,
      redact: { paths: REDACTED.flatMap((name) => [name, `*.${name}`]), censor: '[hidden]' },
      serializers: { err: describeError },
    },
    { write: (line) => destination.write(printableJson(line)) },
  );
}

/** A logger that writes nothing, for tests. */
export const silentLogger: Logger = pino({ level: 'silent' });

/** The loggable part of an error: code and message of our own errors, class and code of foreign ones. */
export function describeError(error: unknown): Record<string, unknown> {
  if (error instanceof MirrorError) {
    return { code: error.code, message: error.message, retryable: error.retryable };
  }
  if (!(error instanceof Error)) return { type: typeof error };
  const code = errorCode(error);
  return { type: error.name, ...(code === undefined ? {} : { code }) };
}
