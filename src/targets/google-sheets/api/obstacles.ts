import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { safeText } from '../../../base/errors.ts';
import { type Area, columnName } from './a1.ts';

/*
 * What keeps cells from being written. Google refuses a whole write that touches one cell of a hard protection, and tells
 * not which; what it does with a value for a cell that merged cells cover is documented nowhere; and of a submission's row
 * that is the head of a table it makes column names. So none of these is written.
 */

/**
 * A protected range that the account may not edit, merged cells, of which all but the first are covered, or the head of a
 * table: where that is the header row nothing is in its way.
 */
export interface Obstacle {
  readonly kind: 'protection' | 'merge' | 'head';
  readonly sheetId: number;
  readonly area: Area;
  /** Parts of a protected tab that anybody may edit. */
  readonly open: readonly Area[];
  /** The same as long as it is what it was and where it was; in words, to be put into a sentence. */
  readonly name: string;
}

const PROTECTION = 'the protected range ';
const HEAD = 'the head of the table ';
/** Characters of a description that people gave a protection, or of a table's name. */
const MAX_DESCRIPTION = 80;

/** The protections of a spreadsheet that do not let the account write. Those that only warn are none. */
export function readProtections(answer: sheets_v4.Schema$Spreadsheet): Obstacle[] {
  return (answer.sheets ?? []).flatMap(({ properties, protectedRanges }) =>
    (protectedRanges ?? [])
      .filter((one) => one.warningOnly !== true && one.requestingUserCanEdit !== true)
      .map(({ description, range, unprotectedRanges }): Obstacle => {
        const area = areaOf(range);
        const called = description ? `"${safeText(description, MAX_DESCRIPTION)}" ` : '';
        return {
          kind: 'protection',
          sheetId: range?.sheetId ?? properties?.sheetId ?? 0,
          area,
          open: (unprotectedRanges ?? []).map(areaOf),
          name: `${PROTECTION}${called}(${cellsText(area)})`,
        };
      }),
  );
}

/** The merged cells of a tab, and the heads of its tables. */
export function readOverlays(sheet: sheets_v4.Schema$Sheet): Obstacle[] {
  const sheetId = sheet.properties?.sheetId ?? 0;
  const merges = (sheet.merges ?? []).map((range): Obstacle => {
    const area = areaOf(range);
    return { kind: 'merge', sheetId, area, open: [], name: `merged cells (${cellsText(area)})` };
  });
  const heads = (sheet.tables ?? []).map(({ name, range }): Obstacle => {
    const { startRow, ...rest } = areaOf(range);
    const area = { ...rest, startRow, endRow: startRow + 1 };
    const called = safeText(name ?? '', MAX_DESCRIPTION);
    return {
      kind: 'head',
      sheetId,
      area,
      open: [],
      name: `${HEAD}"${called}" (${cellsText(area)})`,
    };
  });
  return [...merges, ...heads];
}

/** What an obstacle is, by its name. */
export function kindOf(name: string): Obstacle['kind'] {
  if (name.startsWith(PROTECTION)) return 'protection';
  return name.startsWith(HEAD) ? 'head' : 'merge';
}

/** True when an obstacle keeps a cell of a submission's row from being written. */
export function keepsFrom({ kind, area, open }: Obstacle, row: number, column: number): boolean {
  if (!holds(area, row, column)) return false;
  if (kind === 'merge') return row !== area.startRow || column !== area.startColumn;
  return !open.some((one) => holds(one, row, column));
}

/** The same for a cell of the header row. */
export const keepsFromHeader = (one: Obstacle, row: number, column: number): boolean =>
  one.kind !== 'head' && keepsFrom(one, row, column);

/** True when rows cannot be inserted above a row: Google refuses that inside a protected range. */
export const keepsFromInserting = ({ area }: Obstacle, row: number): boolean =>
  row > area.startRow && row < (area.endRow ?? Infinity);

/** True when columns cannot be inserted before a column: Google refuses that inside a protected range, too. */
export const keepsFromInsertingColumn = ({ kind, area }: Obstacle, column: number): boolean =>
  kind === 'protection' && column > area.startColumn && column < (area.endColumn ?? Infinity);

/** Rows of a tab that lie side by side; without an end the rest of them. */
export interface RowStretch {
  readonly startRow: number;
  readonly endRow?: number;
}

/** Rows, from `top` on, in which no protection keeps a column from being written. */
export function openRows(
  obstacles: readonly Obstacle[],
  column: number,
  { top, rowCount }: { readonly top: number; readonly rowCount: number },
): RowStretch[] {
  const met = obstacles
    .filter(({ kind, area }) => kind === 'protection' && holds(area, area.startRow, column))
    .sort((a, b) => a.area.startRow - b.area.startRow);
  const open: RowStretch[] = [];
  let startRow = top;
  for (const { area } of met) {
    if (area.startRow > startRow) open.push({ startRow, endRow: area.startRow });
    startRow = Math.max(startRow, area.endRow ?? Infinity);
  }
  return startRow < rowCount ? [...open, { startRow }] : open;
}

const holds = (area: Area, row: number, column: number): boolean =>
  row >= area.startRow &&
  row < (area.endRow ?? Infinity) &&
  column >= area.startColumn &&
  column < (area.endColumn ?? Infinity);

const areaOf = (range: sheets_v4.Schema$GridRange | undefined): Area => ({
  startRow: range?.startRowIndex ?? 0,
  endRow: range?.endRowIndex ?? undefined,
  startColumn: range?.startColumnIndex ?? 0,
  endColumn: range?.endColumnIndex ?? undefined,
});

/** Cells as people name them: `C5:C20`, `C:C`, `5:20`, `C5:C`; `all cells`. */
function cellsText({ startRow, endRow, startColumn, endColumn }: Area): string {
  const isAllRows = startRow === 0 && endRow === undefined;
  const isAllColumns = startColumn === 0 && endColumn === undefined;
  if (isAllRows && isAllColumns) return 'all cells';
  const [top, bottom] = isAllRows ? ['', ''] : [String(startRow + 1), String(endRow ?? '')];
  const left = isAllColumns ? '' : columnName(startColumn);
  const right = endColumn === undefined ? '' : columnName(endColumn - 1);
  const [from, to] = [`${left}${top}`, `${right}${bottom}`];
  return from === to && bottom !== '' && right !== '' ? from : `${from}:${to}`;
}
