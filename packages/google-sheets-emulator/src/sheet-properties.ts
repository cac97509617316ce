import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { Sheet } from './sheet.ts';

/** A tab's properties in API responses, without those at their default. */
export function sheetProperties(sheet: Sheet, index: number): sheets_v4.Schema$SheetProperties {
  const { title, hidden, tabColorStyle, rightToLeft } = sheet.properties;
  const { frozenRowCount, frozenColumnCount, hideGridlines } = sheet.properties;
  const rgb = tabColorStyle?.rgbColor;
  return {
    sheetId: sheet.id,
    title,
    index,
    sheetType: 'GRID',
    gridProperties: {
      rowCount: sheet.rowCount,
      columnCount: sheet.columnCount,
      ...(frozenRowCount !== undefined && { frozenRowCount }),
      ...(frozenColumnCount !== undefined && { frozenColumnCount }),
      ...(hideGridlines === true && { hideGridlines }),
    },
    ...(hidden === true && { hidden }),
    ...(rgb !== undefined && { tabColor: rgb }),
    ...(tabColorStyle !== undefined && { tabColorStyle }),
    ...(rightToLeft === true && { rightToLeft }),
  };
}
