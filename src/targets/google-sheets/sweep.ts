import { isDeepStrictEqual } from 'node:util';
import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { cellData, type ReadValue } from './api/cell-value.ts';
import { deleteRows } from './erase.ts';
import { type Aim, aimAt, type SheetFile, type View } from './sheet-file.ts';
import type { FormTab } from './structure.ts';

/*
 * Puts right what a write left beside the cells that it was meant for: people moved rows or columns between the reading and
 * the write.
 */

type Request = sheets_v4.Schema$Request;

/** What is stored of the cells that one write was meant for. */
export type Unverified = Pick<Aim, 'appended' | 'rows' | 'isOnHeaders' | 'idColumn'>;

/**
 * Plans to remove rows that were added beside our columns, to put back IDs that were written over, and to clear cells that show an
 * ID beside its column. `known`: the rows of submissions that there were, by ID. Cells of people's that were written over are lost.
 */
export async function planSweep(
  file: SheetFile,
  { structure }: View,
  formId: string,
  { appended, rows, isOnHeaders, idColumn }: Unverified,
  known: ReadonlyMap<string, unknown>,
): Promise<{ readonly requests: readonly Request[]; readonly aim: Aim | null }> {
  const read = await readSettled(file, structure.forms.get(formId), formId);
  if (read === null) return { requests: [], aim: null };
  const { tab, lines } = read;
  const { sheetId, columns, marks } = tab;
  const at = columns.get('s:id') ?? -1;
  const ids = lines.map((line) => String(line[at] ?? ''));
  const added = new Set(appended);
  // They are so new that no person can have written their IDs anywhere.
  const astray = lines.flatMap((line, row) => {
    const isBeside = line.some((cell, column) => column !== at && added.has(String(cell ?? '')));
    const id = ids[row] ?? '';
    return isBeside && !added.has(id) && !known.has(id) ? [row] : [];
  });
  const requests: Request[] = [];
  const mended: [row: number, id: string][] = [];
  const write = (row: number, columnIndex: number, value: string | null, id: string): void => {
    const start = { sheetId, rowIndex: row, columnIndex };
    const fields = 'userEnteredValue';
    requests.push({ updateCells: { start, rows: [{ values: [cellData(value)] }], fields } });
    if (id !== '') mended.push([row - astray.filter((gone) => gone < row).length, id]);
  };
  for (const [row, id] of rows) {
    // A row that belongs to another submission keeps that submission's ID.
    if (ids.includes(id) || known.has(ids[row] ?? '') || row >= lines.length) continue;
    write(row, at, id, id);
  }
  // An ID that a sweep put back while columns moved stands where the column of IDs was.
  for (const [row, id] of idColumn === at ? [] : rows)
    if (String(lines[row]?.[idColumn] ?? '') === id && !astray.includes(row))
      write(row, idColumn, null, ids[row] ?? '');
  const written = new Set([...appended, ...rows.map(([, id]) => id)]);
  const ours = [...columns.values()].filter((column) => column !== at);
  for (const [row, line] of lines.entries())
    for (const column of ours)
      if (written.has(String(line[column] ?? '')) && !astray.includes(row))
        write(row, column, null, ids[row] ?? '');
  requests.push(...deleteRows(sheetId, astray));
  // This write may go astray as well.
  return {
    requests,
    aim:
      requests.length === 0
        ? null
        : aimAt(tab, columns, marks, { rows: mended, appended, isOnHeaders }),
  };
}

const MOST_READINGS = 5;

/** The cells of a tab, and where its columns were meanwhile: people are at work in it. Null where there is none. */
async function readSettled(
  file: SheetFile,
  found: FormTab | undefined,
  formId: string,
): Promise<{ readonly tab: FormTab; readonly lines: ReadValue[][] } | null> {
  let tab = found;
  for (let tries = 1; tab !== undefined; tries++) {
    const [lines = []] = await file.cells([tab.sheetId]);
    const after = (await file.refresh()).structure.forms.get(formId);
    const isSame = isDeepStrictEqual(after?.columns, tab.columns);
    if (isSame || tries >= MOST_READINGS) return { tab, lines };
    tab = after;
  }
  return null;
}
