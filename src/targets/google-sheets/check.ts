import { toMirrorError } from '../../base/errors.ts';
import type { CheckResult, TargetNotice } from '../../mirror/port.ts';
import { createMetadata, deleteMetadata, METADATA_KEYS } from './api/metadata.ts';
import { allowRemedy } from './api/sheets-error.ts';
import type { SheetFile } from './sheet-file.ts';
import { protectionsOf } from './structure.ts';

/** Google's limit on the cells of a spreadsheet, including empty ones. */
const MAX_CELLS = 10_000_000;
/** The share of Google's limit above which the check fails, because the spreadsheet is nearly full. */
const NEARLY_FULL = 0.95;

/** Tries whether the spreadsheet can be read and written and has room. `noticesOf`: the notices of its tabs. */
export async function checkSheet(
  file: SheetFile,
  notices: () => Promise<readonly TargetNotice[]>,
): Promise<CheckResult[]> {
  const { email } = file.api;
  const account =
    email === undefined
      ? 'The mirror uses the account that you signed in with'
      : `The mirror uses the account ${email}. Share the spreadsheet with this address as Editor`;
  const well = (what: string): CheckResult => ({ what, isOk: true, remedy: null });
  const results: CheckResult[] = [well(account)];
  try {
    const { structure } = await file.refresh();
    results.push(well(`The spreadsheet "${structure.title}" can be read`));
    // Creates a piece of metadata and removes it in the same batch: nothing stays, and a viewer is refused.
    const id = file.newId();
    const made = createMetadata({ spreadsheet: true }, METADATA_KEYS.role, 'check', id);
    await file.api.update([made, deleteMetadata(id)]);
    results.push(well('It can be written to'));
    const share = structure.cells / MAX_CELLS;
    const isOk = share < NEARLY_FULL;
    results.push({
      what: `It uses ${(100 * share).toFixed(1)} % of the 10 million cells that Google allows`,
      isOk,
      remedy: isOk
        ? null
        : 'Delete rows, columns or tabs that are no longer needed, or mirror into another spreadsheet.',
    });
    for (const range of [...structure.own.values()].flatMap(protectionsOf))
      results.push({
        what: `forms-mirror cannot write into ${range}`,
        isOk: false,
        remedy: allowRemedy(email),
      });
    for (const { code, blocks, message, remedy } of await notices())
      results.push({
        what: message.replace(/\.$/, ''),
        isOk: !blocks && code !== 'CELLS_PROTECTED',
        remedy,
      });
  } catch (error) {
    const { message } = toMirrorError(error);
    results.push({ what: message.replace(/\.$/, ''), isOk: false, remedy: null });
  }
  return results;
}
