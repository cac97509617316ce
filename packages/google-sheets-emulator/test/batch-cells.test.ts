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

describe('updateCells', () => {
  it('does not change notes and formats unless the mask names them; "*" clears them', async () => {
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
  ])('refuses invalid requests (%#), and applies nothing', async (updateCells, message) => {
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

  it('with an unsupported kind fails visibly instead of pretending', async () => {
    expect(await refusal(bench.batch({ addChart: {} }))).toMatchObject({ code: 501 });
  });
});
