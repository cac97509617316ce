import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { afterEach, describe, expect, it } from 'vitest';
import { checkShape } from '../src/request-shape.ts';
import { Bench } from './support/client.ts';

let bench: Bench | undefined;
afterEach(() => bench?.emulator.stop());

const RANGE = {
  sheetId: 0,
  startRowIndex: 0,
  endRowIndex: 2,
  startColumnIndex: 0,
  endColumnIndex: 2,
};
const LOOKUP = { developerMetadataLookup: { metadataId: 5 } };
const FIRST_COLUMN = { dimension: 'COLUMNS', startIndex: 0, endIndex: 1 };

const tag = (
  location: sheets_v4.Schema$DeveloperMetadataLocation,
  more: sheets_v4.Schema$DeveloperMetadata = {},
): sheets_v4.Schema$Request => ({
  createDeveloperMetadata: {
    developerMetadata: { ...more, metadataKey: 'k', visibility: 'DOCUMENT', location },
  },
});

const RULE: sheets_v4.Schema$ConditionalFormatRule = {
  ranges: [RANGE],
  booleanRule: { condition: { type: 'NOT_BLANK' }, format: { textFormat: { bold: true } } },
};

const RICH_CELL: sheets_v4.Schema$CellData = {
  userEnteredValue: { formulaValue: '=1/0' },
  note: 'n',
  userEnteredFormat: { numberFormat: { type: 'DATE' }, backgroundColor: { red: 1 } },
};

/** A spreadsheet with everything that the emulator supports. */
const ONE_OF_EACH: sheets_v4.Schema$Request[] = [
  tag({ dimensionRange: FIRST_COLUMN }, { metadataId: 5 }),
  tag({ sheetId: 0 }),
  tag({ spreadsheet: true }),
  { addProtectedRange: { protectedRange: { range: RANGE, warningOnly: true } } },
  { addConditionalFormatRule: { rule: RULE } },
  { setBasicFilter: { filter: { range: RANGE, criteria: { '0': { hiddenValues: ['a'] } } } } },
  { addFilterView: { filter: { title: 'v', range: RANGE } } },
  {
    mergeCells: {
      range: { ...RANGE, startRowIndex: 5, endRowIndex: 6 },
      mergeType: 'MERGE_ALL',
    },
  },
  {
    updateCells: {
      start: { rowIndex: 4, columnIndex: 0 },
      fields: '*',
      rows: [{ values: [RICH_CELL] }],
    },
  },
  {
    updateSheetProperties: {
      properties: { sheetId: 0, gridProperties: { frozenRowCount: 1 } },
      fields: 'gridProperties.frozenRowCount',
    },
  },
  {
    addTable: {
      table: {
        range: { ...RANGE, startRowIndex: 7, endRowIndex: 9 },
      },
    },
  },
  {
    addBanding: {
      bandedRange: {
        range: { ...RANGE, startRowIndex: 5, endRowIndex: 7 },
        rowProperties: { firstBandColor: { red: 1 }, secondBandColor: {} },
      },
    },
  },
];

/** Every method once, by the schema of its response, in an order in which each has a result. */
function calls({ api, id: spreadsheetId }: Bench): [string, () => Promise<{ data: unknown }>][] {
  const { spreadsheets } = api;
  const filtered = { dataFilters: [LOOKUP], valueRenderOption: 'UNFORMATTED_VALUE' };
  const requestBody = { requests: ONE_OF_EACH };
  const data = 'sheets.data(startRow,columnMetadata)';
  return [
    [
      'BatchUpdateSpreadsheetResponse',
      () => spreadsheets.batchUpdate({ spreadsheetId, requestBody }),
    ],
    ['Spreadsheet', () => spreadsheets.get({ spreadsheetId })],
    ['Spreadsheet', () => spreadsheets.get({ spreadsheetId, fields: data })],
    [
      'BatchGetValuesByDataFilterResponse',
      () => spreadsheets.values.batchGetByDataFilter({ spreadsheetId, requestBody: filtered }),
    ],
  ];
}

describe('the shapes of answers', () => {
  it('conform to Google’s schema, for any spreadsheet', async () => {
    bench = await Bench.start();
    for (const [schema, call] of calls(bench)) {
      const { data } = await call();
      expect(data).not.toEqual({});
      checkShape(schema, data);
    }
  });
});
