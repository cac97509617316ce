import { PROBLEMS, type ProblemCode } from '../base/catalogue.ts';
import { isAhead } from '../base/clock.ts';
import { exact, iso, plural, span } from '../base/format.ts';
import { liveRows } from '../mirror/form-state.ts';
import type { FormIdentity } from '../mirror/types.ts';
import type { WriteBackProblem } from '../sync/records.ts';
import type { Facts } from './facts.ts';
import type { KnownForm } from './known-form.ts';
import {
  acceptance,
  type FormReport,
  type HealthState,
  type Problem,
  problemOf,
  shownPause,
  STATE_TITLES,
} from './report.ts';

/** The facts outside a form on which its health depends. */
export interface Surroundings extends Pick<Facts, 'nowMs' | 'nextPollMs'> {
  /** Whether the target was read. If it was, a form that it does not show does not exist there. */
  readonly isTargetRead: boolean;
  /** Whether jobs are running: a first copy may have to wait for other forms. */
  readonly isBusy: boolean;
  /** Failures of the target, the source, the queue and the settings, which keep the form waiting; the target's first. */
  readonly problems: readonly Problem[];
}

/** After this time, a form that was deleted needs no attention anymore, nor does a copy that was filled again. */
const NEWS_MS = 7 * 24 * 3_600_000;

/** Judges a form in a target. Pure. */
export function judgeForm(known: KnownForm, around: Surroundings): FormReport {
  const { form, target, copy, running, isWanted, last, claim } = known;
  const { tally, goneAtMs = null } = copy?.state ?? {};
  const writeBack = copy?.writeBack ?? null;
  const refused = writeBack === null ? 0 : (tally?.refused ?? 0);
  // A submission that was refused may have changed since, or been forgotten.
  const isWritten = writeBack === null || (writeBack.code === null && refused === 0);
  const ofStatuses = isWritten ? [] : [writeBackProblem(writeBack, refused)];
  const own = isWanted ? [...problemsOf(known, around), ...ofStatuses] : [];
  const problems = own
    .filter(({ code }) => !isCausedBy(code, around.problems))
    .toSorted(errorsFirst);
  const [state, title] = stateOf(known, problems, around);
  const none = around.isTargetRead ? 0 : null;
  return {
    form,
    target,
    state,
    title,
    pause: state === 'paused' ? known.pause && shownPause(known.pause, form.slug, target) : null,
    problems,
    notices: copy?.notices ?? [],
    claim,
    location: copy?.location ?? null,
    url: copy?.place.url ?? null,
    table: copy?.place.table ?? null,
    rows: tally === undefined ? none : liveRows(tally),
    deletedRows: tally?.deleted ?? none,
    rejected: tally?.rejected ?? none,
    forgotten: tally?.forgotten ?? none,
    refused: copy === null ? none : refused,
    running,
    lastRun: last && {
      outcome: last.outcome,
      startedAt: iso(last.startedAtMs),
      endedAt: iso(last.endedAtMs),
      code: last.code,
      error: last.error,
    },
    // A form that was gone before its first copy still needs attention.
    goneAt: goneAtMs === null ? null : iso(goneAtMs),
  };
}

/** The state, and the text for it in every surface: of the worst problem, or of the one that keeps the form waiting. */
function stateOf(
  { copy, isWanted, goneMs, claim, pause, running }: KnownForm,
  problems: readonly Problem[],
  around: Surroundings,
): [HealthState, string] {
  const titled = (state: HealthState, title = STATE_TITLES[state]): [HealthState, string] => [
    state,
    title,
  ];
  if (goneMs !== null && (!isWanted || around.nowMs - goneMs > NEWS_MS))
    return titled('ended', PROBLEMS.FORM_GONE.title);
  if (!isWanted) return titled('ended', 'No longer selected');
  if (pause !== null) return titled('paused');
  const [worst] = problems;
  if (worst !== undefined) return titled(isError(worst) ? 'failed' : 'attention', worst.title);
  if (running !== null) return titled('working');
  // No form is the cause of a shared problem, but during one no form is known to be current.
  const [shared] = around.problems;
  if (shared !== undefined) return titled('waiting', shared.title);
  if (claim.submissionsAsOf !== null) return titled('ok');
  const isFirst = (copy?.runs ?? []).length === 0;
  return titled('waiting', isFirst ? 'Waiting for the first run' : 'Waiting for the next run');
}

/** Whether the copy falls behind, or may be wrong. */
const isError = ({ level }: Problem): boolean => level === 'error';
/** The order of problems. */
const errorsFirst = (a: Problem, b: Problem): number => Number(isError(b)) - Number(isError(a));

/** Whether a problem of everything, or of the target, causes one of a form and is reported in its place. */
const isCausedBy = (code: ProblemCode, problems: readonly Problem[]): boolean =>
  problems.some((cause) => {
    const { scope } = PROBLEMS[cause.code];
    return code === 'STALE' || (scope !== 'program' && scope === PROBLEMS[code].scope);
  });

/** The problems of a form and its copy. */
function* problemsOf(known: KnownForm, around: Surroundings): Generator<Problem> {
  const { form, target, copy, last, goneMs } = known;
  const { name, slug, id } = form;
  const { nowMs } = around;
  if (goneMs !== null) {
    const said = last?.outcome === 'gone' ? last.error : null;
    const message =
      said ?? `The form "${name}" (${id}) answers 404 or 410. Rows that were copied stay.`;
    return yield problemOf({ code: 'FORM_GONE', message, sinceMs: goneMs });
  }
  const silentMs = silentSinceMs(known, around);
  const ending = { message: last?.error ?? '', sinceMs: last?.sinceMs ?? null };
  if (last?.outcome === 'failed') {
    yield problemOf({ code: last.code ?? 'INTERNAL', ...ending }, { level: 'error' });
  } else if (silentMs !== null) {
    const message = `No run of "${name}" has ended, and no poll has found it unchanged, for ${span(nowMs - silentMs)}, longer than its schedule explains.`;
    yield problemOf({ code: 'STALE', message, sinceMs: silentMs });
  }
  if (last?.outcome === 'incomplete') yield problemOf({ code: 'RUN_INCOMPLETE', ...ending });
  if (copy === null) return;
  const { failure, losses, refilledAtMs, state } = copy;
  // The last run may have failed for the same reason.
  if (failure !== undefined && (last?.outcome !== 'failed' || last.code !== failure.code))
    yield problemOf({ code: failure.code, message: failure.message, sinceMs: null });
  if (losses.length > 0) {
    const message = `${losses.join(' ')} The copy is not complete until a run has read everything again.`;
    yield problemOf({ code: 'COPY_OUTDATED', message, sinceMs: null });
  }
  if (refilledAtMs !== null && nowMs - refilledAtMs <= NEWS_MS) {
    const message = refilledText(form, target, refilledAtMs);
    yield problemOf({ code: 'COPY_REFILLED', message, sinceMs: refilledAtMs });
  }
  const changedMs = state.commitUs / 1_000;
  if (isAhead(changedMs, nowMs)) {
    const message = `The last change of the copy of form "${name}" is dated ${exact(changedMs)}, ${span(changedMs - nowMs)} from now.`;
    yield problemOf({ code: 'CLOCK', message, sinceMs: null });
  }
  if (state.tally.held > 0) {
    const rows = plural(state.tally.held, 'row is', 'rows are');
    const message = `${rows} missing from the source: too many disappeared at once (MAX_DELETE_FRACTION), so these were not marked deleted.`;
    yield problemOf(
      { code: 'DELETIONS_HELD', message, sinceMs: state.since.held ?? null },
      acceptance(slug, target),
    );
  }
}

/** Since when a stale form has had no news or, before its first run, was due to be copied; null: it is not stale. */
function silentSinceMs(known: KnownForm, around: Surroundings): number | null {
  const { heardMs, plannedMs, pause, running } = known;
  if (pause !== null || running !== null) return null;
  const sinceMs = heardMs === 0 && !around.isBusy ? plannedMs : heardMs;
  return sinceMs > 0 && isStale(sinceMs, around) ? sinceMs : null;
}

/** The text about a target that was found empty although DATA_DIR says that it had a form, and about what no run brings back. */
export const refilledText = ({ name, id }: FormIdentity, target: string, atMs: number): string =>
  `Target ${target} held a copy of form "${name}" (${id}) and was empty at ${exact(atMs)}, so it is filled again from the source. ` +
  'Lost for good: rows of submissions that are deleted at the source, the history of statuses and former versions, and the list of forgotten submissions.';

function writeBackProblem({ since, code, error }: WriteBackProblem, refused: number): Problem {
  const sinceMs = Date.parse(since);
  if (code !== null) {
    const message = error ?? 'The last write-back failed.';
    const remedy = code === 'FORMS_REFUSED' ? REFUSED_REMEDY : PROBLEMS[code].remedy;
    const title = 'Status changes failed';
    return problemOf({ code, message, sinceMs }, { title, level: 'warning', remedy });
  }
  const message = `The status of ${plural(refused, 'submission')} could not be changed: the source refused it, or answered with success and did not change the status. Each is tried again when it changes, and a day after it was refused.`;
  return problemOf({ code: 'WRITE_BACK_REFUSED', message, sinceMs });
}

const REFUSED_REMEDY =
  'Check that the key may change statuses, and that the source lets MARK_STATUS follow the statuses of MARK_FROM. The next run tries again.';

/** A slow run or a late poll is not a failure. */
const STALE_MS = 5 * 60_000;

/** The one rule of staleness: since the form's last news, it should have been polled twice, and five minutes more have passed. Pure. */
export const isStale = (
  heardMs: number,
  { nowMs, nextPollMs }: Pick<Facts, 'nowMs' | 'nextPollMs'>,
): boolean => nowMs - nextPollMs(nextPollMs(heardMs)) > STALE_MS;
