import type { QueueState } from './source.ts';

/** Whether the process does its work; `reason` for people, without details that only an admin may see. */
export type Health = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/** True while the scheduler ticks: it answers, it has its schedules, and none is overdue by its watchdog. Pure. */
export function healthOf(queue: QueueState | null): Health {
  if (queue === null || !queue.reachable) {
    return { ok: false, reason: 'The queue does not answer.' };
  }
  const { schedules } = queue;
  if (schedules.length === 0 || schedules.some(({ nextRunAt }) => nextRunAt === null)) {
    return { ok: false, reason: 'The queue has lost a schedule; it is made anew in a moment.' };
  }
  const late = schedules.find(({ overdue }) => overdue);
  if (late === undefined) return { ok: true };
  return {
    ok: false,
    reason: `The scheduler does not tick: a ${late.kind} run was due at ${late.nextRunAt}.`,
  };
}
