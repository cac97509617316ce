import { count } from '../base/format.ts';
import type { TargetNotice } from '../mirror/port.ts';
import type { HealthState } from '../mirror/health-text.ts';
import { type Pause, resumeCommand } from '../mirror/pauses.ts';
import type { TargetKind } from '../mirror/target.ts';
import type { FormIdentity, PassKind, PassRecord } from '../mirror/types.ts';
import { absentText, type Coverage } from './coverage.ts';
import type { ScheduleState } from './facts.ts';
import type { FormHealth } from './form-health.ts';
import { OUTCOMES } from './pass-summary.ts';
import { type MirrorHealth, type TargetHealth, worst } from './mirror-health.ts';
import type { FormProblem, Problem } from './problem.ts';
import type { SourceHealth } from './source-state.ts';
import { runningWork, type RunningWork } from './work.ts';

/** The mirror's health as a document: what `GET /api/status` answers and `status --json` prints. Times are ISO 8601 in UTC. */
export interface StatusReport {
  readonly at: string;
  readonly version: string;
  readonly state: HealthState;
  /** Since when, as far as is known. */
  readonly since: string | null;
  /** What concerns all forms: source, queue, scheduler. */
  readonly problems: readonly ShownProblem[];
  readonly notices: readonly string[];
  /** How the source is doing. */
  readonly source: SourceHealth;
  /** What all workers do now, the longest first. */
  readonly work: readonly RunningWork[];
  readonly targets: readonly TargetReport[];
  readonly forms: readonly FormReport[];
  readonly queue: QueueReport | null;
}

/** A problem as it is shown. */
export interface ShownProblem extends Problem {
  /** True when a problem of the source or the target is the cause, and is shown instead. */
  readonly inhibited: boolean;
}

/** A target. */
export interface TargetReport {
  readonly name: string;
  readonly state: HealthState;
  /** Since when, as far as is known. */
  readonly since: string | null;
  readonly kind: TargetKind | null;
  readonly address: string | null;
  /** Whether it could be read just now; if not, its forms are as of `readAt`. */
  readonly readable: boolean;
  readonly readAt: string | null;
  readonly paused: boolean;
  /** That people have the target as a whole left alone; null when they have not. */
  readonly pause: ShownPause | null;
  readonly problem: ShownProblem | null;
}

/** A pause as it is shown. */
export interface ShownPause extends Omit<Pause, 'formId'> {
  /** Of the target as a whole. */
  readonly ofTarget: boolean;
  /** The command line that ends it. */
  readonly command: string;
}

/** A form in a target. */
export interface FormReport {
  readonly form: FormIdentity;
  readonly target: string;
  readonly state: HealthState;
  /** The state in a few words. */
  readonly title: string;
  /** Since when, as far as is known. */
  readonly since: string | null;
  /** That people have it left alone, by itself or with its target; null when they have not. */
  readonly pause: ShownPause | null;
  readonly problems: readonly ShownProblem[];
  /** Table, view or tab; null before the first pass. */
  readonly location: string | null;
  /** Where a browser opens it; the name of its table for queries. Null where there is none. */
  readonly url: string | null;
  readonly table: string | null;
  /** Null, like the three below, when it is not known: the target could not be read. */
  readonly rows: number | null;
  readonly deletedRows: number | null;
  readonly rejected: number | null;
  readonly withheld: number | null;
  /** Submissions that were forgotten on request: the source may have them, the target does not. */
  readonly forgotten: number | null /** What people changed in the target and is left alone. */;
  readonly notices: readonly TargetNotice[];
  readonly running: {
    readonly kind: PassKind;
    readonly seen: number;
    readonly total: number;
    /** On another worker than the one that tells. */
    readonly elsewhere: boolean;
  } | null;
  readonly lastPass: ShownPass | null;
  readonly lastFullPass: ShownPass | null;
  /** What is proven, each with since when: which submissions there are, their statuses, their answers. */
  readonly covers: Coverage;
  /** When a pass or a look last showed that nothing is missing; seconds since then; since when everything has been compared row by row. */
  readonly provenAt: string | null;
  readonly fullProvenAt: string | null;
  readonly lagSeconds: number | null;
  /** When a look found it to differ, or could not judge it, and no pass has settled it since; null where that is not so. */
  readonly differsSince: string | null;
  /** Since when a proven pass is overdue; null when it is not. */
  readonly overdueSince: string | null;
  readonly nextRunAt: string | null;
  /** When everything is read next; null when it is not known. */
  readonly nextFullRunAt: string | null;
  readonly goneAt: string | null;
}

/** The parts of a pass's record that tell how it ended. */
export type ShownPass = Pick<
  PassRecord,
  'kind' | 'outcome' | 'startedAt' | 'endedAt' | 'code' | 'error'
>;

/** The queue. */
export interface QueueReport {
  readonly backend: string;
  readonly address: string;
  readonly reachable: boolean;
  readonly schedules: readonly ScheduleState[];
  readonly waiting: number;
  readonly active: number;
  /** The processes that take jobs, idle ones included; null where the store does not tell. */
  readonly workers: readonly string[] | null;
}

/** Pure. */
export function reportOf(health: MirrorHealth, version: string): StatusReport {
  return {
    at: iso(health.nowMs),
    version,
    state: health.state,
    since: health.since,
    problems: health.problems.map(shown),
    notices: health.plan.notices,
    source: health.source,
    work: runningWork(health),
    targets: health.targets.map(targetReport),
    forms: health.forms.map((form) => formReport(form, health)),
    queue: queueReport(health),
  };
}

/** Whether all targets could be read: only then does a form that none of them shows mean that none holds it. */
export const knowsAll = (targets: readonly TargetReport[]): boolean => targets.every(isKnown);

/** Whether what a target holds is known just now. */
export const isKnown = ({ readable, readAt }: TargetReport): boolean => readable && readAt !== null;

/** A count for people. */
export const countText = (number: number | null): string =>
  number === null ? UNKNOWN : count(number);

/** What stands for a time that is missing: `never`, unless that cannot be said, as of a copy that was damaged. */
export const missingTime = ({ rows, covers, provenAt }: FormReport): string =>
  rows === null || (covers.membership === null && provenAt !== null) ? UNKNOWN : 'never';

/** How the last pass ended, in a few words; null before the first. */
export function lastPassText({ lastPass, covers }: FormReport): string | null {
  if (lastPass === null) return null;
  const { text } = OUTCOMES[lastPass.outcome];
  return lastPass.outcome === 'ok' && covers.absent > 0 ? `${text} except for deletions` : text;
}

/** What is known of rows that the source no longer counts, as sentences; null for none. */
export const absentNote = ({ covers, nextFullRunAt }: FormReport, nowMs: number): string | null =>
  covers.absent === 0 ? null : absentText(covers.absent, nextFullRunAt, nowMs);

const UNKNOWN = 'unknown';

/** The state of a form in all of its targets together. */
export const stateOfAll = (forms: readonly FormReport[]): HealthState =>
  worst(forms.map(({ state }) => state));

const iso = (ms: number): string => new Date(ms).toISOString();

function shown(problem: Problem | FormProblem): ShownProblem {
  const { level, code, title, message, remedy, command, since } = problem;
  const inhibited = 'inhibited' in problem && problem.inhibited;
  return { level, code, title, message, remedy, command, since, inhibited };
}

function shownPause(pause: Pause | null, target: string): ShownPause | null {
  if (pause === null) return null;
  const { formId, since, by, reason } = pause;
  return { since, by, reason, ofTarget: formId === null, command: resumeCommand(pause, target) };
}

function targetReport(target: TargetHealth): TargetReport {
  const { name, state, since, kind, address, readable, readAtMs, paused, problem } = target;
  const readAt = readAtMs === 0 ? null : iso(readAtMs);
  return {
    name,
    state,
    since,
    kind,
    address,
    readable,
    readAt,
    paused,
    pause: shownPause(target.pause, name),
    problem: problem && shown(problem),
  };
}

function formReport(health: FormHealth, { nowMs, targets }: MirrorHealth): FormReport {
  const { form, target, state, since, overview, summary, running, lastPass } = health;
  const { provenAt, nextRunAt, title, covers } = health;
  const holder = targets.find(({ name }) => name === target);
  // What a target does not show that was read has no rows there; of any other nothing is known.
  const none = holder?.readable === true && holder.readAtMs > 0 ? 0 : null;
  return {
    form,
    target,
    state,
    title,
    since,
    pause: shownPause(health.pause, target),
    problems: health.problems.map(shown),
    location: overview?.location ?? null,
    url: overview?.place?.url ?? null,
    table: overview?.place?.table ?? null,
    rows: overview?.rows ?? none,
    deletedRows: overview?.deletedRows ?? none,
    rejected: overview?.rejected ?? none,
    withheld: overview === null && summary.withheld === 0 ? none : summary.withheld,
    forgotten: overview?.forgotten ?? none,
    notices: overview?.notices ?? [],
    running: running && {
      kind: running.kind,
      seen: running.seen,
      total: running.total,
      elsewhere: running.isElsewhere ?? false,
    },
    lastPass: lastPass && shownPass(lastPass),
    lastFullPass: summary.full && shownPass(summary.full),
    covers,
    provenAt,
    fullProvenAt: covers.answers,
    lagSeconds: lagSeconds(provenAt, nowMs),
    differsSince: health.differsSince,
    overdueSince: health.overdueSince,
    nextRunAt,
    nextFullRunAt: health.nextFullAt,
    goneAt: overview?.goneAt ?? null,
  };
}

function shownPass(pass: PassRecord): ShownPass {
  const { kind, outcome, startedAt, endedAt, code, error } = pass;
  return { kind, outcome, startedAt, endedAt, code, error };
}

/** Whole seconds since a form was last shown to be complete; null when it never was. */
export function lagSeconds(provenAt: string | null, nowMs: number): number | null {
  if (provenAt === null) return null;
  return Math.max(0, Math.round((nowMs - Date.parse(provenAt)) / 1_000));
}

function queueReport({ queue }: MirrorHealth): QueueReport | null {
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
    workers: queue.workers ?? null,
  };
}
