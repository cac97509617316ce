import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { cellData } from '../../../targets/google-sheets/api/cell-value.ts';
import { deleteRows } from './erase.ts';
import type { SheetFile, View } from './sheet-file.ts';

/*
 * Puts right what a write left beside the cells that it was meant for: people moved rows or columns between the reading and
 * the write.
 */

type Request = sheets_v4.Schema$Request;

/** The cells that one write was meant for. */
export interface Unverified {
  /** IDs of the rows that were added below all others. */
  readonly appended: readonly string[];
  /** Rows that were written by their place, with the ID that was to stand in each. */
  readonly rows: readonly (readonly [row: number, id: string])[];
}

/**
 * Plans to remove rows that were added beside our columns, and to put back IDs that were written over. `known`: the rows of
 * submissions that there were, by ID. Cells of people's that were written over are lost.
 */
export async function planSweep(
  file: SheetFile,
  { structure }: View,
  formId: string,
  { appended, rows }: Unverified,
  known: ReadonlyMap<string, unknown>,
): Promise<Request[]> {
  const tab = structure.forms.get(formId);
  if (tab === undefined) return [];
  const { sheetId, columns } = tab;
  const at = columns.get('s:id') ?? -1;
  const [lines = []] = await file.cells([sheetId]);
  const ids = lines.map((line) => String(line[at] ?? ''));
  const added = new Set(appended);
  const last = ids.findLastIndex((id) => known.has(id) && !added.has(id));
  const astray = lines.flatMap((line, row) => {
    const isBeside = line.some((cell, column) => column !== at && added.has(String(cell ?? '')));
    return row > last && isBeside && !added.has(ids[row] ?? '') ? [row] : [];
  });
  const requests: Request[] = [];
  for (const [row, id] of rows) {
    // Another submission's row keeps its ID: it is read again as it is.
    if (ids.includes(id) || known.has(ids[row] ?? '') || row >= lines.length) continue;
    const start = { sheetId, rowIndex: row, columnIndex: at };
    requests.push({
      updateCells: { start, rows: [{ values: [cellData(id)] }], fields: 'userEnteredValue' },
    });
  }
  return [...requests, ...deleteRows(sheetId, astray)];
}
