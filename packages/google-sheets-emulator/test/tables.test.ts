import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench, refusal } from './support/client.ts';
import { COLOURS, columns, range, rows } from './support/ranges.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.start();
  await bench.put('Sheet1!A1', [
    ['Name', 'City', 'Age'],
    ['Ada', 'Praha', 36],
    ['Bob', 'Brno', 41],
  ]);
});
afterEach(() => bench.emulator.stop());

const LIST = (...choices: string[]): sheets_v4.Schema$TableColumnDataValidationRule => ({
  condition: {
    type: 'ONE_OF_LIST',
    values: choices.map((userEnteredValue) => ({ userEnteredValue })),
  },
});

const add = (table: sheets_v4.Schema$Table = {}): sheets_v4.Schema$Request => ({
  addTable: { table: { tableId: 't', name: 'People', range: range(0, 3, 0, 3), ...table } },
});

const update = (table: sheets_v4.Schema$Table, fields: string): sheets_v4.Schema$Request => ({
  updateTable: { table: { tableId: 't', ...table }, fields },
});

async function sheet(): Promise<sheets_v4.Schema$Sheet> {
  const { data } = await bench.api.spreadsheets.get({ spreadsheetId: bench.id });
  return data.sheets?.[0] ?? {};
}
const table = async (): Promise<sheets_v4.Schema$Table | undefined> => (await sheet()).tables?.[0];
const names = async () => (await table())?.columnProperties?.map(({ columnName }) => columnName);
const bounds = async () => {
  const found = (await table())?.range;
  return [found?.startRowIndex, found?.endRowIndex, found?.startColumnIndex, found?.endColumnIndex];
};
const cells = (...values: (string | number)[]): sheets_v4.Schema$RowData => ({
  values: values.map((value) => ({
    userEnteredValue: typeof value === 'number' ? { numberValue: value } : { stringValue: value },
  })),
});
const append = (
  request: sheets_v4.Schema$AppendCellsRequest,
  ...data: sheets_v4.Schema$RowData[]
): sheets_v4.Schema$Request => ({
  appendCells: { ...request, rows: data, fields: 'userEnteredValue' },
});
const insert = (at: sheets_v4.Schema$DimensionRange): sheets_v4.Schema$Request => ({
  insertDimension: { range: at, inheritFromBefore: true },
});
describe('a table', () => {
  it('is answered with every column, named by its header unless the request names it', async () => {
    const [reply] = await bench.batch(
      add({
        columnProperties: [
          { columnIndex: 1, columnType: 'DROPDOWN', dataValidationRule: LIST('Praha') },
          { columnIndex: 2, columnName: 'Years', columnType: 'DOUBLE' },
        ],
      }),
    );
    const columnProperties = [
      { columnName: 'Name' },
      {
        columnIndex: 1,
        columnName: 'Column 2',
        columnType: 'DROPDOWN',
        dataValidationRule: LIST('Praha'),
      },
      { columnIndex: 2, columnName: 'Years', columnType: 'DOUBLE' },
    ];
    expect(reply?.addTable?.table).toMatchObject({
      tableId: 't',
      name: 'People',
      columnProperties,
    });
    expect(await table()).toEqual(reply?.addTable?.table);
    expect((await sheet()).properties?.gridProperties?.frozenRowCount).toBe(1);
    expect(bench.grid()[0]).toEqual(['Name', 'Column 2', 'Years']);
  });

  it('gets an ID and a name when it has none, and shows its colours as a banded range', async () => {
    const [reply] = await bench.batch({ addTable: { table: { range: range(0, 3, 0, 3) } } });
    expect(reply?.addTable?.table).toMatchObject({ tableId: expect.any(String), name: 'Table1' });
    const { bandedRanges } = await sheet();
    expect(bandedRanges).toEqual([
      expect.objectContaining({
        bandedRangeReference: reply?.addTable?.table?.tableId,
        range: range(0, 3, 0, 3),
      }),
    ]);
    const { data } = await bench.api.spreadsheets.get({
      spreadsheetId: bench.id,
      excludeTablesInBandedRanges: true,
    });
    expect(data.sheets?.[0]?.bandedRanges).toBeUndefined();
  });

  it.each<[string, sheets_v4.Schema$Table, RegExp]>([
    ['another table', { tableId: 'u', name: 'Other' }, /overlaps an existing table/],
    ['its name', { tableId: 'u', range: range(5, 7, 0, 2) }, /name "People" already exists/],
    ['its ID', { name: 'Other', range: range(5, 7, 0, 2) }, /ID t already exists/],
    [
      'a dropdown without choices',
      {
        tableId: 'u',
        name: 'Other',
        range: range(5, 7, 0, 2),
        columnProperties: [{ columnType: 'DROPDOWN' }],
      },
      /Condition must be set for dropdown column type\./,
    ],
    [
      'choices for numbers',
      {
        tableId: 'u',
        name: 'Other',
        range: range(5, 7, 0, 2),
        columnProperties: [{ columnType: 'DOUBLE', dataValidationRule: LIST('1') }],
      },
      /Cannot set condition for non-dropdown column type\./,
    ],
  ])('is refused beside %s', async (_, second, message) => {
    await bench.batch(add());
    const { code, message: text } = await refusal(bench.batch(add(second)));
    expect([code, text]).toEqual([400, expect.stringMatching(message)]);
  });

  it('is refused over merged cells, a filter and alternating colours, and keeps merges out', async () => {
    const area = range(0, 3, 0, 3);
    const merge = { mergeCells: { range: range(1, 3, 0, 1), mergeType: 'MERGE_ALL' } };
    await bench.batch(merge);
    expect((await refusal(bench.batch(add()))).message).toMatch(/merged cells/);
    await bench.batch(
      { unmergeCells: { range: area } },
      { setBasicFilter: { filter: { range: area } } },
    );
    expect((await refusal(bench.batch(add()))).message).toMatch(/filter/);
    await bench.batch(
      { clearBasicFilter: { sheetId: 0 } },
      { addBanding: { bandedRange: { range: area, rowProperties: COLOURS, bandedRangeId: 7 } } },
    );
    expect((await refusal(bench.batch(add()))).message).toMatch(/alternating background colors/);
    await bench.batch({ deleteBanding: { bandedRangeId: 7 } }, add());
    expect((await refusal(bench.batch(merge))).message).toMatch(/merge cells of a table/);
  });

  it('has the texts of its header for names: what is written there renames a column', async () => {
    await bench.batch(add());
    await bench.put('Sheet1!A1:C1', [['Who', '', '=1+1']], 'USER_ENTERED');
    expect(await names()).toEqual(['Who', 'Column 2', 'Column 3']);
    expect(bench.grid()[0]).toEqual(['Who', 'Column 2', 'Column 3']);
    await bench.put('Sheet1!B1:C1', [['who', 'Who']]);
    expect(await names()).toEqual(['Who', 'who 2', 'Who 3']);
  });

  it('takes a list of columns as a whole: one left out loses its type, one without a name is refused', async () => {
    await bench.batch(add({ columnProperties: [{ columnName: 'Name', columnType: 'TEXT' }] }));
    await bench.batch(
      update(
        { columnProperties: [{ columnIndex: 2, columnName: 'Years', columnType: 'DOUBLE' }] },
        'columnProperties',
      ),
    );
    expect((await table())?.columnProperties).toEqual([
      { columnName: 'Name' },
      { columnIndex: 1, columnName: 'City' },
      { columnIndex: 2, columnName: 'Years', columnType: 'DOUBLE' },
    ]);
    expect(bench.grid()[0]?.[2]).toBe('Years');
    const nameless = update({ columnProperties: [{ columnType: 'TEXT' }] }, 'columnProperties');
    expect((await refusal(bench.batch(nameless))).message).toBe(
      'Invalid requests[0].updateTable: Table header row cell must have a value.',
    );
  });

  it('follows rows and columns that come, go and move, with the types of its columns', async () => {
    await bench.batch(
      add({ columnProperties: [{ columnIndex: 2, columnName: 'Age', columnType: 'DOUBLE' }] }),
    );
    await bench.batch(insert(rows(1, 3)));
    expect(await bounds()).toEqual([0, 5, 0, 3]);
    await bench.batch({ deleteDimension: { range: rows(1, 2) } }, insert(columns(1, 2)));
    expect(await bounds()).toEqual([0, 4, 0, 4]);
    expect(await names()).toEqual(['Name', 'Column 2', 'City', 'Age']);
    await bench.batch({ moveDimension: { source: columns(3, 4), destinationIndex: 0 } });
    expect(await bounds()).toEqual([0, 4, 1, 4]);
    await bench.batch({ moveDimension: { source: columns(3, 4), destinationIndex: 2 } });
    expect(
      (await table())?.columnProperties?.map(({ columnName, columnType }) => [
        columnName,
        columnType,
      ]),
    ).toEqual([
      ['Name', undefined],
      ['City', undefined],
      ['Column 2', undefined],
    ]);
  });

  it('keeps its types with their columns when these are moved within it', async () => {
    await bench.batch(
      add({ columnProperties: [{ columnIndex: 2, columnName: 'Age', columnType: 'DOUBLE' }] }),
    );
    await bench.batch({ moveDimension: { source: columns(2, 3), destinationIndex: 1 } });
    expect(await bounds()).toEqual([0, 3, 0, 3]);
    expect((await table())?.columnProperties?.[1]).toEqual({
      columnIndex: 1,
      columnName: 'Age',
      columnType: 'DOUBLE',
    });
  });

  it('keeps its extent when its last row is moved up within it', async () => {
    await bench.batch(add(), insert(rows(2, 4)));
    await bench.batch({ moveDimension: { source: rows(4, 5), destinationIndex: 2 } });
    expect(await bounds()).toEqual([0, 5, 0, 3]);
    expect(bench.grid()[2]).toEqual(['Bob', 'Brno', 41]);
  });

  it('does not take in what is written or inserted below it', async () => {
    await bench.batch(add(), insert(rows(3, 4)));
    await bench.put('Sheet1!A4', [['Cyd', 'Zlín', 20]]);
    expect(await bounds()).toEqual([0, 3, 0, 3]);
  });

  it('takes in what values.append and appendCells add below it', async () => {
    await bench.batch(add());
    await bench.api.spreadsheets.values.append({
      spreadsheetId: bench.id,
      range: 'Sheet1!A1',
      valueInputOption: 'RAW',
      requestBody: { values: [['Cyd', 'Zlín', 20]] },
    });
    expect(await bounds()).toEqual([0, 4, 0, 3]);
    await bench.batch(append({ sheetId: 0 }, cells('Dan', 'Tábor', 30)));
    expect(await bounds()).toEqual([0, 5, 0, 3]);
  });

  it('takes appendCells with its ID into its body: blank rows first, then above what stands below', async () => {
    await bench.batch(add({ range: range(0, 4, 0, 3) }));
    await bench.put('Sheet1!A5', [['Total']]);
    await bench.batch(append({ tableId: 't' }, cells('Cyd'), cells('Dan', 'Tábor')));
    expect(await bounds()).toEqual([0, 5, 0, 3]);
    expect(bench.grid().map(([first]) => first)).toEqual([
      'Name',
      'Ada',
      'Bob',
      'Cyd',
      'Dan',
      'Total',
    ]);
    expect((await refusal(bench.batch(append({ tableId: 'x' }, cells('a'))))).code).toBe(400);
  });

  it('keeps its footer last', async () => {
    await bench.batch(add());
    const footer = { footerColorStyle: { rgbColor: { red: 1 } } };
    await bench.batch(update({ rowsProperties: footer }, 'rowsProperties.footerColorStyle'));
    expect(await bounds()).toEqual([0, 4, 0, 3]);
    await bench.put('Sheet1!A4', [['Sum']]);
    await bench.batch(append({ tableId: 't' }, cells('Cyd')));
    await bench.api.spreadsheets.values.append({
      spreadsheetId: bench.id,
      range: 'Sheet1!A1:C4',
      valueInputOption: 'RAW',
      requestBody: { values: [['Dan']] },
    });
    expect(bench.grid().map(([first]) => first)).toEqual([
      'Name',
      'Ada',
      'Bob',
      'Cyd',
      'Dan',
      'Sum',
    ]);
    expect(await bounds()).toEqual([0, 6, 0, 3]);
    await bench.batch(update({ rowsProperties: {} }, 'rowsProperties.footerColorStyle'));
    expect(await bounds()).toEqual([0, 5, 0, 3]);
  });

  it('fills checkboxes with FALSE, whatever text stood there, and takes any value from a program afterwards', async () => {
    await bench.batch(
      add({ columnProperties: [{ columnIndex: 1, columnName: 'City', columnType: 'BOOLEAN' }] }),
    );
    expect(bench.grid().map((row) => row[1])).toEqual(['City', false, false]);
    await bench.put('Sheet1!B2', [['Praha']]);
    await bench.batch(insert(rows(2, 3)));
    expect(bench.grid().map((row) => row[1])).toEqual(['City', 'Praha', false, false]);
  });

  it('grows and shrinks by its range, keeps the types of what stays, and goes without its cells', async () => {
    await bench.batch(
      add({ columnProperties: [{ columnIndex: 1, columnName: 'City', columnType: 'TEXT' }] }),
    );
    await bench.put('Sheet1!D1', [['Notes']]);
    await bench.batch(update({ range: range(0, 5, 1, 4), name: 'Folk' }, 'range,name'));
    expect(await table()).toMatchObject({
      name: 'Folk',
      range: range(0, 5, 1, 4),
      columnProperties: [
        { columnName: 'City', columnType: 'TEXT' },
        { columnIndex: 1, columnName: 'Age' },
        { columnIndex: 2, columnName: 'Notes' },
      ],
    });
    const before = bench.grid();
    await bench.batch({ deleteTable: { tableId: 't' } });
    expect(await table()).toBeUndefined();
    expect(bench.grid()).toEqual(before);
    expect((await refusal(bench.batch({ deleteTable: { tableId: 't' } }))).code).toBe(400);
  });

  it('is copied with its tab, under another ID and name', async () => {
    await bench.batch(add(), { duplicateSheet: { sourceSheetId: 0, newSheetId: 5 } });
    const { data } = await bench.api.spreadsheets.get({ spreadsheetId: bench.id });
    const all = data.sheets?.flatMap(({ tables }) => tables ?? []) ?? [];
    expect(new Set(all.map(({ tableId }) => tableId)).size).toBe(2);
    expect(new Set(all.map(({ name }) => name)).size).toBe(2);
    expect(new Set(all.map(({ range: at }) => at?.sheetId ?? 0))).toEqual(new Set([0, 5]));
  });

  it('is beyond the emulator where its header would be deleted, moved or sorted, and where it is filtered', async () => {
    await bench.batch(add());
    const specs = { sortSpecs: [{ dimensionIndex: 0 }] };
    for (const request of [
      { deleteDimension: { range: rows(0, 1) } },
      { moveDimension: { source: rows(0, 1), destinationIndex: 3 } },
      { sortRange: { range: range(0, 3, 0, 3), ...specs } },
      { setBasicFilter: { filter: { tableId: 't' } } },
    ]) {
      expect((await refusal(bench.batch(request))).code).toBe(501);
    }
    await bench.batch({
      sortRange: {
        range: range(1, 3, 0, 3),
        sortSpecs: [{ dimensionIndex: 2, sortOrder: 'DESCENDING' }],
      },
    });
    expect(bench.grid()[1]?.[0]).toBe('Bob');
  });

  it('shows its bands and marks what does not fit its types', async () => {
    await bench.batch(
      add({
        columnProperties: [
          {
            columnIndex: 1,
            columnName: 'City',
            columnType: 'DROPDOWN',
            dataValidationRule: LIST('Praha'),
          },
          { columnIndex: 2, columnName: 'Age', columnType: 'DOUBLE' },
        ],
      }),
    );
    await bench.put('Sheet1!C2', [['old']]);
    const html = await (await fetch(`${bench.emulator.url}view/${bench.id}`)).text();
    expect(
      html
        .match(/class="[^"]*misfit[^"]*"[^>]*><div[^>]*>[^<]*/g)
        ?.map((hit) => hit.replace(/.*>/, '')),
    ).toEqual(['old', 'Brno']);
    expect(html).toContain('background:rgb(53,104,84)');
    expect(html).toContain('background:rgb(246,248,249)');
  });
});
