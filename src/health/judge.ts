import { isAhead } from '../base/clock.ts';
import { PROBLEMS, type ProblemCode } from '../base/catalogue.ts';
import { ago, plural } from '../base/format.ts';
import { wholePause } from '../mirror/pauses.ts';
import type { Facts, TargetFacts } from './facts.ts';
import { FAILED_MS, judgeForm, problemOf, shownPause, staleSinceMs } from './judge-form.ts';
import { type KnownForm, knownForms, succeededMsOf } from './known-form.ts';
import {
  claimText,
  type FormReport,
  type HealthState,
  isKnown,
  oldestClaim,
  type Problem,
  type QueueReport,
  type QueueState,
  type Report,
  type SourceReport,
  type TargetReport,
  worstOf,
} from './report.ts';

/*
 * The one place that judges. Facts in, the report out: nothing here reads a clock, a target or a file.
 */

/** While other forms of its target are copied, a form may have to wait. */
const BUSY_LIMIT_MS = 6 * 3_600_000;

/** Judges the mirror. Pure. */
export function judge(facts: Facts): Report {
  const { nowMs } = facts;
  const known = facts.targets.map((target) => ({ target, forms: knownForms(target, facts) }));
  const wanted = known.flatMap(({ forms }) => forms.filter(isTried));
  const heardMs = heardMsFrom(
    known.flatMap(({ forms }) => forms),
    facts,
  );
  const source = sourceProblem(wanted, heardMs, facts);
  const isWait = ({ code }: Problem): boolean => code === 'SOURCE_WAITING';
  const troubles = facts.troubles.map((trouble) => problemOf(trouble));
  const ofAll =
    source === null ? troubles : [source, ...troubles.filter((problem) => !isWait(problem))];
  const judged = known.map(({ target, forms }) => {
    const problem = targetProblem(target, forms.filter(isTried), nowMs);
    const holdsUp = problem ?? firstOf(ofAll.filter(({ code }) => code !== 'DATA_DIR'));
    const isExplained = (code: ProblemCode): boolean => {
      const { scope } = PROBLEMS[code];
      if (code === 'STALE') return isError(problem) || ofAll.some(isError);
      if (scope === 'source') return source !== null;
      if (scope === 'target') return problem !== null;
      return code === 'SETTINGS' && ofAll.some((one) => one.code === code);
    };
    const reports = forms.map((form) =>
      judgeForm(form, {
        nowMs,
        isTargetRead: target.failure === null && target.readAtMs > 0,
        shared: holdsUp,
        isExplained,
        silentSinceMs: silentSinceMs(form, facts),
        nextPollMs: facts.nextPollMs,
      }),
    );
    return { target: targetReport(target, problem, reports), forms: reports };
  });
  const targets = judged.map(({ target }) => target);
  const forms = judged.flatMap((one) => one.forms);
  const problems = ofAll.toSorted((a, b) => Number(isError(b)) - Number(isError(a)));
  const shared = firstOf([...problems, ...targets.flatMap(({ problem }) => problem ?? [])]);
  const state = stateWith(shared, overall(forms));
  const report = {
    at: iso(nowMs),
    version: facts.version,
    state,
    problems,
    source: sourceReport(source, ofAll.find(isWait) ?? null, heardMs, facts),
    queue: queueReport(facts.queue),
    targets,
    forms,
  };
  return { ...report, title: titleOf(report, shared), summary: summaryOf(report) };
}

const iso = (ms: number): string => new Date(ms).toISOString();
const isError = (problem: Problem | null): boolean => problem?.level === 'error';
/** The first that is an error, or else the first. */
const firstOf = (problems: readonly Problem[]): Problem | null =>
  problems.find(isError) ?? problems[0] ?? null;
/**
 * Parts that failed before people paused them are not retried, so they show nothing about the present state of
 * source and targets.
 */
const isTried = ({ isWanted, pause }: KnownForm): boolean => isWanted && pause === null;

/** The newest failure with a code of the scope that shows in two forms; a refused key and another schema show in one. */
function sharedFailure(
  forms: readonly KnownForm[],
  scope: 'source' | 'target',
  afterMs: number,
): Problem | null {
  const failures = forms.flatMap(({ form: { id }, last }) => {
    const code = last?.code ?? null;
    if (last?.outcome !== 'failed' || code === null || last.endedAtMs <= afterMs) return [];
    return PROBLEMS[code].scope === scope ? [{ id, code, last }] : [];
  });
  const newest = failures.toSorted((a, b) => b.last.endedAtMs - a.last.endedAtMs)[0];
  if (newest === undefined) return null;
  const isCertain = newest.code === 'FORMS_UNAUTHORIZED' || newest.code === 'OTHER_SCHEMA';
  if (!isCertain && new Set(failures.map(({ id }) => id)).size < 2) return null;
  const { code, last } = newest;
  const sinceMs = Math.min(...failures.map((failure) => failure.last.sinceMs));
  return problemOf({ code, message: last.error ?? '', sinceMs }, { level: 'error' });
}

/** When the source last answered as it should, by runs and polls; 0 for never. */
const heardMsFrom = (forms: readonly KnownForm[], { plan, nowMs }: Facts): number =>
  newestOf(
    [plan.atMs, ...forms.flatMap((form) => [form.agreement?.atMs, ...succeededMsOf(form)])],
    nowMs,
  );

/** The newest of several times; 0 for none. A time in the future came from a wrong clock. */
const newestOf = (times: readonly (number | null | undefined)[], nowMs: number): number =>
  Math.max(0, ...times.map((ms) => (isAhead(ms ?? 0, nowMs) ? 0 : (ms ?? 0))));

function sourceProblem(
  forms: readonly KnownForm[],
  heardMs: number,
  { kept: { source } }: Facts,
): Problem | null {
  const shared = sharedFailure(forms, 'source', heardMs);
  if (shared !== null) return shared;
  if (source === null || source.atMs <= heardMs) return null;
  return problemOf(source, { level: 'error' });
}

function targetProblem(
  { failure }: TargetFacts,
  forms: readonly KnownForm[],
  nowMs: number,
): Problem | null {
  const succeededMs = newestOf(forms.flatMap(succeededMsOf), nowMs);
  const shared = sharedFailure(forms, 'target', succeededMs);
  if (shared !== null) return shared;
  return failure && problemOf(failure, { level: 'error' });
}

/** Since when a form has had no run and no poll, if that is longer than the schedule explains; null otherwise. */
function silentSinceMs(form: KnownForm, facts: Facts): number | null {
  const { last, held, target, heardMs } = form;
  const isGone = last?.outcome === 'gone' || (held?.stored.state.goneAtMs ?? null) !== null;
  const atMs = Math.max(facts.expectedSinceMs(target, form.form.id), heardMs);
  // Without any sign of life there is nothing to count from.
  if (!isTried(form) || isGone || atMs === 0) return null;
  const isBusy = facts.queue?.running.some((job) => job.target === target) === true;
  return staleSinceMs(atMs, facts, isBusy ? BUSY_LIMIT_MS : FAILED_MS) === null ? null : atMs;
}

/** Only a first run or that of a stale form makes the mirror `working`: another one leaves the known facts unchanged. */
function overall(forms: readonly FormReport[]): HealthState {
  return worstOf(
    forms.map(({ state, claim, staleSince }) =>
      state === 'working' && claim.submissionsAsOf !== null && staleSince === null ? 'ok' : state,
    ),
  );
}

/** With a problem below an error, it is not known whether anything is current. */
function stateWith(shared: Problem | null, ofForms: HealthState): HealthState {
  if (shared === null) return ofForms;
  return isError(shared) ? 'failed' : worstOf([ofForms, 'waiting']);
}

function targetReport(
  { name, held, readAtMs, failure }: TargetFacts,
  problem: Problem | null,
  forms: readonly FormReport[],
): TargetReport {
  const pause = wholePause(held?.pauses ?? []);
  const ofForms = forms.length === 0 && pause !== null ? 'paused' : overall(forms);
  const state = stateWith(problem, ofForms);
  return {
    name,
    state,
    kind: held?.kind ?? null,
    address: held?.address ?? null,
    isReadable: failure === null,
    readAt: readAtMs === 0 ? null : iso(readAtMs),
    pause: pause && shownPause(pause, '', name),
    problem,
  };
}

function sourceReport(
  failure: Problem | null,
  wait: Problem | null,
  heardMs: number,
  facts: Facts,
): SourceReport {
  const problem = failure ?? wait;
  if (problem !== null) {
    const { title, since } = problem;
    return { condition: failure === null ? 'waiting' : 'failing', title, since };
  }
  const quiet = { condition: 'unknown', since: null } as const;
  if (heardMs === 0) return { ...quiet, title: 'The Forms API has not answered yet' };
  const heard = ago(iso(heardMs), facts.nowMs);
  if (staleSinceMs(heardMs, facts) !== null)
    return { ...quiet, title: `The Forms API last answered ${heard}` };
  return {
    condition: 'answering',
    title: `The Forms API answers, last ${heard}`,
    since: null,
  };
}

function queueReport(queue: QueueState | null): QueueReport | null {
  if (queue === null) return null;
  const { backend, address, isReachable, nextPollAt, waiting, active, workers } = queue;
  return { backend, address, isReachable, nextPollAt, waiting, active, workers };
}

type Judged = Omit<Report, 'title' | 'summary'>;

const mirrored = ({ forms }: Judged): FormReport[] =>
  forms.filter(({ state }) => state !== 'ended');
const formsIn = (forms: readonly FormReport[]): number =>
  new Set(forms.map(({ form }) => form.id)).size;

/** The state of everything in one line. */
function titleOf(report: Judged, shared: Problem | null): string {
  const { state, forms, targets, at } = report;
  if (shared !== null && (isError(shared) || state === 'waiting')) return shared.title;
  const inState = (wanted: HealthState): FormReport[] =>
    forms.filter((form) => form.state === wanted);
  const all = mirrored(report);
  const claim = oldestClaim(all.map((form) => form.claim));
  switch (state) {
    case 'failed':
    case 'attention': {
      const isStale = ({ problems }: FormReport): boolean => problems[0]?.code === 'STALE';
      const failed = formsIn(inState('failed').filter((form) => !isStale(form)));
      const stale = formsIn(inState('failed').filter(isStale));
      const attention = formsIn(inState('attention'));
      const parts = [
        ...(failed > 0 ? [`${plural(failed, 'form')} failed`] : []),
        ...(stale > 0 ? [`${plural(stale, 'form')} stale`] : []),
        ...(attention > 0
          ? [`${plural(attention, 'form')} ${attention === 1 ? 'needs' : 'need'} attention`]
          : []),
      ];
      return parts.join(', ');
    }
    case 'working': {
      const first = inState('working').filter((form) => form.claim.submissionsAsOf === null);
      return first.length === 0 ? 'Catching up' : `First copy of ${plural(formsIn(first), 'form')}`;
    }
    case 'ok':
      return `Up to date: ${claimText(claim, Date.parse(at))}`;
    case 'waiting': {
      if (forms.length === 0)
        return targets.every(isKnown)
          ? 'Nothing has been mirrored yet'
          : 'The mirrored forms are not known';
      const waiting = inState('waiting');
      const first = waiting.filter((form) => form.claim.submissionsAsOf === null);
      const some = first.length > 0 ? first : waiting;
      const of = `${formsIn(some)} of ${plural(formsIn(forms), 'form')}`;
      return first.length > 0 ? `${of} not mirrored yet` : `${of} stale`;
    }
    case 'paused': {
      const paused = inState('paused');
      if (paused.length === all.length) return paused[0]?.title ?? 'Everything is paused';
      return `${plural(formsIn(paused), 'form')} paused`;
    }
    case 'ended':
      return 'Nothing is mirrored any more';
  }
}

/** How much there is. Submissions are counted once, not once for each target. */
function summaryOf(report: Judged): string {
  const { state, targets, at } = report;
  const all = mirrored(report);
  const places = targets.length === 1 ? 'one target' : plural(targets.length, 'target');
  if (all.length === 0) {
    const names = targets.map(({ name, address }) =>
      address === null ? name : `${name} (${address})`,
    );
    return `To be copied into ${names.join(', ')}`;
  }
  let rows: number | null = 0;
  for (const copies of Map.groupBy(all, ({ form }) => form.id).values()) {
    const known: number[] = copies.flatMap((copy) => copy.rows ?? []);
    rows = rows === null || known.length === 0 ? null : rows + Math.max(...known);
  }
  const claim = oldestClaim(all.map((form) => form.claim));
  return [
    `${plural(formsIn(all), 'form')} in ${places}`,
    rows === null ? 'submissions unknown' : plural(rows, 'submission'),
    // The headline of a healthy report already has it.
    ...(claim.submissionsAsOf !== null && state !== 'ok' ? [claimText(claim, Date.parse(at))] : []),
  ].join(' · ');
}
