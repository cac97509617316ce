import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { expect, it, onTestFinished } from 'vitest';
import { Bench } from './support/client.ts';

const text = (stringValue: string): sheets_v4.Schema$CellData => ({
  userEnteredValue: { stringValue },
});

it.each([
  ['kept', [['first', 'covered', 'beside']]],
  ['dropped', [['first', null, 'beside']]],
] as const)('a value that is written under merged cells is %s', async (coveredCells, shown) => {
  const bench = await Bench.start({ coveredCells });
  onTestFinished(() => bench.emulator.stop());
  bench.emulator.people.at(bench.id, 0).merge({ top: 0, bottom: 1, left: 0, right: 2 });
  await bench.batch({
    updateCells: {
      start: { rowIndex: 0, columnIndex: 0 },
      fields: 'userEnteredValue',
      rows: [{ values: [text('first'), text('covered'), text('beside')] }],
    },
  });
  expect(bench.grid()).toEqual(shown);
});
