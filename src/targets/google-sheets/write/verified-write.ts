import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { spansOf } from '../api/a1.ts';
import type { ReadValue } from '../api/cell-value.ts';
import { createMetadata, METADATA_KEYS, roleMark } from '../api/metadata.ts';
import type { SheetsApi } from '../api/sheets-api.ts';
import type { Layout, Tab } from '../columns/layout.ts';
import { freeTabTitle } from '../columns/tab-title.ts';
import { idOf } from '../rows/row-index.ts';
import { readRows } from '../rows/tab-reading.ts';
import type { Spreadsheet } from '../state/spreadsheet.ts';
import {
  keptRow,
  type Observation,
  verificationRanges,
  type VerifiedAnswer,
  verifyAnswer,
  verifyWrite,
} from './verification.ts';
import type { PlannedBatch } from './write-plan.ts';

type Request = sheets_v4.Schema$Request;

/** Where and with what a batch is written. */
export interface BatchFrame {
  readonly formId: string;
  readonly layout: Layout;
  /** The undo tab as it is; undefined while there is none. */
  readonly undoTab: Tab | undefined;
  readonly undoSheetId: number;
  /** Requests that go after all others. */
  readonly last: readonly Request[];
  readonly leaseMs: number;
  /** Called once the batch is written, before it is verified. */
  readonly onCommit?: (() => void) | undefined;
}

/** A batch that was written, what its answer shows, and the tabs as it left them. */
export interface VerifiedWrite extends VerifiedAnswer {
  readonly layout: Layout;
  readonly undoTab: Tab | undefined;
}

/** True when a write touched what it was meant to touch, and nothing else. */
export const isVerified = ({ verification }: VerifiedAnswer): boolean =>
  verification.columnsInPlace && verification.misplaced.length === 0;

/** Commits a batch in one atomic step and compares what it touched with what it was meant to touch. */
export async function commitBatch(
  spreadsheet: Spreadsheet,
  batch: PlannedBatch,
  frame: BatchFrame,
): Promise<VerifiedWrite> {
  const { layout, undoSheetId } = frame;
  const size = { rows: batch.undoRows, columns: layout.columnCount };
  const undo =
    batch.undoRows === 0
      ? { requests: [], tab: frame.undoTab }
      : undoTabRequests(spreadsheet, frame.undoTab, undoSheetId, size);
  const answer = await spreadsheet.commit({
    formId: frame.formId,
    requests: [...undo.requests, ...batch.requests, ...frame.last],
    responseRanges: verificationRanges(layout, batch, undo.tab?.title ?? ''),
    leaseMs: frame.leaseMs,
  });
  frame.onCommit?.();
  const answered = verifyAnswer(answer, layout, batch, undoSheetId);
  const isClear = batch.groups.length === 0 || (!answer.lost && isVerified(answered));
  const { observed, verification } = isClear
    ? answered
    : await verifyByUndoTab(spreadsheet.api, answered.observed, batch, frame);
  const inserted = batch.inserted.reduce((sum, block) => sum + block.rows.length, 0);
  return {
    observed,
    verification,
    layout: {
      ...layout,
      rowCount: observed.rowCount ?? layout.rowCount + inserted,
      columnCount: observed.columnCount ?? layout.columnCount,
      title: observed.title ?? layout.title,
    },
    undoTab: undo.tab,
  };
}

/** Verifies a write whose answer was lost, or shows something wrong, by what the undo tab holds. */
async function verifyByUndoTab(
  api: SheetsApi,
  answered: Observation,
  batch: PlannedBatch,
  { layout, undoSheetId }: BatchFrame,
): Promise<VerifiedAnswer> {
  const [match] = await api.values([{ gridRange: { sheetId: undoSheetId } }], 'ROWS');
  const cells = (match?.valueRange?.values ?? []) as ReadValue[][];
  const kept = cells.map((row) => row.map(idOf));
  let observed: Observation = { ...answered, kept };
  const unknown = observed.lost ? rowsNotKept(observed, batch) : [];
  if (unknown.length > 0) {
    // A row that the undo tab does not show is blank, or one of ours that a filter hides: its ID decides.
    const idColumn = layout.columns.get('s:id')?.index ?? 0;
    const now = await readRows(api, layout, spansOf(unknown, 8));
    const ids = new Map(unknown.map((row) => [row, idOf(now.get(row)?.[idColumn])]));
    observed = { ...observed, ids };
  }
  return { observed, verification: verifyWrite(observed, layout, batch) };
}

/** Written rows, in grid order, of which the undo tab holds nothing. */
function rowsNotKept(observed: Observation, batch: PlannedBatch): number[] {
  const rows = batch.groups.flatMap(({ row, ids, undoRow }) =>
    ids.flatMap((_, y) => (keptRow(observed, undoRow + y) === undefined ? [row + y] : [])),
  );
  return rows.sort((a, b) => a - b);
}

/**
 * The undo tab is hidden and as large as the last write needed. A write that changes rows first copies them there, in the
 * same atomic step, so that {@link repair} can copy back what was overwritten in the wrong place.
 */
const UNDO_TITLE = 'Mirror undo';

/** Requests that make the undo tab, or give it the size that a write needs, and the tab as they leave it. */
function undoTabRequests(
  { known, api }: Spreadsheet,
  old: Tab | undefined,
  sheetId: number,
  size: { rows: number; columns: number },
): { requests: Request[]; tab: Tab } {
  const titles = known.tabs.map((tab) => tab.title);
  const title = old?.title ?? freeTabTitle(UNDO_TITLE, titles);
  const tab: Tab = { sheetId, title, rowCount: size.rows, columnCount: size.columns };
  const gridProperties = { rowCount: tab.rowCount, columnCount: tab.columnCount };
  if (old === undefined) {
    const mark = roleMark('undo', api.spreadsheetId, sheetId);
    const requests = [
      { addSheet: { properties: { sheetId, title, hidden: true, gridProperties } } },
      createMetadata({ sheetId }, METADATA_KEYS.role, mark),
    ];
    return { requests, tab };
  }
  if (old.rowCount === tab.rowCount && old.columnCount === tab.columnCount) {
    return { requests: [], tab };
  }
  const resize: Request = {
    updateSheetProperties: {
      properties: { sheetId, gridProperties },
      fields: 'gridProperties.rowCount,gridProperties.columnCount',
    },
  };
  return { requests: [resize], tab };
}
