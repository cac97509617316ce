import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { Calculator } from './calculator.ts';
import { cellParts, cellResource, type CellParts } from './cell-resource.ts';
import { type DimensionProperties, PLAIN_STYLE } from './cell.ts';
import type { Dimension } from './dimensions.ts';
import { below, touches, type Mask } from './field-mask.ts';
import { metadataResource, type Metadata } from './metadata.ts';
import type { Area, Sheet } from './sheet.ts';

/** Default column width in pixels. */
export const DEFAULT_COLUMN_WIDTH = 100;
/** Default row height in pixels. */
export const DEFAULT_ROW_HEIGHT = 21;

function dimensionResource(
  properties: DimensionProperties | undefined,
  defaultSize: number,
  metadata: readonly Metadata[],
): sheets_v4.Schema$DimensionProperties {
  return {
    ...(properties?.hiddenByFilter === true && { hiddenByFilter: true }),
    ...(properties?.hiddenByUser === true && { hiddenByUser: true }),
    pixelSize: properties?.pixelSize ?? defaultSize,
    ...(metadata.length > 0 && { developerMetadata: metadata.map(metadataResource) }),
  };
}

function dimensions(
  sheet: Sheet,
  dimension: Dimension,
  start: number,
  end: number,
  metadata: readonly Metadata[],
): sheets_v4.Schema$DimensionProperties[] {
  const rows = dimension === 'ROWS';
  const byIndex = Map.groupBy(
    metadata.filter(({ place }) => !rows && place.kind === 'COLUMN' && place.sheetId === sheet.id),
    ({ place }) => ('index' in place ? place.index : -1),
  );
  return Array.from({ length: end - start }, (_, offset) => {
    const index = start + offset;
    const properties = rows ? sheet.row(index)?.properties : sheet.columnProperties(index);
    const size = rows ? DEFAULT_ROW_HEIGHT : DEFAULT_COLUMN_WIDTH;
    return dimensionResource(properties, size, byIndex.get(index) ?? []);
  });
}

function rowResource(
  calculator: Calculator,
  sheet: Sheet,
  row: number,
  area: Area,
  parts: CellParts,
): sheets_v4.Schema$RowData {
  const stored = sheet.row(row);
  const notes = stored?.notes === undefined ? 0 : Math.max(...stored.notes.keys()) + 1;
  const { cells = [], style = PLAIN_STYLE } = stored ?? {};
  const spilled = calculator.filledColumns(sheet, row);
  const width = Math.max(cells.length, style.cellStyles.length, notes, spilled);
  const values: sheets_v4.Schema$CellData[] = [];
  for (let column = area.left; column < Math.min(area.right, width); column++) {
    const data = cellResource(calculator, sheet, row, column, parts);
    if (data === undefined || Object.keys(data).length === 0) continue;
    while (values.length < column - area.left) values.push({});
    values.push(data);
  }
  return values.length === 0 ? {} : { values };
}

/** One area as GridData: rows and cells with nothing to say are trimmed at the end; `startRow` and `startColumn` of 0 are left out. */
export function gridResource(
  calculator: Calculator,
  sheet: Sheet,
  area: Area,
  metadata: readonly Metadata[],
  mask: Mask,
): sheets_v4.Schema$GridData {
  const rowMask = below(mask, 'rowData');
  const rowData: sheets_v4.Schema$RowData[] = [];
  if (rowMask !== undefined) {
    const parts = cellParts(below(rowMask, 'values') ?? true);
    for (let row = area.top; row < Math.min(area.bottom, calculator.filledRows(sheet)); row++) {
      rowData.push(rowResource(calculator, sheet, row, area, parts));
    }
    while (rowData.length > 0 && rowData.at(-1)?.values === undefined) rowData.pop();
  }
  const { top, bottom, left, right } = area;
  return {
    ...(top > 0 && { startRow: top }),
    ...(left > 0 && { startColumn: left }),
    ...(rowData.length > 0 && { rowData }),
    ...(touches(mask, 'rowMetadata') && {
      rowMetadata: dimensions(sheet, 'ROWS', top, bottom, metadata),
    }),
    ...(touches(mask, 'columnMetadata') && {
      columnMetadata: dimensions(sheet, 'COLUMNS', left, right, metadata),
    }),
  };
}
