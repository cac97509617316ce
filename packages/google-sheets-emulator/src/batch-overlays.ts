import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { ApiError, invalid, protectedCell } from './api-error.ts';
import { Calculator } from './calculator.ts';
import { boundsOf } from './document.ts';
import { closedRange, guard, storedRange, type Edit } from './edit.ts';
import { mayEditProtected, protectionResource } from './protection.ts';
import { cellsOf, meets, type Sheet } from './sheet.ts';
import { refuseInTable } from './batch-tables.ts';

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
  const { warningOnly, editors, description } = given;
  const users = editors?.users ?? [];
  if (given.unprotectedRanges)
    throw new ApiError('UNIMPLEMENTED', 'The emulator protects a range as a whole.');
  if (warningOnly === true && users.length > 0) {
    throw invalid('ProtectedRange is warningOnly. Editors cannot be set on it.');
  }
  const all = [...new Set([...users, edit.caller.email])];
  return {
    protectedRangeId: given.protectedRangeId ?? edit.nextId(),
    range: storedRange(edit, given.range),
    ...(description && { description }),
    ...(warningOnly === true && { warningOnly }),
    editors: { users: all },
  };
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
  return { addProtectedRange: { protectedRange: protectionResource(protection, edit.caller) } };
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

/** setBasicFilter: hides the rows with the values that it names. The first row of its range is the header. */
export function setBasicFilter(
  edit: Edit,
  request: sheets_v4.Schema$SetBasicFilterRequest,
): undefined {
  const filter = request.filter ?? {};
  const sheet = edit.document.grid(filter.range?.sheetId);
  const area = sheet.areaOf(boundsOf(filter.range));
  if (sheet.overlays.tables.some((table) => meets(cellsOf(table.range), area)))
    throw new ApiError('UNIMPLEMENTED', 'The Google Sheets emulator does not filter tables.');
  liftFilter(sheet);
  const criteria = Object.entries(filter.criteria ?? {});
  const calculator = new Calculator(edit.document, edit.nowMs);
  const isHidden = (row: number): boolean =>
    criteria.some(([column, { hiddenValues }]) =>
      hiddenValues?.includes(calculator.text(sheet, row, Number(column))),
    );
  for (let row = area.top + 1; row < Math.min(area.bottom, sheet.usedRows); row++)
    setHidden(sheet, row, isHidden(row));
  const basicFilter = { ...filter, range: closedRange(sheet, area) };
  sheet.overlays = { ...sheet.overlays, basicFilter };
  return undefined;
}

/** addFilterView: it hides nothing from anyone else. */
export function addFilterView(
  edit: Edit,
  { filter = {} }: sheets_v4.Schema$AddFilterViewRequest,
): Response {
  const sheet = edit.document.grid(filter.range?.sheetId);
  const area = sheet.areaOf(boundsOf(filter.range));
  const filterViewId = filter.filterViewId ?? edit.nextId();
  const stored = { ...filter, filterViewId, range: closedRange(sheet, area) };
  const filterViews = [...sheet.overlays.filterViews, stored];
  sheet.overlays = { ...sheet.overlays, filterViews };
  return { addFilterView: { filter: stored } };
}

/** clearBasicFilter: the rows that it hid are shown again. */
export function clearBasicFilter(
  edit: Edit,
  request: sheets_v4.Schema$ClearBasicFilterRequest,
): undefined {
  liftFilter(edit.document.grid(request.sheetId));
  return undefined;
}

function setHidden(sheet: Sheet, row: number, hidden: boolean): void {
  const { hiddenByFilter, ...properties } = sheet.row(row)?.properties ?? {};
  if ((hiddenByFilter === true) === hidden) return;
  const fresh = hidden ? { ...properties, hiddenByFilter: true } : properties;
  sheet.setRowProperties(row, Object.keys(fresh).length === 0 ? undefined : fresh);
}

/** Removes the tab's filter; every row that it hid is shown again. */
function liftFilter(sheet: Sheet): void {
  if (sheet.overlays.basicFilter === undefined) return;
  for (let row = 0; row < sheet.usedRows; row++) setHidden(sheet, row, false);
  sheet.overlays = { ...sheet.overlays, basicFilter: undefined };
}

/** mergeCells: the top left cell stays, and the content of the others is removed. */
export function mergeCells(edit: Edit, request: sheets_v4.Schema$MergeCellsRequest): undefined {
  if (request.mergeType !== 'MERGE_ALL')
    throw new ApiError('UNIMPLEMENTED', 'The Google Sheets emulator only merges all of a range.');
  const sheet = edit.document.grid(request.range?.sheetId);
  const area = sheet.areaOf(boundsOf(request.range));
  guard(edit, sheet, area);
  refuseInTable(sheet, area);
  if (sheet.overlays.merges.some((range) => meets(cellsOf(range), area)))
    throw invalid('You must select all cells in a merged range to merge or unmerge them.');
  for (let index = area.top; index < Math.min(area.bottom, sheet.usedRows); index++) {
    sheet.editRow(index, (cells) => {
      for (let column = area.left; column < Math.min(area.right, cells.length); column++) {
        if (index === area.top && column === area.left) continue;
        cells[column] = { ...cells[column], content: null };
      }
    });
  }
  const merges = [...sheet.overlays.merges, closedRange(sheet, area)];
  sheet.overlays = { ...sheet.overlays, merges };
  return undefined;
}

/** unmergeCells: every merge that meets the range. */
export function unmergeCells(
  edit: Edit,
  { range }: sheets_v4.Schema$UnmergeCellsRequest,
): undefined {
  const sheet = edit.document.grid(range?.sheetId);
  const area = sheet.areaOf(boundsOf(range));
  const isKept = (merge: GridRange): boolean => !meets(cellsOf(merge), area);
  sheet.overlays = { ...sheet.overlays, merges: sheet.overlays.merges.filter(isKept) };
  return undefined;
}

/** addBanding. Its colors are stored as given. */
export function addBanding(
  edit: Edit,
  { bandedRange = {} }: sheets_v4.Schema$AddBandingRequest,
): Response {
  const range = storedRange(edit, bandedRange.range);
  const sheet = edit.document.grid(range.sheetId);
  guard(edit, sheet, sheet.areaOf(boundsOf(range)));
  const stored = { ...bandedRange, bandedRangeId: edit.nextId(), range };
  const bandedRanges = [...sheet.overlays.bandedRanges, stored];
  sheet.overlays = { ...sheet.overlays, bandedRanges };
  return { addBanding: { bandedRange: stored } };
}

/** addConditionalFormatRule: an earlier rule wins over a later one. */
export function addRule(
  edit: Edit,
  { rule = {}, index }: sheets_v4.Schema$AddConditionalFormatRuleRequest,
): undefined {
  const ranges = (rule.ranges ?? []).map((range) => storedRange(edit, range));
  if (ranges.length === 0) throw invalid('ConditionalFormatRule.ranges must not be empty.');
  const sheet = edit.document.grid(ranges[0]?.sheetId);
  const rules = sheet.overlays.conditionalFormats;
  if ((index ?? 0) > rules.length)
    throw invalid(`Index ${index} is after the last conditional format.`);
  const conditionalFormats = rules.toSpliced(index ?? 0, 0, { ...rule, ranges });
  sheet.overlays = { ...sheet.overlays, conditionalFormats };
  return undefined;
}
