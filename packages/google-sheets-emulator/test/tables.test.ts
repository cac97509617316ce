import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench, refusal } from './support/client.ts';
import { COLOURS, range } from './support/ranges.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.start();
  await bench.put('Sheet1!A1', [
    ['Name', '', 'name'],
    ['Ada', 'Praha', 36],
    ['Bob', 'Brno', 41],
  ]);
});
afterEach(() => bench.emulator.stop());

const ADD: sheets_v4.Schema$Request = {
  addTable: { table: { tableId: 't', name: 'People', range: range(0, 3, 0, 3) } },
};
const insert = (dimension: string, startIndex: number): sheets_v4.Schema$Request => ({
  insertDimension: {
    range: { dimension, startIndex, endIndex: startIndex + 1 },
    inheritFromBefore: true,
  },
});

async function sheet(): Promise<sheets_v4.Schema$Sheet> {
  const { data } = await bench.api.spreadsheets.get({ spreadsheetId: bench.id });
  return data.sheets?.[0] ?? {};
}
const bounds = async () => {
  const found = (await sheet()).tables?.[0]?.range;
  return [found?.startRowIndex, found?.endRowIndex, found?.startColumnIndex, found?.endColumnIndex];
};

describe('a table', () => {
  it('names its columns by the header, each once, and is answered with its colors', async () => {
    const [reply] = await bench.batch(ADD);
    const table = reply?.addTable?.table;
    expect(table).toMatchObject({
      tableId: 't',
      name: 'People',
      columnProperties: [
        { columnName: 'Name' },
        { columnIndex: 1, columnName: 'Column 2' },
        { columnIndex: 2, columnName: 'name 2' },
      ],
    });
    const { tables, bandedRanges, properties } = await sheet();
    expect(tables).toEqual([table]);
    expect(bandedRanges).toMatchObject([{ bandedRangeReference: 't', range: table?.range }]);
    expect(properties?.gridProperties?.frozenRowCount).toBe(1);
    await bench.put('Sheet1!B1', [['']]);
    expect(bench.grid()[0]).toEqual(['Name', 'Column 2', 'name 2']);
  });

  it('follows rows and columns that come, go and move, and takes in no row below it', async () => {
    await bench.batch(ADD, insert('ROWS', 2), insert('COLUMNS', 1));
    expect(await bounds()).toEqual([0, 4, 0, 4]);
    await bench.batch(insert('ROWS', 4));
    expect(await bounds()).toEqual([0, 4, 0, 4]);
    const source = { dimension: 'ROWS', startIndex: 3, endIndex: 4 };
    await bench.batch({ moveDimension: { source, destinationIndex: 1 } });
    expect(await bounds()).toEqual([0, 4, 0, 4]);
  });

  it('is refused over merged cells, a filter, colors and another one, and keeps merges out', async () => {
    const area = range(0, 3, 0, 3);
    const merge = { mergeCells: { range: range(1, 3, 0, 1), mergeType: 'MERGE_ALL' } };
    const refused = async (): Promise<string> => (await refusal(bench.batch(ADD))).message;
    await bench.batch(merge);
    expect(await refused()).toMatch(/merged cells/);
    await bench.batch(
      { unmergeCells: { range: area } },
      { setBasicFilter: { filter: { range: area } } },
    );
    expect(await refused()).toMatch(/a filter/);
    await bench.batch({ clearBasicFilter: { sheetId: 0 } }, ADD);
    expect(await refused()).toMatch(/overlaps an existing table/);
    expect((await refusal(bench.batch(merge))).message).toMatch(/merge cells of a table/);
    const banding = { addBanding: { bandedRange: { range: area, rowProperties: COLOURS } } };
    expect((await refusal(bench.batch(banding))).message).toMatch(/alternating background colors/);
  });

  it.each<[string, sheets_v4.Schema$Request]>([
    ['deleted', { deleteDimension: { range: { dimension: 'ROWS', startIndex: 0, endIndex: 1 } } }],
    ['sorted', { sortRange: { range: {}, sortSpecs: [{ dimensionIndex: 0 }] } }],
    ['filtered', { setBasicFilter: { filter: { range: range(0, 3, 0, 3) } } }],
  ])('is beyond the emulator where its header would be %s', async (_, request) => {
    await bench.batch(ADD);
    expect(await refusal(bench.batch(request))).toMatchObject({ code: 501 });
  });
});
