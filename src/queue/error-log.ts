import type { Clock } from '../base/clock.ts';
import { errorCode, MirrorError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';

/** Listener for the `error` events of BullMQ and its drivers, which are logged and never fatal. */
export type ErrorListener = (error: unknown) => void;

/** In an outage, each of many connections reports an error at each try; the log needs it once in a while. */
const REPEAT_AFTER_MS = 30_000;

/** Logs the same error once every half minute, with the number of times that it occurred in between. */
export function createErrorLog(logger: Logger, clock: Clock): ErrorListener {
  const seen = new Map<string, { loggedAt: number; suppressed: number }>();
  return (error) => {
    const name = errorName(error);
    const now = clock.now();
    const last = seen.get(name);
    if (last !== undefined && now - last.loggedAt < REPEAT_AFTER_MS) {
      last.suppressed++;
      return;
    }
    seen.set(name, { loggedAt: now, suppressed: 0 });
    const message = error instanceof MirrorError ? error.message : 'The queue reports an error.';
    logger.warn({ error: name, suppressed: last?.suppressed ?? 0 }, message);
  };
}

/** The first word of an answer of Redis, such as `OOM` or `WRONGPASS`. */
const REPLY = /^[A-Z]{3,20}(?= )/;

/** The class and code of a foreign error. Its message may quote a job or an address (L15). */
function errorName(error: unknown): string {
  if (error instanceof MirrorError) return error.code;
  if (!(error instanceof Error)) return typeof error;
  const reply = error.name === 'ReplyError' ? REPLY.exec(error.message)?.[0] : undefined;
  return [error.name, reply ?? errorCode(error)].filter((part) => part !== undefined).join(' ');
}
