import { MirrorError } from '../base/errors.ts';
import { plural } from '../base/format.ts';
import { purgeDeleted, purgeLeftovers } from '../sync/purge.ts';
import { duration } from '../settings/values.ts';
import type { ChosenTarget } from '../sync/target.ts';
import type { CommandCall } from './command-spec.ts';
import { carryOut, type Erasure, type ErasureFlags, openTargets } from './erasure.ts';
import { openApp } from './open-app.ts';
import { findForm } from './selection.ts';
import type { ExitCode } from './host.ts';

type PurgeOptions = ErasureFlags & {
  readonly deletedBefore?: string;
  readonly unselected?: boolean;
};

/** `purge`: removes rows that were marked deleted long ago, or the answers of fields that are no longer selected. */
export async function run(call: CommandCall<PurgeOptions>): Promise<ExitCode> {
  const { host, options } = call;
  const isByAge = options.deletedBefore !== undefined;
  const age = duration.safeParse(options.deletedBefore).data;
  if (isByAge === (options.unselected === true) || (isByAge && age === undefined)) {
    throw new MirrorError(
      'USAGE',
      'purge takes either --deleted-before with a time, such as 12h or 30d, a year at most, or --unselected.',
    );
  }
  await using app = await openApp(host);
  const { targets, failed } = await openTargets(options, app);
  const wanted = options.form;
  const names = targets.map(({ target }) => target.name);
  const found = wanted && (await findForm(app, wanted, names, host.stop.signal));
  const formId = found ? found.form.id : undefined;
  const erasure =
    age === undefined
      ? unselected(targets, formId)
      : deletedBefore(targets, formId, host.clock.now() - age);
  // The app stays open until this has ended.
  return await carryOut(call, app, erasure, failed);
}

function deletedBefore(
  targets: readonly ChosenTarget[],
  formId: string | undefined,
  beforeMs: number,
): Erasure {
  const rows = `marked deleted before ${new Date(beforeMs).toISOString()}`;
  return {
    command: 'purge --deleted-before',
    erase: (options) => purgeDeleted(targets, formId, beforeMs, options),
    what: (report) => `remove ${plural(report.rows, 'row')} ${rows}`,
    question: `Remove the rows that were ${rows}, for good?`,
  };
}

const unselected = (targets: readonly ChosenTarget[], formId: string | undefined): Erasure => ({
  command: 'purge --unselected',
  erase: (options) => purgeLeftovers(targets, formId, options),
  what({ rows, fields }) {
    const labels = fields.map(({ id, label }) => `${label} (${id})`);
    return `empty ${labels.join(', ')} in ${plural(rows, 'row')}`;
  },
  question:
    'Empty these columns of fields that are no longer selected, or that no run hashes? Only a field that is selected again is filled again.',
});
