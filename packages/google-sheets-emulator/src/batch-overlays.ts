import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { ApiError, invalid, protectedCell } from './api-error.ts';
import { applyFilter, liftFilter } from './basic-filter.ts';
import { boundsOf } from './document.ts';
import { guard, storedRange, type Edit } from './edit.ts';
import { mayEditProtected, protectionResource } from './protection.ts';
import type { Area, Sheet } from './sheet.ts';
import { refuseInTable } from './batch-tables.ts';
import { meets as meetsArea, tableArea } from './tables.ts';

type Response = sheets_v4.Schema$Response;
type GridRange = sheets_v4.Schema$GridRange;
type Protection = sheets_v4.Schema$ProtectedRange;

function protectionsOf(edit: Edit, id: number): { sheet: Sheet; protection: Protection } {
  for (const sheet of edit.document.sheets) {
    const protection = sheet.overlays.protectedRanges.find((item) => item.protectedRangeId === id);
    if (protection !== undefined) return { sheet, protection };
  }
  throw invalid(`No protected range with ID: ${id}`);
}

function setProtections(sheet: Sheet, protectedRanges: readonly Protection[]): void {
  sheet.overlays = { ...sheet.overlays, protectedRanges };
}

/** Adds the defaults that Google adds: callers stay editors of ranges that they protect. */
function storedProtection(edit: Edit, given: Protection): Protection {
  const { warningOnly, editors, description, unprotectedRanges, namedRangeId } = given;
  const users = editors?.users ?? [];
  if (warningOnly === true && users.length > 0) {
    throw invalid('ProtectedRange is warningOnly. Editors cannot be set on it.');
  }
  const all = [...new Set([...users, edit.caller.email])];
  return {
    protectedRangeId: given.protectedRangeId ?? edit.nextId(),
    range: storedRange(edit, given.range),
    ...(namedRangeId && { namedRangeId }),
    ...(description && { description }),
    ...(warningOnly === true && { warningOnly }),
    editors: bareEditors({ ...editors, users: all }),
    ...(unprotectedRanges && {
      unprotectedRanges: unprotectedRanges.map((range) => storedRange(edit, range)),
    }),
  };
}

/** Empty lists are left out, as in all of Google's answers. */
function bareEditors(
  editors: sheets_v4.Schema$Editors | null | undefined,
): sheets_v4.Schema$Editors {
  const filled = Object.entries(editors ?? {}).filter(
    ([, value]) => !Array.isArray(value) || value.length > 0,
  );
  return Object.fromEntries(filled);
}

const isWholeSheet = (range: GridRange | undefined): boolean =>
  Object.keys(boundsOf(range)).length === 0;

/** addProtectedRange. */
export function addProtection(
  edit: Edit,
  request: sheets_v4.Schema$AddProtectedRangeRequest,
): Response {
  const given = request.protectedRange ?? {};
  const protection = storedProtection(edit, given);
  const sheet = edit.document.grid(protection.range?.sheetId);
  const list = sheet.overlays.protectedRanges;
  if (isWholeSheet(protection.range) && list.some((item) => isWholeSheet(item.range))) {
    throw invalid(`Sheet "${sheet.properties.title}" already has sheet protection.`);
  }
  if (list.some((item) => item.protectedRangeId === protection.protectedRangeId)) {
    throw invalid(`Protected range with ID ${protection.protectedRangeId} already exists.`);
  }
  setProtections(sheet, [...list, protection]);
  // The reply lists the editors as requested; a read lists those that Google added, too.
  const shown = {
    ...protectionResource(protection, edit.caller),
    editors: bareEditors(given.editors),
  };
  return { addProtectedRange: { protectedRange: shown } };
}

/** deleteProtectedRange. */
export function deleteProtection(
  edit: Edit,
  request: sheets_v4.Schema$DeleteProtectedRangeRequest,
): undefined {
  const { sheet, protection } = protectionsOf(edit, request.protectedRangeId ?? 0);
  if (!mayEditProtected(protection, edit.caller)) throw protectedCell();
  setProtections(
    sheet,
    sheet.overlays.protectedRanges.filter((item) => item !== protection),
  );
  return undefined;
}

/** setBasicFilter: hides the rows its criteria don't let through; its sort specs really sort. */
export function setBasicFilter(
  edit: Edit,
  request: sheets_v4.Schema$SetBasicFilterRequest,
): undefined {
  const filter = request.filter ?? {};
  const sheet = edit.document.grid(filter.range?.sheetId);
  const area = sheet.areaOf(boundsOf(filter.range));
  refuseTableFilter(sheet, area, filter.tableId);
  applyFilter(edit, sheet, { ...filter, range: closed(sheet, area) });
  return undefined;
}

/** clearBasicFilter: the rows it hid come back. */
export function clearBasicFilter(
  edit: Edit,
  request: sheets_v4.Schema$ClearBasicFilterRequest,
): undefined {
  liftFilter(edit.document.grid(request.sheetId));
  return undefined;
}

/** The filter of a table is not emulated. Sheets does not allow a second filter over its cells. */
function refuseTableFilter(sheet: Sheet, area: Area, tableId: string | null | undefined): void {
  if (tableId || sheet.overlays.tables.some((table) => meetsArea(tableArea(table), area))) {
    throw filtersTables();
  }
}

const filtersTables = (): ApiError =>
  new ApiError('UNIMPLEMENTED', 'The Google Sheets emulator does not filter tables.');

const closed = (sheet: Sheet, area: Area): GridRange => ({
  ...(sheet.id !== 0 && { sheetId: sheet.id }),
  startRowIndex: area.top,
  endRowIndex: area.bottom,
  startColumnIndex: area.left,
  endColumnIndex: area.right,
});

function pieces(area: Area, mergeType: string | null | undefined): Area[] {
  if (mergeType === 'MERGE_ROWS') {
    const rows = Array.from({ length: area.bottom - area.top }, (_, offset) => area.top + offset);
    const { left, right } = area;
    return rows.map((top) => ({ top, bottom: top + 1, left, right }));
  }
  if (mergeType === 'MERGE_COLUMNS') {
    const columns = Array.from(
      { length: area.right - area.left },
      (_, offset) => area.left + offset,
    );
    const { top, bottom } = area;
    return columns.map((left) => ({ top, bottom, left, right: left + 1 }));
  }
  return [area];
}

const meets = (range: GridRange, area: Area): boolean =>
  (range.startRowIndex ?? 0) < area.bottom &&
  (range.endRowIndex ?? 0) > area.top &&
  (range.startColumnIndex ?? 0) < area.right &&
  (range.endColumnIndex ?? 0) > area.left;

const liesIn = (range: GridRange, area: Area): boolean =>
  (range.startRowIndex ?? 0) >= area.top &&
  (range.endRowIndex ?? 0) <= area.bottom &&
  (range.startColumnIndex ?? 0) >= area.left &&
  (range.endColumnIndex ?? 0) <= area.right;

/** Takes the merges inside an area away. Throws when one sticks out of it. */
function absorbMerges(sheet: Sheet, area: Area): void {
  const met = sheet.overlays.merges.filter((range) => meets(range, area));
  if (met.some((range) => !liesIn(range, area))) {
    throw invalid('You must select all cells in a merged range to merge or unmerge them.');
  }
  const merges = sheet.overlays.merges.filter((range) => !met.includes(range));
  sheet.overlays = { ...sheet.overlays, merges };
}

/** mergeCells: the top left cell stays, the content of the others goes. */
export function mergeCells(edit: Edit, request: sheets_v4.Schema$MergeCellsRequest): undefined {
  const sheet = edit.document.grid(request.range?.sheetId);
  const area = sheet.areaOf(boundsOf(request.range));
  guard(edit, sheet, area);
  refuseInTable(sheet, area);
  for (const piece of pieces(area, request.mergeType)) {
    absorbMerges(sheet, piece);
    for (let index = piece.top; index < Math.min(piece.bottom, sheet.usedRows); index++) {
      const width = sheet.row(index)?.cells.length ?? 0;
      sheet.editRow(index, (row) => {
        for (let column = piece.left; column < Math.min(piece.right, width); column++) {
          if (index !== piece.top || column !== piece.left) row.content(column, null);
        }
      });
    }
    const merges = [...sheet.overlays.merges, closed(sheet, piece)];
    sheet.overlays = { ...sheet.overlays, merges };
  }
  return undefined;
}

/** unmergeCells: every merge that lies in the range. */
export function unmergeCells(edit: Edit, request: sheets_v4.Schema$UnmergeCellsRequest): undefined {
  const sheet = edit.document.grid(request.range?.sheetId);
  const area = sheet.areaOf(boundsOf(request.range));
  absorbMerges(sheet, area);
  return undefined;
}
