import { plural } from '../base/format.ts';
import type { HealthState } from '../mirror/health-text.ts';
import { type Coverage, coverageText, oldestCoverage } from './coverage.ts';
import { STATE_TITLES } from './form-health.ts';
import {
  type FormReport,
  knowsAll,
  type ShownProblem,
  type StatusReport,
  type TargetReport,
} from './report.ts';

/* What a page and a status say first: the state of everything in one line, and how much there is in another. */

/** The state of the whole mirror in a few words. */
export function headline(report: StatusReport): string {
  const { state, forms, targets } = report;
  const shared = worstShared(report);
  if (shared !== undefined && shared !== null) return shared.title;
  switch (state) {
    case 'failed':
    case 'attention':
      return troubledForms(forms);
    case 'working':
      return workingForms(forms);
    case 'ok':
      return `Up to date: ${coverageText(coverageOfAll(forms), Date.parse(report.at))}`;
    case 'waiting':
      return waitingForms(forms, targets);
    case 'paused':
      return pausedForms(report);
    case 'ended':
      return 'Nothing is mirrored any more';
  }
}

/** What all forms that are still mirrored have in common. */
function coverageOfAll(forms: readonly FormReport[]): Coverage {
  return oldestCoverage(forms.filter(({ state }) => state !== 'ended').map(({ covers }) => covers));
}

/** `The first pass of 2 forms is running`. */
function workingForms(forms: readonly FormReport[]): string {
  const first = forms.filter(({ state, provenAt }) => state === 'working' && provenAt === null);
  const ids = new Set(first.map(({ form }) => form.id));
  if (ids.size === 0) return 'A pass is running that is overdue';
  return ids.size === 1
    ? 'The first pass is running'
    : `The first pass of ${ids.size} forms is running`;
}

/** `Paused: target b, 2 forms; up to date: …`; who paused, where that is one and the same for all. */
function pausedForms({ forms, targets, at }: StatusReport): string {
  const mirrored = forms.filter(({ state }) => state !== 'ended');
  const paused = mirrored.filter(({ state }) => state === 'paused');
  const titles = new Set(paused.map(({ title }) => title));
  const [title = STATE_TITLES.paused] = titles;
  const rest = mirrored.filter(({ state }) => state !== 'paused');
  if (rest.length === 0) return titles.size > 1 ? 'Everything is paused' : title;
  const whole = targets.filter(({ pause }) => pause !== null);
  const single = paused.filter(({ pause }) => pause?.ofTarget === false);
  const ids = new Set(single.map(({ form }) => form.id));
  const what = [
    ...(whole.length > 0 ? [`target ${whole.map(({ name }) => name).join(', ')}`] : []),
    ...(ids.size > 0 ? [plural(ids.size, 'form')] : []),
  ];
  const others = coverageText(coverageOfAll(rest), Date.parse(at));
  return `Paused: ${what.join(', ')}; up to date: ${others}`;
}

/** `1 of 3 forms was never mirrored`, or what they wait for. */
function waitingForms(forms: readonly FormReport[], targets: readonly TargetReport[]): string {
  if (forms.length === 0) {
    return knowsAll(targets) ? 'Nothing has been mirrored yet' : 'What is mirrored is not known';
  }
  const all = new Set(forms.map(({ form }) => form.id));
  const waiting = forms.filter(({ state }) => state === 'waiting');
  const first = new Set(
    waiting.filter(({ provenAt }) => provenAt === null).map(({ form }) => form.id),
  );
  if (first.size === all.size) return 'Waiting for the first pass';
  if (first.size > 0) return `${first.size} of ${plural(all.size, 'form')} not mirrored yet`;
  const of = (some: readonly FormReport[]): string =>
    `${new Set(some.map(({ form }) => form.id)).size} of ${plural(all.size, 'form')}`;
  const late = waiting.filter(({ overdueSince }) => overdueSince !== null);
  const unsettled = forms.filter(({ state, covers }) => state !== 'ended' && covers.absent > 0);
  if (late.length > 0) return `${of(late)} overdue`;
  if (unsettled.length > 0) return `Deletions to look for in ${of(unsettled)}`;
  const open = waiting.filter(({ differsSince }) => differsSince !== null);
  return open.length > 0 ? `Changes to read in ${of(open)}` : `${of(waiting)} overdue`;
}

/** `1 form has failed, 2 need attention`. */
function troubledForms(forms: readonly FormReport[]): string {
  const failed = formsIn(forms, 'failed');
  const attention = formsIn(forms, 'attention').difference(failed);
  const needs = attention.size === 1 ? 'needs attention' : 'need attention';
  if (failed.size === 0) return `${plural(attention.size, 'form')} ${needs}`;
  const first = `${plural(failed.size, 'form')} ${failed.size === 1 ? 'has' : 'have'} failed`;
  return attention.size === 0 ? first : `${first}, ${attention.size} ${needs}`;
}

function formsIn(forms: readonly FormReport[], wanted: HealthState): Set<string> {
  return new Set(forms.filter(({ state }) => state === wanted).map(({ form }) => form.id));
}

/** The worst problem of all forms or of those of a target, unless single forms are worse. */
function worstShared({ state, problems, targets }: StatusReport): ShownProblem | undefined {
  const all = [...problems, ...targets.flatMap(({ problem }) => problem ?? [])];
  const [first] = all.toSorted((a, b) => Number(b.level === 'error') - Number(a.level === 'error'));
  return first?.level === 'error' || state === 'waiting' ? first : undefined;
}

/** The line below it: how much there is, and how old the oldest proof. */
export function summary({ state, forms, targets, at }: StatusReport): string {
  const mirrored = forms.filter(({ state }) => state !== 'ended');
  if (mirrored.length === 0) {
    const names = targets.map(({ name, address }) =>
      address === null ? name : `${name} (${address})`,
    );
    const all = names.join(', ');
    return knowsAll(targets) ? `To be copied into ${all}` : `Not every target can be read: ${all}`;
  }
  const places = targets.length === 1 ? 'one target' : plural(targets.length, 'target');
  const ids = new Set(mirrored.map(({ form }) => form.id));
  const rows = mirrored.reduce((sum, form) => sum + (form.rows ?? 0), 0);
  const isCounted = mirrored.every((form) => form.rows !== null);
  const covers = coverageOfAll(mirrored);
  const parts = [`${plural(ids.size, 'form')} in ${places}`];
  parts.push(isCounted ? plural(rows, 'row') : 'rows unknown');
  // The headline of what is well has it already.
  if (covers.membership !== null && state !== 'ok')
    parts.push(coverageText(covers, Date.parse(at)));
  return parts.join(' · ');
}
