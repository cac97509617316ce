import { MirrorError, toMirrorError } from '../base/errors.ts';
import { count, exact, plural, someOf, wordList } from '../base/format.ts';
import { shellOption } from '../base/printable.ts';
import { acceptance, shownPause } from '../health/report.ts';
import { longestGapMs } from '../queue/schedule.ts';
import type { Place } from '../sync/planner.ts';
import { type Differing, verifyForm, type VerifyReport } from '../sync/verify.ts';
import type { CommandCall, ExitCode, PlaceOptions } from './host.ts';
import { copyName, noticeLines, pauseLine } from './lines.ts';
import { openApp } from './open-app.ts';
import { selectPlan } from './selection.ts';
import type { Line } from './terminal.ts';

/** The comparison of a form with its copy in a target, or the error that ended it. */
interface Comparison extends Place {
  readonly result: VerifyReport | MirrorError;
}

/** `verify`: compares source and target row by row. */
export async function verify(
  call: CommandCall<PlaceOptions & { json?: boolean }>,
): Promise<ExitCode> {
  const { host, options } = call;
  const { terminal, stop } = host;
  await using app = await openApp(host, { source: true, fields: options.target ?? true });
  const pollMs = longestGapMs(app.config.schedule, host.clock.now());
  const comparisons: Comparison[] = [];
  for (const place of await selectPlan(call, app)) {
    if (terminal.interactive) terminal.say(`Comparing ${copyName(place)} …`);
    const result = await app
      .target(place.target)
      .then((target) => verifyForm(target, place.form.id, pollMs, stop.signal))
      .catch(toMirrorError);
    const comparison = { ...place, result };
    comparisons.push(comparison);
    if (!options.json) terminal.print(...comparisonLines(comparison));
  }
  if (options.json) terminal.printJson(verifyDocument(comparisons));
  else if (comparisons.length === 0)
    terminal.print('There was nothing to compare: no form is mirrored.');
  return comparisons.every(isWell) ? 0 : 1;
}

/** Whether nothing differs, or only changes too recent for a run to have stored them. */
const isWell = (comparison: Comparison): boolean =>
  ['same', 'lagging'].includes(outcomeOf(comparison));

const outcomeOf = ({ result }: Comparison) =>
  result instanceof MirrorError ? 'failed' : result.outcome;

const verifyDocument = (comparisons: readonly Comparison[]): Record<string, unknown> => ({
  // Without a comparison, nothing is known.
  same: comparisons.length > 0 && comparisons.every((one) => outcomeOf(one) === 'same'),
  ok: comparisons.every(isWell),
  forms: comparisons.map(({ form, target, result }) => ({
    ...(result instanceof MirrorError
      ? { outcome: 'failed', code: result.code, error: result.message }
      : { ...result, code: null, error: null }),
    form: form.id,
    slug: form.slug,
    target,
  })),
});

/** One line if nothing differs, otherwise the differences and their places; never an answer. */
function comparisonLines(comparison: Comparison): Line[] {
  const { form, target, result: report } = comparison;
  const name = copyName({ form, target });
  if (report instanceof MirrorError) return [{ sign: 'error', text: `${name}: ${report.message}` }];
  const { lagging, pause, outcome, differing, undecided } = report;
  const compared = `${plural(report.compared, 'submission')} compared`;
  const gone = report.forgotten === 0 ? '' : `; ${count(report.forgotten)} forgotten`;
  const line: Line = {
    sign: isWell(comparison) ? 'ok' : 'error',
    text: `${name}: ${verdictOf(report)}; ${compared}${gone}`,
    details: [
      ...idLines('missing in the copy', report.missing),
      ...idLines('gone from the source', report.extra),
      ...idLines('differing', differing),
      ...Object.entries(differing.columns).map(
        ([column, rows]) => `  in ${column}: ${plural(rows, 'row')}`,
      ),
      ...idLines('undecided: not listed, but neither 404 nor 410 by ID', undecided),
      ...idLines('too young to have been copied', lagging),
    ],
    ...(outcome === 'different' && pause === null && remedyFor(comparison, report)),
  };
  return [
    line,
    ...noticeLines(name, report.notices),
    ...(pause === null ? [] : [pauseLine(name, shownPause(pause, form.slug, target))]),
  ];
}

/** What a person can do about a copy that differs. */
function remedyFor({ form: { slug }, target }: Place, { held, extra, notices }: VerifyReport) {
  if (held > 0 && extra.count > 0) {
    const { remedy, command } = acceptance(slug, target);
    return { remedy: `${plural(held, 'deletion is', 'deletions are')} held. ${remedy}`, command };
  }
  const only = `${shellOption('--form', slug)} ${shellOption('--target', target)}`;
  const isProtected = notices.some(({ code }) => code === 'CELLS_PROTECTED');
  const first = isProtected ? 'First make the cells named below writable. ' : '';
  return {
    remedy: `${first}To compare everything again and write what differs:`,
    command: `forms-mirror sync --full ${only}`,
  };
}

function verdictOf({ outcome, startedAt, lagging, listed }: VerifyReport): string {
  const except = [
    ...someOf(lagging.count, 'that came just now'),
    ...someOf(listed, 'listed as rejected'),
  ];
  switch (outcome) {
    case 'same':
    case 'lagging': {
      const same = `the same as of ${exact(startedAt)}`;
      return except.length === 0 ? same : `${same}, except for ${wordList(except, 'and')}`;
    }
    case 'unproven':
      return 'not proven: the source may not have been read completely';
    case 'different':
      return 'different';
  }
}

function idLines(what: string, { count: all, ids }: Differing): string[] {
  if (all === 0) return [];
  const more = all > ids.length ? ', …' : '';
  return [`${count(all)} ${what}: ${ids.map((id) => id || 'one without an ID').join(', ')}${more}`];
}
