import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { gridRange } from '../api/formatting.ts';
import { movedError, SheetsError } from '../api/sheets-error.ts';
import type { Obstacle } from '../api/obstacles.ts';
import type { Layout } from '../columns/layout.ts';
import type { RowChange } from '../rows/row-comparison.ts';
import { idOf, type RowIndex } from '../rows/row-index.ts';
import type { FormSheet } from '../state/form-sheet.ts';
import { groupsOf } from './row-groups.ts';
import { idColumnThen, keptRow, type MisplacedCells, type Observation } from './verification.ts';
import { commitBatch, isVerified, type VerifiedWrite } from './verified-write.ts';
import { writableChanges } from './writable.ts';
import { emptyBatch, keepRows, type PlannedBatch, updateCells } from './write-plan.ts';

/** How often a repair that went wrong itself is repaired before it is left to the next pass. */
const REPAIR_TRIES = 6;
/** How long others wait while that is done. */
const REPAIR_LEASE_MS = 30_000;

/**
 * Copies back what a write overwrote in the wrong place, and clears what it put into columns of people's. Returns when
 * nothing is out of place any more, or when another process has written since: its writes used the undo tab, so what is
 * still wrong is left to the next full pass. Throws SheetsError `moved` when the sheet keeps moving.
 */
export async function repair(
  sheet: FormSheet,
  batch: PlannedBatch,
  first: {
    readonly written: VerifiedWrite;
    /** Where the write took the columns to be. */
    readonly layout: Layout;
    readonly undoSheetId: number;
  },
): Promise<void> {
  const { undoSheetId } = first;
  let [{ written }, undoRows, isFirst] = [first, batch.undoRows, true];
  for (let attempt = 1; attempt <= REPAIR_TRIES; attempt++) {
    const { head } = sheet.spreadsheet;
    await sheet.reload();
    if (sheet.view.tab === undefined || sheet.spreadsheet.head !== head) return;
    const index = await sheet.readRows();
    const layout = sheet.usableLayout();
    const protections = sheet.obstacles.all.filter(({ kind }) => kind === 'protection');
    const view = { layout, index, protections, undoSheetId, undoRows, isFirst };
    const work = planRepair(written, view);
    if (isFirst && (written.observed.lost || !written.verification.columnsInPlace)) {
      clearNewRows(work, first.layout, batch, view);
    }
    if (work.groups.length === 0) return;
    const result = await tryToWrite(sheet, work, view, attempt === REPAIR_TRIES);
    if (result === undefined) continue;
    if (isVerified(result)) return;
    [written, undoRows, isFirst] = [result, work.undoRows, false];
  }
  throw movedError(sheet.spreadsheet.address);
}

/**
 * Writes a repair; undefined when nothing was written: the sheet was rearranged, or protected, once more before it, or
 * Google refused it. It is planned again then: what it copies from lasts until the next write of another kind.
 */
async function tryToWrite(
  sheet: FormSheet,
  work: PlannedBatch,
  { layout, undoSheetId }: RepairView,
  isLast: boolean,
): Promise<VerifiedWrite | undefined> {
  const { spreadsheet, structure, form } = sheet;
  try {
    return await commitBatch(spreadsheet, work, {
      formId: form.id,
      layout,
      undoTab: structure.roles.get('undo'),
      undoSheetId,
      last: [],
      leaseMs: REPAIR_LEASE_MS,
    });
  } catch (error) {
    const fault = error instanceof SheetsError ? error.fault : undefined;
    const isToBeSeen = fault === 'moved' || (fault === 'refused' && !isLast);
    if (isToBeSeen || (fault === 'protected' && (await sheet.meetProtection()))) {
      return undefined;
    }
    throw error;
  }
}

/** Where rows and columns are, read after the write that is to be repaired. */
interface RepairView {
  readonly layout: Layout;
  readonly index: RowIndex;
  /** What was protected since: it stays as it is. */
  readonly protections: readonly Obstacle[];
  readonly undoSheetId: number;
  /** Rows of the undo tab that hold what is to be copied back. */
  readonly undoRows: number;
  /** True unless the write was a repair itself: then the cells are known to hold what it wrote. */
  readonly isFirst: boolean;
}

/** A cell to be copied back: from the undo tab to where its row and column are now. */
interface CellRepair extends RowChange {
  readonly from: { readonly row: number; readonly column: number };
}

/** A write that copies back what misplaced cells overwrote, to be verified like any other. Empty when nothing is left. */
function planRepair({ observed, verification }: VerifiedWrite, view: RepairView): PlannedBatch {
  const { misplaced } = verification;
  const withoutId = rowsWithoutId(observed, misplaced, view.layout);
  const idAt = view.index.idTexts();
  const repairs = misplaced.flatMap((cells) => cellRepairs(cells, observed, view, withoutId, idAt));
  const items = writableChanges(repairs, view.protections).changes;
  // Below the rows in use, which are still to be copied from.
  const batch = emptyBatch(view.undoRows);
  // All rows are kept, with their IDs, before the first of them changes.
  for (const group of groupsOf(byRow(items))) keepRows(batch, view, group);
  for (const { row, values, from } of items) {
    const [column = 0] = values.keys();
    batch.requests.push({
      copyPaste: {
        source: cell(view.undoSheetId, from.row, from.column),
        destination: cell(view.layout.sheetId, row, column),
        pasteType: 'PASTE_FORMULA',
      },
    });
  }
  return batch;
}

/** Changes of one cell each as changes of whole rows, in grid order. */
function byRow(items: readonly RowChange[]): RowChange[] {
  const rows = Map.groupBy(items, ({ row }) => row);
  return [...rows]
    .sort(([a], [b]) => a - b)
    .map(([row, cells]) => ({
      row,
      id: cells[0]?.id ?? '',
      values: new Map(cells.flatMap(({ values }) => [...values])),
      was: new Map(cells.flatMap(({ was }) => [...was])),
      strict: cells.every(({ strict }) => strict),
    }));
}

/** Rows whose ID cell was itself overwritten: their ID no longer finds them. */
function rowsWithoutId(
  observed: Observation,
  misplaced: readonly MisplacedCells[],
  layout: Layout,
): Set<number> {
  const idColumn = idColumnThen(observed, layout) ?? -1;
  const hit = misplaced.filter(
    ({ column, values }) => column <= idColumn && idColumn < column + values.length,
  );
  return new Set(hit.map(({ row }) => row));
}

/**
 * Where overwritten cells belong now. A row that shows a submission is found by its ID, a column of ours by its mark; a
 * row or column of people's is where it was. What can no longer be found was deleted.
 */
function cellRepairs(
  cells: MisplacedCells,
  observed: Observation,
  { layout, index, isFirst }: RepairView,
  withoutId: ReadonlySet<number>,
  idAt: ReadonlyMap<number, string>,
): CellRepair[] {
  const { found } = cells;
  // A row of people's, or one whose ID cell was hit, is where it was; so is a header.
  const place = index.placeOf(found ?? '') ?? blankedPlace(cells, idAt);
  const isHeader = found === cells.id && place === undefined;
  const stays = found === undefined || found === '' || withoutId.has(cells.row) || isHeader;
  const row = stays ? cells.row : (place ?? (observed.lost ? cells.row : undefined));
  if (row === undefined || !isKept(cells, observed, layout)) return [];
  return cells.values.flatMap((value, x) => {
    const column = columnNow(cells.column + x, observed, layout);
    if (column === undefined) return [];
    return [
      {
        row,
        id: idAt.get(row) ?? '',
        values: new Map([[column, value]]),
        // What people wrote there since is theirs.
        was: new Map([[column, idOf(value)]]),
        strict: isFirst,
        from: { row: cells.undoRow, column: cells.column + x },
      },
    ];
  });
}

/** Where a row is that an erasure blanked by mistake: with its ID alone it is no row of ours. */
function blankedPlace(
  { found, values }: MisplacedCells,
  idAt: ReadonlyMap<number, string>,
): number | undefined {
  if (found === undefined || found === '' || values.some((value) => value !== null))
    return undefined;
  const [place, ...others] = [...idAt].flatMap(([row, text]) => (text === found ? [row] : []));
  return others.length === 0 ? place : undefined;
}

/** True when the undo tab holds the row that was hit. Copies may leave out a row that a filter hides. */
function isKept(
  { undoRow, found }: MisplacedCells,
  observed: Observation,
  layout: Layout,
): boolean {
  const kept = keptRow(observed, undoRow);
  if (kept === undefined) return found === '';
  // What was found is from there, and where the column of IDs was at that moment is not known.
  if (observed.lost) return true;
  const idColumn = idColumnThen(observed, layout);
  return idColumn === undefined || (kept[idColumn] ?? '') === (found ?? kept[idColumn] ?? '');
}

/**
 * Where a column is now: one of ours by its mark, one of people's beside the column of ours that it stood nearest to.
 * Undefined for one of ours that was deleted since.
 */
function columnNow(then: number, observed: Observation, layout: Layout): number | undefined {
  const places = new Map([...layout.columns.values()].map((c) => [c.metadataId, c.index]));
  const now = [...observed.marks].flatMap(([index, marks]) => {
    const mark = [...marks].find((id) => places.has(id));
    return mark === undefined ? [] : [{ index, moved: (places.get(mark) ?? index) - index }];
  });
  const own = now.find(({ index }) => index === then);
  if (own !== undefined) return then + own.moved;
  if (observed.marks.has(then)) return undefined;
  const nearest = now.sort((a, b) => Math.abs(a.index - then) - Math.abs(b.index - then))[0];
  return then + (nearest?.moved ?? 0);
}

/**
 * Adds to a repair: clears cells of new rows that were written while the columns were elsewhere. A row that can be found
 * by its ID keeps what is in columns of ours, which the next comparison corrects. Cells that hold something else by now
 * are left alone.
 */
function clearNewRows(
  work: PlannedBatch,
  written: Layout,
  batch: PlannedBatch,
  view: RepairView,
): void {
  const ours = new Set([...view.layout.columns.values()].map(({ index }) => index));
  const idAt = view.index.idTexts();
  const changes = batch.inserted.flatMap(({ row: top, rows }) =>
    rows.map((row, offset): RowChange => {
      const place = view.index.placeOf(row.id);
      const cells = [...written.columns].flatMap(([key, { index }]) => {
        const value = row.values.get(key) ?? null;
        const isFine = value === null || (place !== undefined && ours.has(index));
        return isFine ? [] : [[index, value] as const];
      });
      const at = place ?? top + offset;
      return {
        row: at,
        id: idAt.get(at) ?? '',
        values: new Map(cells.map(([index]) => [index, null])),
        was: new Map(cells.map(([index, value]) => [index, idOf(value)])),
        strict: true,
      };
    }),
  );
  const free = writableChanges(changes, view.protections).changes;
  const groups = groupsOf(free.toSorted((a, b) => a.row - b.row));
  // All rows are kept, with their IDs, before the first of them changes.
  for (const group of groups) keepRows(work, view, group);
  for (const { row, parts } of groups) {
    for (const { column, values } of parts) {
      work.requests.push(updateCells(view.layout.sheetId, row, column, values));
    }
  }
}

const cell = (sheetId: number, row: number, column: number): sheets_v4.Schema$GridRange =>
  gridRange({
    sheetId,
    startRow: row,
    endRow: row + 1,
    startColumn: column,
    endColumn: column + 1,
  });
