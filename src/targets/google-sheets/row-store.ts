import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { capacityError, MAX_CELLS } from './capacity.ts';
import { groupsOf, type RowChange } from './row-groups.ts';
import { columnsStood, type Evidence, judge, readEvidence, type Verdict } from './evidence.ts';
import type { FormSheet } from './form-sheet.ts';
import { idOf } from './row-index.ts';
import { readKeys } from './row-locator.ts';
import type { SheetRow } from './row-values.ts';
import { movedError } from './sheets-error.ts';
import { bytesOf, type ReadValue } from './sheet-value.ts';
import type { CommitAnswer } from './spreadsheet.ts';
import { cellCount, type Layout } from './structure.ts';
import { planRestore, type RestoreView, undoTabRequests } from './undo-tab.ts';
import {
  evidenceRanges,
  keepRows,
  planWrites,
  type PlannedBatch,
  updateCells,
} from './write-plan.ts';

type Request = sheets_v4.Schema$Request;

/** Bytes of a write besides its rows: the commit log, the undo tab, ranges. */
const FRAME_BYTES = 12_000;
/** How often a write that hit the wrong cells is made good before we give up until the next pass. */
const RESTORE_TRIES = 4;

/** What is to be written. */
export interface StoreRequest {
  readonly changes: readonly RowChange[];
  readonly newRows: readonly SheetRow[];
  /** Requests that go before all others; each small. */
  readonly first: readonly Request[];
  /** Requests of each write that tell of the state after it; `inserted`: rows added so far. */
  readonly each: (inserted: number) => readonly Request[];
  readonly leaseMs: number;
}

/**
 * Writes changes and new rows, verifies with each answer that they went where they were meant to go, and makes good what
 * did not: people sort, insert and delete while we write. Throws SheetsError `moved` when that happened; all is well
 * then, but has to be read again.
 */
export async function storeRows(sheet: FormSheet, request: StoreRequest): Promise<void> {
  const layout = sheet.usableLayout();
  checkRoom(sheet, layout, request.newRows.length);
  const undoSheetId = sheet.structure.roles.get('undo')?.sheetId ?? sheet.book.newSheetId();
  const index = sheet.index;
  const batches = planWrites({
    layout,
    changes: request.changes,
    newRows: request.newRows,
    lastRow: index?.lastRow ?? 0,
    lookLikeAbove: index !== undefined && index.belowIsTaken && index.size > 0,
    undoSheetId,
    first: request.first,
    reservedBytes: FRAME_BYTES + bytesOf(request.each(0)),
  });
  let inserted = 0;
  for (const batch of batches) {
    const count = batch.inserted.reduce((sum, block) => sum + block.rows.length, 0);
    const { evidence, verdict } = await writeBatch(sheet, batch, undoSheetId, {
      leaseMs: request.leaseMs,
      last: request.each(inserted + count),
    });
    if (!verdict.columnsStood || verdict.strays.length > 0) {
      await makeGood(sheet, batch, undoSheetId, { evidence, verdict });
      throw movedError(sheet.book.address);
    }
    inserted += count;
  }
}

/** Refuses before anything is written what would go beyond Google's 10 million cells. */
function checkRoom(sheet: FormSheet, layout: Layout, newRows: number): void {
  const others = sheet.structure.tabs.filter((tab) => tab.sheetId !== layout.sheetId);
  const cells =
    cellCount({ ...sheet.structure, tabs: others }) +
    (layout.rowCount + newRows) * layout.columnCount;
  if (newRows > 0 && cells > MAX_CELLS) throw capacityError(sheet.book.address, sheet.structure);
}

interface Judged {
  readonly evidence: Evidence;
  readonly verdict: Verdict;
}

async function writeBatch(
  sheet: FormSheet,
  batch: PlannedBatch,
  undoSheetId: number,
  { leaseMs, last }: { leaseMs: number; last: readonly Request[] },
): Promise<Judged> {
  const layout = sheet.usableLayout();
  const { book } = sheet;
  const size = { rows: batch.undoRows, columns: layout.columnCount };
  const undo =
    batch.undoRows === 0
      ? undefined
      : undoTabRequests(sheet.structure, book.api.spreadsheetId, undoSheetId, size);
  const answer = await book.commit({
    formId: sheet.form.id,
    requests: [...(undo?.requests ?? []), ...batch.requests, ...last],
    responseRanges: evidenceRanges(layout, batch, undo?.tab.title ?? ''),
    leaseMs,
  });
  if (undo !== undefined) sheet.keepRole('undo', undo.tab);
  const evidence = await evidenceOf(sheet, answer, undoSheetId, batch);
  sheet.keepLayout({
    ...layout,
    rowCount:
      evidence.rowCount ?? layout.rowCount + batch.inserted.reduce((n, b) => n + b.rows.length, 0),
    columnCount: evidence.columnCount ?? layout.columnCount,
    title: evidence.title ?? layout.title,
  });
  return { evidence, verdict: judge(evidence, layout, batch) };
}

/**
 * The evidence of a write. When its answer was lost, or the columns had moved so that the wrong column was asked for,
 * what it put by still tells whose rows it touched.
 */
async function evidenceOf(
  sheet: FormSheet,
  answer: CommitAnswer,
  undoSheetId: number,
  batch: PlannedBatch,
): Promise<Evidence> {
  const layout = sheet.usableLayout();
  const evidence = readEvidence(answer.spreadsheet, layout.sheetId, undoSheetId);
  const asked = batch.groups.length > 0 || batch.inserted.length > 0;
  const known = asked && !answer.lost ? evidence : assumed(layout, evidence);
  if (batch.groups.length === 0 || (!answer.lost && columnsStood(evidence, layout))) return known;
  const [kept] = await sheet.book.api.values([{ gridRange: { sheetId: undoSheetId } }], 'ROWS');
  const rows = (kept?.valueRange?.values ?? []) as ReadValue[][];
  return { ...known, kept: rows.map((cells) => cells.map(idOf)) };
}

/** Evidence that says nothing against the columns. */
const assumed = (layout: Layout, evidence: Evidence): Evidence => ({
  ...evidence,
  marks: new Map(
    [...layout.columns.values()].map(({ index, metadataId }) => [index, new Set([metadataId])]),
  ),
});

/** Brings back what a write overwrote in the wrong place, and takes out of people's columns what it put there. */
async function makeGood(
  sheet: FormSheet,
  batch: PlannedBatch,
  undoSheetId: number,
  first: Judged,
): Promise<void> {
  const written = sheet.usableLayout();
  let [{ evidence, verdict }, undoRows] = [first, batch.undoRows];
  for (let attempt = 1; ; attempt++) {
    const { head } = sheet.book;
    await sheet.reload();
    // Another process has written since, and with it the undo tab: the next full pass makes good what is wrong.
    if (sheet.tab === undefined || sheet.book.head !== head) return;
    const index = await readKeys(sheet);
    const layout = sheet.usableLayout();
    const view = { layout, index, undoSheetId, undoRows, first: attempt === 1 };
    const work = planRestore(evidence, verdict, view);
    if (attempt === 1 && !verdict.columnsStood) addClearing(work, written, batch, view);
    if (work.groups.length === 0) return;
    const result = await writeBatch(sheet, work, undoSheetId, { leaseMs: 30_000, last: [] });
    if (result.verdict.columnsStood && result.verdict.strays.length === 0) return;
    if (attempt === RESTORE_TRIES) throw movedError(sheet.book.address);
    [{ evidence, verdict }, undoRows] = [result, work.undoRows];
  }
}

/**
 * Empties cells of new rows that were written while the columns stood elsewhere. A row that can be found by its ID keeps
 * what is in columns of ours: comparing sets that right. Cells that hold something else by now are left alone.
 */
function addClearing(
  work: PlannedBatch,
  written: Layout,
  batch: PlannedBatch,
  view: RestoreView,
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
      };
    }),
  );
  const groups = groupsOf(changes.sort((a, b) => a.row - b.row));
  // Only when all rows are put by, with their IDs, may one of them change.
  for (const group of groups) keepRows(work, view, group);
  for (const { row, parts } of groups) {
    for (const { column, values } of parts) {
      work.requests.push(updateCells(view.layout.sheetId, row, column, values));
    }
  }
}
