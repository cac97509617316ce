import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench, refusal } from './support/client.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.start();
});
afterEach(() => bench.emulator.stop());

const span = (dimension: 'ROWS' | 'COLUMNS', startIndex: number, endIndex: number) => ({
  sheetId: 0,
  dimension,
  startIndex,
  endIndex,
});

const insert = (
  dimension: 'ROWS' | 'COLUMNS',
  start: number,
  end: number,
  inheritFromBefore = false,
): sheets_v4.Schema$Request => ({
  insertDimension: { range: span(dimension, start, end), inheritFromBefore },
});

const remove = (dimension: 'ROWS' | 'COLUMNS', start: number, end: number) => ({
  deleteDimension: { range: span(dimension, start, end) },
});

const move = (dimension: 'ROWS' | 'COLUMNS', start: number, end: number, to: number) => ({
  moveDimension: { source: span(dimension, start, end), destinationIndex: to },
});

describe('insertDimension', () => {
  it.each([
    [insert('ROWS', 11, 12, true), 'range.startIndex is larger than current grid size (10)'],
    [
      insert('ROWS', 10, 11),
      'range.startIndex must be less than the grid size (10) if inheritFromBefore is false.',
    ],
    [insert('ROWS', 0, 1, true), 'inheritFromBefore cannot be true when inserting at index 0.'],
  ])('is refused if Google refuses it (%#)', async (request, message) => {
    expect((await refusal(bench.batch(request))).message).toBe(
      `Invalid requests[0].insertDimension: ${message}`,
    );
  });
});

describe('deleteDimension', () => {
  it.each([
    [remove('ROWS', 0, 10), "You can't delete all the rows on the sheet."],
    [remove('COLUMNS', 0, 5), "You can't delete all the columns on the sheet."],
    [
      remove('ROWS', 10, 11),
      "Cannot delete a row that doesn't exist. Tried to delete row index 10 but there are only 10 rows.",
    ],
  ])(
    'is refused if nothing would be left, or if there is nothing (%#)',
    async (request, message) => {
      expect((await refusal(bench.batch(request))).message).toBe(
        `Invalid requests[0].deleteDimension: ${message}`,
      );
    },
  );

  it('keeps at least one row that is not frozen, and reduces the number of frozen rows', async () => {
    bench.emulator.people.at(bench.id, 0).freezeRows(2);
    expect((await refusal(bench.batch(remove('ROWS', 2, 10)))).message).toContain(
      'Sorry, it is not possible to delete all non-frozen rows.',
    );
    await bench.batch(remove('ROWS', 0, 1));
    const { data } = await bench.api.spreadsheets.get({
      spreadsheetId: bench.id,
      fields: 'sheets.properties.gridProperties',
    });
    expect(data.sheets?.[0]?.properties?.gridProperties).toEqual({
      rowCount: 9,
      columnCount: 5,
      frozenRowCount: 1,
    });
  });
});

describe('moveDimension', () => {
  it.each([
    [0, 2, 4, 'cdabe'],
    [3, 5, 1, 'adebc'],
    [1, 2, 2, 'abcde'],
  ])('puts rows and columns %i to %i before %i: %s', async (start, end, to, moved) => {
    const letters = 'a b c d e'.split(' ');
    for (const [dimension, cells] of [
      ['ROWS', letters.map((letter) => [letter])],
      ['COLUMNS', [letters]],
    ] as const) {
      bench.put(
        'A1',
        [[], [], [], [], []].map(() => ['', '', '', '', '']),
      );
      bench.put('A1', cells);
      await bench.batch(move(dimension, start, end, to));
      expect(bench.grid().flat().join('')).toBe(moved);
    }
  });
});

describe('objects that refer to rows and columns', () => {
  it('follow them: metadata, protected ranges, conditional formats, filters, formulas', async () => {
    bench.put('C1', [['key']]);
    const column = { startColumnIndex: 2, endColumnIndex: 3 };
    const location = { dimensionRange: { dimension: 'COLUMNS', startIndex: 2, endIndex: 3 } };
    await bench.batch(
      {
        createDeveloperMetadata: {
          developerMetadata: { metadataId: 1, metadataKey: 'k', visibility: 'DOCUMENT', location },
        },
      },
      { addProtectedRange: { protectedRange: { range: column, warningOnly: true } } },
      {
        addConditionalFormatRule: {
          rule: {
            ranges: [column],
            booleanRule: {
              condition: {
                type: 'CUSTOM_FORMULA',
                values: [{ userEnteredValue: '=ISNUMBER($C1)' }],
              },
              format: { textFormat: { bold: true } },
            },
          },
        },
      },
      {
        setBasicFilter: { filter: { range: {}, criteria: { '2': { hiddenValues: ['x'] } } } },
      },
      {
        updateCells: {
          start: { rowIndex: 0, columnIndex: 0 },
          fields: 'userEnteredValue',
          rows: [{ values: [{ userEnteredValue: { formulaValue: '=$C1&C:C&B1:D1' } }] }],
        },
      },
    );
    await bench.batch(insert('COLUMNS', 1, 2), move('COLUMNS', 3, 4, 6), insert('ROWS', 0, 1));
    const { data } = await bench.api.spreadsheets.get({
      spreadsheetId: bench.id,
      fields: 'sheets(data.columnMetadata,protectedRanges,conditionalFormats,basicFilter)',
    });
    const sheet = data.sheets?.[0];
    const moved = { startColumnIndex: 5, endColumnIndex: 6 };
    expect(sheet?.data?.[0]?.columnMetadata?.[5]?.developerMetadata).toMatchObject([
      { metadataId: 1, location: { dimensionRange: { startIndex: 5, endIndex: 6 } } },
    ]);
    expect(sheet?.protectedRanges?.[0]?.range).toEqual(moved);
    expect(sheet?.conditionalFormats?.[0]?.ranges).toEqual([moved]);
    const { condition } = sheet?.conditionalFormats?.[0]?.booleanRule ?? {};
    expect(condition?.values).toEqual([{ userEnteredValue: '=ISNUMBER($F2)' }]);
    expect(Object.keys(sheet?.basicFilter?.criteria ?? {})).toEqual(['5']);
    expect(bench.grid()[1]?.[0]).toBe('=$F2&F:F&C2:D2');
    await bench.batch(remove('COLUMNS', 5, 6));
    expect(bench.emulator.inspect.metadata(bench.id)).toEqual([]);
    expect(bench.grid()[1]?.[0]).toBe('=#REF!&#REF!&C2:D2');
  });
});
