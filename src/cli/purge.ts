import type { App } from '../app.ts';
import { MirrorError } from '../base/errors.ts';
import { count, plural } from '../base/format.ts';
import type { ErasureReport } from '../sync/erase.ts';
import { purgeDeleted, purgeLeftovers, type PurgeScope } from '../sync/purge.ts';
import { heldForms, type Target } from '../sync/target.ts';
import { type CommandCall, durationOption } from './command-spec.ts';
import { carryOut, type Erasure, openTargets, removedText } from './erasure.ts';
import { openApp } from './open-app.ts';
import { requireForm } from './selection.ts';
import type { ExitCode } from './host.ts';

/** `purge`: removes rows that were marked deleted long ago, or the answers of fields that are no longer selected. */
export async function run(call: CommandCall): Promise<ExitCode> {
  const { host, flag, text } = call;
  const age = durationOption(call, 'deletedBefore');
  if ((age === undefined) === !flag('unselected')) {
    throw new MirrorError(
      'USAGE',
      'purge takes either --deleted-before, such as 30d, or --unselected.',
    );
  }
  await using app = await openApp(host);
  const { targets, failed } = await openTargets(call, app);
  const scopes = await scopesOf(app, targets, text('form'));
  const erasure =
    age === undefined ? unselected(scopes) : deletedBefore(scopes, host.clock.now() - age);
  // The app stays open until this has ended.
  return await carryOut(call, app, erasure, failed);
}

const total = (reports: readonly ErasureReport[]): number =>
  reports.reduce((sum, { rows }) => sum + rows, 0);

function deletedBefore(scopes: readonly PurgeScope[], beforeMs: number): Erasure {
  const before = new Date(beforeMs).toISOString();
  return {
    command: 'purge --deleted-before',
    erase: (options) => purgeDeleted(scopes, beforeMs, options),
    what(report) {
      const rows = `${removedText(report)}, marked deleted before ${before}`;
      return [`${rows} to remove`, `${rows} removed`];
    },
    question: (reports) =>
      `Remove ${plural(total(reports), 'row')} that ${total(reports) === 1 ? 'was' : 'were'} marked deleted before ${before}? They can't be brought back.`,
    nothing: `No row was marked deleted before ${before}.`,
  };
}

function unselected(scopes: readonly PurgeScope[]): Erasure {
  return {
    command: 'purge --unselected',
    erase: (options) => purgeLeftovers(scopes, options),
    what(report) {
      const labels = report.fields.map(({ id, label }) => `${label} (${id})`);
      const rows = `${plural(report.rows, 'row')} with answers in ${labels.join(', ')}`;
      return [`${rows} to remove`, `${rows} removed`];
    },
    question(reports) {
      const columns = reports.reduce((sum, { asked }) => sum + asked, 0);
      return `Empty ${plural(columns, 'column')} of fields that are no longer selected, or that no run hashes, ${count(total(reports))} rows in all? Only a field that is selected again is filled again.`;
    },
    nothing:
      'No column holds answers to a field that is not selected, or plain ones that no run hashes.',
  };
}

/** Forms are those that the targets hold. */
async function scopesOf(
  app: App,
  targets: readonly Target[],
  wanted: string | undefined,
): Promise<PurgeScope[]> {
  const forms = (await Promise.all(targets.map((target) => heldForms(target)))).flat();
  const form = wanted === undefined ? undefined : requireForm(forms, wanted);
  return targets.map((target) => ({
    target,
    joining: app.joiningOf(target.name),
    isChosen: (one) => app.isChosen(target.name, one),
    includes: ({ id }) => form === undefined || form.id === id,
  }));
}
