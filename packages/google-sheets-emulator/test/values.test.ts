import { afterEach, describe, expect, it } from 'vitest';
import { Bench, refusal } from './support/client.ts';

let bench: Bench;
afterEach(() => bench.emulator.stop());

describe('values.update', () => {
  it('RAW keeps texts as they are and numbers as numbers (L10)', async () => {
    bench = await Bench.start();
    const row = ['=1+2', '+420 123', '00123', '12345678901234567', '1-2'];
    await bench.put('Sheet1!A1:E1', [row]);
    await bench.put('Sheet1!A2:C2', [[1.5, true, 'line\nbreak']]);
    expect(bench.grid()).toEqual([row, [1.5, true, 'line\nbreak']]);
    expect(bench.emulator.inspect.types(bench.id, 0)[0]).toEqual(Array(5).fill('string'));
  });

  it('USER_ENTERED parses what looks like something else: why it must never be used for answers', async () => {
    bench = await Bench.start({ clock: { now: () => Date.UTC(2026, 4, 1) } });
    await bench.put(
      'Sheet1!A1:E2',
      [
        ['=1+2', '00123', '1.10', '1-2', '12345678901234567'],
        ['12%', "'=1+2", 'TRUE', '2026-05-04 12:30', '5 apples'],
      ],
      'USER_ENTERED',
    );
    expect(bench.grid()).toEqual([
      ['=1+2', 123, 1.1, 46024, 12345678901234568],
      [0.12, '=1+2', true, 46146 + 12.5 / 24, '5 apples'],
    ]);
    expect(bench.emulator.inspect.formulas(bench.id, 0)).toEqual([
      { row: 0, column: 0, text: '=1+2' },
    ]);
    expect(bench.emulator.inspect.shown(bench.id, 0)).toEqual([
      ['3', '123', '1.1', '1/2/2026', '1.23457E+16'],
      ['12%', '=1+2', 'TRUE', '2026-05-04 12:30:00', '5 apples'],
    ]);
  });

  it('answers what it touched, nulls not counted', async () => {
    bench = await Bench.start();
    const { data } = await bench.api.spreadsheets.values.update({
      spreadsheetId: bench.id,
      range: 'Sheet1!B2:D3',
      valueInputOption: 'RAW',
      requestBody: { majorDimension: 'COLUMNS', values: [['x', 'y'], [null], [5]] },
    });
    expect(data).toEqual({
      spreadsheetId: bench.id,
      updatedRange: 'Sheet1!B2:D3',
      updatedRows: 2,
      updatedColumns: 2,
      updatedCells: 3,
    });
  });

  it.each([
    [
      'Sheet1!A1:B1',
      [['a'], ['b']],
      'Requested writing within range [Sheet1!A1:B1], but tried writing to row [2]',
    ],
    [
      'Sheet1!A1:B1',
      [['a', 'b', 'c']],
      'Requested writing within range [Sheet1!A1:B1], but tried writing to column [C]',
    ],
    ['Sheet1!F1', [['a']], 'Range (Sheet1!F1) exceeds grid limits. Max rows: 10, max columns: 5'],
    [
      'Sheet1!A1:A11',
      [['a']],
      'Range (Sheet1!A1:A11) exceeds grid limits. Max rows: 10, max columns: 5',
    ],
    [
      'Sheet1!A10',
      [['a'], ['b']],
      'Range (Sheet1!A10:A11) exceeds grid limits. Max rows: 10, max columns: 5',
    ],
    ['Gone!A1', [['a']], 'Unable to parse range: Gone!A1'],
    ['Sheet1!A1', [[{ formula: 1 }]], 'Invalid values[0][0]: struct_value { }'],
    [
      'Sheet1!A1',
      [['x'.repeat(50_001)]],
      'Your input contains more than the maximum of 50000 characters in a single cell.',
    ],
  ])('to %s of too much, or what no cell holds, is refused', async (range, values, message) => {
    bench = await Bench.start();
    const error = await refusal(bench.put(range, values));
    expect(error).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT', message });
    expect(bench.grid()).toEqual([]);
  });

  it('without valueInputOption is refused, and so is a body of another shape', async () => {
    bench = await Bench.start();
    const { values } = bench.api.spreadsheets;
    const base = { spreadsheetId: bench.id, range: 'Sheet1!A1' };
    const missing = await refusal(values.update({ ...base, requestBody: { values: [['a']] } }));
    expect(missing.message).toBe("'valueInputOption' is required but not specified");
    const wrong = await refusal(
      values.update({
        ...base,
        valueInputOption: 'RAW',
        requestBody: { values: 'X' as unknown as string[][] },
      }),
    );
    expect(wrong).toMatchObject({
      message: `Invalid value at 'data.values' (type.googleapis.com/google.protobuf.ListValue), "X"`,
      details: [{ fieldViolations: [{ field: 'data.values' }] }],
    });
  });
});

describe('values.get', () => {
  it('trims empty rows and cells at the end, keeps gaps, and shows the size of the grid by its range', async () => {
    bench = await Bench.start();
    await bench.put('Sheet1!A1:D4', [['a'], [], ['', 'b'], ['', '', '']]);
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
