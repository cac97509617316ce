import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench, refusal } from './support/client.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.start();
});
afterEach(() => bench.emulator.stop());

const text = (value: string): sheets_v4.Schema$CellData => ({
  userEnteredValue: { stringValue: value },
});
const at = (rowIndex: number, columnIndex: number): sheets_v4.Schema$GridCoordinate => ({
  sheetId: 0,
  rowIndex,
  columnIndex,
});
const range = (
  startRowIndex: number,
  endRowIndex: number,
  startColumnIndex: number,
  endColumnIndex: number,
): sheets_v4.Schema$GridRange => ({
  sheetId: 0,
  startRowIndex,
  endRowIndex,
  startColumnIndex,
  endColumnIndex,
});

describe('updateCells', () => {
  it('with a start writes only the cells it brings: rows may differ in length', async () => {
    bench.put('A1', [
      ['a', 'b', 'c'],
      ['d', 'e', 'f'],
    ]);
    await bench.batch({
      updateCells: {
        start: at(0, 0),
        fields: 'userEnteredValue',
        rows: [{ values: [text('A')] }, {}, { values: [{}, text('H')] }],
      },
    });
    expect(bench.grid()).toEqual([
      ['A', 'b', 'c'],
      ['d', 'e', 'f'],
      [null, 'H'],
    ]);
  });

  it('leaves notes and formats alone unless the mask names them; "*" wipes them', async () => {
    const person = bench.emulator.people.at(bench.id, 0);
    person.note(0, 0, 'mine');
    person.format({ top: 0, bottom: 1, left: 0, right: 1 }, { textFormat: { bold: true } });
    const write = (fields: string) =>
      bench.batch({
        updateCells: { start: at(0, 0), fields, rows: [{ values: [text('x')] }] },
      });
    const read = () => bench.emulator.inspect.cell(bench.id, 0, 0, 0);
    await write('userEnteredValue');
    expect(read()).toEqual({ value: 'x', note: 'mine', format: { textFormat: { bold: true } } });
    await write('*');
    expect(read()).toEqual({ value: 'x', note: undefined, format: {} });
  });

  it.each([
    [
      { start: at(10, 0), fields: 'userEnteredValue', rows: [{ values: [text('x')] }] },
      'GridCoordinate.rowIndex[10] is after last row in grid[9]',
    ],
    [
      { start: at(0, 5), fields: 'userEnteredValue', rows: [{ values: [text('x')] }] },
      'GridCoordinate.columnIndex[5] is after last column in grid[4]',
    ],
    [
      { start: at(9, 0), fields: 'userEnteredValue', rows: [{}, {}] },
      'Attempting to write row: 10, beyond the last requested row of: 9',
    ],
    [
      { start: at(0, 4), fields: 'userEnteredValue', rows: [{ values: [text('x'), text('y')] }] },
      'Attempting to write column: 5, beyond the last requested column of: 4',
    ],
    [
      { start: at(0, 0), fields: '', rows: [] },
      "At least one field must be listed in 'fields'. (Use '*' to indicate all fields.)",
    ],
    [
      { start: { sheetId: 9, rowIndex: 0, columnIndex: 0 }, fields: '*', rows: [] },
      'No grid with id: 9',
    ],
    [
      {
        start: at(0, 0),
        fields: 'userEnteredValue',
        rows: [{ values: [text('x'.repeat(50_001))] }],
      },
      'Your input contains more than the maximum of 50000 characters in a single cell.',
    ],
  ])('refuses what does not fit (%#), and applies nothing', async (updateCells, message) => {
    const error = await refusal(
      bench.batch(
        { updateCells: { start: at(0, 0), fields: '*', rows: [{ values: [text('first')] }] } },
        { updateCells },
      ),
    );
    expect(error).toMatchObject({
      code: 400,
      status: 'INVALID_ARGUMENT',
      message: `Invalid requests[1].updateCells: ${message}`,
    });
    expect(bench.grid()).toEqual([]);
  });
});

describe('a batch', () => {
  it('without requests, with an unknown kind or two kinds in one request is refused', async () => {
    expect((await refusal(bench.batch())).message).toBe('Must specify at least one request.');
    const unknown = { updateCellz: {} } as sheets_v4.Schema$Request;
    expect(await refusal(bench.batch({}, unknown))).toMatchObject({
      code: 400,
      status: 'INVALID_ARGUMENT',
      message: `Invalid JSON payload received. Cannot find field at 'requests[1].updateCellz'.`,
    });
    const inherited = { constructor: {} } as sheets_v4.Schema$Request;
    expect((await refusal(bench.batch(inherited))).message).toContain('requests[0].constructor');
    const typo = { appendDimension: { sheetId: 0, dimension: 'ROWS', count: 3 } };
    expect((await refusal(bench.batch(typo as sheets_v4.Schema$Request))).message).toBe(
      `Invalid JSON payload received. Cannot find field at 'requests[0].appendDimension.count'.`,
    );
    const wrongType = { appendDimension: { sheetId: 'zero' as unknown as number } };
    expect((await refusal(bench.batch(wrongType))).message).toBe(
      `Invalid JSON payload received. Invalid value "zero" at 'requests[0].appendDimension.sheetId'.`,
    );
    const both = { deleteSheet: { sheetId: 0 }, clearBasicFilter: { sheetId: 0 } };
    expect((await refusal(bench.batch(both))).message).toContain('oneof');
  });

  it('with a kind that the emulator does not do fails loudly instead of pretending', async () => {
    expect(await refusal(bench.batch({ addChart: {} }))).toMatchObject({ code: 501 });
  });

  it('rolls tabs, sizes, metadata, filters and formats back together with the cells', async () => {
    bench.put('A1', [
      ['h', 'i'],
      ['b', 1],
      ['a', 2],
    ]);
    const before = {
      tabs: bench.emulator.inspect.tabs(bench.id),
      grid: bench.grid(),
      file: (await bench.api.spreadsheets.get({ spreadsheetId: bench.id })).data,
      cell: bench.emulator.inspect.cell(bench.id, 0, 0, 0),
    };
    const location = { dimensionRange: { dimension: 'COLUMNS', startIndex: 1, endIndex: 2 } };
    await refusal(
      bench.batch(
        { sortRange: { range: range(1, 3, 0, 2), sortSpecs: [{ dimensionIndex: 0 }] } },
        { insertDimension: { range: { dimension: 'COLUMNS', startIndex: 0, endIndex: 1 } } },
        { deleteDimension: { range: { dimension: 'ROWS', startIndex: 0, endIndex: 1 } } },
        {
          createDeveloperMetadata: {
            developerMetadata: { metadataKey: 'k', visibility: 'DOCUMENT', location },
          },
        },
        { setBasicFilter: { filter: { range: { sheetId: 0 } } } },
        { addSheet: { properties: { title: 'x' } } },
        { updateSheetProperties: { properties: { sheetId: 0, title: 'y' }, fields: 'title' } },
        {
          repeatCell: {
            range: range(0, 2, 0, 2),
            cell: { userEnteredFormat: { textFormat: { bold: true } } },
            fields: 'userEnteredFormat',
          },
        },
        { deleteSheet: { sheetId: 12345 } },
      ),
    );
    expect(bench.emulator.inspect.tabs(bench.id)).toEqual(before.tabs);
    expect(bench.grid()).toEqual(before.grid);
    expect(bench.emulator.inspect.metadata(bench.id)).toEqual([]);
    const after = await bench.api.spreadsheets.get({ spreadsheetId: bench.id });
    expect(after.data).toEqual(before.file);
    expect(bench.emulator.inspect.cell(bench.id, 0, 0, 0)).toEqual(before.cell);
  });
});

describe('limits of a spreadsheet', () => {
  it('ten million cells over all tabs, empty ones included', async () => {
    const grow = (length: number) =>
      bench.batch({ appendDimension: { sheetId: 0, dimension: 'ROWS', length } });
    await grow(1_999_990);
    expect((await refusal(grow(1))).message).toBe(
      'Invalid requests[0].appendDimension: This action would increase the number of cells in the workbook above the limit of 10000000 cells.',
    );
    const second = await refusal(bench.batch({ addSheet: { properties: { title: 'b' } } }));
    expect(second.message).toContain('above the limit of 10000000 cells');
  });
});
