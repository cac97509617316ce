import { afterEach, expect, it } from 'vitest';
import { Bench } from './support/client.ts';

let bench: Bench;
afterEach(() => bench.emulator.stop());

it('a table freezes its header on top of a tab, and has its own alternating colors', async () => {
  bench = await Bench.start();
  const range = { startRowIndex: 0, endRowIndex: 3, startColumnIndex: 0, endColumnIndex: 3 };
  const [reply] = await bench.batch({ addTable: { table: { tableId: 't', range } } });
  const table = reply?.addTable?.table;
  const { data } = await bench.api.spreadsheets.get({ spreadsheetId: bench.id });
  const { tables, bandedRanges, properties } = data.sheets?.[0] ?? {};
  expect(tables).toEqual([table]);
  expect(bandedRanges).toMatchObject([{ bandedRangeReference: 't', range: table?.range }]);
  expect(properties?.gridProperties?.frozenRowCount).toBe(1);
});
