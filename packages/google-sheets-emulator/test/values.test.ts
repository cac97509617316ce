import { afterEach, expect, it } from 'vitest';
import { Bench } from './support/client.ts';

let bench: Bench;
afterEach(() => bench.emulator.stop());

it('values are read without trailing empty rows and cells, and gaps are kept', async () => {
  bench = await Bench.start();
  bench.put('A1', [['a'], [], [null, 'b', 46146.5], [true]]);
  const read = async (columns = {}) => {
    const { data } = await bench.api.spreadsheets.values.batchGetByDataFilter({
      spreadsheetId: bench.id,
      requestBody: {
        valueRenderOption: 'UNFORMATTED_VALUE',
        dataFilters: [{ gridRange: { sheetId: 0, ...columns } }],
      },
    });
    return data.valueRanges?.[0]?.valueRange;
  };
  const majorDimension = 'ROWS';
  const values = [['a'], [], ['', 'b', 46146.5], [true]];
  expect(await read()).toEqual({ range: 'Sheet1!A1:E10', majorDimension, values });
  const blank = { range: 'Sheet1!D1:E10', majorDimension };
  expect(await read({ startColumnIndex: 3 })).toEqual(blank);
});
