import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { Evidence, Stray, Verdict } from './evidence.ts';
import { idColumnThen, keptRow } from './evidence.ts';
import { groupsOf, type RowChange } from './row-groups.ts';
import { idOf, type RowIndex } from './row-index.ts';
import { gridRange } from './sheet-looks.ts';
import { createMetadata, METADATA_KEYS } from './sheet-metadata.ts';
import { type Layout, roleMark, type Structure, type Tab } from './structure.ts';
import { freeTabTitle } from './tab-title.ts';
import { emptyBatch, keepRows, type PlannedBatch } from './write-plan.ts';

type Request = sheets_v4.Schema$Request;

/**
 * The undo tab: hidden, and as large as the last write needed. Every write that changes rows first copies them there, in
 * the same atomic step. When it turns out that somebody had sorted, moved or deleted something in between, what was
 * overwritten is copied back to where it belongs.
 */
const TITLE = 'Mirror undo';

/** Makes the undo tab, or gives it the size that a write needs; and the tab as it will be. */
export function undoTabRequests(
  structure: Structure,
  spreadsheetId: string,
  sheetId: number,
  size: { rows: number; columns: number },
): { requests: Request[]; tab: Tab } {
  const old = structure.roles.get('undo');
  const title =
    old?.title ??
    freeTabTitle(
      TITLE,
      structure.tabs.map((tab) => tab.title),
    );
  const tab: Tab = { sheetId, title, rowCount: size.rows, columnCount: size.columns };
  const gridProperties = { rowCount: tab.rowCount, columnCount: tab.columnCount };
  if (old === undefined) {
    const mark = roleMark('undo', spreadsheetId, sheetId);
    const requests = [
      { addSheet: { properties: { sheetId, title, hidden: true, gridProperties } } },
      createMetadata({ sheetId }, METADATA_KEYS.role, mark),
    ];
    return { requests, tab };
  }
  if (old.rowCount === tab.rowCount && old.columnCount === tab.columnCount)
    return { requests: [], tab };
  const resize: Request = {
    updateSheetProperties: {
      properties: { sheetId, gridProperties },
      fields: 'gridProperties.rowCount,gridProperties.columnCount',
    },
  };
  return { requests: [resize], tab };
}

/** What a restoration goes by, read after the write that went astray. */
export interface RestoreView {
  readonly layout: Layout;
  readonly index: RowIndex;
  readonly undoSheetId: number;
  /** Rows of the undo tab that hold what is to be copied back. */
  readonly undoRows: number;
  /** True when the write was no restoration itself: then what it wrote is known to be what it left. */
  readonly first: boolean;
}

/** A cell to bring back: from the undo tab to where its row and column are now. */
interface Restoration extends RowChange {
  readonly from: { readonly row: number; readonly column: number };
}

/**
 * A write that brings back what strays overwrote, itself verified like any other. Empty when there is nothing left to
 * bring back.
 */
export function planRestore(evidence: Evidence, verdict: Verdict, view: RestoreView): PlannedBatch {
  const lost = rowsWithoutId(evidence, verdict, view.layout);
  const idAt = view.index.idTexts();
  const items = verdict.strays.flatMap((stray) => restorations(stray, evidence, view, lost, idAt));
  // Below what is already put by, so that it is there to be copied from.
  const batch = emptyBatch(view.undoRows);
  // Only when all rows are put by, with their IDs, may one of them change.
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

/** Rows whose ID cell was itself overwritten: nobody finds them by their ID. */
function rowsWithoutId(evidence: Evidence, { strays }: Verdict, layout: Layout): Set<number> {
  const column = idColumnThen(evidence, layout) ?? -1;
  const hit = strays.filter(
    (stray) => stray.column <= column && column < stray.column + stray.values.length,
  );
  return new Set(hit.map((stray) => stray.row));
}

/**
 * Where overwritten cells belong now. A row that shows a submission is found by its ID, a column of ours by its mark; a
 * row or column of people's is where it was. What nobody can find any more was deleted.
 */
function restorations(
  stray: Stray,
  evidence: Evidence,
  { layout, index, first }: RestoreView,
  lost: ReadonlySet<number>,
  idAt: ReadonlyMap<number, string>,
): Restoration[] {
  // A row of people's, or one whose ID cell was hit, is where it was; so is a header.
  const place = index.placeOf(stray.found ?? '');
  const isHeader = stray.found === stray.id && place === undefined;
  const stays = stray.found === undefined || stray.found === '' || lost.has(stray.row) || isHeader;
  const row = stays ? stray.row : (place ?? (evidence.lost ? stray.row : undefined));
  if (row === undefined) return [];
  if (!isKept(stray, evidence, layout)) return [];
  return stray.values.flatMap((value, x) => {
    const column = columnNow(stray.column + x, evidence, layout);
    if (column === undefined) return [];
    return [
      {
        row,
        id: idAt.get(row) ?? '',
        values: new Map([[column, value]]),
        // What somebody wrote there since is theirs.
        was: new Map([[column, idOf(value)]]),
        strict: first,
        from: { row: stray.undoRow, column: stray.column + x },
      },
    ];
  });
}

/** True when the undo tab holds the row that was hit. A row that a filter hides may be left out of copies. */
function isKept(stray: Stray, evidence: Evidence, layout: Layout): boolean {
  const kept = keptRow(evidence, stray.undoRow);
  if (kept === undefined) return stray.found === '';
  const idColumn = idColumnThen(evidence, layout);
  return idColumn === undefined || (kept[idColumn] ?? '') === (stray.found ?? kept[idColumn] ?? '');
}

/**
 * Where a column is now: one of ours by its mark, one of people's beside the column of ours that it stood nearest to.
 * Undefined for one of ours that somebody deleted since.
 */
function columnNow(then: number, evidence: Evidence, layout: Layout): number | undefined {
  const places = new Map([...layout.columns.values()].map((c) => [c.metadataId, c.index]));
  const now = [...evidence.marks].flatMap(([index, marks]) => {
    const mark = [...marks].find((id) => places.has(id));
    return mark === undefined ? [] : [{ index, moved: (places.get(mark) ?? index) - index }];
  });
  const own = now.find(({ index }) => index === then);
  if (own !== undefined) return then + own.moved;
  if (evidence.marks.has(then)) return undefined;
  const nearest = now.sort((a, b) => Math.abs(a.index - then) - Math.abs(b.index - then))[0];
  return then + (nearest?.moved ?? 0);
}

const cell = (sheetId: number, row: number, column: number): sheets_v4.Schema$GridRange =>
  gridRange({
    sheetId,
    startRow: row,
    endRow: row + 1,
    startColumn: column,
    endColumn: column + 1,
  });
