import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { bytesOf } from '../api/cell-value.ts';
import { movedError } from '../api/sheets-error.ts';
import { endsAtRow, isInTable, type LaidRange, withRows } from '../columns/laid-ranges.ts';
import type { Layout, Tab } from '../columns/layout.ts';
import type { RowChange } from '../rows/row-comparison.ts';
import type { SheetRow } from '../rows/row-values.ts';
import { MAX_CELLS } from '../api/size-limits.ts';
import { capacityError } from '../state/capacity.ts';
import type { FormSheet } from '../state/form-sheet.ts';
import { cellCount } from '../state/structure.ts';
import type { TabRole } from '../api/metadata.ts';
import { growing, withTablesReaching } from './growing.ts';
import { repair } from './repair.ts';
import { commitBatch, isVerified, type VerifiedWrite } from './verified-write.ts';
import { emptyBatch, type PlannedBatch, planWrites } from './write-plan.ts';

type Request = sheets_v4.Schema$Request;

/** Bytes of a write besides its rows: the commit log, the undo tab, ranges. */
const FRAME_BYTES = 12_000;

/** Rows to be written, with what goes along. */
export interface RowWrite {
  /** Where the columns are once `first` is applied. */
  readonly layout: Layout;
  readonly changes: readonly RowChange[];
  readonly newRows: readonly SheetRow[];
  /** What people laid over the tab, once `first` is applied. */
  readonly ranges: readonly LaidRange[];
  /** Requests that go before all others; each small. */
  readonly first: readonly Request[];
  /** Requests of each batch that record the state after it; `inserted`: rows added so far. */
  readonly each: (inserted: number) => readonly Request[];
  readonly leaseMs: number;
  /** Called as soon as something is written. */
  readonly onCommit?: (() => void) | undefined;
}

/** How a write left the form's tab and tabs of our own. */
export interface WrittenRows {
  readonly layout: Layout;
  readonly ownTabs: ReadonlyMap<TabRole, Tab>;
  readonly ranges: readonly LaidRange[];
}

/**
 * Writes changes and new rows, verifies by each answer that they went where they were meant to go, and repairs what did
 * not: people sort, insert and delete while we write. Throws SheetsError `moved` when that happened; nothing is out of
 * place then, but what the write was planned on has to be read again. Throws TARGET_FULL before anything is written.
 */
export async function writeRows(sheet: FormSheet, write: RowWrite): Promise<WrittenRows> {
  checkRoom(sheet, write);
  const { index } = sheet.view;
  const { ranges } = write;
  const at = (index?.lastRow ?? 0) + 1;
  const adds = write.newRows.length > 0;
  if (!adds || index === undefined || index.size === 0) {
    return writeBatches(sheet, write, { ranges, grows: false });
  }
  const reached = await withTablesReaching(sheet, ranges, at);
  if (!endsAtRow(reached, at)) return writeBatches(sheet, write, { ranges: reached, grows: false });
  return growing(true, (grows, onCommit) =>
    writeBatches(sheet, write, { ranges: reached, grows, onCommit }),
  );
}

/** What {@link writeBatches} is to know of the ranges that people laid over the tab. */
interface OverTab {
  readonly ranges: readonly LaidRange[];
  /** True when those that end with the last row are to take new rows in. */
  readonly grows: boolean;
  /** Called as soon as something is written. */
  readonly onCommit?: () => void;
}

async function writeBatches(
  sheet: FormSheet,
  write: RowWrite,
  { ranges, grows, onCommit }: OverTab,
): Promise<WrittenRows> {
  const { structure, spreadsheet } = sheet;
  const { index } = sheet.view;
  let { layout } = write;
  let undoTab = structure.roles.get('undo');
  const undoSheetId = undoTab?.sheetId ?? spreadsheet.newSheetId();
  const lastRow = index?.lastRow ?? 0;
  const planned = planWrites({
    layout,
    changes: write.changes,
    newRows: write.newRows,
    lastRow,
    formatFromAbove: index !== undefined && index.belowIsTaken && index.size > 0,
    growsRanges: grows,
    fillsTable: isInTable(ranges, lastRow),
    undoSheetId,
    first: write.first,
    reservedBytes: FRAME_BYTES + bytesOf(write.each(0)),
  });
  // A state alone is a write, too: of a pass that changed nothing, where people protect the Mirror tab.
  const isStateAlone = planned.length === 0 && write.each(0).length > 0;
  const batches = isStateAlone ? [emptyBatch(0)] : planned;
  let inserted = 0;
  for (const batch of batches) {
    inserted += batch.inserted.reduce((sum, block) => sum + block.rows.length, 0);
    const written = await commitBatch(spreadsheet, batch, {
      formId: sheet.form.id,
      layout,
      undoTab,
      undoSheetId,
      last: write.each(inserted),
      leaseMs: write.leaseMs,
      onCommit: () => {
        onCommit?.();
        write.onCommit?.();
      },
    });
    if (!isVerified(written) || (await mayBeMisplaced(sheet, batch, written))) {
      await repair(sheet, batch, { written, layout, undoSheetId });
      throw movedError(spreadsheet.address);
    }
    ({ layout, undoTab } = written);
  }
  return {
    layout,
    ownTabs: new Map(undoTab === undefined ? [] : [['undo', undoTab]]),
    ranges: withRows(ranges, lastRow + 1, inserted, grows),
  };
}

/** Refuses what would go beyond Google's 10 million cells before anything is written. */
function checkRoom({ structure, spreadsheet }: FormSheet, { layout, newRows }: RowWrite): void {
  const others = structure.tabs.filter((tab) => tab.sheetId !== layout.sheetId);
  const own = (layout.rowCount + newRows.length) * layout.columnCount;
  const cells = cellCount({ ...structure, tabs: others }) + own;
  if (newRows.length > 0 && cells > MAX_CELLS) throw capacityError(spreadsheet.address, structure);
}

/** True when new rows may have gone into the wrong columns and no answer shows whether they did. */
async function mayBeMisplaced(
  sheet: FormSheet,
  batch: PlannedBatch,
  { observed, layout }: VerifiedWrite,
): Promise<boolean> {
  if (!observed.lost || batch.inserted.length === 0) return false;
  return sheet.columnsMovedSince(layout);
}
