import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { columnCells } from '../api/a1.ts';
import type { RowIndex } from '../rows/row-index.ts';
import type { FormSheet } from '../state/form-sheet.ts';

type Request = sheets_v4.Schema$Request;

/** The note at the ID of a row that repeats another one. */
export const COPY_NOTE =
  'forms-mirror: this row is a copy, with the same submission ID as another one. Only the upper of the two is kept up to date. ' +
  'Delete the copy, or move it to a tab of your own.';

/** Copies that get a note; the notice counts the others. */
const MAX_NOTED = 100;

/**
 * Requests that put a note on every row that people copied, where there is none yet, and take ours off rows that are
 * no copies any more. Notes of people's stay as they are. One read, of the ID column.
 */
export async function copyNotes(sheet: FormSheet, index: RowIndex): Promise<Request[]> {
  const layout = sheet.usableLayout();
  const idColumn = layout.columns.get('s:id')?.index ?? 0;
  const range = columnCells(layout.title, idColumn, 0, layout.rowCount);
  const cells = cellsOf(await sheet.spreadsheet.api.notes(range));
  const copies = new Map(index.copies.slice(0, MAX_NOTED).map(({ id, row }) => [row, id]));
  const noted = [...copies].flatMap(([row, id]) => {
    const cell = cells.get(row);
    return cell?.userEnteredValue?.stringValue === id && !cell.note ? [row] : [];
  });
  const former = [...cells].flatMap(([row, { note }]) =>
    note === COPY_NOTE && !copies.has(row) ? [row] : [],
  );
  const put = (row: number, note: string): Request => ({
    updateCells: {
      start: { sheetId: layout.sheetId, rowIndex: row, columnIndex: idColumn },
      rows: [{ values: [{ note }] }],
      fields: 'note',
    },
  });
  return [...noted.map((row) => put(row, COPY_NOTE)), ...former.map((row) => put(row, ''))];
}

/** The cells of one column, by row. */
function cellsOf(answer: sheets_v4.Schema$Spreadsheet): Map<number, sheets_v4.Schema$CellData> {
  const cells = new Map<number, sheets_v4.Schema$CellData>();
  for (const grid of answer.sheets?.flatMap(({ data }) => data ?? []) ?? []) {
    for (const [offset, { values }] of (grid.rowData ?? []).entries()) {
      const [cell] = values ?? [];
      if (cell !== undefined) cells.set((grid.startRow ?? 0) + offset, cell);
    }
  }
  return cells;
}
