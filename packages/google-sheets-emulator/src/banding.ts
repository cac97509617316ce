import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { storedColor } from './cell-styles.ts';
import { boundsOf } from './document.ts';
import type { Sheet, Table } from './sheet.ts';
import { TABLE_COLORS } from './tables.ts';

type Banding = sheets_v4.Schema$BandingProperties;
type ColorStyle = sheets_v4.Schema$ColorStyle;

/** A color style with its color as Sheets stores it. */
export const pairedColor = (style: ColorStyle): ColorStyle =>
  style.rgbColor ? { rgbColor: storedColor(style.rgbColor) } : style;

const NAMES = ['header', 'firstBand', 'secondBand', 'footer'] as const;

/** Google answers each color of a banding twice, as `…Color` and as `…ColorStyle`; the style wins when both are given. */
export function storedBanding(given: Banding): Banding {
  return Object.fromEntries(
    NAMES.flatMap((name) => {
      const plain = given[`${name}Color`];
      const style = given[`${name}ColorStyle`] ?? (plain ? { rgbColor: plain } : undefined);
      if (style === undefined) return [];
      const stored = pairedColor(style);
      const styled = [`${name}ColorStyle`, stored] as const;
      return stored.rgbColor ? [[`${name}Color`, stored.rgbColor] as const, styled] : [styled];
    }),
  );
}

/** The alternating colors of a table, as a banded range: known by its ID, and as a number where that is one. */
export const tableBanding = (table: Table): sheets_v4.Schema$BandedRange => ({
  ...(/^\d{1,10}$/.test(table.id) && { bandedRangeId: Number(table.id) }),
  bandedRangeReference: table.id,
  range: table.range,
  rowProperties: storedBanding(TABLE_COLORS),
});

function bandOf(
  banding: Banding | undefined,
  index: number,
  count: number,
): ColorStyle | undefined {
  if (banding === undefined) return undefined;
  const { headerColorStyle, firstBandColorStyle, secondBandColorStyle, footerColorStyle } = banding;
  if (headerColorStyle && index === 0) return headerColorStyle;
  if (footerColorStyle && index === count - 1) return footerColorStyle;
  const nth = index - (headerColorStyle ? 1 : 0);
  return nth % 2 === 0 ? firstBandColorStyle : secondBandColorStyle;
}

/**
 * The ground that alternating colors, those of tables included, give a cell without one of its own. Where rows and
 * columns have colors, those of the rows come first.
 */
export function bandColor(sheet: Sheet, row: number, column: number): ColorStyle | undefined {
  const { bandedRanges, tables } = sheet.overlays;
  for (const banding of [...bandedRanges, ...tables.map(tableBanding)]) {
    const area = sheet.areaOf(boundsOf(banding.range));
    if (row < area.top || row >= area.bottom || column < area.left || column >= area.right)
      continue;
    return (
      bandOf(banding.rowProperties, row - area.top, area.bottom - area.top) ??
      bandOf(banding.columnProperties, column - area.left, area.right - area.left)
    );
  }
  return undefined;
}
