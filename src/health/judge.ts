import { PROBLEMS } from '../base/catalogue.ts';
import { iso, plural } from '../base/format.ts';
import { wholePause } from '../mirror/pauses.ts';
import type { Facts, TargetFacts } from './facts.ts';
import { isStale, judgeForm } from './judge-form.ts';
import { type KnownForm, knownForms, newestOf } from './known-form.ts';
import {
  claimText,
  type FormReport,
  type HealthState,
  oldestClaim,
  type Problem,
  problemOf,
  type Report,
  shownPause,
  STATE_TITLES,
  type TargetReport,
  worstOf,
} from './report.ts';
import type { ProblemFacts } from './problem-facts.ts';

/* The one place that judges: facts in, report out. It reads no clock, target or file. */

/** Judges the mirror. Pure. */
export function judge(facts: Facts): Report {
  const { nowMs, plan, kept } = facts;
  const known = facts.targets.map((target) => ({ target, forms: knownForms(target, facts) }));
  const all = known.flatMap(({ forms }) => forms);
  // When the source last answered correctly, according to runs and polls.
  const agreedMs = facts.targets.map(({ value }) => value?.agreements[0]?.atMs);
  const succeededMs = all.map((form) => form.succeededMs);
  const heardMs = newestOf([plan?.atMs, ...agreedMs, ...succeededMs], nowMs);
  const unlisted = kept.source !== null && kept.source.atMs > heardMs ? kept.source : null;
  const source = sharedFailure(all, 'source', heardMs) ?? (unlisted && failureOf(unlisted));
  const problems = [source ?? [], facts.problems.map(failureOf)].flat();
  // A folder that cannot be written keeps no form waiting.
  const holdingUp = problems.filter(({ code }) => code !== 'DATA_DIR');
  const judged = known.map(({ target, forms }) => {
    const workedMs = newestOf(
      forms.filter(isTried).map((form) => form.succeededMs),
      nowMs,
    );
    const problem =
      sharedFailure(forms, 'target', workedMs) ?? (target.problem && failureOf(target.problem));
    const around = {
      ...facts,
      isBusy: (facts.queue?.running.length ?? 0) > 0,
      isTargetRead: isRead(target),
      problems: [problem ?? [], holdingUp].flat(),
    };
    const reports = forms.flatMap((form) => {
      const report = judgeForm(form, around);
      // There is nothing left to say about a form that has ended and that the target does not have.
      return report.state === 'ended' && form.copy === null ? [] : report;
    });
    return { target: targetReport(target, problem, reports, facts), forms: reports };
  });
  const targets = judged.map(({ target }) => target);
  const forms = judged.flatMap((one) => one.forms);
  const ofTargets = targets.flatMap(({ name, problem }) => {
    if (problem === null || targets.length === 1) return problem ?? [];
    return { ...problem, title: `${name}: ${problem.title}` };
  });
  const [shared = null] = [...problems, ...ofTargets];
  const report = {
    at: iso(nowMs),
    version: facts.version,
    state: shared === null ? overall(forms, facts) : 'failed',
    problems,
    source: { heardAt: heardMs === 0 ? null : iso(heardMs) },
    queue: facts.queue,
    targets,
    forms,
  };
  return { ...report, title: titleOf(report, shared), summary: summaryOf(report) };
}

const isRead = ({ problem, readAtMs }: TargetFacts): boolean => problem === null && readAtMs > 0;

/** The problem of a part that does not work at all: an error, whatever the catalogue says. */
const failureOf = (problem: ProblemFacts): Problem => problemOf(problem, { level: 'error' });

/** Parts that failed before people paused them are not retried, so they show nothing about the current state of source and targets. */
const isTried = ({ isWanted, pause }: KnownForm): boolean => isWanted && pause === null;

/** The newest failure with a code of this scope that appears in two forms; for a refused key or another schema, one form is enough. */
function sharedFailure(
  forms: readonly KnownForm[],
  scope: 'source' | 'target',
  afterMs: number,
): Problem | null {
  const failures = forms.filter(isTried).flatMap(({ form: { id }, last }) => {
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
  return failureOf({ code, message: last.error ?? '', sinceMs });
}

/** Only a first run or a run of a stale form makes the mirror `working`: any other run leaves the known facts unchanged. */
const overall = (forms: readonly FormReport[], facts: Facts): HealthState =>
  worstOf(
    forms.map(({ state, claim: { submissionsAsOf } }) => {
      const isKnown = submissionsAsOf !== null && !isStale(Date.parse(submissionsAsOf), facts);
      return state === 'working' && isKnown ? 'ok' : state;
    }),
  );

function targetReport(
  target: TargetFacts,
  problem: Problem | null,
  forms: readonly FormReport[],
  facts: Facts,
): TargetReport {
  const { name, kind, address, value: content, readAtMs } = target;
  const pause = wholePause(content?.pauses ?? []);
  const ofForms = forms.length === 0 && pause !== null ? 'paused' : overall(forms, facts);
  return {
    name,
    state: problem === null ? ofForms : 'failed',
    kind,
    address,
    isReadable: isRead(target),
    readAt: readAtMs === 0 ? null : iso(readAtMs),
    pause: pause && shownPause(pause, '', name),
    problem,
  };
}

type Judged = Omit<Report, 'title' | 'summary'>;

const mirrored = ({ forms }: Judged): FormReport[] =>
  forms.filter(({ state }) => state !== 'ended');

/** The state of everything in one line that fits a phone: a problem of everything, or the worst state of forms. */
function titleOf(report: Judged, shared: Problem | null): string {
  const { state, forms, targets, at } = report;
  if (shared !== null) return shared.title;
  const all = mirrored(report);
  if (state === 'ok')
    return `Up to date: ${claimText(oldestClaim(all.map(({ claim }) => claim)), Date.parse(at))}`;
  if (state === 'ended') return 'Nothing is mirrored any more';
  if (forms.length === 0)
    return targets.every(({ isReadable }) => isReadable)
      ? 'The targets hold no copy'
      : 'The mirrored forms are not known';
  const worst = forms.filter((form) => form.state === state);
  const titles = new Set(worst.map(({ title }) => title));
  const [title = STATE_TITLES[state]] = titles.size === 1 ? titles : [];
  return `${plural(new Set(worst.map(({ form }) => form.id)).size, 'form')}: ${title}`;
}

/** How much there is. Submissions are counted once, not once per target. */
function summaryOf(report: Judged): string {
  const { targets } = report;
  const all = mirrored(report);
  if (all.length === 0 && !targets.every(({ isReadable }) => isReadable))
    return `${plural(targets.length, 'target')} · forms unknown`;
  const copies = [...Map.groupBy(all, ({ form }) => form.id).values()];
  const rows = copies.map((some) => Math.max(-1, ...some.flatMap((copy) => copy.rows ?? [])));
  const total = rows.reduce((sum, some) => sum + some, 0);
  const submissions = rows.includes(-1) ? 'submissions unknown' : plural(total, 'submission');
  return `${plural(copies.length, 'form')} in ${plural(targets.length, 'target')} · ${submissions}`;
}
