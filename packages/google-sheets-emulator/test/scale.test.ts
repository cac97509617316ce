import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { Bench, refusal } from './support/client.ts';

const ROWS = 200_000;
const COLUMNS = 20;

describe('200,000 rows of 20 columns', () => {
  it('are read by column, changed, moved, sorted and rolled back', async () => {
    const bench = await Bench.start({}, { tab: { rows: ROWS, columns: COLUMNS } });
    const person = bench.emulator.people.at(bench.id, 0);
    const block = 20_000;
    for (let top = 0; top < ROWS; top += block) {
      const values = Array.from({ length: block }, (_, offset) =>
        Array.from({ length: COLUMNS }, (__, column) =>
          column === 0 ? ROWS - top - offset : `answer ${top + offset} ${column}`,
        ),
      );
      person.pasteValues(top, 0, values);
    }
    const keys = async () =>
      (
        await bench.get('Sheet1!A:A', {
          valueRenderOption: 'UNFORMATTED_VALUE',
          majorDimension: 'COLUMNS',
        })
      ).values?.[0] ?? [];
    const before = await keys();
    expect([before.length, before[0], before.at(-1)]).toEqual([ROWS, ROWS, 1]);

    // Everything moves, then the batch fails: nothing has moved.
    const columnOf = (startIndex: number) => ({
      sheetId: 0,
      dimension: 'COLUMNS',
      startIndex,
      endIndex: startIndex + 1,
    });
    const format = { numberFormat: { type: 'DATE', pattern: 'yyyy' } };
    const changes = [
      { sortRange: { range: { sheetId: 0 }, sortSpecs: [{ dimensionIndex: 0 }] } },
      { moveDimension: { source: columnOf(5), destinationIndex: 1 } },
      { insertDimension: { range: columnOf(0) } },
      {
        repeatCell: {
          range: { sheetId: 0, startColumnIndex: 3, endColumnIndex: 4 },
          cell: { userEnteredFormat: format },
          fields: 'userEnteredFormat',
        },
      },
      { deleteDimension: { range: { ...columnOf(0), dimension: 'ROWS' } } },
    ];
    await refusal(bench.batch(...changes, { deleteSheet: { sheetId: 1 } }));
    // Not toEqual: printing the difference of two such lists takes longer than anybody waits.
    expect(isDeepStrictEqual(await keys(), before)).toBe(true);

    await bench.batch(...changes);
    const after = await bench.get('Sheet1!B:B', { valueRenderOption: 'UNFORMATTED_VALUE' });
    // Sorted upwards, and the first row is gone.
    expect([after.values?.length, after.values?.[0]?.[0]]).toEqual([ROWS - 1, 2]);
    await bench.emulator.stop();
  });
});
