import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { ApiError, invalid } from './api-error.ts';
import {
  appendDimension,
  deleteDimension,
  insertDimension,
  moveDimension,
  sizeOf,
  type Dimension,
} from './dimensions.ts';
import { guard, type Edit } from './edit.ts';
import type { Area, Sheet } from './sheet.ts';

interface Span {
  readonly sheet: Sheet;
  readonly dimension: Dimension;
  readonly start: number;
  readonly end: number;
}

function dimensionOf(name: string | null | undefined): Dimension {
  if (name === 'ROWS' || name === 'COLUMNS') return name;
  throw invalid('No dimension specified.');
}

const noun = (dimension: Dimension): string => (dimension === 'ROWS' ? 'row' : 'column');

/** A DimensionRange of a request; open ends are the grid's. Throws if it names rows that do not exist. */
function spanOf(
  edit: Edit,
  range: sheets_v4.Schema$DimensionRange | undefined,
  verb: string,
): Span {
  const sheet = edit.document.grid(range?.sheetId);
  const dimension = dimensionOf(range?.dimension);
  const size = sizeOf(sheet, dimension);
  const [start, end] = [range?.startIndex ?? 0, range?.endIndex ?? size];
  if (start < 0 || end <= start) {
    throw invalid(`${noun(dimension)} range [${start}, ${end}) is empty or negative.`);
  }
  if (end > size) {
    const name = noun(dimension);
    throw invalid(
      `Cannot ${verb} a ${name} that doesn't exist. Tried to ${verb} ${name} index ${Math.max(start, size)} but there are only ${size} ${name}s.`,
    );
  }
  return { sheet, dimension, start, end };
}

const across = ({ sheet, dimension, start, end }: Span): Area =>
  dimension === 'ROWS'
    ? { ...sheet.area, top: start, bottom: end }
    : { ...sheet.area, left: start, right: end };

/** Refuses an insertion inside a hard protection. */
function guardInsertion(edit: Edit, sheet: Sheet, dimension: Dimension, at: number): void {
  guard(edit, sheet, across({ sheet, dimension, start: at, end: at }));
}

/** Refuses to add rows to a hard protection that reaches the end, such as one of a whole column. */
export function guardGrowth(edit: Edit, sheet: Sheet, rows: number): void {
  guard(edit, sheet, { ...sheet.area, top: sheet.rowCount, bottom: sheet.rowCount + rows });
}

/** insertDimension: new ones take formats from the ones before or after. */
export function insert(edit: Edit, request: sheets_v4.Schema$InsertDimensionRequest): undefined {
  const { range, inheritFromBefore } = request;
  const sheet = edit.document.grid(range?.sheetId);
  const dimension = dimensionOf(range?.dimension);
  const [start, end] = [range?.startIndex ?? 0, range?.endIndex ?? 0];
  const size = sizeOf(sheet, dimension);
  const before = inheritFromBefore === true;
  if (end <= start)
    throw invalid(`range.endIndex[${end}] must be greater than range.startIndex[${start}]`);
  if (before && start === 0)
    throw invalid('inheritFromBefore cannot be true when inserting at index 0.');
  if (start > size) {
    throw invalid(`range.startIndex is larger than current grid size (${size})`);
  }
  if (start === size && !before) {
    throw invalid(
      `range.startIndex must be less than the grid size (${size}) if inheritFromBefore is false.`,
    );
  }
  guardInsertion(edit, sheet, dimension, start);
  insertDimension(edit.document, sheet, dimension, start, end - start, before ? start - 1 : start);
  return undefined;
}

/** deleteDimension. */
export function remove(edit: Edit, request: sheets_v4.Schema$DeleteDimensionRequest): undefined {
  const span = spanOf(edit, request.range, 'delete');
  guard(edit, span.sheet, across(span));
  deleteDimension(edit.document, span.sheet, span.dimension, span.start, span.end);
  return undefined;
}

/** A merge must move as a whole, and inserted rows or columns may not split it. */
function checkMerges({ sheet, dimension, start, end }: Span, destination: number): void {
  const torn = sheet.overlays.merges.some((merge) => {
    const [from, to] =
      dimension === 'ROWS'
        ? [merge.startRowIndex ?? 0, merge.endRowIndex ?? 0]
        : [merge.startColumnIndex ?? 0, merge.endColumnIndex ?? 0];
    const crossesBlock = from < end && to > start && (from < start || to > end);
    return to - from > 1 && (crossesBlock || (from < destination && destination < to));
  });
  if (!torn) return;
  throw invalid(
    `Sorry, it is not possible to move a ${noun(dimension)} to a position that crosses a merged cell. Please unmerge and try again.`,
  );
}

/** moveDimension. */
export function move(edit: Edit, request: sheets_v4.Schema$MoveDimensionRequest): undefined {
  const span = spanOf(edit, request.source, 'move');
  const destination = request.destinationIndex ?? 0;
  if (destination > sizeOf(span.sheet, span.dimension)) {
    throw invalid(
      `destinationIndex[${destination}] is after last ${noun(span.dimension)} in grid.`,
    );
  }
  guard(edit, span.sheet, across(span));
  guardInsertion(edit, span.sheet, span.dimension, destination);
  checkMerges(span, destination);
  moveDimension(edit.document, span.sheet, span.dimension, span.start, span.end, destination);
  return undefined;
}

/** appendDimension. */
export function append(edit: Edit, request: sheets_v4.Schema$AppendDimensionRequest): undefined {
  const sheet = edit.document.grid(request.sheetId);
  const length = request.length ?? 0;
  if (length < 1) throw invalid('length must be greater than 0.');
  const dimension = dimensionOf(request.dimension);
  if (dimension === 'ROWS') guardGrowth(edit, sheet, length);
  appendDimension(edit.document, sheet, dimension, length);
  return undefined;
}

/** updateDimensionProperties: pixelSize, and hiddenByUser of rows. */
export function updateProperties(
  edit: Edit,
  { range, properties, fields }: sheets_v4.Schema$UpdateDimensionPropertiesRequest,
): undefined {
  const { sheet, dimension, start, end } = spanOf(edit, range, 'update');
  const { pixelSize, hiddenByUser } = properties ?? {};
  for (let index = start; index < end; index++) {
    const before = sheet.row(index)?.properties;
    if (fields === 'pixelSize' && typeof pixelSize === 'number') {
      if (dimension === 'COLUMNS') sheet.setColumnProperties(index, { pixelSize });
      else sheet.setRowProperties(index, { ...before, pixelSize });
    } else if (fields === 'hiddenByUser' && dimension === 'ROWS')
      sheet.setRowProperties(index, { ...before, hiddenByUser: hiddenByUser === true });
    else
      throw new ApiError(
        'UNIMPLEMENTED',
        'The emulator changes the size of rows and columns, and hides rows.',
      );
  }
  return undefined;
}
