import { PROBLEMS, type ProblemCode } from '../base/catalogue.ts';
import { plural, span } from '../base/format.ts';
import {
  CONFIRMED_FAILURES,
  type HealthFacts,
  type KnownForm,
  type PlanState,
  type QueueState,
  type TargetReading,
} from './facts.ts';
import { unmatchedSentence } from '../sync/unmatched-names.ts';
import { isoOrNull, lookedMs } from './form-coverage.ts';
import { earliest } from './form-health.ts';
import { newestPass } from './pass-summary.ts';
import { type Problem, remedyFor } from './problem.ts';

/*
 * Problems that several forms share, so that one cause is shown and announced once, not form by form.
 */

/** The forms in which a failure has to show before the source as a whole is blamed; a refused key concerns all at once. */
const SOURCE_CODES: ReadonlyMap<ProblemCode, number> = new Map([
  ['FORMS_UNAUTHORIZED', 1],
  ['FORMS_UNREACHABLE', 2],
  ['FORMS_REDIRECT', 2],
  ['FORMS_FAILED', 2],
]);

/** Likewise for a target. */
const TARGET_CODES: ReadonlyMap<ProblemCode, number> = new Map([
  ['TARGET_UNREACHABLE', 2],
  ['TARGET_DENIED', 2],
  ['TARGET_FULL', 2],
  ['TARGET_FAILED', 2],
  ['OTHER_SCHEMA', 1],
]);

/** What is wrong with the source. Pure. */
export function assessSource(forms: readonly KnownForm[], plan: PlanState): Problem | null {
  const reachedMs = lastSuccessMs(forms);
  const shared = sharedFailure(forms, SOURCE_CODES, reachedMs);
  if (shared !== null) return shared;
  const { problem } = plan;
  if (problem === null || Date.parse(problem.at) <= reachedMs) return null;
  // Another process may have planned since this one did, and passes have been proven.
  const answeredMs = Math.max(reachedMs, Date.parse(plan.at ?? '') || 0);
  const since = problem.since ?? isoOrNull(answeredMs) ?? problem.at;
  return sharedProblem(problem.code, problem.message, since);
}

/** What is wrong with a target: its forms' passes, or that it cannot be read. Pure. */
export function assessTarget(
  forms: readonly KnownForm[],
  { failure, failures }: TargetReading,
): Problem | null {
  const shared = sharedFailure(forms, TARGET_CODES, lastSuccessMs(forms));
  if (shared !== null) return shared;
  if (failure === null) return null;
  const problem = sharedProblem(failure.code, failure.message, isoOrNull(failure.sinceMs));
  return failures < CONFIRMED_FAILURES ? unconfirmed(problem) : problem;
}

/** What is wrong with queue and schedules. Pure. */
export function assessQueue(facts: HealthFacts): Problem | null {
  const { queue, queueFailures, queueFailingSinceMs, nowMs } = facts;
  if (facts.hasNoQueue) {
    const { queueAwaySince = null } = facts;
    if (queueAwaySince === null) return null;
    return sharedProblem('QUEUE_FAILED', NO_QUEUE, queueAwaySince);
  }
  if (queue === null || !queue.reachable) {
    const where = queue === null ? '' : ` (${queue.address})`;
    const message = `The queue${where} does not answer; no pass can begin.`;
    const problem = sharedProblem('QUEUE_FAILED', message, isoOrNull(queueFailingSinceMs));
    return queueFailures < CONFIRMED_FAILURES ? unconfirmed(problem) : problem;
  }
  const late = queue.schedules.find(({ overdue }) => overdue);
  if (late === undefined) return null;
  const { kind, nextRunAt } = late;
  const since = nextRunAt === null ? '' : ` for ${span(nowMs - Date.parse(nextRunAt))}`;
  const problem = sharedProblem(
    'QUEUE_FAILED',
    `The ${kind} run has been overdue${since}.`,
    nextRunAt,
  );
  return { ...problem, title: 'The scheduler has stopped' };
}

/** What shows already, but may be over with the next look: nobody is alerted of it yet. */
const unconfirmed = (problem: Problem): Problem => ({ ...problem, level: 'warning' });

/** That the process of the mirror has died, or that none is known to run. Pure. */
export function assessRunning({ notRunning }: HealthFacts): Problem | null {
  if (notRunning === null) return null;
  const { died } = notRunning;
  if (died !== null) return sharedProblem('NOT_RUNNING', died.message, died.since);
  const problem = sharedProblem('NOT_RUNNING', NOBODY_RUNS, null);
  const title = 'No process of the mirror is known to run here';
  return { ...unconfirmed(problem), title, remedy: 'forms-mirror start keeps copying.' };
}

const NO_QUEUE = 'The queue does not answer; no pass can begin.';

const NOBODY_RUNS =
  'No start or worker is known to run with this DATA_DIR. One on another machine shows on its own status page.';

/** Names in the settings that match nothing, of one target or of all: the mirror is not what was asked for. Pure. */
export function assessSettings(plan: PlanState, target?: string): Problem | null {
  const found = plan.unmatched.filter(
    ({ targets }) => target === undefined || targets.includes(target),
  );
  if (found.length === 0) return null;
  const message = found.map(unmatchedSentence).join(' ');
  const problem = sharedProblem('SETTINGS', message, null);
  return { ...problem, remedy: 'Correct the names and restart; forms-mirror check lists them.' };
}

/** What is wrong when every form is stale. `sinceMs`: since the longest. */
export function allStale(forms: number, sinceMs: number, nowMs: number): Problem {
  const message = `No pass of any of ${plural(forms, 'form')} has ended, and no look has found one unchanged, for ${span(nowMs - sinceMs)}, longer than the schedule explains.`;
  return { ...sharedProblem('STALE', message, isoOrNull(sinceMs)), title: 'All forms are stale' };
}

/** Whether a problem of the source or a target explains a failure with `code`. */
export function explains(shared: Problem | null, code: ProblemCode | null): boolean {
  if (shared === null || code === null) return false;
  return [SOURCE_CODES, TARGET_CODES].some((codes) => codes.has(shared.code) && codes.has(code));
}

/** End of the newest pass of these that did not fail; since the epoch, 0 for none. */
export function lastSuccessMs(forms: readonly KnownForm[]): number {
  return forms.reduce(
    (newest, form) => Math.max(newest, form.summary.succeededMs, lookedMs(form)),
    0,
  );
}

/** Whether the process does its work; `reason` for people, without details that only an admin may see. */
export type Readiness = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/** True while the scheduler runs: it answers, it has its schedules, and none is overdue. Stricter than {@link assessQueue}: once is enough. Pure. */
export function readinessOf(queue: QueueState | null): Readiness {
  if (queue === null || !queue.reachable) {
    return { ok: false, reason: 'The queue does not answer.' };
  }
  const { schedules } = queue;
  if (schedules.length === 0 || schedules.some(({ nextRunAt }) => nextRunAt === null)) {
    return { ok: false, reason: 'The queue has lost a schedule; it is restored in a moment.' };
  }
  const late = schedules.find(({ overdue }) => overdue);
  if (late === undefined) return { ok: true };
  return {
    ok: false,
    reason: `The scheduler has stopped: the ${late.kind} run was due at ${late.nextRunAt}.`,
  };
}

function sharedProblem(code: ProblemCode, message: string, since: string | null): Problem {
  const { title } = PROBLEMS[code];
  return { level: 'error', code, title, message, remedy: remedyFor(code), command: null, since };
}

interface Failure {
  readonly formId: string;
  readonly message: string;
  readonly endedMs: number;
  readonly since: string | null;
}

/** The newest failure that shows in as many forms as its code asks for, with no success since. */
function sharedFailure(
  forms: readonly KnownForm[],
  codes: ReadonlyMap<ProblemCode, number>,
  reachedMs: number,
): Problem | null {
  const failures = new Map<ProblemCode, Failure[]>();
  for (const { form, summary } of forms) {
    const pass = newestPass(summary);
    if (pass?.outcome !== 'failed' || pass.code === null || !codes.has(pass.code)) continue;
    const endedMs = Date.parse(pass.endedAt);
    if (endedMs <= reachedMs) continue;
    const since = isoOrNull(summary.outcomeSinceMs[pass.kind]);
    const failure = { formId: form.id, message: pass.error ?? '', endedMs, since };
    const list = failures.get(pass.code);
    if (list === undefined) failures.set(pass.code, [failure]);
    else list.push(failure);
  }
  const shared = [...failures]
    .filter(
      ([code, list]) => new Set(list.map(({ formId }) => formId)).size >= (codes.get(code) ?? 2),
    )
    .map(([code, list]) => ({ code, list, newest: newestOf(list) }))
    .toSorted((a, b) => b.newest.endedMs - a.newest.endedMs)[0];
  if (shared === undefined) return null;
  const since = earliest(shared.list.map((failure) => failure.since));
  return sharedProblem(shared.code, shared.newest.message, since);
}

const newestOf = (list: readonly Failure[]): Failure =>
  list.reduce((newest, failure) => (failure.endedMs > newest.endedMs ? failure : newest));
