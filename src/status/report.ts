import type { TargetKind } from '../mirror/target.ts';
import type { FormIdentity, PassKind, PassOutcome } from '../mirror/types.ts';
import {
  type MirrorView,
  type PairView,
  type State,
  type TargetView,
  worst,
} from './mirror-view.ts';
import { type NotedPass, newestPass } from './pass-memory.ts';
import type { PairProblem, Problem } from './problem.ts';
import type { ScheduleState } from './source.ts';

/** What `GET /api/status` answers. Times are ISO 8601 in UTC. */
export interface StatusReport {
  readonly at: string;
  readonly version: string;
  readonly state: State;
  /** What concerns all forms: source, queue, scheduler. */
  readonly problems: readonly ShownProblem[];
  readonly notices: readonly string[];
  readonly targets: readonly TargetReport[];
  readonly forms: readonly FormReport[];
  readonly queue: QueueReport | null;
}

/** A problem as it is shown. */
export type ShownProblem = Pick<
  Problem,
  'level' | 'code' | 'title' | 'message' | 'remedy' | 'command'
> & {
  /** True when a problem of the source or the target is the cause, and tells it for all. */
  readonly covered: boolean;
};

/** A target. */
export interface TargetReport {
  readonly name: string;
  readonly kind: TargetKind | null;
  readonly address: string | null;
  /** Whether it could be read just now; else its forms stand as of `readAt`. */
  readonly readable: boolean;
  readonly readAt: string | null;
  readonly paused: boolean;
  readonly problem: ShownProblem | null;
}

/** A form in a target. */
export interface FormReport {
  readonly form: FormIdentity;
  readonly target: string;
  readonly state: State;
  readonly problems: readonly ShownProblem[];
  /** Table, view or tab; null before the first pass. */
  readonly location: string | null;
  readonly rows: number;
  readonly deletedRows: number;
  readonly rejected: number;
  readonly withheld: number;
  readonly droppedColumns: readonly string[];
  readonly running: {
    readonly kind: PassKind;
    readonly seen: number;
    readonly total: number;
  } | null;
  readonly lastPass: ShownPass | null;
  readonly lastFullPass: ShownPass | null;
  /** When the copy was last proven to hold all that is new, and all there is; seconds since the former. */
  readonly provenAt: string | null;
  readonly fullProvenAt: string | null;
  readonly lagSeconds: number | null;
  readonly nextRunAt: string | null;
  readonly goneAt: string | null;
}

/** A pass in few words. */
export interface ShownPass {
  readonly kind: PassKind;
  readonly outcome: PassOutcome;
  readonly startedAt: string;
  readonly endedAt: string;
  readonly error: string | null;
}

/** The queue. */
export interface QueueReport {
  readonly backend: string;
  readonly address: string;
  readonly reachable: boolean;
  readonly schedules: readonly ScheduleState[];
  readonly waiting: number;
  readonly active: number;
}

/** The view as a document: what the page shows and `/api/status` answers. Pure. */
export function reportOf(view: MirrorView, version: string): StatusReport {
  return {
    at: iso(view.nowMs),
    version,
    state: view.state,
    problems: view.problems.map(shown),
    notices: view.plan.notices,
    targets: view.targets.map(targetReport),
    forms: view.pairs.map((pair) => formReport(pair, view)),
    queue: queueReport(view),
  };
}

/** How a form stands in all of its targets together. */
export const stateOfAll = (forms: readonly FormReport[]): State =>
  worst(forms.map(({ state }) => state));

const iso = (ms: number): string => new Date(ms).toISOString();

function shown(problem: Problem | PairProblem): ShownProblem {
  const { level, code, title, message, remedy, command } = problem;
  const covered = 'covered' in problem && problem.covered;
  return { level, code, title, message, remedy, command, covered };
}

function targetReport(target: TargetView): TargetReport {
  const { name, kind, address, readable, readAtMs, paused, problem } = target;
  return {
    name,
    kind,
    address,
    readable,
    readAt: readAtMs === 0 ? null : iso(readAtMs),
    paused,
    problem: problem && shown(problem),
  };
}

function formReport(
  { pair, state, overview, memory, running, provenAt, problems }: PairView,
  view: MirrorView,
): FormReport {
  const newest = newestPass(memory);
  return {
    form: pair.form,
    target: pair.target,
    state,
    problems: problems.map(shown),
    location: overview?.location ?? null,
    rows: overview?.rows ?? 0,
    deletedRows: overview?.deletedRows ?? 0,
    rejected: overview?.rejected ?? 0,
    withheld: memory.withheld,
    droppedColumns: overview?.droppedColumns ?? [],
    running: running && { kind: running.kind, seen: running.seen, total: running.total },
    lastPass: newest && shownPass(newest),
    lastFullPass: memory.full && shownPass(memory.full),
    provenAt,
    fullProvenAt: overview?.checkpoint?.fullProvenAt ?? null,
    lagSeconds: lagSeconds(provenAt, view.nowMs),
    nextRunAt: state === 'ended' ? null : nextRun(pair.target, view),
    goneAt: overview?.goneAt ?? null,
  };
}

function shownPass({ kind, outcome, startedAt, endedAt, error }: NotedPass): ShownPass {
  return { kind, outcome, startedAt, endedAt, error };
}

/** Whole seconds since a form was last proven complete; null when it never was. */
export function lagSeconds(provenAt: string | null, nowMs: number): number | null {
  if (provenAt === null) return null;
  return Math.max(0, Math.round((nowMs - Date.parse(provenAt)) / 1_000));
}

/** The scheduler serves all forms at once. */
function nextRun(target: string, view: MirrorView): string | null {
  if (view.targets.some(({ name, paused }) => name === target && paused)) return null;
  const schedule = view.queue?.schedules.find(({ kind }) => kind === 'incremental');
  return schedule?.nextRunAt ?? null;
}

function queueReport({ queue }: MirrorView): QueueReport | null {
  if (queue === null) return null;
  const { backend, address, reachable, schedules, queues } = queue;
  const sum = (pick: (depth: (typeof queues)[number]) => number): number =>
    queues.reduce((total, depth) => total + pick(depth), 0);
  return {
    backend,
    address,
    reachable,
    schedules,
    waiting: sum(({ waiting, delayed, step }) => (step === 'plan' ? 0 : waiting + delayed)),
    active: sum(({ active }) => active),
  };
}
