import type { ProblemCode } from '../base/catalogue.ts';
import { isAhead } from '../base/clock.ts';
import { exact, plural, span } from '../base/format.ts';
import { shellOption } from '../base/printable.ts';
import { isOfSettings, lossSentence } from '../mirror/losses.ts';
import type { HealthState } from '../mirror/health-text.ts';
import { type Pause, pauseTitle } from '../mirror/pauses.ts';
import type { FormIdentity, PassKind, PassRecord } from '../mirror/types.ts';
import { absentTitle, type Coverage, upToDateTitle } from './coverage.ts';
import type { KnownForm } from './facts.ts';
import {
  asOfNow,
  coverageOf,
  isoOrNull,
  lookedMs,
  lossesOf,
  openSince,
  provenAtOf,
} from './form-coverage.ts';
import { markingProblem } from './marking-problem.ts';
import { newestPass, passByLook } from './pass-summary.ts';
import { type FormProblem, type Problem, remedyFor } from './problem.ts';

/** What a form's health depends on besides itself. */
export interface FormContext {
  readonly nowMs: number;
  /** Since when nothing was heard of it, when that is longer than allowed; whether this is its own matter. */
  readonly stale: { readonly sinceMs: number; readonly notifies: boolean } | null;
  /** Whether a problem of the source or the target explains a failure with this code. */
  readonly isShared: (code: ProblemCode | null) => boolean;
  /** When the next pass of the form runs (ISO); null when it is not known. */
  readonly nextRunAt: string | null;
  /** By when it is compared row by row again, at the latest (ISO). */
  readonly nextFullAt: string | null;
  /** What keeps all forms of the target waiting; null when nothing does. */
  readonly shared: Problem | null;
  /** Since when a proven pass is overdue (ISO); null when it is not. */
  readonly overdueSince: string | null;
  /** When a full pass that failed is tried again (ISO); null when it is not known. */
  readonly fullRetryAt?: string | null;
}

/** The health of a form in a target. */
export interface FormHealth extends KnownForm {
  readonly state: HealthState;
  readonly pause: Pause | null;
  /** Since when it is in this state, as far as is known (ISO); null when it is not. */
  readonly since: string | null;
  /** Why, worst first, with code and remedy. */
  readonly problems: readonly FormProblem[];
  /** The newest pass that says something about its health. */
  readonly lastPass: PassRecord | null;
  /** The state in a few words: `Up to date (submissions)`. */
  readonly title: string;
  /** As of when a pass or a look last showed that nothing is missing (ISO): its beginning; null for never. */
  readonly provenAt: string | null;
  /** When a look found it to differ, or could not judge it, and no pass has settled it since (ISO); null where that is not so. */
  readonly differsSince: string | null;
  /** What is proven, each with since when. */
  readonly covers: Coverage;
  /** Since when a proven pass is overdue (ISO); null when it is not. */
  readonly overdueSince: string | null;
  /** When its next pass runs, and by when it is compared row by row again (ISO); null when not at all, or when it is not known. */
  readonly nextRunAt: string | null;
  readonly nextFullAt: string | null;
}

/** An unproven pass now and then is normal for a source that changes a lot; two in a row are not. */
const UNPROVEN_NOTIFIES = 2;
/** A form that was deleted some time ago needs no attention any more. */
const GONE_IS_NEWS_MS = 7 * 24 * 3_600_000;
/** Likewise a copy that had to be made again. */
const REFILL_IS_NEWS_MS = GONE_IS_NEWS_MS;

/** Judges a form in a target. Pure. */
export function assessForm(told: KnownForm, context: FormContext): FormHealth {
  const known = asOfNow(told, context.nowMs);
  const problems = known.wanted ? problemsOf(known, context) : [];
  const own = stateOf(known, problems, context.nowMs);
  const { shared, overdueSince } = context;
  const pause = own === 'ended' ? null : (known.pause ?? null);
  // What is wrong with all is no form's fault, but neither is any form known to be current then.
  const isHeldUp = own === 'ok' && (shared !== null || overdueSince !== null);
  const provenAt = provenAtOf(known);
  const covers = coverageOf(known);
  const differs = openSince(known);
  // Nor is one that is known to differ; nobody has to do anything about it.
  const isMisdated = isAhead(Date.parse(provenAt ?? ''), context.nowMs);
  const isUnsettled = covers.absent > 0 || differs !== null || isMisdated;
  const unpaused = isHeldUp || (own === 'ok' && isUnsettled) ? 'waiting' : own;
  // What was wrong before need not be so any more, nor is it known to be well.
  const state = pause === null ? unpaused : 'paused';
  const isLeftAlone = state === 'ended' || state === 'paused';
  return {
    ...known,
    state,
    since:
      pause?.since ??
      (isHeldUp ? (shared?.since ?? overdueSince) : sinceOf(state, known, problems)),
    title:
      pause === null
        ? titleOf(state, known, {
            covers,
            shared: isHeldUp ? shared : null,
            overdueSince,
            differs,
            isMisdated,
          })
        : pauseTitle(pause),
    pause,
    problems,
    lastPass: lastPassOf(known),
    provenAt,
    differsSince: differs,
    covers,
    overdueSince,
    nextRunAt: isLeftAlone ? null : context.nextRunAt,
    nextFullAt: isLeftAlone ? null : context.nextFullAt,
  };
}

/** A look that found nothing to do stands for a pass that found nothing. */
function lastPassOf(known: KnownForm): PassRecord | null {
  const pass = newestPass(known.summary);
  const ms = lookedMs(known);
  if (pass === null || Date.parse(pass.endedAt) >= ms) return pass;
  return passByLook(ms, pass.outcome === 'withheld' ? pass : null);
}

/** The earliest of some ISO times; null for none. */
export function earliest(times: readonly (string | null)[]): string | null {
  return times.reduce((first, time) => {
    if (first === null || time === null) return first ?? time;
    return Date.parse(time) < Date.parse(first) ? time : first;
  }, null);
}

function stateOf(
  { wanted, overview, summary, running }: KnownForm,
  problems: readonly FormProblem[],
  nowMs: number,
): HealthState {
  if (!wanted) return 'ended';
  // No target says since when a form is gone that was never mirrored; as long as it is listed, each pass finds it again.
  const goneAt = overview?.goneAt ?? newestPass(summary)?.endedAt ?? null;
  const isGone = problems.some(({ code }) => code === 'FORM_GONE');
  if (isGone && goneAt !== null && nowMs - Date.parse(goneAt) > GONE_IS_NEWS_MS) return 'ended';
  if (problems.some(({ level }) => level === 'error')) return 'failed';
  if (problems.length > 0) return 'attention';
  if (running !== null) return 'working';
  const hasBegun = newestPass(summary) !== null || (overview?.checkpoint ?? null) !== null;
  return hasBegun ? 'ok' : 'waiting';
}

function sinceOf(
  state: HealthState,
  { overview, running, summary }: KnownForm,
  problems: readonly FormProblem[],
): string | null {
  switch (state) {
    case 'failed':
      return earliest(problems.filter(({ level }) => level === 'error').map(({ since }) => since));
    case 'attention':
      return earliest(problems.map(({ since }) => since));
    case 'working':
      return isoOrNull(running?.startedAtMs ?? 0);
    case 'ok':
      return isoOrNull(summary.recoveredMs);
    case 'ended':
      return overview?.goneAt ?? null;
    case 'waiting':
    case 'paused':
      return null;
  }
}

/** The states in words; `ok` names what it covers besides. */
export const STATE_TITLES: Readonly<Record<HealthState, string>> = {
  ok: 'Up to date',
  working: 'Working',
  attention: 'Needs attention',
  failed: 'Failed',
  waiting: 'Waiting',
  paused: 'Paused',
  ended: 'Ended',
};

interface TitleFacts {
  readonly covers: Coverage;
  readonly differs: string | null;
  /** What is claimed is dated after now. */
  readonly isMisdated: boolean;
  readonly shared: Problem | null;
  readonly overdueSince: string | null;
}

/** What a running pass does. */
const READING: Readonly<Record<PassKind, string>> = {
  incremental: 'Reading what is new',
  full: 'Reading everything',
  compare: 'Comparing some rows',
};

function titleOf(
  state: HealthState,
  { overview, running }: KnownForm,
  { covers, shared, overdueSince, differs, isMisdated }: TitleFacts,
): string {
  if (state === 'ok') return upToDateTitle(covers);
  if (state === 'ended') return overview?.goneAt ? 'Gone at the source' : 'No longer chosen';
  if (state === 'working') {
    const what = READING[running?.kind ?? 'incremental'];
    return running?.isElsewhere === true ? `${what}, on another worker` : what;
  }
  if (state !== 'waiting') return STATE_TITLES[state];
  if (shared !== null) return waitingTitle(shared.code);
  if (overdueSince !== null) return 'Overdue';
  if (covers.absent > 0) return absentTitle(covers);
  if (differs !== null) return 'Changes to read';
  return isMisdated ? 'Dated in the future: check the clock' : 'Waiting for the first pass';
}

/** What a form waits for that is held up by a problem of all. */
function waitingTitle(code: ProblemCode): string {
  if (code === 'SETTINGS') return 'Settings to correct';
  if (code === 'NOT_RUNNING') return 'Not running';
  if (code.startsWith('QUEUE_')) return 'Waiting on the queue';
  return code.startsWith('TARGET_') || code === 'OTHER_SCHEMA'
    ? 'Waiting on the target'
    : 'Waiting on the source';
}

function problemsOf(known: KnownForm, context: FormContext): FormProblem[] {
  return [
    passesProblem(known, context) ?? lossesProblem(known) ?? refilledProblem(known, context.nowMs),
    stalenessProblem(known, context),
    deletionsProblem(known),
    markingProblem(known.overview, context.isShared),
  ]
    .filter((problem) => problem !== null)
    .toSorted((a, b) => Number(b.level === 'error') - Number(a.level === 'error'));
}

function passesProblem(known: KnownForm, context: FormContext): FormProblem | null {
  const { summary, overview } = known;
  const newest = newestPass(summary);
  if (isGone(newest, overview?.goneAt ?? null)) return goneProblem(known, newest);
  if (newest === null) return null;
  if (newest.outcome === 'failed') return failedProblem(known, context, newest);
  if (newest.outcome === 'incomplete') return unprovenProblem(known, newest);
  const { full } = summary;
  if (full === null || newest === full) return null;
  if (full.outcome === 'failed') return fullFailedProblem(known, context, full);
  return full.outcome === 'incomplete' ? unprovenProblem(known, full) : null;
}

/** The form answers 404, and no pass has found it since. */
function isGone(newest: PassRecord | null, goneAt: string | null): boolean {
  if (newest?.outcome === 'gone') return true;
  if (goneAt === null) return false;
  return newest === null || Date.parse(newest.endedAt) <= Date.parse(goneAt);
}

/** What a problem of a form has unless it says otherwise. */
const USUAL = { command: null, notifies: true, inhibited: false, needsDecision: false } as const;

function goneProblem({ form, overview }: KnownForm, newest: PassRecord | null): FormProblem {
  const goneAt = overview?.goneAt ?? null;
  return {
    ...USUAL,
    track: 'passes',
    level: 'warning',
    code: 'FORM_GONE',
    title: 'Gone at the source',
    message:
      newest?.outcome === 'gone' && newest.error !== null
        ? newest.error
        : `The form "${form.name}" (${form.id}) answers 404.${overview === null ? '' : ' Its rows stay unchanged.'}`,
    remedy: remedyFor('FORM_GONE'),
    since: goneAt ?? newest?.endedAt ?? null,
    occurrence: newest?.startedAt ?? goneAt ?? '',
  };
}

function failedProblem(
  { form, summary }: KnownForm,
  { isShared }: FormContext,
  pass: PassRecord,
): FormProblem {
  return {
    ...USUAL,
    track: 'passes',
    level: 'error',
    code: pass.code ?? 'INTERNAL',
    title: 'The last pass failed',
    message: pass.error ?? `The last pass of "${form.name}" failed.`,
    remedy: remedyFor(pass.code),
    since: isoOrNull(summary.outcomeSinceMs[pass.kind]),
    inhibited: isShared(pass.code),
    occurrence: pass.startedAt,
  };
}

/** An incremental pass went well since: what failed was passing, and what its code asks for has been done. */
function fullFailedProblem(known: KnownForm, context: FormContext, pass: PassRecord): FormProblem {
  const problem = failedProblem(known, context, pass);
  return {
    ...problem,
    level: 'warning',
    title: 'The last full pass failed',
    message: `Changes that move a count still arrive, but edited answers do not: ${problem.message}`,
    remedy: fullRetryText(context.fullRetryAt ?? null),
  };
}

function fullRetryText(at: string | null): string {
  const when = at === null ? 'within some minutes while a worker runs' : `at ${exact(at)}`;
  return `It is tried again by itself ${when}. If it fails again, run forms-mirror check.`;
}

function unprovenProblem({ summary }: KnownForm, pass: PassRecord): FormProblem {
  const times = summary.unproven[pass.kind];
  return {
    ...USUAL,
    track: 'passes',
    level: 'warning',
    code: 'RUN_INCOMPLETE',
    title: times > 1 ? `Unproven ${times} times in a row` : 'Not proven complete',
    message: pass.error ?? 'The last pass ended without proof that nothing was missed.',
    remedy: times > 1 ? remedyFor('RUN_INCOMPLETE') : null,
    since: isoOrNull(summary.outcomeSinceMs[pass.kind]),
    notifies: times >= UNPROVEN_NOTIFIES,
    occurrence: pass.startedAt,
  };
}

/** What was proven once and is not there any more: nothing that a pass said of it is true until everything is read again. */
function lossesProblem(known: KnownForm): FormProblem | null {
  const lost = lossSentence(lossesOf(known));
  if (lost === null) return null;
  const code = isOfSettings(lossesOf(known)) ? 'SETTINGS_CHANGED' : 'COPY_DAMAGED';
  return {
    ...USUAL,
    track: 'passes',
    level: 'error',
    code,
    title: code === 'COPY_DAMAGED' ? 'The copy was damaged' : 'Stored under other settings',
    message: `${lost}. The copy is not complete until a pass has read everything again.`,
    remedy: remedyFor(code),
    since: null,
    notifies: false,
    occurrence: newestPass(known.summary)?.startedAt ?? '',
  };
}

/** What a copy cannot be filled with again is not missed by any pass: it is told for a while. */
function refilledProblem({ form, target, overview }: KnownForm, nowMs: number): FormProblem | null {
  const at = overview?.refilledAt;
  if (at === undefined || nowMs - Date.parse(at) > REFILL_IS_NEWS_MS) return null;
  return {
    ...USUAL,
    track: 'passes',
    level: 'warning',
    code: 'COPY_REFILLED',
    title: 'The copy was gone and was made again',
    message: refilledText(form, target, at),
    remedy: remedyFor('COPY_REFILLED'),
    since: at,
    occurrence: at,
  };
}

/** That a target was found empty which DATA_DIR says has held a form, and what no pass brings back. */
export const refilledText = ({ name, id }: FormIdentity, target: string, at: string): string =>
  `Target ${target} held a copy of form "${name}" (${id}) and was empty at ${exact(at)}, so it was filled again from the source. ` +
  'Lost for good: rows of submissions that are deleted at the source, the history of statuses and former versions, and the list of what was forgotten on request.';

function deletionsProblem(known: KnownForm): FormProblem | null {
  const { summary, form, target, overview } = known;
  const { withheld, withheldSinceMs, full } = summary;
  // Of a form that is gone nothing is deleted any more.
  if (withheld === 0 || isGone(newestPass(summary), overview?.goneAt ?? null)) return null;
  const rows = plural(withheld, 'row is', 'rows are');
  return {
    ...USUAL,
    track: 'deletions',
    level: 'warning',
    code: 'DELETIONS_HELD',
    title: 'Deletions withheld',
    message: `${rows} absent from the source, more than MAX_DELETE_FRACTION allows at once. Nothing was marked deleted.`,
    remedy: 'Check the form in the dashboard. If they were deleted on purpose, release them:',
    command: `forms-mirror sync --full --accept-deletes ${shellOption('--form', form.id)} ${shellOption('--target', target)}`,
    since: isoOrNull(withheldSinceMs),
    needsDecision: true,
    occurrence: full?.startedAt ?? '',
  };
}

function stalenessProblem(
  { form, summary }: KnownForm,
  { stale, nowMs }: FormContext,
): FormProblem | null {
  if (stale === null) return null;
  return {
    ...USUAL,
    track: 'staleness',
    level: 'error',
    code: 'STALE',
    title: 'Stale',
    message: `No pass of "${form.name}" has ended, and no look has found it unchanged, for ${span(nowMs - stale.sinceMs)}, longer than its schedule explains.`,
    remedy: remedyFor('STALE'),
    since: isoOrNull(stale.sinceMs),
    notifies: stale.notifies,
    occurrence: newestPass(summary)?.startedAt ?? '',
  };
}
