import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';

/**
 * Shows a serial number as date and time. Without seconds, and equally wide in every locale: in a narrow column people would see
 * ###, and a wide one takes much of a phone's screen.
 */
export const DATE_FORMAT: sheets_v4.Schema$NumberFormat = {
  type: 'DATE_TIME',
  pattern: 'yyyy-mm-dd hh:mm',
};

const rgb = (hex: string): sheets_v4.Schema$ColorStyle => ({
  rgbColor: {
    red: Number.parseInt(hex.slice(0, 2), 16) / 255,
    green: Number.parseInt(hex.slice(2, 4), 16) / 255,
    blue: Number.parseInt(hex.slice(4, 6), 16) / 255,
  },
});

/** The color of less important text. */
export const FAINT = rgb('9aa0a6');

/** The colors of a cell, its ground and its text. */
const tone = (ground: string, text: string) => ({
  backgroundColorStyle: rgb(ground),
  textFormat: { foregroundColorStyle: rgb(text) },
});

export const TONES = {
  plain: tone('eef2f7', '1f2937'),
  fresh: tone('dbe9fe', '1e3a8a'),
  good: tone('d7f2df', '14532d'),
  warn: tone('fdeccb', '7a4b00'),
  refused: tone('fce1df', '7f1d1d'),
  bad: tone('c5221f', 'ffffff'),
} as const;

/** A header cell: bold on a light background, wrapped, so that long labels can be read. */
export const HEADER_FORMAT: sheets_v4.Schema$CellFormat = {
  ...TONES.plain,
  textFormat: { ...TONES.plain.textFormat, bold: true },
  wrapStrategy: 'WRAP',
  verticalAlignment: 'MIDDLE',
};

/** A cell with an answer: long ones are cut off at the cell's edge. Line breaks still make a row tall, unless its height is set. */
export const BODY_FORMAT: sheets_v4.Schema$CellFormat = {
  wrapStrategy: 'CLIP',
  verticalAlignment: 'TOP',
};

/** A cell that only the mirror needs. */
export const FAINT_FORMAT: sheets_v4.Schema$CellFormat = {
  textFormat: { fontSize: 8, foregroundColorStyle: FAINT },
};

type GridRange = sheets_v4.Schema$GridRange;

/** The width of some columns. */
export const columnWidth = (
  sheetId: number,
  column: number,
  pixelSize: number,
): sheets_v4.Schema$Request => ({
  updateDimensionProperties: {
    range: { sheetId, dimension: 'COLUMNS', startIndex: column, endIndex: column + 1 },
    properties: { pixelSize },
    fields: 'pixelSize',
  },
});

/** A protection that warns before an edit but allows it. Google refuses one that names editors. */
export const warnBeforeEdits = (
  range: GridRange,
  description: string,
): sheets_v4.Schema$Request => ({
  addProtectedRange: {
    protectedRange: { range, description, warningOnly: true },
  },
});

/** Adds rows or columns at the end of a tab, if `length` is more than 0. */
export const growBy = (
  sheetId: number,
  dimension: 'ROWS' | 'COLUMNS',
  length: number,
): sheets_v4.Schema$Request[] =>
  length > 0 ? [{ appendDimension: { sheetId, dimension, length } }] : [];
