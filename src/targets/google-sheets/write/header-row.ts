import { createMetadata, METADATA_KEYS } from '../api/metadata.ts';
import type { RowIndex } from '../rows/row-index.ts';
import { headerFilter } from '../rows/tab-reading.ts';
import type { FormSheet } from '../state/form-sheet.ts';
import { outdatedRequests } from '../state/summary-marks.ts';
import { isRefusal } from './growing.ts';

/** How long others wait afterwards: rows will follow. */
const LEASE_MS = 60_000;

/**
 * Moves a header row that people sorted into the rows back above them, and marks it again; true when it did. It stays
 * where it is when Google refuses the move: answers find their columns all the same. What the sheet was read to hold is
 * void afterwards.
 */
export async function returnHeader(
  sheet: FormSheet,
  { strayHeader }: RowIndex,
  isMarked: boolean,
): Promise<boolean> {
  if (strayHeader === undefined) return false;
  const { sheetId } = sheet.usableLayout();
  const { row, top } = strayHeader;
  const { spreadsheet } = sheet;
  try {
    await spreadsheet.commit({
      formId: sheet.form.id,
      requests: [
        ...(isMarked ? [{ deleteDeveloperMetadata: { dataFilter: headerFilter(sheetId) } }] : []),
        {
          moveDimension: {
            source: { sheetId, dimension: 'ROWS', startIndex: row, endIndex: row + 1 },
            destinationIndex: top,
          },
        },
        createMetadata({ sheetId, row: top }, METADATA_KEYS.header, '1'),
        // Its formulas name the row that the header was marked in, which is one of the others now.
        ...outdatedRequests(sheet.structure.summary),
      ],
      responseRanges: [],
      leaseMs: LEASE_MS,
    });
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return false;
  }
  const { record } = spreadsheet.known.summary;
  spreadsheet.keepSummary({ record: { ...record, digest: '' } });
  sheet.forgetRows();
  return true;
}
