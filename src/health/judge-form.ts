import { PROBLEMS, type ProblemCode, problemCodeOrNull } from '../base/catalogue.ts';
import { isAhead } from '../base/clock.ts';
import { exact, plural, span } from '../base/format.ts';
import { shellOption } from '../base/printable.ts';
import { claimOf, liveRows, type OutcomeName } from '../mirror/form-state.ts';
import { type Pause, pauseTitle, resumeCommand } from '../mirror/pauses.ts';
import type { FormIdentity } from '../mirror/types.ts';
import { claimWith, type Agreement } from '../sync/records.ts';
import type { KeptRun } from './data-dir.ts';
import type { HeldForm } from './facts.ts';
import {
  type FormReport,
  type HealthState,
  NO_CLAIM,
  type Problem,
  type RunningJob,
  type ShownClaim,
  type ShownPause,
  type ShownRun,
  STATE_TITLES,
} from './report.ts';

/** The facts about a form in a target. */
export interface FormFacts {
  readonly form: FormIdentity;
  readonly target: string;
  /** Null: the target does not hold it, or could not be read. */
  readonly held: HeldForm | null;
  readonly agreement: Agreement | null;
  /** Failed runs that the target did not record. */
  readonly kept: KeptRun | null;
  readonly pause: Pause | null;
  readonly running: RunningJob | null;
  /** False when the settings no longer choose it. */
  readonly isWanted: boolean;
}

/** The facts outside a form that its health depends on. */
export interface FormContext {
  readonly nowMs: number;
  /** Whether the target was read, so that a form it does not show is not there. */
  readonly isTargetRead: boolean;
  /** The code of the problem that keeps all forms of the target waiting; null for none. */
  readonly sharedCode: ProblemCode | null;
  readonly sharedSince: string | null;
  /** Whether a problem of the source, the target or the settings explains a failure with this code. */
  readonly isExplained: (code: ProblemCode) => boolean;
  /** Since when no run or poll of it was seen, if that is longer than the schedule explains; null otherwise. */
  readonly staleSinceMs: number | null;
  /** When the schedule polls next after that moment. */
  readonly nextPollMs: (afterMs: number) => number;
  /** ISO; null: not known. */
  readonly nextRunAt: string | null;
  readonly compareEveryMs: number;
}

/** A form that was deleted some time ago needs no attention any more, nor does a copy that was filled again. */
const NEWS_MS = 7 * 24 * 3_600_000;
/** The time that a run may take after a poll asks for it, before its form no longer counts as current. */
const OVERDUE_GRACE_MS = 60_000;

/** How the newest runs of a form ended. */
export interface Ended {
  readonly outcome: OutcomeName;
  readonly code: ProblemCode | null;
  readonly error: string | null;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** Since when runs have ended so, as far as is known. */
  readonly sinceMs: number;
}

/** Runs that a stop, a pause or another process cut short prove nothing. */
const SAYS_NOTHING: ReadonlySet<string> = new Set(['busy', 'paused', 'stopped']);

/**
 * The newest run that says something; null before the first. One that is dated ahead of now hides none: it was recorded before the
 * clock was set back. Pure.
 */
export function lastRunOf(
  { held, kept }: Pick<FormFacts, 'held' | 'kept'>,
  nowMs: number,
): Ended | null {
  const all = (held?.runs ?? []).filter(({ outcome }) => !SAYS_NOTHING.has(outcome));
  const past = all.filter(({ endedAtMs }) => !isAhead(endedAtMs, nowMs));
  const runs = past.length === 0 && kept === null ? all : past;
  const [newest] = runs;
  if (kept !== null && (newest === undefined || kept.atMs > newest.endedAtMs)) {
    const { outcome, code, error, sinceMs, atMs } = kept;
    return { outcome, code, error, startedAtMs: atMs, endedAtMs: atMs, sinceMs };
  }
  if (newest === undefined) return null;
  const others = runs.findIndex(({ outcome }) => outcome !== newest.outcome);
  const first = others < 0 ? runs.at(-1) : runs[others - 1];
  const code = problemCodeOrNull(newest.code);
  const { outcome, error, startedAtMs, endedAtMs } = newest;
  return { outcome, code, error, startedAtMs, endedAtMs, sinceMs: first?.endedAtMs ?? endedAtMs };
}

/** When the runs ended that show that source and target work: those that did not fail. Pure. */
export const succeededMsOf = ({ held, kept }: Pick<FormFacts, 'held' | 'kept'>): number[] => [
  ...(held?.runs ?? [])
    .filter(({ outcome }) => outcome !== 'failed' && !SAYS_NOTHING.has(outcome))
    .map(({ endedAtMs }) => endedAtMs),
  ...(kept?.outcome === 'gone' ? [kept.atMs] : []),
];

/** When a form was last known to agree with its source: by a poll, or as a run ended; 0 for never. Pure. */
export function agreedMsOf(facts: FormFacts, nowMs: number): number {
  const { submissionsAsOf } = claimIn(facts, nowMs);
  const last = lastRunOf(facts, nowMs);
  const ended = last?.outcome === 'ok' || last?.outcome === 'held' ? endedMs(last, nowMs) : 0;
  return Math.max(submissionsAsOf === null ? 0 : Date.parse(submissionsAsOf), ended);
}

/** When something was last heard of a form: a run, a poll, progress; 0 for never. Pure. */
export function heardMsOf(facts: FormFacts, nowMs: number): number {
  const last = lastRunOf(facts, nowMs);
  return Math.max(agreedMsOf(facts, nowMs), endedMs(last, nowMs), facts.running ? nowMs : 0);
}

/** 0 for a run that has not ended by this clock. */
const endedMs = (last: Ended | null, nowMs: number): number =>
  last === null || isAhead(last.endedAtMs, nowMs) ? 0 : last.endedAtMs;

/** The claim from runs and polls. A time in the future came from a wrong clock: nothing is claimed by it. */
function claimIn({ held, agreement }: FormFacts, nowMs: number): ShownClaim {
  if (held === null) return NO_CLAIM;
  const { state, losses } = held.stored;
  const { tally } = state;
  const nothing = { ...NO_CLAIM, held: tally.held, undecided: tally.undecided };
  if (losses.length > 0 || held.isOtherSettings || state.goneAtMs !== null) return nothing;
  const past = (ms: number | null): number | null =>
    ms !== null && isAhead(ms, nowMs) ? null : ms;
  const own = claimOf(state, null);
  const isPolled = agreement !== null && !isAhead(agreement.atMs, nowMs);
  const both = claimWith(
    {
      ...state,
      submissionsAsOfMs:
        past(own.submissionsAsOfMs) ?? (own.submissionsAsOfMs === null || !isPolled ? null : 0),
      statusesAsOfMs: past(own.statusesAsOfMs),
    },
    null,
    isPolled ? agreement : null,
  );
  if (both.submissionsAsOfMs === null || both.submissionsAsOfMs === 0) return nothing;
  return {
    ...nothing,
    submissionsAsOf: iso(both.submissionsAsOfMs),
    statusesAsOf: isoOrNull(both.statusesAsOfMs ?? past(both.answersAsOfMs)),
    answersAsOf: isoOrNull(past(both.answersAsOfMs)),
  };
}

/** Judges a form in a target. Pure. */
export function judgeForm(facts: FormFacts, context: FormContext): FormReport {
  const { form, target, held, running, isWanted } = facts;
  const { nowMs, nextPollMs, sharedCode } = context;
  const tally = held?.stored.state.tally;
  const claim = claimIn(facts, nowMs);
  const last = lastRunOf(facts, nowMs);
  const problems = isWanted ? problemsOf(facts, context, last) : [];
  const agreedMs = agreedMsOf(facts, nowMs);
  const dueMs = agreedMs === 0 ? Infinity : nextPollMs(nextPollMs(agreedMs)) + OVERDUE_GRACE_MS;
  const overdueSince = nowMs > dueMs ? iso(dueMs - OVERDUE_GRACE_MS) : null;
  const goneAtMs = held?.stored.state.goneAtMs ?? null;
  const own = stateOf(facts, problems, last, nowMs);
  const isUnsure = claim.submissionsAsOf === null;
  // No form has caused a general problem, but no form is known to be current during one.
  const isWaiting = own === 'ok' && (sharedCode !== null || overdueSince !== null || isUnsure);
  const pause = own === 'ended' ? null : facts.pause;
  const state = pause !== null ? 'paused' : isWaiting ? 'waiting' : own;
  const errors = problems.filter(({ level }) => level === 'error');
  // Its last run may have succeeded.
  const isStale = state === 'failed' && errors.every(({ code }) => code === 'STALE');
  const none = context.isTargetRead ? 0 : null;
  const isLeftAlone = state === 'ended' || state === 'paused';
  return {
    form,
    target,
    state,
    title: isStale
      ? PROBLEMS.STALE.title
      : titleOf(state, facts, { sharedCode, overdueSince, isFirst: last === null }),
    since: sinceOf(state, facts, problems, overdueSince ?? context.sharedSince),
    pause: pause && shownPause(pause, form.slug, target),
    problems,
    notices: held?.notices ?? [],
    claim,
    lagSeconds:
      claim.submissionsAsOf === null
        ? null
        : Math.max(0, Math.round((nowMs - Date.parse(claim.submissionsAsOf)) / 1_000)),
    overdueSince,
    location: held?.stored.location ?? null,
    url: held?.stored.place.url ?? null,
    table: held?.stored.place.table ?? null,
    rows: tally === undefined ? none : liveRows(tally),
    deletedRows: tally?.deleted ?? none,
    rejected: tally === undefined ? none : tally.rejected + tally.undecided,
    forgotten: tally?.forgotten ?? none,
    refused: held === null ? none : (held.writeBack?.refused ?? 0),
    running: running && {
      startedAt: iso(running.startedAtMs),
      seen: running.seen,
      total: running.total,
      worker: running.worker,
    },
    lastRun: last && shownRun(last),
    nextRunAt: isLeftAlone ? null : context.nextRunAt,
    nextComparisonAt:
      isLeftAlone || claim.answersAsOf === null
        ? null
        : iso(Date.parse(claim.answersAsOf) + context.compareEveryMs),
    goneAt: goneAtMs === null ? null : iso(goneAtMs),
  };
}

const iso = (ms: number): string => new Date(ms).toISOString();

const shownRun = ({ outcome, startedAtMs, endedAtMs, code, error }: Ended): ShownRun => ({
  outcome,
  startedAt: iso(startedAtMs),
  endedAt: iso(endedAtMs),
  code,
  error,
});

/** A pause as people see it. `slug`: of the form; `target`: its name. */
export const shownPause = (pause: Pause, slug: string, target: string): ShownPause => ({
  since: pause.since,
  by: pause.by,
  reason: pause.reason,
  ofTarget: pause.formId === null,
  command: resumeCommand(pause, slug, target),
});

function stateOf(
  { isWanted, held, running }: FormFacts,
  problems: readonly Problem[],
  last: Ended | null,
  nowMs: number,
): HealthState {
  if (!isWanted) return 'ended';
  const goneAtMs = held?.stored.state.goneAtMs ?? last?.sinceMs ?? nowMs;
  const isGone = problems.some(({ code }) => code === 'FORM_GONE');
  if (isGone && nowMs - goneAtMs > NEWS_MS) return 'ended';
  if (problems.some(({ level }) => level === 'error')) return 'failed';
  if (problems.length > 0) return 'attention';
  if (running !== null) return 'working';
  const isCopied = (held?.stored.state.submissionsAsOfMs ?? null) !== null;
  return last === null && !isCopied ? 'waiting' : 'ok';
}

function titleOf(
  state: HealthState,
  { held, pause }: FormFacts,
  {
    sharedCode,
    overdueSince,
    isFirst,
  }: {
    readonly sharedCode: ProblemCode | null;
    readonly overdueSince: string | null;
    readonly isFirst: boolean;
  },
): string {
  if (state === 'paused' && pause !== null) return pauseTitle(pause);
  if (state === 'ended') {
    const isGone = (held?.stored.state.goneAtMs ?? null) !== null;
    return isGone ? 'Gone at the source' : 'No longer selected';
  }
  if (state !== 'waiting') return STATE_TITLES[state];
  if (sharedCode !== null) return WAITING_TITLES[PROBLEMS[sharedCode].scope];
  if (overdueSince !== null) return 'Overdue';
  return isFirst ? 'Waiting for the first run' : 'Waiting for the next run';
}

/** What a form waits for that is held up by a problem of all. */
const WAITING_TITLES = {
  source: 'Waiting for the source',
  target: 'Waiting for the target',
  queue: 'Waiting for the queue',
  settings: 'Settings to correct',
  program: 'Not running',
  form: 'Waiting for the next run',
} as const;

function sinceOf(
  state: HealthState,
  { held, running, pause }: FormFacts,
  problems: readonly Problem[],
  waitsSince: string | null,
): string | null {
  const first = (some: readonly Problem[]): string | null =>
    some.flatMap(({ since }) => since ?? []).toSorted()[0] ?? null;
  switch (state) {
    case 'failed':
      return first(problems.filter(({ level }) => level === 'error'));
    case 'attention':
      return first(problems);
    case 'working':
      return running === null ? null : iso(running.startedAtMs);
    case 'paused':
      return pause?.since ?? null;
    case 'waiting':
      return waitsSince;
    case 'ended':
      return isoOrNull(held?.stored.state.goneAtMs ?? null);
    case 'ok':
      return null;
  }
}

const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms));

/** A problem from the catalogue, with its particulars. */
export const problemOf = (
  code: ProblemCode,
  message: string,
  sinceMs: number | null,
  particular: Partial<Problem> = {},
): Problem => ({
  code,
  level: PROBLEMS[code].severity,
  title: PROBLEMS[code].title,
  message,
  remedy: PROBLEMS[code].remedy,
  command: null,
  since: isoOrNull(sinceMs),
  isExplained: false,
  ...particular,
});

function problemsOf(facts: FormFacts, context: FormContext, last: Ended | null): Problem[] {
  const { form, held } = facts;
  const { nowMs, isExplained, staleSinceMs } = context;
  const found: Problem[] = [];
  const state = held?.stored.state;
  const isGone = (state?.goneAtMs ?? null) !== null || last?.outcome === 'gone';
  if (isGone) found.push(goneProblem(form, state?.goneAtMs ?? last?.sinceMs ?? null, last));
  else if (last?.outcome === 'failed') {
    const code = last.code ?? 'INTERNAL';
    const message = last.error ?? `The last run of "${form.name}" failed.`;
    const title = 'The last run failed';
    const particular = { level: 'error', title, isExplained: isExplained(code) } as const;
    found.push(problemOf(code, message, last.sinceMs, particular));
  } else if (last?.outcome === 'incomplete')
    found.push(problemOf('RUN_INCOMPLETE', last.error ?? UNPROVEN, last.sinceMs));
  if (held !== null && !isGone) found.push(...heldProblems(facts, held, nowMs));
  if (staleSinceMs !== null) {
    const message = `No run of "${form.name}" has ended, and no poll has found it unchanged, for ${span(nowMs - staleSinceMs)}, longer than its schedule explains.`;
    const particular = { isExplained: isExplained('STALE') };
    found.push(problemOf('STALE', message, staleSinceMs, particular));
  }
  if (held?.writeBack) found.push(writeBackProblem(held.writeBack, isExplained));
  return found.toSorted((a, b) => Number(b.level === 'error') - Number(a.level === 'error'));
}

const UNPROVEN = 'The last run ended without proof that nothing was missed.';

function goneProblem(form: FormIdentity, sinceMs: number | null, last: Ended | null): Problem {
  const said = last?.outcome === 'gone' ? last.error : null;
  const message = said ?? `The form "${form.name}" (${form.id}) answers 404. Its rows stay.`;
  return problemOf('FORM_GONE', message, sinceMs);
}

/** What the copy itself shows. */
function heldProblems(
  { form, target }: FormFacts,
  { stored, refilledAtMs, isOtherSettings, runs }: HeldForm,
  nowMs: number,
): Problem[] {
  const found: Problem[] = [];
  const { losses, state } = stored;
  const again = 'The copy is not complete until a run has read everything again.';
  if (losses.length > 0)
    found.push(problemOf('COPY_OUTDATED', `${losses.join(' ')} ${again}`, null));
  else if (isOtherSettings)
    found.push(
      problemOf(
        'COPY_OUTDATED',
        `Other fields are selected or hashed than when the rows were stored, so answers that are not selected, or plain answers, may still be there. ${again}`,
        null,
      ),
    );
  if (refilledAtMs !== null && nowMs - refilledAtMs <= NEWS_MS)
    found.push(problemOf('COPY_REFILLED', refilledText(form, target, refilledAtMs), refilledAtMs));
  const { held } = state.tally;
  if (held > 0) {
    const rows = plural(held, 'row is', 'rows are');
    const message = `${rows} missing from the source, more than MAX_DELETE_FRACTION allows at once. None was marked deleted.`;
    const place = `${shellOption('--form', form.slug || form.id)} ${shellOption('--target', target)}`;
    const command = `forms-mirror sync --full --accept-deletes ${place}`;
    const first = runs.findLast((run) => run.held > 0);
    found.push(problemOf('DELETIONS_HELD', message, first?.endedAtMs ?? null, { command }));
  }
  return found;
}

/** That a target was found empty which DATA_DIR says has held a form, and what no run brings back. */
export const refilledText = ({ name, id }: FormIdentity, target: string, atMs: number): string =>
  `Target ${target} held a copy of form "${name}" (${id}) and was empty at ${exact(iso(atMs))}, so it was filled again from the source. ` +
  'Lost for good: rows of submissions that are deleted at the source, the history of statuses and former versions, and the list of forgotten submissions.';

function writeBackProblem(
  { since, code, error, refused }: NonNullable<HeldForm['writeBack']>,
  isExplained: FormContext['isExplained'],
): Problem {
  const sinceMs = Date.parse(since);
  if (code !== null) {
    const particular = {
      level: 'warning',
      title: 'Status changes failed',
      isExplained: isExplained(code),
      ...(code === 'FORMS_REFUSED' && { remedy: REFUSED_REMEDY }),
    } as const;
    return problemOf(code, error ?? 'The last write-back failed.', sinceMs, particular);
  }
  const message = `The status of ${plural(refused, 'submission')} could not be changed: the source refused it, or answered with success and did not change the status. Each is tried again when it changes, and a day after it was refused.`;
  return problemOf('WRITE_BACK_REFUSED', message, sinceMs);
}

const REFUSED_REMEDY =
  'Check that the key may change statuses, and that the source lets MARK_STATUS follow the statuses of MARK_FROM. The next run tries again.';
