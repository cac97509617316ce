import type { App } from '../app.ts';
import { MirrorError } from '../base/errors.ts';
import { EXIT_CODES, type ExitCode } from '../base/exit-codes.ts';
import { count, plural } from '../base/format.ts';
import type { Copy } from '../mirror/target.ts';
import type { FormIdentity } from '../mirror/types.ts';
import { duration, quoted } from '../settings/value-schemas.ts';
import type { ErasureReport } from '../sync/erase.ts';
import {
  purgeDeleted,
  type PurgeOptions,
  type PurgeScope,
  purgeUnpicked,
  type UnpickedReport,
} from '../sync/purge.ts';
import type { CommandCall } from './command-spec.ts';
import {
  erasureDocument,
  erasureExitCode,
  isConfirmed,
  openTargets,
  printErasure,
  removedText,
  WAIT_FOR_PASS_MS,
} from './erasure-report.ts';
import { logErasures, person } from '../sync/erasure-log.ts';
import { openApp } from './open-app.ts';
import { requireForm } from './selection.ts';

/** One of the two things that `purge` does. */
interface Purge {
  readonly name: string;
  readonly run: (scopes: readonly PurgeScope[], options: PurgeOptions) => Promise<ErasureReport[]>;
  readonly what: (report: ErasureReport) => string;
  /** When there is nothing to do. */
  readonly nothing: string;
  readonly question: (reports: readonly ErasureReport[]) => string;
}

/** `purge`: removes rows that were marked deleted long ago, or the answers to fields that are no longer picked. */
export async function run(call: CommandCall): Promise<ExitCode> {
  const { host, flag } = call;
  const { terminal, stop, clock } = host;
  const purge = purgeOf(call, clock.now());
  await using app = await openApp(host);
  const { targets, failed } = await openTargets(call, app);
  const scopes = await scopesOf(call, app, targets);
  const options = { waitMs: WAIT_FOR_PASS_MS, signal: stop.signal };
  const preview = [...(await purge.run(scopes, { ...options, dryRun: true })), ...failed];
  const isPlain = !flag('json');
  if (isPlain) for (const each of preview) printErasure(terminal, each, `${purge.what(each)} held`);
  let reports = preview;
  const isFound = preview.some(({ failure }) => failure === null);
  if (!flag('dryRun') && isFound) {
    if (!(await isConfirmed(call, purge.question(preview)))) return EXIT_CODES.FAILED.code;
    reports = [...(await purge.run(scopes, { ...options, dryRun: false })), ...failed];
    logErasures(app.logger, { command: purge.name, by: person() }, reports);
    if (isPlain) {
      for (const each of reports) printErasure(terminal, each, `${purge.what(each)} removed`);
    }
  }
  if (isPlain && reports.length === 0) terminal.print(purge.nothing);
  if (!isPlain) {
    const documents = reports.map((each) => ({ ...erasureDocument(each), ...fieldsOf(each) }));
    terminal.printJson({ dryRun: flag('dryRun'), targets: documents });
  }
  return erasureExitCode(reports);
}

/** Throws USAGE unless just one of the two is asked for. */
function purgeOf({ text, flag }: CommandCall, nowMs: number): Purge {
  const age = text('deletedBefore');
  if ((age === undefined) === !flag('unpicked')) {
    throw new MirrorError(
      'USAGE',
      'purge takes either --deleted-before, such as 30d, or --unpicked.',
    );
  }
  if (age === undefined) return UNPICKED(new Date(nowMs).toISOString());
  const parsed = duration.safeParse(age);
  if (!parsed.success) {
    throw new MirrorError(
      'USAGE',
      `--deleted-before takes an age such as 12h or 30d, a year at most, not ${quoted(age)}.`,
    );
  }
  return DELETED(new Date(nowMs - parsed.data).toISOString());
}

const DELETED = (before: string): Purge => ({
  name: 'purge --deleted-before',
  run: (scopes, options) => purgeDeleted(scopes, before, options),
  what: (report) => `${removedText(report)}, marked deleted before ${before}`,
  nothing: `No row was marked deleted before ${before}.`,
  question: (reports) =>
    `Remove ${plural(total(reports), 'row')} that ${total(reports) === 1 ? 'was' : 'were'} marked deleted before ${before}? They can't be brought back.`,
});

const UNPICKED = (at: string): Purge => ({
  name: 'purge --unpicked',
  run: (scopes, options) => purgeUnpicked(scopes, at, options),
  what: (report) => `${plural(report.rows, 'row')} with answers in ${labelsOf(report).join(', ')}`,
  nothing:
    'No column holds answers to a field that is not picked, or plain ones that no pass hashes.',
  question: (reports) => {
    const columns = reports.reduce((sum, { asked }) => sum + asked, 0);
    return `Empty ${plural(columns, 'column')} of fields that are no longer picked, or that no pass hashes, ${count(total(reports))} rows in all? Only a field that is picked again is filled again.`;
  },
});

const total = (reports: readonly ErasureReport[]): number =>
  reports.reduce((sum, { rows }) => sum + rows, 0);

const unpickedOf = (report: ErasureReport): UnpickedReport['fields'] =>
  'fields' in report ? (report as UnpickedReport).fields : [];

const labelsOf = (report: ErasureReport): string[] =>
  unpickedOf(report).map(({ id, label }) => `${label} (${id})`);

const fieldsOf = (report: ErasureReport): Record<string, unknown> =>
  'fields' in report ? { fields: unpickedOf(report).map(({ id, label }) => ({ id, label })) } : {};

/** What `--form` selects. Forms are those that the targets hold. */
async function scopesOf(
  { text }: CommandCall,
  app: App,
  targets: readonly Copy[],
): Promise<PurgeScope[]> {
  const wanted = text('form');
  let form: FormIdentity | undefined;
  if (wanted !== undefined) {
    const overviews = (await Promise.all(targets.map((target) => target.overview()))).flat();
    const forms = overviews.map(({ formId: id, slug, name }) => ({ id, slug, name }));
    form = requireForm([...new Map(forms.map((one) => [one.id, one])).values()], wanted);
  }
  return targets.map((target) => ({
    target,
    storing: app.readingOf(target.name).storing,
    isChosen: (one) => app.isChosen(target.name, one),
    includes: ({ id }) => form === undefined || form.id === id,
  }));
}
