import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { columnName } from '../api/a1.ts';
import { type ColumnMarker, formatColumns, type NewColumn } from './new-columns.ts';
import { COLOURS, gridRange, lineHeight, warnBeforeEdits } from '../api/formatting.ts';
import type { STATUSES } from '../../../mirror/types.ts';
import { type ColumnKey, createMetadata, METADATA_KEYS } from '../api/metadata.ts';

type Request = sheets_v4.Schema$Request;
type Colour = sheets_v4.Schema$ColorStyle;

/** Empty columns to the right of ours, for people. */
const SPARE_COLUMNS = 4;
/** Empty rows below a tab's last one. There is always one: an insert cannot go past the grid's end. */
const SPARE_ROWS = 20;

export interface NewTab {
  readonly sheetId: number;
  readonly title: string;
  /** The value of the metadata that binds the tab to its form. */
  readonly formMark: string;
  /** Where among the tabs it is to stand; undefined: last. */
  readonly place: number | undefined;
  /** In order. */
  readonly columns: readonly NewColumn[];
}

/**
 * Requests that make a form's tab: header frozen, bold, with a filter and guarded by a warning, rows of one height, dates
 * shown as dates, sensible widths, statuses in colours, rows of withdrawn submissions in grey. All this once: from then on
 * the looks are people's to change.
 */
export function newTab(
  input: NewTab,
  marker: ColumnMarker,
): { requests: Request[]; columns: ReadonlyMap<ColumnKey, number> } {
  const { sheetId, title, columns, place } = input;
  const properties = { sheetId, title, ...(place !== undefined && { index: place }) };
  const gridProperties = {
    rowCount: 1 + SPARE_ROWS,
    columnCount: columns.length + SPARE_COLUMNS,
    frozenRowCount: 1,
  };
  const marks = columns.map(({ key }, index) => marker.place(key, index));
  const places = new Map(columns.map(({ key }, index) => [key, index]));
  const requests: Request[] = [
    { addSheet: { properties: { ...properties, gridProperties } } },
    ...formatColumns(sheetId, 0, columns, 0),
    lineHeight(sheetId, 1),
    filterAll(sheetId),
    warnBeforeEdits(
      { sheetId, startRow: 0, endRow: 1 },
      'Headers of forms-mirror. You may rename, move and hide columns; new answers find them all the same.',
    ),
    ...greyWhenRemoved(sheetId, columns.length, places.get('s:removed')),
    ...statusColours(sheetId, places.get('s:status')),
    createMetadata({ sheetId }, METADATA_KEYS.form, input.formMark),
    createMetadata({ sheetId, row: 0 }, METADATA_KEYS.header, '1'),
    ...marks.map((column) => marker.request(column)),
  ];
  return { requests, columns: places };
}

/**
 * A filter over the whole grid, people's columns included: what is sorted by it takes their notes along. New rows are
 * inserted above the spare ones, and so inside it.
 */
const filterAll = (sheetId: number): Request => ({
  setBasicFilter: { filter: { range: gridRange({ sheetId, startRow: 0 }) } },
});

/** A rule instead of a colour on each row: it goes along when rows are sorted, and ends when the mark does. */
function greyWhenRemoved(sheetId: number, width: number, removed: number | undefined): Request[] {
  if (removed === undefined) return [];
  return [
    {
      addConditionalFormatRule: {
        index: 0,
        rule: {
          // From the header on: rows inserted right below it belong to the range then.
          ranges: [gridRange({ sheetId, startRow: 0, startColumn: 0, endColumn: width })],
          booleanRule: {
            condition: {
              type: 'CUSTOM_FORMULA',
              values: [{ userEnteredValue: `=ISNUMBER($${columnName(removed)}1)` }],
            },
            format: { textFormat: { foregroundColorStyle: COLOURS.faint } },
          },
        },
      },
    },
  ];
}

/** What a status looks like, its ground and its text; one that is not named here looks like an answer. */
const STATUS_COLOURS: Readonly<Record<(typeof STATUSES)[number], readonly [Colour, Colour]>> = {
  NEW: [COLOURS.freshBack, COLOURS.freshText],
  IN_PROGRESS: [COLOURS.warnBack, COLOURS.warnText],
  DONE: [COLOURS.goodBack, COLOURS.goodText],
  PAID: [COLOURS.goodBack, COLOURS.goodText],
  REJECTED: [COLOURS.refusedBack, COLOURS.refusedText],
  ARCHIVED: [COLOURS.headerBack, COLOURS.headerText],
};

function statusColours(sheetId: number, column: number | undefined): Request[] {
  if (column === undefined) return [];
  const ranges = [gridRange({ sheetId, startRow: 0, startColumn: column, endColumn: column + 1 })];
  return Object.entries(STATUS_COLOURS).map(([status, [back, text]], nth) => ({
    addConditionalFormatRule: {
      // Behind the rule that greys a row.
      index: 1 + nth,
      rule: {
        ranges,
        booleanRule: {
          condition: { type: 'TEXT_EQ', values: [{ userEnteredValue: status }] },
          format: {
            backgroundColorStyle: back,
            textFormat: { foregroundColorStyle: text },
          },
        },
      },
    },
  }));
}
