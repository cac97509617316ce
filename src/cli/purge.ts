import { MirrorError } from '../base/errors.ts';
import { count, plural } from '../base/format.ts';
import type { ErasureReport } from '../sync/erase.ts';
import { purgeDeleted, purgeLeftovers } from '../sync/purge.ts';
import { type ChosenTarget, heldForms } from '../sync/target.ts';
import { type CommandCall, durationOption } from './command-spec.ts';
import { carryOut, type Erasure, openTargets } from './erasure.ts';
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
  const wanted = text('form');
  const held = (await Promise.all(targets.map(({ target }) => heldForms(target)))).flat();
  const formId = wanted === undefined ? undefined : requireForm(held, wanted).id;
  const erasure =
    age === undefined
      ? unselected(targets, formId)
      : deletedBefore(targets, formId, host.clock.now() - age);
  // The app stays open until this has ended.
  return await carryOut(call, app, erasure, failed);
}

const total = (reports: readonly ErasureReport[]): number =>
  reports.reduce((sum, { rows }) => sum + rows, 0);

function deletedBefore(
  targets: readonly ChosenTarget[],
  formId: string | undefined,
  beforeMs: number,
): Erasure {
  const before = new Date(beforeMs).toISOString();
  return {
    command: 'purge --deleted-before',
    erase: (options) => purgeDeleted(targets, formId, beforeMs, options),
    what(report) {
      const rows = `${plural(report.rows, 'row')}, marked deleted before ${before}`;
      return [`${rows} to remove`, `${rows} removed`];
    },
    question: (reports) =>
      `Remove ${plural(total(reports), 'row')} that ${total(reports) === 1 ? 'was' : 'were'} marked deleted before ${before}? They can't be brought back.`,
    nothing: `No row was marked deleted before ${before}.`,
  };
}

function unselected(targets: readonly ChosenTarget[], formId: string | undefined): Erasure {
  return {
    command: 'purge --unselected',
    erase: (options) => purgeLeftovers(targets, formId, options),
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
