import { afterEach, describe, expect, it } from 'vitest';
import { Bench } from './support/client.ts';

let bench: Bench;
afterEach(() => bench.emulator.stop());

describe('values.get', () => {
  it('trims empty rows and cells at the end, keeps gaps, and shows the size of the grid by its range', async () => {
    bench = await Bench.start();
    bench.put('A1', [['a'], [], ['', 'b'], ['', '', '']]);
    expect(await bench.get('Sheet1!A:D')).toEqual({
      range: 'Sheet1!A1:D10',
      majorDimension: 'ROWS',
      values: [['a'], [], ['', 'b']],
    });
    expect(await bench.get('Sheet1!A:D', { majorDimension: 'COLUMNS' })).toMatchObject({
      majorDimension: 'COLUMNS',
      values: [['a'], ['', '', 'b']],
    });
    expect(await bench.get('Sheet1!C1:D2')).toEqual({
      range: 'Sheet1!C1:D2',
      majorDimension: 'ROWS',
    });
    expect(await bench.get('Sheet1')).toMatchObject({ range: 'Sheet1!A1:E10' });
    expect(await bench.get('Sheet1!A1:ZZ5000')).toMatchObject({ range: 'Sheet1!A1:E10' });
  });

  it('shows values formatted, plain, or as formulas; dates as serial numbers or texts', async () => {
    bench = await Bench.start();
    await bench.batch({
      updateCells: {
        start: { sheetId: 0, rowIndex: 0, columnIndex: 0 },
        fields: 'userEnteredValue,userEnteredFormat.numberFormat',
        rows: [
          {
            values: [
              {
                userEnteredValue: { numberValue: 46146.5 },
                userEnteredFormat: {
                  numberFormat: { type: 'DATE_TIME', pattern: 'd.m.yyyy h:mm' },
                },
              },
              { userEnteredValue: { formulaValue: '=A1+1' } },
              { userEnteredValue: { boolValue: true } },
              { userEnteredValue: { formulaValue: '=1/0' } },
            ],
          },
        ],
      },
    });
    const shown = async (options: Record<string, string>) =>
      (await bench.get('A1:D1', options)).values;
    expect(await shown({})).toEqual([['4.5.2026 12:00', '46147.5', 'TRUE', '#DIV/0!']]);
    expect(await shown({ valueRenderOption: 'UNFORMATTED_VALUE' })).toEqual([
      [46146.5, 46147.5, true, '#DIV/0!'],
    ]);
    expect(
      await shown({
        valueRenderOption: 'UNFORMATTED_VALUE',
        dateTimeRenderOption: 'FORMATTED_STRING',
      }),
    ).toEqual([['4.5.2026 12:00', 46147.5, true, '#DIV/0!']]);
    expect(await shown({ valueRenderOption: 'FORMULA' })).toEqual([
      [46146.5, '=A1+1', true, '=1/0'],
    ]);
  });
});
