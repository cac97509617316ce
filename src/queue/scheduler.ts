import type { JobSchedulerJson } from 'bullmq';
import { CronExpressionParser } from 'cron-parser';
import type { Clock } from '../base/clock.ts';
import { MirrorError } from '../base/errors.ts';
import type { Events } from '../base/events.ts';
import type { Logger } from '../base/logger.ts';
import type { PassKind } from '../mirror/types.ts';
import type { QueueBackend } from './backends/backend.ts';
import type { QueueEventMap } from './events.ts';
import type { ErrorListener } from './error-log.ts';
import { JOB_NAMES, type PlanData, planData, planOptions } from './jobs.ts';
import { type Queues, removeTargetQueues } from './queues.ts';
import type { Timings } from './timings.ts';

/*
 * One job scheduler adds jobs to the plan queue: a tick looks for what is new, and adds the comparisons that are due. At the
 * start it is made to agree with the settings; what earlier settings left behind is removed. From then on a
 * heartbeat checks it: it creates it again when the store has lost it (a flushed Redis), and when a run is long overdue and
 * no job for it exists. And it keeps its rhythm, which PostgreSQL's scheduler loses after a tick that was late by more than
 * its interval.
 *
 * Which targets have queues is written in the scheduler's own payload, so that the next start knows which are stale, on
 * every backend alike. Two processes with different settings do not fight: the heartbeat restores, it does not correct.
 */

/** When passes run by themselves, and into which targets. */
export interface Schedules {
  readonly incremental:
    | { readonly everyMs: number }
    | { readonly cron: string; readonly timeZone: string };
  /** Within what time everything is read: no retry of a full pass waits for longer. */
  readonly full: { readonly everyMs: number };
  /** Whether a form's passes are followed by marking. */
  readonly marking: boolean;
  /** The names of all targets. The queues of others are removed. */
  readonly targets: readonly string[];
}

/** What keeping the schedules works with. */
export interface SchedulerContext {
  readonly backend: QueueBackend;
  readonly queues: Queues;
  readonly schedules: Schedules;
  readonly timings: Timings;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: Events<QueueEventMap>;
  readonly onError: ErrorListener;
}

/** A schedule as the store has it. */
export interface ScheduleState {
  readonly kind: PassKind;
  /** Milliseconds since the epoch; null when the store does not have it. */
  readonly nextRunAt: number | null;
  /** A run should have happened long ago. */
  readonly overdue: boolean;
}

/** The kinds of pass that have a scheduler, which are also the schedulers' names. */
const KINDS: readonly PassKind[] = ['incremental'];

/**
 * Makes the store agree with the settings. With an interval, an incremental pass also runs now: a person who starts the
 * program wants to see something happen; a cron expression is followed to the letter. Throws SETTINGS for an invalid cron
 * expression or time zone.
 */
export async function applySchedules(context: SchedulerContext): Promise<void> {
  const stored = await context.queues.plan.getJobSchedulers(0, -1, true);
  await removeStale(context, stored);
  for (const kind of KINDS) {
    const existing = stored.find((scheduler) => scheduler.key === kind);
    if (!agrees(context.schedules, kind, existing)) await upsert(context, kind, 'now');
    // A new schedule begins with a run anyway.
    else if (existing?.every !== undefined) await tickNow(context, kind);
  }
}

/** Adds one run besides the scheduled ones. A second call before it began adds nothing; one that waits for another try begins. */
export async function tickNow(context: SchedulerContext, kind: PassKind): Promise<void> {
  const { plan } = context.queues;
  const jobId = `now-${kind}`;
  const before = await plan.getJob(jobId);
  // Not where a worker takes it at this moment.
  if ((await before?.isDelayed()) === true) await before?.promote().catch(() => undefined);
  await plan.add(JOB_NAMES.plan, planDataOf(context, kind), {
    ...planOptions(kind, context.timings),
    jobId,
    removeOnComplete: true,
    removeOnFail: true,
  });
}

/** One heartbeat: creates schedules again that the store has lost, and repairs and reports overdue ones. */
export async function repairSchedules(context: SchedulerContext): Promise<void> {
  for (const kind of KINDS) {
    const stored = await context.queues.plan.getJobScheduler(kind);
    if (stored?.next === undefined || stored.next === null) {
      context.logger.warn({ kind }, 'The queue has lost a schedule; it is created again.');
      await upsert(context, kind, 'now');
      continue;
    }
    await keepRhythm(context, kind);
    if (await isOverdue(context, kind, stored.next)) {
      await repairOverdue(context, kind, stored.next);
    }
  }
}

/**
 * Takes back what the next run is later than one interval from now. PostgreSQL's scheduler adds offset and interval to the
 * slot of now, which may be nearly two intervals, where Redis takes the next slot. Only remove and upsert moves it.
 */
export async function keepRhythm(context: SchedulerContext, kind: PassKind): Promise<void> {
  const rule = ruleOf(context.schedules, kind);
  if ('cron' in rule) return;
  const everyMs = Math.round(rule.everyMs);
  const stored = await context.queues.plan.getJobScheduler(kind);
  if (stored?.next === undefined || stored.next === null || stored.every !== everyMs) return;
  const slotsLate = Math.ceil((stored.next - context.clock.now()) / everyMs) - 1;
  if (slotsLate < 1) return;
  await context.queues.plan.removeJobScheduler(kind);
  await upsert(context, kind, { atMs: stored.next - slotsLate * everyMs });
}

/** The schedules as the store has them. */
export async function readSchedules(context: SchedulerContext): Promise<ScheduleState[]> {
  const states: ScheduleState[] = [];
  for (const kind of KINDS) {
    const next = (await context.queues.plan.getJobScheduler(kind))?.next ?? null;
    const overdue = next !== null && (await isOverdue(context, kind, next));
    states.push({ kind, nextRunAt: next, overdue });
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
    context.logger.info(
      { target },
      'A target is no longer in the settings; its queues are removed.',
    );
    await removeTargetQueues(context.backend, target, context.onError);
  }
}

type When = 'now' | { readonly atMs: number };

async function upsert(context: SchedulerContext, kind: PassKind, when: When): Promise<void> {
  const { schedules, timings } = context;
  const rule = ruleOf(schedules, kind);
  if ('cron' in rule) assertCron(rule);
  await context.queues.plan.upsertJobScheduler(
    kind,
    'cron' in rule
      ? { pattern: rule.cron, tz: rule.timeZone }
      : { every: Math.round(rule.everyMs), ...(when !== 'now' && { startDate: when.atMs }) },
    { name: JOB_NAMES.plan, data: planDataOf(context, kind), opts: planOptions(kind, timings) },
  );
}

type Rule = Schedules['incremental'];

const ruleOf = (schedules: Schedules, kind: PassKind): Rule =>
  kind === 'full' ? schedules.full : schedules.incremental;

/** Milliseconds between two runs of a kind; infinite where a cron expression says when. */
export function intervalOf(schedules: Schedules, kind: PassKind): number {
  const rule = ruleOf(schedules, kind);
  return 'cron' in rule ? Number.POSITIVE_INFINITY : Math.round(rule.everyMs);
}

function assertCron(rule: { cron: string; timeZone: string }): void {
  try {
    CronExpressionParser.parse(rule.cron, { tz: rule.timeZone }).next();
  } catch (error) {
    throw new MirrorError(
      'SETTINGS',
      `SYNC_CRON "${rule.cron}" in time zone "${rule.timeZone}" (SYNC_TZ) is not a schedule. Example: SYNC_CRON="*/15 8-18 * * 1-5" SYNC_TZ=Europe/Prague`,
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

/** A look that is under way is not a missing tick, however slow the source is: the next one waits behind it. */
async function isOverdue(
  context: SchedulerContext,
  kind: PassKind,
  next: number,
): Promise<boolean> {
  const toleranceMs = Math.max(2 * periodOf(context, kind, next), 4 * context.timings.heartbeatMs);
  if (context.clock.now() - next <= toleranceMs) return false;
  return (await context.queues.plan.getActiveCount()) === 0;
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

/** A run may be late because planning is slow; when no job for it exists, the schedule is created again. */
async function repairOverdue(
  context: SchedulerContext,
  kind: PassKind,
  next: number,
): Promise<void> {
  const { plan } = context.queues;
  const jobs = await plan.getJobs(['waiting', 'delayed', 'active', 'prioritized']);
  const repaired = !jobs.some((job) => job.repeatJobKey === kind);
  const dueAt = new Date(next).toISOString();
  context.logger.warn({ kind, dueAt, repaired }, 'A scheduled run is overdue.');
  context.events.emit('schedule.overdue', { kind, dueAt, repaired });
  if (!repaired) return;
  await plan.removeJobScheduler(kind);
  await upsert(context, kind, 'now');
}
