import type { ProblemCode } from '../base/catalogue.ts';
import { HEALTH_STATES, type HealthState } from '../mirror/health-text.ts';
import { type Pause, pauseOf, wholePause } from '../mirror/pauses.ts';
import type { TargetKind } from '../mirror/target.ts';
import type { FormIdentity } from '../mirror/types.ts';
import {
  type FormInTarget,
  type HealthFacts,
  type KnownForm,
  type PlanState,
  type QueueState,
  type TargetReading,
  formKey,
} from './facts.ts';
import { lastProofMs, lookedMs } from './form-coverage.ts';
import { type FormHealth, assessForm, earliest } from './form-health.ts';
import { type PassSummary, newestPass } from './pass-summary.ts';
import type { RunningPass } from './pass-tracker.ts';
import type { Problem } from './problem.ts';
import {
  allStale,
  assessQueue,
  assessRunning,
  assessSettings,
  assessSource,
  assessTarget,
  explains,
  lastSuccessMs,
} from './shared-problems.ts';
import { assessCondition, type SourceHealth } from './source-state.ts';
import { waitProblem } from './source-waits.ts';
import { type Staleness, isStale, stalenessOf, stalenessScope } from './staleness.ts';

/** The health of the whole mirror. Everything that shows or announces a state takes it from here. */
export interface MirrorHealth {
  readonly nowMs: number;
  readonly state: HealthState;
  /** Since when it is in this state, as far as is known (ISO); null when it is not. */
  readonly since: string | null;
  /** When the source last answered as it should, as far as is known; since the epoch, 0 for never. */
  readonly sourceHeardAtMs: number;
  /** How the source is doing. */
  readonly source: SourceHealth;
  /** What concerns all forms: the source, the queue, the scheduler. */
  readonly problems: readonly Problem[];
  readonly targets: readonly TargetHealth[];
  readonly forms: readonly FormHealth[];
  readonly queue: QueueState | null;
  readonly plan: PlanState;
}

/** The health of a target. */
export interface TargetHealth {
  readonly name: string;
  readonly state: HealthState;
  /** See {@link MirrorHealth.since}. */
  readonly since: string | null;
  readonly problem: Problem | null;
  readonly kind: TargetKind | null;
  readonly address: string | null;
  readonly readAtMs: number;
  /** Whether the last try to read it succeeded. */
  readonly readable: boolean;
  /** End of the newest pass that did not fail; since the epoch, 0 for none. */
  readonly heardAtMs: number;
  readonly paused: boolean;
  /** That people have the target as a whole left alone; null when they have not. */
  readonly pause: Pause | null;
}

/** Judges the mirror. Pure. */
export function assessMirror(facts: HealthFacts): MirrorHealth {
  const { nowMs, plan, queue } = facts;
  const known = facts.targets.map((reading) => ({ reading, forms: knownForms(reading, facts) }));
  const wanted = known.flatMap(({ forms }) => forms).filter((form) => form.wanted);
  // What failed before people paused it is tried no more: it says nothing of how source and targets are now.
  const source = assessSource(wanted.filter(isTried), plan);
  const freshness = freshnessOf(known, facts);
  const scope = stalenessScope([...freshness.values()], nowMs);
  const ofAll = [
    source,
    assessQueue(facts),
    assessRunning(facts),
    source === null && facts.sourceWait !== null ? waitProblem(facts.sourceWait) : null,
  ].filter((problem) => problem !== null);
  const judged = known.map(({ reading, forms }) => {
    const problem = assessTarget(
      forms.filter((form) => form.wanted && isTried(form)),
      reading,
    );
    const ofSettings = assessSettings(plan, reading.name);
    const isShared = (code: ProblemCode | null): boolean =>
      explains(source, code) ||
      explains(problem, code) ||
      // A name that hashes nothing holds up forms: one cause.
      (code === 'SETTINGS' && ofSettings !== null);
    const holdsUp = problem ?? worstOf(ofAll) ?? ofSettings;
    const healths = forms.map((form) =>
      assessForm(form, {
        nowMs,
        isShared,
        stale: staleOf(freshness.get(keyOf(form)), nowMs, scope === 'some'),
        nextRunAt: facts.nextRunAt(form),
        nextFullAt: facts.nextFullAt(form),
        shared: holdsUp,
        overdueSince: overdueSince(form, facts),
        fullRetryAt: fullRetryAt(form, queue),
      }),
    );
    return { target: targetHealth(reading, problem, healths, facts), forms: healths };
  });
  const targets = judged.map(({ target }) => target);
  const forms = judged.flatMap((one) => one.forms);
  const problems = [
    facts.dataDir,
    assessSettings(plan),
    ...ofAll,
    scope === 'all' ? staleProblem(freshness, nowMs) : null,
  ]
    .filter((problem) => problem !== null)
    .toSorted((a, b) => Number(b.level === 'error') - Number(a.level === 'error'));
  const shared = [...problems, ...targets.flatMap(({ problem }) => problem ?? [])];
  const state = stateWith(worstOf(shared), stateOfForms(forms, facts));
  const since = sinceWith(worstOf(shared), state, forms);
  const sourceHeardAtMs = Math.max(lastSuccessMs(wanted), Date.parse(plan.at ?? '') || 0);
  const { sourceWait: wait, nextRunMs } = facts;
  const heardAtMs = sourceHeardAtMs;
  const condition = assessCondition({ nowMs, problem: source, wait, heardAtMs, nextRunMs });
  const judgedAll = { problems, targets, forms, source: condition };
  return { nowMs, state, since, sourceHeardAtMs, ...judgedAll, queue, plan };
}

const isTried = ({ pause = null }: KnownForm): boolean => pause === null;

/** The first that is an error, or else the first. */
const worstOf = (problems: readonly Problem[]): Problem | null =>
  problems.find(({ level }) => level === 'error') ?? problems[0] ?? null;

/** With a problem that is no error yet, whether anything is current is not known. */
function stateWith(shared: Problem | null, ofForms: HealthState): HealthState {
  if (shared === null) return ofForms;
  return shared.level === 'error' ? 'failed' : worst([ofForms, 'waiting']);
}

function sinceWith(
  shared: Problem | null,
  state: HealthState,
  forms: readonly FormHealth[],
): string | null {
  const isShared = shared !== null && (state === 'failed' || state === 'waiting');
  return isShared ? shared.since : sinceOfForms(state, forms);
}

/** The worst of several states; `waiting` for none. What has ended counts only when all has. */
export function worst(states: readonly HealthState[]): HealthState {
  return HEALTH_STATES.find((state) => states.includes(state)) ?? 'waiting';
}

/** When the queue's schedule starts the next passes (ISO); null when it is not known. */
export function queuedRunAt(queue: QueueState | null): string | null {
  if (queue?.reachable !== true) return null;
  return queue.schedules.find(({ kind }) => kind === 'incremental')?.nextRunAt ?? null;
}

/** Only a first or an overdue pass makes the mirror `working`: another one does not change what is known. */
function stateOfForms(forms: readonly FormHealth[], clock: Clockwork): HealthState {
  return worst(
    forms.map((form) => {
      const { state, provenAt, overdueSince, covers, differsSince } = form;
      // What a look has just found is being read: it is as current as it was a moment before.
      const isBeingRead =
        state === 'waiting' && isJustFound(differsSince, lastProofMs(form), clock);
      const isPassing = state === 'working' || isBeingRead;
      if (!isPassing || provenAt === null || overdueSince !== null) return state;
      return covers.absent > 0 ? 'waiting' : 'ok';
    }),
  );
}

type Clockwork = Pick<HealthFacts, 'nowMs' | 'nextRunMs' | 'hasNoQueue'>;

/** The pass that a look asks for begins within this time, and ends before the next look. */
const JUST_FOUND_MS = 60_000;

function isJustFound(
  since: string | null,
  provenMs: number,
  { nowMs, nextRunMs, hasNoQueue }: Clockwork,
): boolean {
  // A command does not know whether a pass is on its way.
  if (since === null || provenMs === 0 || hasNoQueue === true) return false;
  const nextLookMs = nextRunMs(nextRunMs(provenMs));
  return nowMs - Date.parse(since) < JUST_FOUND_MS && nowMs < nextLookMs;
}

/** For `ok` the last recovery of any form; otherwise the earliest time at which a form got into this state. */
function sinceOfForms(state: HealthState, forms: readonly FormHealth[]): string | null {
  const times = forms.filter((form) => form.state === state).map(({ since }) => since);
  if (state !== 'ok') return earliest(times);
  return times.reduce(
    (last, time) => (last !== null && (time === null || time < last) ? last : time),
    null,
  );
}

function targetHealth(
  { name, overview, readAtMs, failure }: TargetReading,
  problem: Problem | null,
  forms: readonly FormHealth[],
  facts: HealthFacts,
): TargetHealth {
  const pause = wholePause(overview?.pauses ?? []);
  const ofForms = forms.length === 0 && pause !== null ? 'paused' : stateOfForms(forms, facts);
  const state = stateWith(problem, ofForms);
  return {
    name,
    state,
    since: state === 'paused' && pause !== null ? pause.since : sinceWith(problem, state, forms),
    problem,
    kind: overview?.kind ?? null,
    address: overview?.address ?? null,
    readAtMs,
    readable: failure === null,
    heardAtMs: lastSuccessMs(forms.filter(({ wanted }) => wanted)),
    paused: pause !== null,
    pause,
  };
}

/** The forms that a target holds, and those that are planned for it and still to come. */
function knownForms(reading: TargetReading, facts: HealthFacts): KnownForm[] {
  const { plan } = facts;
  const target = reading.name;
  const planned = plan.forms.filter(({ targets }) => targets.includes(target));
  const plannedIds = new Set(planned.map(({ form }) => form.id));
  const held = new Map((reading.overview?.forms ?? []).map((form) => [form.formId, form]));
  const forms = new Map<string, FormIdentity>(planned.map(({ form }) => [form.id, form]));
  // Known by a failure alone: a first pass that the target could not record.
  for (const { form } of facts.kept.filter((kept) => kept.target === target)) {
    if (isLaterThan(facts.summary(target, form.id), plan)) forms.set(form.id, form);
  }
  for (const { formId: id, slug, name } of held.values()) forms.set(id, { id, slug, name });
  // Paused before its first pass: it must not look as if nothing were missing.
  for (const { formId: id } of reading.overview?.pauses ?? []) {
    if (id !== null && !forms.has(id)) forms.set(id, identityElsewhere(id, facts));
  }
  return [...forms.values()].map((form) => {
    const summary = facts.summary(target, form.id);
    const running =
      facts.running(target, form.id) ?? runningElsewhere(facts.queue, target, form.id);
    const wanted =
      facts.isChosen({ form, target }) &&
      (plannedIds.has(form.id) || running !== null || isLaterThan(summary, plan));
    const pause = pauseOf(reading.overview?.pauses ?? [], form.id);
    return { form, target, overview: held.get(form.id) ?? null, summary, running, wanted, pause };
  });
}

/** As another target knows the form; the ID stands for its names where none does. */
function identityElsewhere(id: string, { targets }: HealthFacts): FormIdentity {
  const all = targets.flatMap(({ overview }) => overview?.forms ?? []);
  const { slug = id, name = id } = all.find(({ formId }) => formId === id) ?? {};
  return { id, slug, name };
}

/** A pass that a worker elsewhere tells the queue about. */
function runningElsewhere(
  queue: QueueState | null,
  target: string,
  formId: string,
): RunningPass | null {
  if (queue?.reachable !== true) return null;
  const job = queue.running.find((one) => one.target === target && one.formId === formId);
  if (job === undefined) return null;
  const { kind, startedAtMs, progress } = job;
  const { atMs: heardAtMs, seen, total } = progress ?? { atMs: startedAtMs, seen: 0, total: 0 };
  // A job that has told nothing yet may be one that this very process has just taken.
  return { kind, startedAtMs, heardAtMs, seen, total, isElsewhere: progress !== null };
}

/** Runs of the schedule that may be missed, and how long the last may take, before a copy no longer counts as current. */
const OVERDUE_GRACE_MS = 60_000;

/** Since when a proven pass of a form is overdue (ISO); null when it is not, or when none was ever proven. */
function overdueSince(form: KnownForm, facts: HealthFacts): string | null {
  const provenMs = lastProofMs(form);
  if (provenMs === 0) return null;
  const dueMs = facts.nextRunMs(facts.nextRunMs(provenMs));
  return facts.nowMs - dueMs > OVERDUE_GRACE_MS ? new Date(dueMs).toISOString() : null;
}

/** A newer plan, made by another worker, may know forms that ours does not. */
function isLaterThan(summary: PassSummary, plan: PlanState): boolean {
  const newest = newestPass(summary);
  // A pass that finds its form gone takes it out of the plan.
  if (plan.at === null || newest?.outcome === 'gone') return true;
  return newest !== null && Date.parse(newest.endedAt) > Date.parse(plan.at);
}

/** How fresh each form is that passes are expected of, by {@link formKey}. */
function freshnessOf(
  targets: readonly { readonly reading: TargetReading; readonly forms: readonly KnownForm[] }[],
  facts: HealthFacts,
): Map<string, Staleness> {
  const freshness = new Map<string, Staleness>();
  for (const { reading, forms } of targets) {
    const queues = facts.queue?.queues ?? [];
    const busy = queues.some(({ target, active }) => target === reading.name && active > 0);
    for (const form of forms) {
      const newest = newestPass(form.summary);
      const isGone = newest?.outcome === 'gone' || (form.overview?.goneAt ?? null) !== null;
      if (!form.wanted || isGone || !isTried(form)) continue;
      const heardMs = Math.max(
        reading.expectedSinceMs,
        facts.knownSinceMs(form),
        newest === null ? 0 : Date.parse(newest.endedAt),
        lookedMs(form),
        form.running?.heardAtMs ?? 0,
      );
      // Without any sign of life there is nothing to count from.
      if (heardMs === 0) continue;
      const { nextRunMs } = facts;
      freshness.set(keyOf(form), stalenessOf({ heardMs, nextRunMs, busy }));
    }
  }
  return freshness;
}

const fullRetryAt = ({ form, target }: FormInTarget, queue: QueueState | null): string | null =>
  queue?.retries?.find((retry) => retry.formId === form.id && retry.target === target)?.at ?? null;

const keyOf = ({ target, form }: FormInTarget): string => formKey(target, form.id);

function staleOf(
  form: Staleness | undefined,
  nowMs: number,
  notifies: boolean,
): { sinceMs: number; notifies: boolean } | null {
  if (form === undefined || !isStale(form, nowMs)) return null;
  return { sinceMs: form.heardMs, notifies };
}

function staleProblem(freshness: ReadonlyMap<string, Staleness>, nowMs: number): Problem {
  const heard = [...freshness.values()].map(({ heardMs }) => heardMs);
  return allStale(freshness.size, Math.min(...heard), nowMs);
}
