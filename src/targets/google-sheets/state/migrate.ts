import type { DescribeHealth } from '../../../mirror/health-text.ts';
import { updateMetadata } from '../api/metadata.ts';
import { SheetsError } from '../api/sheets-error.ts';
import { encodeState, STATE_VERSION } from './form-state.ts';
import { MIGRATIONS } from './migrations.ts';
import { overviewOf } from './overview.ts';
import type { Spreadsheet } from './spreadsheet.ts';
import type { FormTab, Structure } from './structure.ts';

/** How long others wait after a migration. */
const LEASE_MS = 10_000;

const outdatedForms = ({ forms }: Structure): FormTab[] =>
  [...forms.values()].filter(({ stateVersion }) => stateVersion < STATE_VERSION);

/** True when a form's state was written by an earlier release. */
export const isOutdated = (structure: Structure): boolean => outdatedForms(structure).length > 0;

/**
 * Brings the states of all forms, and the Mirror tab, to the latest version in one atomic write under the commit log: a
 * process that dies leaves the version before or the one after, and of two that start together one migrates. Nothing
 * happens when another process wrote in between: the structure has to be read again either way.
 */
export async function migrate(
  spreadsheet: Spreadsheet,
  formId: string,
  describe: DescribeHealth,
): Promise<void> {
  await spreadsheet.exclusively(async () => {
    try {
      await migrateForms(spreadsheet, formId, describe);
    } catch (error) {
      if (!(error instanceof SheetsError) || error.fault !== 'moved') throw error;
    }
  });
}

async function migrateForms(
  spreadsheet: Spreadsheet,
  formId: string,
  describe: DescribeHealth,
): Promise<void> {
  // Another writer of this process may have migrated meanwhile.
  const [first, ...others] = outdatedForms(spreadsheet.known);
  if (first === undefined) return;
  const outdated = [first, ...others];
  const version = Math.min(...outdated.map(({ stateVersion }) => stateVersion));
  const steps = MIGRATIONS.filter((step) => step.version > version);
  const mirror = spreadsheet.known.roles.get('mirror');
  const overview = overviewOf(spreadsheet, first.formId, first.state, first);
  const { staleTitle } = describe(overview, spreadsheet.clock.now());
  await spreadsheet.commit({
    formId,
    requests: [
      ...outdated.flatMap(({ stateId, state }) =>
        stateId === undefined ? [] : [updateMetadata(stateId, encodeState(state))],
      ),
      ...(mirror === undefined ? [] : steps.flatMap((step) => step.mirrorTab(mirror, staleTitle))),
    ],
    responseRanges: [],
    leaseMs: LEASE_MS,
  });
  await spreadsheet.refresh();
}
