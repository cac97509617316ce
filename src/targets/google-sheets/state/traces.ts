import type { Traces } from '../../../mirror/erasure.ts';
import { fitText } from '../api/cell-value.ts';
import { fieldKey } from '../api/metadata.ts';
import type { FormSheet } from './form-sheet.ts';
import type { StateTab } from './state-tab.ts';
import { idOf, RowIndex } from '../rows/row-index.ts';
import { timeOf } from '../rows/row-values.ts';
import { foundIn, readColumns } from '../rows/tab-reading.ts';

/** A row by its place, with what its ID cell holds. */
export interface PlacedRow {
  readonly row: number;
  readonly id: string;
}

/** The rows whose ID cell names one of these submissions, copies that people made included, in grid order. */
export const rowsOf = (index: RowIndex, ids: ReadonlySet<string>): PlacedRow[] =>
  [...index.idTexts()]
    .flatMap(([row, id]) => (ids.has(id) ? [{ row, id }] : []))
    .sort((a, b) => a.row - b.row);

/** What the state tab lists of these submissions. */
export function listedOf(
  stateTab: StateTab,
  formId: string,
  ids: readonly string[],
): Omit<Traces, 'rows'> {
  const wanted = new Set(ids.map((id) => fitText(id).text));
  const isOne = ({ submissionId }: { submissionId: string }): boolean => wanted.has(submissionId);
  return {
    listings: stateTab.rejections(formId).filter(isOne).length,
    refusals: stateTab.marks(formId).filter(isOne).length,
    // A sheet keeps no history of its own.
    history: 0,
  };
}

/** IDs of the rows that were marked removed before `before` (ISO), as they are now. */
export async function removedBefore(sheet: FormSheet, before: string): Promise<string[]> {
  if (sheet.view.layout === undefined) return [];
  const read = await readColumns(sheet.spreadsheet.api, sheet.usableLayout(), {
    keys: ['s:id', 's:removed', 's:status', 's:at'],
  });
  const times = read.columns.get('s:removed')?.values;
  return [...RowIndex.fromColumns(read)].flatMap(({ id, row }) => {
    const at = timeOf(times?.[row], sheet.view.time);
    return at !== null && at < before ? [id] : [];
  });
}

/** A row of ours with the columns of some fields in which it holds something. */
export interface FilledRow extends PlacedRow {
  readonly columns: readonly number[];
}

/** The rows of ours that hold an answer to one of these fields, in grid order; the sheet's layout is as they were read. */
export async function filledRows(
  sheet: FormSheet,
  fieldIds: readonly string[],
): Promise<FilledRow[]> {
  if (sheet.view.layout === undefined) return [];
  const layout = sheet.usableLayout();
  const fields = fieldIds.map(fieldKey).filter((key) => layout.columns.has(key));
  if (fields.length === 0) return [];
  const keys = [...fields, 's:id', 's:removed', 's:status', 's:at'] as const;
  const asked = keys.filter((key) => layout.columns.has(key));
  const read = await readColumns(sheet.spreadsheet.api, layout, { keys: asked });
  const index = RowIndex.fromColumns(read);
  sheet.saw({ layout: foundIn(layout, asked, read), index, headerIsGone: undefined });
  const rows: PlacedRow[] = [
    ...[...index.idTexts()].map(([row, id]) => ({ row, id })),
    ...index.withoutId.map(({ row }) => ({ row, id: '' })),
  ].filter(({ row }) => row !== read.header?.row);
  return rows
    .map(({ row, id }) => ({
      row,
      id,
      columns: fields.flatMap((key) => {
        const column = read.columns.get(key);
        return column === undefined || idOf(column.values[row]) === '' ? [] : [column.index];
      }),
    }))
    .filter(({ columns }) => columns.length > 0)
    .sort((a, b) => a.row - b.row);
}
