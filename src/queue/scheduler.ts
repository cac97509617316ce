import type { JobSchedulerJson } from 'bullmq';
import { CronExpressionParser } from 'cron-parser';
import type { Clock } from '../base/clock.ts';
import { MirrorError } from '../base/errors.ts';
import type { Events } from '../base/events.ts';
import type { Logger } from '../base/logger.ts';
import type { PassKind } from '../mirror/types.ts';
import type { QueueBackend } from './backends.ts';
import type { QueueEventMap } from './events.ts';
import type { FaultLog } from './fault-log.ts';
import { type PlanData, planData, planOptions } from './jobs.ts';
import { type Queues, removeTargetQueues } from './queues.ts';
import type { Tuning } from './tuning.ts';
import type { Schedules } from './work.ts';

/*
 * Two job schedulers tick in the plan queue, `incremental` and `full`. At the start they are made to agree with the
 * settings; what earlier settings left behind is removed. From then on a heartbeat looks after them: it makes them anew
 * when the store has lost them (a flushed Redis), and when ticks should have come long ago and none is on its way.
 *
 * Which targets have queues is written in the schedulers' own payload, so that the next start can tell which are stale
 * on every backend alike. Two processes with different settings do not fight: the heartbeat only restores, it does not
 * correct.
 */

/** What scheduling needs. */
export interface SchedulerContext {
  readonly backend: QueueBackend;
  readonly queues: Queues;
  readonly schedules: Schedules;
  readonly tuning: Tuning;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: Events<QueueEventMap>;
  readonly faults: FaultLog;
}

/** A schedule as the store has it. */
export interface ScheduleState {
  readonly kind: PassKind;
  /** Milliseconds since the epoch; null when the store does not have it. */
  readonly nextRunAt: number | null;
  /** Ticks should have come long ago. */
  readonly overdue: boolean;
}

/** The kinds of pass, which are also the schedulers' names. */
export const KINDS: readonly PassKind[] = ['incremental', 'full'];

/**
 * Makes the store agree with the settings. Where what is new is looked for at an interval, it is also looked for now:
 * whoever starts the program wants to see something happen; a cron expression is kept to the letter. Throws SETTINGS
 * for a cron expression or time zone that does not exist.
 */
export async function applySchedules(context: SchedulerContext): Promise<void> {
  const stored = await context.queues.plan.getJobSchedulers(0, -1, true);
  await removeStale(context, stored);
  for (const kind of KINDS) {
    const existing = stored.find((scheduler) => scheduler.key === kind);
    if (!agrees(context.schedules, kind, existing)) await upsert(context, kind, startOf(kind));
    // A new schedule begins with a tick anyway.
    else if (kind === 'incremental' && existing?.every !== undefined) await tickNow(context, kind);
  }
}

/** Adds one tick besides the scheduled ones; asking twice before it began is asking once. */
export async function tickNow(context: SchedulerContext, kind: PassKind): Promise<void> {
  await context.queues.plan.add('plan', planDataOf(context, kind), {
    ...planOptions(kind, context.tuning),
    jobId: `now-${kind}`,
    removeOnComplete: true,
    removeOnFail: true,
  });
}

/** One heartbeat: restores schedules that the store has lost, and tells about overdue ones. */
export async function lookAfterSchedules(context: SchedulerContext): Promise<void> {
  for (const kind of KINDS) {
    const stored = await context.queues.plan.getJobScheduler(kind);
    if (stored?.next === undefined || stored.next === null) {
      context.logger.warn({ kind }, 'The queue has lost a schedule; it is made anew.');
      await upsert(context, kind, startOf(kind));
      continue;
    }
    if (isOverdue(context, kind, stored.next)) await healOverdue(context, kind, stored.next);
  }
}

/** The schedules as they stand. */
export async function readSchedules(context: SchedulerContext): Promise<ScheduleState[]> {
  const states: ScheduleState[] = [];
  for (const kind of KINDS) {
    const next = (await context.queues.plan.getJobScheduler(kind))?.next ?? null;
    states.push({
      kind,
      nextRunAt: next,
      overdue: next !== null && isOverdue(context, kind, next),
    });
  }
  return states;
}

function planDataOf(context: SchedulerContext, kind: PassKind): PlanData {
  return { kind, targets: [...context.schedules.targets] };
}

async function removeStale(context: SchedulerContext, stored: JobSchedulerJson[]): Promise<void> {
  const known = new Set<string>();
  for (const scheduler of stored) {
    const data = planData.safeParse(scheduler.template?.data);
    for (const target of data.success ? data.data.targets : []) known.add(target);
    if (!KINDS.some((kind) => kind === scheduler.key)) {
      await context.queues.plan.removeJobScheduler(scheduler.key);
    }
  }
  for (const target of context.schedules.targets) known.delete(target);
  for (const target of known) {
    context.logger.info({ target }, 'A target is gone from the settings; its queues are removed.');
    await removeTargetQueues(context.backend, target, context.faults);
  }
}

type When = 'now' | 'after-interval';

/** The first incremental passes read everything, so the first full ones can wait. */
const startOf = (kind: PassKind): When => (kind === 'full' ? 'after-interval' : 'now');

async function upsert(context: SchedulerContext, kind: PassKind, when: When): Promise<void> {
  const { schedules, tuning, clock } = context;
  const rule = ruleOf(schedules, kind);
  if ('cron' in rule) assertCron(rule);
  const startDate =
    when === 'after-interval' && 'everyMs' in rule
      ? { startDate: clock.now() + rule.everyMs }
      : undefined;
  await context.queues.plan.upsertJobScheduler(
    kind,
    'cron' in rule
      ? { pattern: rule.cron, tz: rule.timeZone }
      : { every: Math.round(rule.everyMs), ...startDate },
    { name: 'plan', data: planDataOf(context, kind), opts: planOptions(kind, tuning) },
  );
}

type Rule = Schedules['incremental'];

const ruleOf = (schedules: Schedules, kind: PassKind): Rule =>
  kind === 'full' ? schedules.full : schedules.incremental;

function assertCron(rule: { cron: string; timeZone: string }): void {
  try {
    CronExpressionParser.parse(rule.cron, { tz: rule.timeZone }).next();
  } catch (error) {
    throw new MirrorError(
      'SETTINGS',
      `SYNC_CRON "${rule.cron}" in time zone "${rule.timeZone}" (SYNC_TZ) is no schedule. Example: SYNC_CRON="*/15 8-18 * * 1-5" SYNC_TZ=Europe/Prague`,
      { cause: error },
    );
  }
}

/** True when the store's scheduler says what the settings say. */
function agrees(schedules: Schedules, kind: PassKind, stored?: JobSchedulerJson): boolean {
  if (stored === undefined) return false;
  const rule = ruleOf(schedules, kind);
  const sameRule =
    'cron' in rule
      ? stored.pattern === rule.cron && stored.tz === rule.timeZone
      : stored.every === Math.round(rule.everyMs);
  const data = planData.safeParse(stored.template?.data);
  const targets = data.success ? data.data.targets : [];
  return sameRule && [...targets].sort().join() === [...schedules.targets].sort().join();
}

function isOverdue(context: SchedulerContext, kind: PassKind, next: number): boolean {
  const patience = Math.max(2 * periodOf(context, kind, next), 4 * context.tuning.heartbeatMs);
  return context.clock.now() - next > patience;
}

function periodOf(context: SchedulerContext, kind: PassKind, next: number): number {
  const rule = ruleOf(context.schedules, kind);
  if (!('cron' in rule)) return rule.everyMs;
  const times = CronExpressionParser.parse(rule.cron, {
    tz: rule.timeZone,
    currentDate: new Date(next),
  });
  return times.next().getTime() - next;
}

/** Late because planning is slow is one thing; no tick on its way at all is another, and can be mended. */
async function healOverdue(context: SchedulerContext, kind: PassKind, next: number): Promise<void> {
  const { plan } = context.queues;
  const alive = await plan.getJobs(['waiting', 'delayed', 'active', 'prioritized']);
  const healed = !alive.some((job) => job.repeatJobKey === kind);
  const dueAt = new Date(next).toISOString();
  context.logger.warn({ kind, dueAt, healed }, 'A scheduled run is overdue.');
  context.events.emit('schedule.overdue', { kind, dueAt, healed });
  if (!healed) return;
  await plan.removeJobScheduler(kind);
  await upsert(context, kind, 'now');
}
