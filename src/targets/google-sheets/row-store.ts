import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { capacityError, MAX_CELLS } from './capacity.ts';
import { groupsOf, type RowChange } from './row-groups.ts';
import { columnsStood, type Evidence, judge, readEvidence, type Verdict } from './evidence.ts';
import type { FormSheet } from './form-sheet.ts';
import { idOf } from './row-index.ts';
import { readKeys } from './row-locator.ts';
import type { SheetRow } from './row-values.ts';
import { movedError, SheetsError } from './sheets-error.ts';
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
const RESTORE_TRIES = 6;
/** How long others keep off while that is done. */
const RESTORE_LEASE_MS = 30_000;

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
    const astray = !verdict.columnsStood || verdict.strays.length > 0;
    if (astray || (await mayBeAstray(sheet, batch, evidence))) {
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

/** The evidence of a write. When not all is well, or its answer was lost, what it put by is read as well. */
async function evidenceOf(
  sheet: FormSheet,
  answer: CommitAnswer,
  undoSheetId: number,
  batch: PlannedBatch,
): Promise<Evidence> {
  const layout = sheet.usableLayout();
  const idColumn = layout.columns.get('s:id')?.index ?? 0;
  const told = readEvidence(answer.spreadsheet, layout.sheetId, idColumn, undoSheetId);
  const asked = batch.groups.length > 0 || batch.inserted.length > 0;
  const evidence = { ...told, lost: answer.lost || !asked };
  const isFine =
    !answer.lost &&
    columnsStood(evidence, layout) &&
    judge(evidence, layout, batch).strays.length === 0;
  if (batch.groups.length === 0 || isFine) return evidence;
  const [kept] = await sheet.book.api.values([{ gridRange: { sheetId: undoSheetId } }], 'ROWS');
  const rows = (kept?.valueRange?.values ?? []) as ReadValue[][];
  return { ...evidence, kept: rows.map((cells) => cells.map(idOf)) };
}

/** True when new rows may have gone into the wrong columns without anybody telling. */
async function mayBeAstray(
  sheet: FormSheet,
  batch: PlannedBatch,
  evidence: Evidence,
): Promise<boolean> {
  if (!evidence.lost || batch.inserted.length === 0) return false;
  return sheet.columnsMovedSince(sheet.usableLayout());
}

/** Brings back what a write overwrote in the wrong place, and takes out of people's columns what it put there. */
async function makeGood(
  sheet: FormSheet,
  batch: PlannedBatch,
  undoSheetId: number,
  first: Judged,
): Promise<void> {
  const written = sheet.usableLayout();
  let [judged, undoRows, untouched] = [first, batch.undoRows, true];
  for (let attempt = 1; attempt <= RESTORE_TRIES; attempt++) {
    const { head } = sheet.book;
    await sheet.reload();
    // Another process has written since, and with it the undo tab: the next full pass makes good what is wrong.
    if (sheet.tab === undefined || sheet.book.head !== head) return;
    const index = await readKeys(sheet);
    const view = { layout: sheet.usableLayout(), index, undoSheetId, undoRows, first: untouched };
    const work = planRestore(judged.evidence, judged.verdict, view);
    if (untouched && (judged.evidence.lost || !judged.verdict.columnsStood)) {
      addClearing(work, written, batch, view);
    }
    if (work.groups.length === 0) return;
    const result = await tryToWrite(sheet, work, undoSheetId);
    if (result === undefined) continue;
    if (result.verdict.columnsStood && result.verdict.strays.length === 0) return;
    [judged, undoRows, untouched] = [result, work.undoRows, false];
  }
  throw movedError(sheet.book.address);
}

/** Writes a restoration; undefined when the sheet moved once more before it, so that nothing was written. */
async function tryToWrite(
  sheet: FormSheet,
  work: PlannedBatch,
  undoSheetId: number,
): Promise<Judged | undefined> {
  try {
    return await writeBatch(sheet, work, undoSheetId, { leaseMs: RESTORE_LEASE_MS, last: [] });
  } catch (error) {
    if (error instanceof SheetsError && error.fault === 'moved') return undefined;
    throw error;
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
        strict: true,
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
