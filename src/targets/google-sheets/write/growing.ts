import { SheetsError } from '../api/sheets-error.ts';
import { type LaidRange, reachingTo, tableOver } from '../columns/laid-ranges.ts';
import type { RowIndex } from '../rows/row-index.ts';
import type { FormSheet } from '../state/form-sheet.ts';

/** True when Google did not let a write through, for a reason that trying again does not change. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof SheetsError && (error.fault === 'refused' || error.fault === 'final');

/**
 * Writes so that what people laid over the tab grows, and where Google refuses that before anything is written, so that it
 * does not: a row or column that is merged with another one, or protected, does not let itself be moved.
 */
export async function growing<T>(
  canGrow: boolean,
  write: (grows: boolean, onCommit: () => void) => Promise<T>,
): Promise<T> {
  let isBegun = false;
  const onCommit = (): void => void (isBegun = true);
  try {
    return await write(canGrow, onCommit);
  } catch (error) {
    if (!canGrow || isBegun || !isRefusal(error)) throw error;
    return write(false, onCommit);
  }
}

/**
 * The ranges, where tables of our rows reach down to the last one: rows may have come behind a table that a person made
 * while they were written. A table that Google does not let grow stays as it is.
 */
export async function withTablesReaching(
  { spreadsheet, form, view: { layout, index } }: FormSheet,
  ranges: readonly LaidRange[],
  at: number,
): Promise<readonly LaidRange[]> {
  const idColumn = layout?.columns.get('s:id')?.index ?? -1;
  const behind = ranges.filter(
    ({ tableId, rows, columns }) =>
      tableId !== undefined &&
      rows.end < at &&
      columns.start <= idColumn &&
      idColumn < columns.end &&
      isFullOfRows(index, rows.end, at),
  );
  if (layout === undefined || behind.length === 0) return ranges;
  const grown = behind.map((range) => reachingTo(range, at));
  try {
    await spreadsheet.commit({
      formId: form.id,
      requests: grown.map((range) => tableOver(layout.sheetId, range)),
      responseRanges: [],
      leaseMs: 0,
    });
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return ranges;
  }
  return [...ranges.filter((range) => !behind.includes(range)), ...grown];
}

/** True when every row of a stretch shows a submission. */
function isFullOfRows(index: RowIndex | undefined, start: number, end: number): boolean {
  let count = 0;
  for (const { row } of index ?? []) if (row >= start && row < end) count++;
  return count === end - start;
}
