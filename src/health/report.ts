import { type ProblemCode, PROBLEMS } from '../base/catalogue.ts';
import { isAhead } from '../base/clock.ts';
import { ago, exact, iso, plural, someOf, wordList } from '../base/format.ts';
import { shellOption } from '../base/printable.ts';
import { HEALTH_STATES, type HealthState } from '../mirror/health-text.ts';
import type { FormIdentity } from '../mirror/types.ts';
import { type Claim, type OutcomeName, sumOf } from '../mirror/form-state.ts';
import { type Pause, resumeCommand } from '../mirror/pauses.ts';
import type { TargetNotice } from '../mirror/port.ts';
import type { TargetPlace } from './facts.ts';
import type { ProblemFacts } from './problem-facts.ts';

/*
 * The report about a mirror. Page, JSON, metrics, probes, notifications, heartbeat, `status`, `check`, exit codes and the Mirror
 * tab show this report and judge nothing themselves. Times are ISO 8601 in UTC.
 */

export { HEALTH_STATES, type HealthState };

/** The states in words. */
export const STATE_TITLES: Readonly<Record<HealthState, string>> = {
  ok: 'Up to date',
  working: 'A run is in progress',
  attention: 'Needs attention',
  failed: 'Failed',
  waiting: 'Waiting',
  paused: 'Paused',
  ended: 'Ended',
};

/** The worst of several states; `waiting` if there are none. `ended` counts only if all have ended. */
export const worstOf = (states: readonly HealthState[]): HealthState =>
  HEALTH_STATES.find((state) => states.includes(state)) ?? 'waiting';

/** Something that needs attention. Contains no answer and no secret (L11, L15). */
export interface Problem {
  readonly code: ProblemCode;
  /** `error`: the copy falls behind, or may be wrong. `warning`: it needs attention, or is not certain yet. */
  readonly level: 'error' | 'warning';
  /** A few words: `Deletions are held`. */
  readonly title: string;
  /** What happened, as sentences. */
  readonly message: string;
  /** What to do, as sentences; null if there is nothing to do. */
  readonly remedy: string | null;
  /** A command line that does it; null if there is none. */
  readonly command: string | null;
  /** Since when, if known. */
  readonly since: string | null;
}

/** A problem as the catalogue describes it, with its details. */
export function problemOf(
  { code, message, sinceMs }: ProblemFacts,
  particular: Partial<Problem> = {},
): Problem {
  const { severity: level, title, remedy } = PROBLEMS[code];
  const since = sinceMs === null ? null : iso(sinceMs);
  return { code, level, title, message, remedy, command: null, since, ...particular };
}

/**
 * The claim about a copy, with the time of each part; null: nothing is claimed. It does not cover submissions that are `held`,
 * `undecided` or `rejected`.
 */
export interface ShownClaim {
  /** Every submission of the source as of this time. */
  readonly submissionsAsOf: string | null;
  readonly statusesAsOf: string | null;
  readonly answersAsOf: string | null;
  /** Rows that the source does not show, which the deletion guard keeps until a person decides. */
  readonly held: number;
  /** Rows that the source's list does not show, and for whose IDs it returns neither the submission nor 404 or 410. */
  readonly undecided: number;
  /** Submissions that could not be stored, or not as the source has them. */
  readonly rejected: number;
}

/** Nothing is claimed. */
export const NO_CLAIM: ShownClaim = {
  submissionsAsOf: null,
  statusesAsOf: null,
  answersAsOf: null,
  held: 0,
  undecided: 0,
  rejected: 0,
};

/** A claim for people. A time in the future comes from a wrong clock, so nothing is claimed as of it. */
export function shownClaim(claim: Claim, nowMs: number): ShownClaim {
  const { submissionsAsOfMs, statusesAsOfMs, answersAsOfMs, ...except } = claim;
  const time = (ms: number | null): string | null =>
    ms === null || isAhead(ms, nowMs) ? null : iso(ms);
  const submissionsAsOf = time(submissionsAsOfMs);
  if (submissionsAsOf === null) return { ...NO_CLAIM, ...except };
  const [statusesAsOf, answersAsOf] = [time(statusesAsOfMs), time(answersAsOfMs)];
  return { submissionsAsOf, statusesAsOf, answersAsOf, ...except };
}

/** A pause, and the command line that ends it. */
export interface ShownPause extends Pause {
  readonly command: string;
}

/** Adds the command line that ends a pause. `slug`: the form's; `target`: its name. */
export const shownPause = (pause: Pause, slug: string, target: string): ShownPause => {
  return { ...pause, command: resumeCommand(pause, slug, target) };
};

/** What a person can do about held deletions. */
export const acceptance = (slug: string, target: string) => ({
  remedy: 'Look at the form in the dashboard. If they were deleted on purpose, accept them:',
  command: `forms-mirror sync --full --accept-deletes ${shellOption('--form', slug)} ${shellOption('--target', target)}`,
});

/** A run that has ended. */
export interface ShownRun {
  readonly outcome: OutcomeName;
  readonly startedAt: string;
  readonly endedAt: string;
  readonly code: ProblemCode | null;
  readonly error: string | null;
}

/** A form in a target. */
export interface FormReport {
  readonly form: FormIdentity;
  readonly target: string;
  readonly state: HealthState;
  /** The state in a few words: `Up to date`, `Waiting for the first run`. */
  readonly title: string;
  readonly pause: ShownPause | null;
  /** Its own problems, the worst first. A failure caused by the source, the target or the settings is reported there. */
  readonly problems: readonly Problem[];
  /** Changes that people made in the target and that the mirror keeps. */
  readonly notices: readonly TargetNotice[];
  readonly claim: ShownClaim;
  /** Table, view or tab, in words; null before the first run. */
  readonly location: string | null;
  /** Its URL in a browser, and its table's name for queries; null if there is none. */
  readonly url: string | null;
  readonly table: string | null;
  /** Null, like the next four: not known, because the target could not be read. */
  readonly rows: number | null;
  readonly deletedRows: number | null;
  readonly rejected: number | null;
  readonly forgotten: number | null;
  /** Status changes that the source refused within the last day. */
  readonly refused: number | null;
  readonly running: RunningJob | null;
  readonly lastRun: ShownRun | null;
  readonly goneAt: string | null;
}

/** A target. */
export interface TargetReport extends TargetPlace {
  readonly state: HealthState;
  /** Whether it could be read just now; if not, its forms are as of `readAt`. */
  readonly isReadable: boolean;
  readonly readAt: string | null;
  readonly pause: ShownPause | null;
  readonly problem: Problem | null;
}

/** The queue, as of its last response. */
export interface QueueState {
  readonly backend: string;
  /** Its address, without a password. */
  readonly address: string;
  readonly isReachable: boolean;
  /** When the next poll begins; null if not known. */
  readonly nextPollAt: string | null;
  /** Jobs that wait for a worker, and those that run. */
  readonly waiting: number;
  readonly active: number;
  /** It does not answer, or the next poll should have begun long ago. */
  readonly problem: ProblemFacts | null;
  /** The running jobs, of every process. */
  readonly running: readonly RunningJob[];
}

/** A run or a write-back in progress, on any machine. */
export interface RunningJob {
  readonly step: 'sync' | 'write-back';
  readonly formId: string;
  /** Null for a write-back. */
  readonly target: string | null;
  readonly startedAt: string;
  /** Submissions seen, and how many there are; 0 until the run has reported its progress. */
  readonly seen: number;
  readonly total: number;
}

/** The mirror: the response of `GET /api/status`, and the output of `status --json`. */
export interface Report {
  readonly at: string;
  readonly version: string;
  readonly state: HealthState;
  /** The state of everything in one line. */
  readonly title: string;
  /** How much there is, in one line. */
  readonly summary: string;
  /** Failures that concern all forms: of source, queue, settings and DATA_DIR. */
  readonly problems: readonly Problem[];
  /** When the source last answered correctly, according to runs and polls; null for never. */
  readonly source: { readonly heardAt: string | null };
  /** Null for a command, which does not look at the queue. */
  readonly queue: QueueState | null;
  readonly targets: readonly TargetReport[];
  readonly forms: readonly FormReport[];
}

/** The state of a form in all of its targets together. */
export const stateOfAll = (forms: readonly FormReport[]): HealthState =>
  worstOf(forms.map(({ state }) => state));

/** How a run ended, in a few words, and the state that such a run means by itself. */
export const OUTCOME_TEXTS: Readonly<
  Record<OutcomeName, { readonly text: string; readonly state: HealthState }>
> = {
  ok: { text: 'complete', state: 'ok' },
  held: { text: 'deletions held', state: 'attention' },
  incomplete: { text: 'not proven', state: 'attention' },
  gone: { text: 'form gone', state: 'ended' },
  failed: { text: 'failed', state: 'failed' },
  paused: { text: 'paused', state: 'paused' },
  busy: { text: 'busy', state: 'waiting' },
  stopped: { text: 'stopped', state: 'waiting' },
};

/** The claim that several copies share: the oldest time of each part, null if one of them has none; all exceptions. */
export function oldestClaim(claims: readonly ShownClaim[]): ShownClaim {
  const oldest = (pick: (claim: ShownClaim) => string | null): string | null => {
    const times = claims.map(pick);
    return times.toSorted((one, other) => ((one ?? '') < (other ?? '') ? -1 : 1))[0] ?? null;
  };
  return {
    submissionsAsOf: oldest(({ submissionsAsOf }) => submissionsAsOf),
    statusesAsOf: oldest(({ statusesAsOf }) => statusesAsOf),
    answersAsOf: oldest(({ answersAsOf }) => answersAsOf),
    held: sumOf(claims.map(({ held }) => held)),
    undecided: sumOf(claims.map(({ undecided }) => undecided)),
    rejected: sumOf(claims.map(({ rejected }) => rejected)),
  };
}

/** `, except for 3 held deletions and 1 rejected`; empty for none. */
export function exceptText({ held, undecided, rejected }: ShownClaim): string {
  const parts = [
    ...(held > 0 ? [plural(held, 'held deletion')] : []),
    ...someOf(undecided, 'undecided'),
    ...someOf(rejected, 'rejected'),
  ];
  return parts.length === 0 ? '' : `, except for ${wordList(parts, 'and')}`;
}

/** `submissions and statuses as of 12 s ago, answers as of 3 h ago, except for 1 rejected`. */
export const claimText = (claim: ShownClaim, nowMs: number): string =>
  claimWords(claim, (time) => ago(time, nowMs));

/** The same with the times themselves, for a person who reads it later. */
export const exactClaimText = (claim: ShownClaim): string => claimWords(claim, exact);

function claimWords(claim: ShownClaim, when: (time: string) => string): string {
  if (claim.submissionsAsOf === null) return 'nothing is proven';
  const parts = [
    { name: 'submissions', at: claim.submissionsAsOf },
    { name: 'statuses', at: claim.statusesAsOf },
    { name: 'answers', at: claim.answersAsOf },
  ];
  // Parts with the same time are named together.
  const byTime = Map.groupBy(parts, ({ at }) =>
    at === null ? 'never compared' : `as of ${when(at)}`,
  );
  const texts = [...byTime].map(([text, some]) => {
    const names = some.map(({ name }) => name);
    return `${wordList(names, 'and')} ${text}`;
  });
  return texts.join(', ') + exceptText(claim);
}
