import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { cellData } from '../../../targets/google-sheets/api/cell-value.ts';
import { deleteRows } from './erase.ts';
import type { Aim, SheetFile, View } from './sheet-file.ts';

/*
 * Puts right what a write left beside the cells that it was meant for: people moved rows or columns between the reading and
 * the write.
 */

type Request = sheets_v4.Schema$Request;

/** What is stored of the cells that one write was meant for. */
export type Unverified = Pick<Aim, 'appended' | 'rows'>;

/**
 * Plans to remove rows that were added beside our columns, to put back IDs that were written over, and to clear cells that show an
 * ID beside its column. `known`: the rows of submissions that there were, by ID; `putBack`: IDs that the sweep before has put
 * back, perhaps while columns moved. Cells of people's that were written over are lost.
 */
export async function planSweep(
  file: SheetFile,
  { structure }: View,
  formId: string,
  { appended, rows }: Unverified,
  known: ReadonlyMap<string, unknown>,
  putBack: ReadonlySet<string>,
): Promise<{ readonly requests: Request[]; readonly putBack: ReadonlySet<string> }> {
  const tab = structure.forms.get(formId);
  if (tab === undefined) return { requests: [], putBack };
  const { sheetId, columns } = tab;
  const at = columns.get('s:id') ?? -1;
  const [lines = []] = await file.cells([sheetId]);
  const ids = lines.map((line) => String(line[at] ?? ''));
  const added = new Set(appended);
  // They are so new that no person can have written their IDs anywhere.
  const astray = lines.flatMap((line, row) => {
    const isBeside = line.some((cell, column) => column !== at && added.has(String(cell ?? '')));
    const id = ids[row] ?? '';
    return isBeside && !added.has(id) && !known.has(id) ? [row] : [];
  });
  const requests: Request[] = [];
  const back = new Set<string>();
  for (const [row, id] of rows) {
    // A row that belongs to another submission keeps that submission's ID, and a new one has none yet.
    if (added.has(id) || ids.includes(id) || known.has(ids[row] ?? '') || row >= lines.length)
      continue;
    requests.push(writeCell(sheetId, row, at, id));
    back.add(id);
  }
  const ours = new Set(columns.values());
  const written = new Set([...appended, ...rows.map(([, id]) => id)]);
  for (const [row, line] of lines.entries())
    for (const [column, cell] of line.entries()) {
      const isWrong =
        putBack.has(String(cell ?? '')) || (ours.has(column) && written.has(String(cell ?? '')));
      if (isWrong && column !== at && !astray.includes(row))
        requests.push(writeCell(sheetId, row, column, null));
    }
  return { requests: [...requests, ...deleteRows(sheetId, astray)], putBack: back };
}

const writeCell = (
  sheetId: number,
  rowIndex: number,
  columnIndex: number,
  value: string | null,
): Request => ({
  updateCells: {
    start: { sheetId, rowIndex, columnIndex },
    rows: [{ values: [cellData(value)] }],
    fields: 'userEnteredValue',
  },
});
