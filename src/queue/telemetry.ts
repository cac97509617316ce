import type { Telemetry } from 'bullmq';

/** Where a module that was loaded before the program (`node --import`) may leave what BullMQ is to report spans to. */
const PLACE = Symbol.for('forms-mirror.telemetry');

/**
 * An option of queues and workers: what such a module left, or nothing. The program itself depends on no tracing; spans name
 * queues, jobs and their IDs, and so hold no answer (L11).
 */
export function telemetryOption(): { telemetry?: Telemetry } {
  const left = (globalThis as { [PLACE]?: Telemetry })[PLACE];
  return left === undefined ? {} : { telemetry: left };
}
