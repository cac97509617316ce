import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { CellBlock } from './cell-blocks.ts';
import type { Evidence, Stray, Verdict } from './evidence.ts';
import { idOf, type RowIndex } from './row-index.ts';
import { gridRange } from './sheet-looks.ts';
import { createMetadata, METADATA_KEYS } from './sheet-metadata.ts';
import { type Layout, roleMark, type Structure, type Tab } from './structure.ts';
import { freeTabTitle } from './tab-title.ts';
import { addKept, keepOld, type PlannedBatch } from './write-plan.ts';

type Request = sheets_v4.Schema$Request;

/**
 * The undo tab: hidden, and as large as the last write needed. Every write that changes cells first copies their old
 * content and the IDs of their rows there, in the same atomic step. When it turns out that somebody had sorted, moved or
 * deleted something in between, what was overwritten is copied back to where it belongs.
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
  const tab: Tab = {
    sheetId,
    title,
    rowCount: Math.max(1, size.rows),
    columnCount: Math.max(1, size.columns),
  };
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

/** A cell to bring back: from its place on the undo tab to where its row and column are now. */
interface Restoration {
  readonly block: CellBlock;
  readonly fromRow: number;
  readonly fromColumn: number;
}

/**
 * A write that brings back what strays overwrote; itself verified like any other. Empty when there is nothing left to
 * bring back. `evidence` and `verdict` are the stray write's, `layout` and `index` were read after it. `first`: the write was no such restoration itself.
 */
export function planRestore(
  evidence: Evidence,
  verdict: Verdict,
  now: { layout: Layout; index: RowIndex; undoSheetId: number; undoRows: number },
  first: boolean,
): PlannedBatch {
  const idAt = now.index.idTexts();
  const items = verdict.strays.flatMap((stray) =>
    restorations(stray, evidence, verdict, { ...now, idAt, first }),
  );
  // Below what is already put by, so that it is there to be copied from.
  const batch: PlannedBatch = {
    requests: [],
    blocks: [],
    inserted: [],
    undoRows: now.undoRows,
    undoColumns: 2,
  };
  for (const { block, fromRow, fromColumn } of items) {
    batch.requests.push(...keepOld(now, block, batch.undoRows), {
      copyPaste: {
        source: cell(now.undoSheetId, fromRow, fromColumn),
        destination: cell(now.layout.sheetId, block.row, block.column),
        pasteType: 'PASTE_FORMULA',
      },
    });
    addKept(batch, block);
    batch.undoColumns = Math.max(batch.undoColumns, fromColumn + 1);
  }
  return batch;
}

/**
 * Where overwritten cells belong now. A row that shows a submission is found by its ID, a column of ours by its mark; a
 * row or column of people's is where it was. What nobody can find any more was deleted.
 */
function restorations(
  stray: Stray,
  evidence: Evidence,
  { columnsStood }: Verdict,
  {
    layout,
    index,
    idAt,
    first,
  }: { layout: Layout; index: RowIndex; idAt: ReadonlyMap<number, string>; first: boolean },
): Restoration[] {
  // What stood in the right row, on something unexpected, or in a row of people's, is where it was.
  const isElsewhere = columnsStood && stray.found !== '' && stray.found !== stray.ids[0];
  const row = isElsewhere ? index.get(stray.found)?.row : stray.row;
  if (row === undefined) return [];
  const places = new Map([...layout.columns.values()].map((c) => [c.metadataId, c.index]));
  return (stray.values[0] ?? []).flatMap((value, x) => {
    const marks = [...(evidence.marks.get(stray.column + x) ?? [])];
    const mark = marks.find((id) => places.has(id));
    if (mark === undefined && marks.length > 0) return [];
    const column = mark === undefined ? stray.column + x : (places.get(mark) ?? stray.column + x);
    const block: CellBlock = {
      row,
      column,
      ids: [idAt.get(row) ?? ''],
      values: [[value]],
      // What somebody wrote there since is theirs.
      ...(first && { was: [[idOf(value)]] }),
    };
    return [{ block, fromRow: stray.undoRow, fromColumn: 1 + x }];
  });
}

const cell = (sheetId: number, row: number, column: number): sheets_v4.Schema$GridRange =>
  gridRange({
    sheetId,
    startRow: row,
    endRow: row + 1,
    startColumn: column,
    endColumn: column + 1,
  });
