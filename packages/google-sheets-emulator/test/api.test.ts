import { afterEach, describe, expect, it } from 'vitest';
import { Bench, refusal } from './support/client.ts';

let bench: Bench;
afterEach(() => bench.emulator.stop());

describe('the Google Sheets emulator, through googleapis', () => {
  it('keeps what a batch writes, typed, and shows it in the same call', async () => {
    bench = await Bench.start();
    const { data } = await bench.api.spreadsheets.batchUpdate({
      spreadsheetId: bench.id,
      fields:
        'replies,updatedSpreadsheet.sheets(properties.sheetId,data.rowData.values.effectiveValue)',
      requestBody: {
        requests: [
          {
            updateCells: {
              start: { sheetId: 0, rowIndex: 0, columnIndex: 0 },
              fields: 'userEnteredValue',
              rows: [
                {
                  values: [
                    { userEnteredValue: { stringValue: '=1+2' } },
                    { userEnteredValue: { numberValue: 5 } },
                  ],
                },
              ],
            },
          },
        ],
        includeSpreadsheetInResponse: true,
        responseRanges: ['Sheet1!A:A'],
      },
    });
    expect(data).toEqual({
      replies: [{}],
      updatedSpreadsheet: {
        sheets: [
          {
            properties: { sheetId: 0 },
            data: [{ rowData: [{ values: [{ effectiveValue: { stringValue: '=1+2' } }] }] }],
          },
        ],
      },
    });
    expect(bench.grid()).toEqual([['=1+2', 5]]);
    expect(bench.emulator.inspect.formulas(bench.id, 0)).toEqual([]);
  });

  it('applies nothing of a batch with one invalid request, and names that request', async () => {
    bench = await Bench.start();
    const error = await refusal(
      bench.batch(
        { appendDimension: { sheetId: 0, dimension: 'ROWS', length: 5 } },
        { deleteSheet: { sheetId: 7 } },
      ),
    );
    expect(error).toMatchObject({
      code: 400,
      status: 'INVALID_ARGUMENT',
      message: 'Invalid requests[1].deleteSheet: No sheet with id: 7',
    });
    expect(bench.emulator.inspect.tabs(bench.id)[0]?.rows).toBe(10);
    expect(bench.emulator.inspect.revision(bench.id)).toBe(0);
  });
});
