import type { Clock } from '../base/clock.ts';
import { MirrorError } from '../base/errors.ts';
import type { Events } from '../base/events.ts';
import type { Logger } from '../base/logger.ts';
import type { QueueEventMap } from './events.ts';

/** Takes every `error` event of BullMQ and its drivers: logged, never fatal. */
export type FaultLog = (error: unknown) => void;

/** An outage makes each of many connections complain at each try; a log needs to know it once in a while. */
const REPEAT_AFTER_MS = 30_000;

/** The same fault is reported once every half minute, with the number of times it was met in between. */
export function createFaultLog(
  logger: Logger,
  events: Events<QueueEventMap>,
  clock: Clock,
): FaultLog {
  const met = new Map<string, { reportedAt: number; silent: number }>();
  return (error) => {
    const fault = faultName(error);
    const now = clock.now();
    const last = met.get(fault);
    if (last !== undefined && now - last.reportedAt < REPEAT_AFTER_MS) {
      last.silent++;
      return;
    }
    met.set(fault, { reportedAt: now, silent: 0 });
    logger.warn({ fault, before: last?.silent ?? 0 }, 'The queue reports a fault.');
    events.emit('queue.fault', { fault });
  };
}

/** What may be told of a foreign error: its class and code. Its message may quote a job or an address (L15). */
function faultName(error: unknown): string {
  if (error instanceof MirrorError) return error.code;
  if (!(error instanceof Error)) return typeof error;
  const code = (error as { code?: unknown }).code;
  const known = typeof code === 'string' || typeof code === 'number' ? ` ${code}` : '';
  return `${error.name}${known}${reasonOf(error.message)}`;
}

/** BullMQ's own faults have no codes. These say what matters without quoting anything. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/could not renew lock/i, 'lock not renewed'],
  [/missing lock/i, 'lock lost'],
  [/missing key/i, 'job vanished'],
  [/not in the active state|is not in the/i, 'job was taken over'],
  [/connection is closed|terminat/i, 'connection closed'],
  [/pending dependencies/i, 'children pending'],
  [/next iteration/i, 'next tick not written'],
];

function reasonOf(message: string): string {
  const reason = REASONS.find(([pattern]) => pattern.test(message));
  return reason === undefined ? '' : `: ${reason[1]}`;
}
