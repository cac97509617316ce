import { areaText, columnCells, spansOf, wholeRow } from '../api/a1.ts';
import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { GroupPart } from './row-groups.ts';
import { idOf } from '../rows/row-index.ts';
import type { SheetValue } from '../api/cell-value.ts';
import type { Layout } from '../columns/layout.ts';
import type { CommitAnswer } from '../state/spreadsheet.ts';
import type { KeptGroup, PlannedBatch } from './write-plan.ts';

/** Ranges that a write asks back; beyond that one range spans them all. */
const MAX_VERIFIED_RANGES = 150;

/** The A1 ranges that a write has to be answered with to be verified: where the columns are, and whose rows it wrote to. */
export function verificationRanges(
  layout: Layout,
  batch: PlannedBatch,
  undoTitle: string,
): string[] {
  if (batch.groups.length === 0 && batch.inserted.length === 0) return [];
  const idColumn = layout.columns.get('s:id')?.index ?? 0;
  const rows = batch.groups.flatMap(({ row, ids }) => ids.map((_, y) => row + y));
  const sorted = [...new Set(rows)].sort((a, b) => a - b);
  const spans = spansOf(sorted, 5);
  const few =
    spans.length <= MAX_VERIFIED_RANGES ? spans : spansOf(sorted, Number.POSITIVE_INFINITY);
  const strict = batch.groups.some((group) => group.strict);
  const undo = {
    startRow: 0,
    endRow: batch.undoRows,
    startColumn: 0,
    endColumn: layout.columnCount,
  };
  return [
    wholeRow(layout.title, 0),
    ...few.map(({ start, end }) => columnCells(layout.title, idColumn, start, end)),
    ...(strict ? [areaText(undoTitle, undo)] : []),
  ];
}

/** What the answer of a write shows of the moment it was applied. */
export interface Observation {
  /** Size and title of the form's tab after the write. */
  readonly rowCount: number | undefined;
  readonly columnCount: number | undefined;
  readonly title: string | undefined;
  /** IDs of the metadata on the tab's columns, by index; people's columns are missing. */
  readonly marks: ReadonlyMap<number, ReadonlySet<number>>;
  /**
   * What the written rows held where the write took the ID column to be, by row. Of a lost answer only rows that `kept`
   * does not show, as they are now.
   */
  readonly ids: ReadonlyMap<number, string>;
  /** The undo tab as texts: by its row, then by column. Undefined unless it was asked for. */
  readonly kept: readonly (readonly (string | undefined)[])[] | undefined;
  /** True when the answer never came: then it is unknown where the columns were, and `kept` was read afterwards. */
  readonly lost: boolean;
}

/** What is known of a write, and whether it is in place. */
export interface VerifiedAnswer {
  readonly observed: Observation;
  readonly verification: Verification;
}

/** Verifies a write by its answer alone. */
export function verifyAnswer(
  answer: CommitAnswer,
  layout: Layout,
  batch: PlannedBatch,
  undoSheetId: number,
): VerifiedAnswer {
  const idColumn = layout.columns.get('s:id')?.index ?? 0;
  const answered = readObservation(answer.spreadsheet, layout.sheetId, idColumn, undoSheetId);
  const asked = batch.groups.length > 0 || batch.inserted.length > 0;
  const observed = { ...answered, lost: answer.lost || !asked };
  return { observed, verification: verifyWrite(observed, layout, batch) };
}

/** Reads the answer of a write that took the ID column to be at `idColumn`. */
function readObservation(
  answer: sheets_v4.Schema$Spreadsheet | undefined,
  sheetId: number,
  idColumn: number,
  undoSheetId: number,
): Observation {
  const find = (id: number): sheets_v4.Schema$Sheet | undefined =>
    answer?.sheets?.find((sheet) => (sheet.properties?.sheetId ?? 0) === id);
  const sheet = find(sheetId);
  const kept = textsOf(find(undoSheetId));
  return {
    rowCount: sheet?.properties?.gridProperties?.rowCount ?? undefined,
    columnCount: sheet?.properties?.gridProperties?.columnCount ?? undefined,
    title: sheet?.properties?.title ?? undefined,
    marks: marksOf(sheet),
    ids: new Map([...textsOf(sheet)].map(([row, cells]) => [row, cells[idColumn] ?? ''])),
    kept:
      kept.size === 0
        ? undefined
        : Array.from({ length: Math.max(...kept.keys()) + 1 }, (_, row) => kept.get(row) ?? []),
    lost: false,
  };
}

/** The cells that a tab was answered with, by row. */
function textsOf(sheet: sheets_v4.Schema$Sheet | undefined): Map<number, (string | undefined)[]> {
  const rows = new Map<number, (string | undefined)[]>();
  for (const grid of sheet?.data ?? []) {
    for (const [y, row] of (grid.rowData ?? []).entries()) {
      const before: (string | undefined)[] = Array.from({ length: grid.startColumn ?? 0 });
      const place = (grid.startRow ?? 0) + y;
      // The first row is answered for its columns' metadata; it may be answered again for its ID.
      if (!rows.has(place)) rows.set(place, before.concat((row.values ?? []).map(textOf)));
    }
  }
  return rows;
}

function marksOf(sheet: sheets_v4.Schema$Sheet | undefined): Map<number, Set<number>> {
  const marks = new Map<number, Set<number>>();
  for (const grid of sheet?.data ?? []) {
    for (const [offset, column] of (grid.columnMetadata ?? []).entries()) {
      const ids = (column.developerMetadata ?? []).flatMap(({ metadataId }) => metadataId ?? []);
      if (ids.length > 0) marks.set((grid.startColumn ?? 0) + offset, new Set(ids));
    }
  }
  return marks;
}

function textOf(cell: sheets_v4.Schema$CellData | undefined): string {
  const { stringValue, numberValue, boolValue, formulaValue } = cell?.userEnteredValue ?? {};
  return idOf(stringValue ?? numberValue ?? boolValue ?? formulaValue);
}

/** True when every column was where the write took it to be, as far as its answer shows. */
const columnsInPlace = (observed: Observation, layout: Layout): boolean =>
  observed.lost ||
  [...layout.columns.values()].every(({ index, metadataId }) =>
    observed.marks.get(index)?.has(metadataId),
  );

/** Where the ID column was at the moment of the write, as far as its answer shows; undefined when it had been deleted. */
export function idColumnThen(observed: Observation, layout: Layout): number | undefined {
  const column = layout.columns.get('s:id');
  if (observed.lost) return column?.index;
  const mark = column?.metadataId ?? -1;
  return [...observed.marks].find(([, marks]) => marks.has(mark))?.[0];
}

/** Cells of one row that were written into another row or column than they were meant for, or over unexpected content. */
export interface MisplacedCells {
  readonly row: number;
  readonly column: number;
  /** The submission that they were meant for. */
  readonly id: string;
  readonly values: readonly SheetValue[];
  readonly undoRow: number;
  /** What the row's ID cell held; undefined when that is unknown. */
  readonly found: string | undefined;
}

/** What a write touched, compared with what it was meant to touch. */
export interface Verification {
  readonly columnsInPlace: boolean;
  readonly misplaced: readonly MisplacedCells[];
}

/** Compares what a write meant to touch with what it touched. New rows are the write's own: only their columns count. */
export function verifyWrite(
  observed: Observation,
  layout: Layout,
  batch: PlannedBatch,
): Verification {
  const inPlace = columnsInPlace(observed, layout);
  const idColumn = idColumnThen(observed, layout);
  const misplaced = batch.groups.flatMap((group) =>
    group.ids.flatMap((id, y) => {
      const seen = rowSeen(observed, group, y, inPlace, idColumn);
      return group.parts.flatMap((part) => {
        const isRight =
          inPlace && (seen.found ?? id) === id && isAsExpected(part, y, group, observed, seen.kept);
        if (isRight) return [];
        const values = part.values[y] ?? [];
        const [row, undoRow] = [group.row + y, group.undoRow + y];
        return [{ row, column: part.column, id, values, undoRow, found: seen.found }];
      });
    }),
  );
  return { columnsInPlace: inPlace, misplaced };
}

/** What is known of one row that was written to. */
interface RowSeen {
  readonly found: string | undefined;
  readonly kept: readonly (string | undefined)[] | undefined;
}

function rowSeen(
  observed: Observation,
  group: KeptGroup,
  y: number,
  inPlace: boolean,
  idColumn: number | undefined,
): RowSeen {
  const kept = keptRow(observed, group.undoRow + y);
  // A blank row that got a submission was blank indeed: nothing of it was kept.
  if (kept === undefined && group.ids[y] === '' && writesColumn(group, idColumn)) {
    return { found: '', kept };
  }
  const isSeen = kept === undefined || !writesColumn(group, idColumn);
  if (inPlace && !observed.lost && isSeen) {
    return { found: observed.ids.get(group.row + y) ?? '', kept };
  }
  if (kept === undefined) {
    return { found: observed.lost ? observed.ids.get(group.row + y) : undefined, kept };
  }
  return { found: idColumn === undefined ? undefined : (kept[idColumn] ?? ''), kept };
}

/** True when a group writes into the ID column: then the answer shows what it wrote, and the undo tab what was there. */
const writesColumn = ({ parts }: KeptGroup, idColumn: number | undefined): boolean =>
  idColumn !== undefined &&
  parts.some(
    ({ column, values: [first = []] }) => column <= idColumn && idColumn < column + first.length,
  );

/**
 * What the undo tab holds of a row; undefined when nothing. Copies may leave out a row that a filter hides, and a row of
 * ours is never empty.
 */
export function keptRow(
  observed: Observation,
  undoRow: number,
): readonly (string | undefined)[] | undefined {
  const kept = observed.kept?.[undoRow];
  return kept?.some((text) => text !== undefined && text !== '') === true ? kept : undefined;
}

function isAsExpected(
  part: GroupPart,
  y: number,
  group: KeptGroup,
  { lost }: Observation,
  kept: RowSeen['kept'],
): boolean {
  if (kept === undefined || !(group.strict || lost)) return true;
  return part.was[y]?.every((text, x) => text === (kept[part.column + x] ?? '')) === true;
}
