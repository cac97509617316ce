import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { SheetsApi } from '../../src/targets/google-sheets/api/sheets-api.ts';
import { SheetsError } from '../../src/targets/google-sheets/api/sheets-error.ts';

/** The API calls of the points, which are those of the mirror. */
export type TriedSheets = Pick<SheetsApi, 'spreadsheetId' | 'structure' | 'update' | 'values'>;

/** A temporary tab of our own. */
export interface TriedTab {
  readonly api: TriedSheets;
  readonly sheetId: number;
  readonly title: string;
  /** A number for metadata that no other metadata has. */
  readonly newId: () => number;
}

/** One row or column. */
export const span = (
  sheetId: number,
  dimension: 'ROWS' | 'COLUMNS',
  at: number,
): sheets_v4.Schema$DimensionRange => ({
  sheetId,
  dimension,
  startIndex: at,
  endIndex: at + 1,
});

/** A request that inserts a row or column. */
export const inserted = (
  sheetId: number,
  dimension: 'ROWS' | 'COLUMNS',
  at: number,
): sheets_v4.Schema$Request => ({
  insertDimension: { range: span(sheetId, dimension, at), inheritFromBefore: false },
});

/** A request that moves a row or column. */
export const moved = (
  sheetId: number,
  dimension: 'ROWS' | 'COLUMNS',
  from: number,
  to: number,
): sheets_v4.Schema$Request => ({
  moveDimension: { source: span(sheetId, dimension, from), destinationIndex: to },
});

/** A request that writes a text into a cell. */
export const cell = (
  tab: TriedTab,
  row: number,
  column: number,
  text: string,
): sheets_v4.Schema$Request => rowsAt(tab, row, [[text]], column);

const rowsAt = (
  { sheetId }: TriedTab,
  row: number,
  rows: readonly (readonly string[])[],
  column: number,
): sheets_v4.Schema$Request => ({
  updateCells: {
    start: { sheetId, rowIndex: row, columnIndex: column },
    rows: rows.map((texts) => ({
      values: texts.map((text) => ({ userEnteredValue: { stringValue: text } })),
    })),
    fields: 'userEnteredValue',
  },
});

/** Writes texts, row by row. */
export async function write(
  tab: TriedTab,
  row: number,
  rows: readonly (readonly string[])[],
  column = 0,
): Promise<void> {
  await tab.api.update([rowsAt(tab, row, rows, column)]);
}

/** The texts of a part of a row, up to the last one. */
export async function cells(
  { api, sheetId }: TriedTab,
  row: number,
  column: number,
  count: number,
): Promise<string[]> {
  const gridRange = {
    sheetId,
    startRowIndex: row,
    endRowIndex: row + 1,
    startColumnIndex: column,
    endColumnIndex: column + count,
  };
  const [found] = await api.values([{ gridRange }], 'ROWS');
  return (found?.valueRange?.values?.[0] ?? []).map(String);
}

/** The texts of the column that metadata marks. */
export async function columnOf({ api }: TriedTab, metadataId: number): Promise<string[]> {
  const [found] = await api.values([{ developerMetadataLookup: { metadataId } }], 'COLUMNS');
  return (found?.valueRange?.values?.[0] ?? []).map(String).filter((text) => text !== '');
}

/** The index of the column that has the metadata. */
export async function placeOf(tab: TriedTab, metadataId: number): Promise<number> {
  const { data = [] } = await ownSheet(tab);
  for (const { startColumn, columnMetadata } of data) {
    const at = (columnMetadata ?? []).findIndex((one) =>
      (one.developerMetadata ?? []).some((piece) => piece.metadataId === metadataId),
    );
    if (at >= 0) return (startColumn ?? 0) + at;
  }
  return -1;
}

/** The tab as Google's API returns it. */
export async function ownSheet({ api, sheetId }: TriedTab): Promise<sheets_v4.Schema$Sheet> {
  const { sheets = [] } = await api.structure();
  return sheets.find(({ properties }) => properties?.sheetId === sheetId) ?? {};
}

/** Whether Google has answered that it does not support the request. */
export const isRefusal = (error: unknown): error is SheetsError =>
  error instanceof SheetsError &&
  (error.code === 'TARGET_FAILED' || error.fault === 'taken' || error.fault === 'protected');

/** Google's refusal; undefined if there was none. */
export async function refusalOf(work: Promise<unknown>): Promise<SheetsError | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (isRefusal(error)) return error;
    throw error;
  }
}

/** Whether two lists of texts are the same. */
export const same = (found: readonly string[], wanted: readonly string[]): boolean =>
  found.length === wanted.length && found.every((text, at) => text === wanted[at]);
