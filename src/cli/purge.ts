import type { App } from '../app.ts';
import { MirrorError } from '../base/errors.ts';
import { EXIT_CODES, type ExitCode } from '../base/exit-codes.ts';
import { count, plural } from '../base/format.ts';
import type { FormIdentity } from '../mirror/types.ts';
import { duration, quoted } from '../settings/value-schemas.ts';
import { type ErasureReport, logErasures, person } from '../sync/erase.ts';
import {
  type LeftoverReport,
  purgeDeleted,
  purgeLeftovers,
  type PurgeOptions,
  type PurgeScope,
} from '../sync/purge.ts';
import { heldForms, type Target } from '../sync/target.ts';
import type { CommandCall } from './command-spec.ts';
import {
  erasureDocument,
  erasureExitCode,
  isConfirmed,
  openTargets,
  printErasure,
  removedText,
  waitingFor,
} from './erasure-report.ts';
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

/** `purge`: removes rows that were marked deleted long ago, or the answers of fields that are no longer selected. */
export async function run(call: CommandCall): Promise<ExitCode> {
  const { host, flag } = call;
  const { terminal, clock } = host;
  const purge = purgeOf(call, clock.now());
  await using app = await openApp(host);
  const { targets, failed } = await openTargets(call, app);
  const scopes = await scopesOf(call, app, targets);
  const options = waitingFor(call);
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
  if (age === undefined) return UNPICKED;
  const parsed = duration.safeParse(age);
  if (!parsed.success) {
    throw new MirrorError(
      'USAGE',
      `--deleted-before takes an age such as 12h or 30d, a year at most, not ${quoted(age)}.`,
    );
  }
  return deletedBefore(nowMs - parsed.data);
}

function deletedBefore(beforeMs: number): Purge {
  const before = new Date(beforeMs).toISOString();
  return {
    name: 'purge --deleted-before',
    run: (scopes, options) => purgeDeleted(scopes, beforeMs, options),
    what: (report) => `${removedText(report)}, marked deleted before ${before}`,
    nothing: `No row was marked deleted before ${before}.`,
    question: (reports) =>
      `Remove ${plural(total(reports), 'row')} that ${total(reports) === 1 ? 'was' : 'were'} marked deleted before ${before}? They can't be brought back.`,
  };
}

const UNPICKED: Purge = {
  name: 'purge --unpicked',
  run: (scopes, options) => purgeLeftovers(scopes, options),
  what: (report) => `${plural(report.rows, 'row')} with answers in ${labelsOf(report).join(', ')}`,
  nothing:
    'No column holds answers to a field that is not selected, or plain ones that no run hashes.',
  question: (reports) => {
    const columns = reports.reduce((sum, { asked }) => sum + asked, 0);
    return `Empty ${plural(columns, 'column')} of fields that are no longer selected, or that no run hashes, ${count(total(reports))} rows in all? Only a field that is selected again is filled again.`;
  },
};

const total = (reports: readonly ErasureReport[]): number =>
  reports.reduce((sum, { rows }) => sum + rows, 0);

const leftoversOf = (report: ErasureReport): LeftoverReport['fields'] =>
  'fields' in report ? (report as LeftoverReport).fields : [];

const labelsOf = (report: ErasureReport): string[] =>
  leftoversOf(report).map(({ id, label }) => `${label} (${id})`);

const fieldsOf = (report: ErasureReport): Record<string, unknown> =>
  'fields' in report ? { fields: leftoversOf(report).map(({ id, label }) => ({ id, label })) } : {};

/** What `--form` selects. Forms are those that the targets hold. */
async function scopesOf(
  { text }: CommandCall,
  app: App,
  targets: readonly Target[],
): Promise<PurgeScope[]> {
  const wanted = text('form');
  let form: FormIdentity | undefined;
  if (wanted !== undefined) {
    const forms = (await Promise.all(targets.map((target) => heldForms(target)))).flat();
    form = requireForm([...new Map(forms.map((one) => [one.id, one])).values()], wanted);
  }
  return targets.map((target) => ({
    target,
    joining: app.joiningOf(target.name),
    isChosen: (one) => app.isChosen(target.name, one),
    includes: ({ id }) => form === undefined || form.id === id,
  }));
}
