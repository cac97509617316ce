import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { invalid } from './api-error.ts';
import { storedBanding } from './banding.ts';
import { boundsOf } from './document.ts';
import { guard, storedRange, type Edit } from './edit.ts';
import type { Sheet } from './sheet.ts';
import { meets, tableArea } from './tables.ts';

type BandedRange = sheets_v4.Schema$BandedRange;

/** A banded range as Google keeps it. Throws where another one lies already, in the words that Google was seen to use. */
function stored(edit: Edit, given: BandedRange, bandedRangeId: number): BandedRange {
  const { rowProperties, columnProperties } = given;
  if (!rowProperties && !columnProperties) {
    throw invalid('At least one of row_properties or column_properties must be specified.');
  }
  for (const banding of [rowProperties, columnProperties]) {
    if (!banding) continue;
    const { firstBandColorStyle, secondBandColorStyle } = storedBanding(banding);
    if (!firstBandColorStyle || !secondBandColorStyle) {
      throw invalid('Both first_band_color and second_band_color must be specified.');
    }
  }
  const range = storedRange(edit, given.range);
  const sheet = edit.document.grid(range.sheetId);
  const area = sheet.areaOf(boundsOf(range));
  guard(edit, sheet, area);
  const others = sheet.overlays.bandedRanges
    .filter((one) => one.bandedRangeId !== bandedRangeId)
    .map((one) => sheet.areaOf(boundsOf(one.range)));
  if ([...others, ...sheet.overlays.tables.map(tableArea)].some((other) => meets(other, area))) {
    throw invalid(
      'You cannot add alternating background colors to a range that already has alternating background colors.',
    );
  }
  return {
    bandedRangeId,
    range,
    ...(rowProperties && { rowProperties: storedBanding(rowProperties) }),
    ...(columnProperties && { columnProperties: storedBanding(columnProperties) }),
  };
}

function setBandings(sheet: Sheet, bandedRanges: readonly BandedRange[]): void {
  sheet.overlays = { ...sheet.overlays, bandedRanges };
}

/** addBanding. */
export function addBanding(
  edit: Edit,
  request: sheets_v4.Schema$AddBandingRequest,
): sheets_v4.Schema$Response {
  const given = request.bandedRange ?? {};
  const id = given.bandedRangeId ?? edit.nextId();
  const taken = edit.document.sheets.some(({ overlays }) =>
    overlays.bandedRanges.some((one) => one.bandedRangeId === id),
  );
  if (taken) throw invalid(`Banded range with ID ${id} already exists.`);
  const bandedRange = stored(edit, given, id);
  const sheet = edit.document.grid(bandedRange.range?.sheetId);
  setBandings(sheet, [...sheet.overlays.bandedRanges, bandedRange]);
  return { addBanding: { bandedRange } };
}
