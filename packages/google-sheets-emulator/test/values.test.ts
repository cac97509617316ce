import { afterEach, expect, it } from 'vitest';
import { Bench } from './support/client.ts';

let bench: Bench;
afterEach(() => bench.emulator.stop());

it('values are read as they are, without empty rows and cells at the end, and gaps are kept', async () => {
  bench = await Bench.start();
  bench.put('A1', [['a'], [], [null, 'b', 46146.5], [true]]);
  const person = bench.emulator.people.at(bench.id, 0);
  person.type(3, 1, '=C3+1');
  person.type(3, 2, '=1/0');
  const read = async (majorDimension: string, columns = {}) => {
    const requestBody = {
      valueRenderOption: 'UNFORMATTED_VALUE',
      dataFilters: [{ gridRange: { sheetId: 0, ...columns } }],
      majorDimension,
    };
    const { data } = await bench.api.spreadsheets.values.batchGetByDataFilter({
      spreadsheetId: bench.id,
      requestBody,
    });
    return data.valueRanges?.[0]?.valueRange;
  };
  expect(await read('ROWS')).toEqual({
    range: 'Sheet1!A1:E10',
    majorDimension: 'ROWS',
    values: [['a'], [], ['', 'b', 46146.5], [true, 46147.5, '#DIV/0!']],
  });
  expect(await read('COLUMNS')).toMatchObject({
    values: [
      ['a', '', '', true],
      ['', '', 'b', 46147.5],
      ['', '', 46146.5, '#DIV/0!'],
    ],
  });
  expect(await read('ROWS', { startColumnIndex: 3 })).toEqual({
    range: 'Sheet1!D1:E10',
    majorDimension: 'ROWS',
  });
});
