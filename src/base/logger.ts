import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino';
import { MirrorError } from './errors.ts';

export type { Logger } from 'pino';

/** Names under which a secret or an answer might be logged by mistake (L11, L15). */
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

/**
 * JSON lines into `destination` (stderr in the program). Errors are logged as code and message only: a cause or a
 * stack of a foreign error may quote answers or passwords.
 */
export function createLogger(level: LogLevel, destination: DestinationStream): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      redact: { paths: REDACTED.flatMap((name) => [name, `*.${name}`]), censor: '[hidden]' },
      serializers: { err: describeError },
    },
    destination,
  );
}

/** A logger that says nothing, for tests and embedders. */
export const silentLogger: Logger = pino({ level: 'silent' });

/** What of an error may be logged: our own code and message; of a foreign one its class and code. */
export function describeError(error: unknown): Record<string, unknown> {
  if (error instanceof MirrorError) {
    return { code: error.code, message: error.message, retryable: error.retryable };
  }
  if (!(error instanceof Error)) return { type: typeof error };
  const code = (error as { code?: unknown }).code;
  return {
    type: error.name,
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
  };
}
