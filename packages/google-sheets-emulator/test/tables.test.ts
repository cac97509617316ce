import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench } from './support/client.ts';
import { range } from './support/ranges.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.start();
  bench.put('A1', [
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
  it('freezes its header on top of a tab, and has its own alternating colors', async () => {
    const [reply] = await bench.batch(ADD);
    const table = reply?.addTable?.table;
    const { tables, bandedRanges, properties } = await sheet();
    expect(tables).toEqual([table]);
    expect(bandedRanges).toMatchObject([{ bandedRangeReference: 't', range: table?.range }]);
    expect(properties?.gridProperties?.frozenRowCount).toBe(1);
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
});
