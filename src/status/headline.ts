import type { State } from './mirror-view.ts';
import type { FormReport, StatusReport } from './report.ts';
import { plural, span } from './words.ts';

/** The words at the top: how the whole mirror stands. */
export function headline(report: StatusReport): string {
  const { state, problems, targets, forms } = report;
  const shared = problems[0] ?? targets.find(({ problem }) => problem !== null)?.problem;
  if (shared !== undefined && shared !== null) return shared.title;
  switch (state) {
    case 'failed':
    case 'attention':
      return troubles(forms);
    case 'working':
      return 'The first pass is under way';
    case 'ok':
      return 'Everything is up to date';
    case 'waiting':
      return forms.length === 0 ? 'Nothing has been mirrored yet' : 'Waiting for the first pass';
    case 'ended':
      return 'Nothing is mirrored any more';
  }
}

/** `1 form has failed, 2 need attention`. */
function troubles(forms: readonly FormReport[]): string {
  const failed = formsIn(forms, 'failed');
  const attention = formsIn(forms, 'attention').difference(failed);
  const needs = attention.size === 1 ? 'needs attention' : 'need attention';
  if (failed.size === 0) return `${plural(attention.size, 'form')} ${needs}`;
  const first = `${plural(failed.size, 'form')} ${failed.size === 1 ? 'has' : 'have'} failed`;
  return attention.size === 0 ? first : `${first}, ${attention.size} ${needs}`;
}

function formsIn(forms: readonly FormReport[], wanted: State): Set<string> {
  return new Set(forms.filter(({ state }) => state === wanted).map(({ form }) => form.id));
}

/** The line below it: how much there is, and how old the oldest proof. */
export function summary({ forms, targets, at }: StatusReport): string {
  const mirrored = forms.filter(({ state }) => state !== 'ended');
  if (mirrored.length === 0) {
    const names = targets.map(({ name, address }) =>
      address === null ? name : `${name} (${address})`,
    );
    return `To be copied into ${names.join(', ')}`;
  }
  const places = targets.length === 1 ? 'one target' : plural(targets.length, 'target');
  const ids = new Set(mirrored.map(({ form }) => form.id));
  const rows = mirrored.reduce((sum, form) => sum + form.rows, 0);
  const proven = mirrored.map(({ provenAt }) => (provenAt === null ? 0 : Date.parse(provenAt)));
  const oldest = Math.min(...proven);
  const parts = [`${plural(ids.size, 'form')} in ${places}`];
  parts.push(plural(rows, 'row'));
  if (oldest > 0)
    parts.push(`each proven complete within the last ${span(Date.parse(at) - oldest)}`);
  return parts.join(' · ');
}
