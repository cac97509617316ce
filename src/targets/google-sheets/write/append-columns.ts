import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { HEADER_FORMAT, formatCells } from '../api/formatting.ts';
import { type ColumnKey, deleteMetadata } from '../api/metadata.ts';
import { openRows } from '../api/obstacles.ts';
import { movedError } from '../api/sheets-error.ts';
import type { NewColumn } from '../columns/column-plan.ts';
import { ColumnMarker, formatColumns } from '../columns/new-columns.ts';
import { idOf } from '../rows/row-index.ts';
import { readColumns } from '../rows/tab-reading.ts';
import type { FormSheet } from '../state/form-sheet.ts';
import type { FormState } from '../state/form-state.ts';
import { stateRequest } from '../state/structure.ts';

type Request = sheets_v4.Schema$Request;

/** How long others wait afterwards: headers and rows will follow. */
const LEASE_MS = 60_000;

/**
 * Adds columns at the grid's end, with their marks and nothing else: what is added there has no place in the request, so
 * a column that people insert in that moment makes the marks come to lie on one of theirs. Then they are taken off again,
 * and this throws: all is to be planned again. `state` is what has to hold from now on, whatever follows.
 */
export async function appendColumns(
  sheet: FormSheet,
  added: readonly NewColumn[],
  state: FormState,
): Promise<void> {
  const { spreadsheet, form } = sheet;
  const { tab } = sheet.view;
  const { sheetId, columnCount } = sheet.usableLayout();
  if (tab === undefined) return;
  const keys = added.map(({ key }) => key);
  const newId = (): number => spreadsheet.newMetadataId();
  const marker = new ColumnMarker(sheetId, tab.columns, keys, form.name, newId);
  const marks = keys.map((key, offset) => marker.place(key, columnCount + offset));
  const stateId = tab.stateId ?? newId();
  await spreadsheet.commit({
    formId: form.id,
    requests: [
      { appendDimension: { sheetId, dimension: 'COLUMNS', length: keys.length } },
      ...marker.recode(),
      ...marks.map((placed) => marker.request(placed)),
      stateRequest({ ...tab, stateId }, state, stateId),
    ],
    responseRanges: [],
    leaseMs: LEASE_MS,
  });
  await sheet.findObstaclesAgain();
  const layout = sheet.usableLayout();
  const columns = new Map(layout.columns);
  for (const [at, { metadataId }] of marks.entries()) {
    const index = sheet.view.tab?.columns.find((one) => one.metadataId === metadataId)?.index;
    const key = keys[at];
    if (key !== undefined && index !== undefined) columns.set(key, { index, metadataId });
  }
  sheet.wrote({ layout: { ...layout, columns } });
  if (await areBlank(sheet, keys)) return;
  await spreadsheet.commit({
    formId: form.id,
    requests: marks.map(({ metadataId }) => deleteMetadata(metadataId)),
    responseRanges: [],
    leaseMs: LEASE_MS,
  });
  throw movedError(spreadsheet.address);
}

/** True when columns are there, show nothing, and are no other column of ours. */
async function areBlank(sheet: FormSheet, keys: readonly ColumnKey[]): Promise<boolean> {
  const layout = sheet.usableLayout();
  const { columns } = await readColumns(sheet.spreadsheet.api, layout, { keys });
  return keys.every((key) => {
    const index = layout.columns.get(key)?.index;
    const sharing = [...layout.columns.values()].filter((one) => one.index === index);
    const cells = columns.get(key)?.values;
    return sharing.length === 1 && cells !== undefined && cells.every((cell) => idOf(cell) === '');
  });
}

/** Requests that give added columns their format; `waiting`: those whose header cannot be written. */
export function formatsOfAdded(
  sheet: FormSheet,
  added: readonly NewColumn[],
  headerRow: number,
  waiting: ReadonlyMap<ColumnKey, unknown>,
): Request[] {
  const { sheetId, columns, rowCount } = sheet.usableLayout();
  return added.flatMap((column) => {
    const index = columns.get(column.key)?.index;
    if (index === undefined) return [];
    const rows = openRows(sheet.obstacles.all, index, { top: headerRow + 1, rowCount });
    const header = {
      sheetId,
      startRow: headerRow,
      endRow: headerRow + 1,
      startColumn: index,
      endColumn: index + 1,
    };
    return [
      ...formatColumns(sheetId, index, [column], undefined, rows),
      ...(waiting.has(column.key) ? [] : [formatCells(header, HEADER_FORMAT)]),
    ];
  });
}
