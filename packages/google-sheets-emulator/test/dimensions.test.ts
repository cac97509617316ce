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
