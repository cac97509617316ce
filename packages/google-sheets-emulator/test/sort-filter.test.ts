import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { afterEach, describe, expect, it } from 'vitest';
import { Bench } from './support/client.ts';
import type { Pasted } from './support/people.ts';

let bench: Bench;
afterEach(() => bench.emulator.stop());

async function filled(values: readonly (readonly Pasted[])[], options = {}): Promise<Bench> {
  bench = await Bench.start(options);
  bench.put('A1', values);
  return bench;
}

const sort = (
  range: sheets_v4.Schema$GridRange,
  ...specs: [number, 'ASCENDING' | 'DESCENDING'][]
): sheets_v4.Schema$Request => ({
  sortRange: {
    range: { sheetId: 0, ...range },
    sortSpecs: specs.map(([dimensionIndex, sortOrder]) => ({ dimensionIndex, sortOrder })),
  },
});

const column = (index: number) => bench.grid().map((row) => row[index] ?? null);

const hiddenRows = (): readonly number[] => bench.emulator.inspect.layout(bench.id, 0).hiddenRows;

describe('sortRange', () => {
  it('puts numbers before texts before booleans, empty cells last in both directions', async () => {
    await filled([['b'], [10], [''], [true], ['A'], [9], ['a'], [false]]);
    await bench.batch(sort({}, [0, 'ASCENDING']));
    expect(column(0)).toEqual([9, 10, 'A', 'a', 'b', false, true]);
    await bench.batch(sort({}, [0, 'DESCENDING']));
    expect(column(0)).toEqual([true, false, 'b', 'A', 'a', 10, 9]);
  });

  it('moves notes, formats and formulas of the sorted columns along, and not the others', async () => {
    await filled([
      ['b', 2, 'stays 1'],
      ['a', 1, 'stays 2'],
    ]);
    const person = bench.emulator.people.at(bench.id, 0);
    person.note(0, 0, 'note of b');
    person.type(0, 1, '=REPT(A1;2)');
    await bench.batch(sort({ startColumnIndex: 0, endColumnIndex: 2 }, [0, 'ASCENDING']));
    expect(bench.grid()).toEqual([
      ['a', 1, 'stays 1'],
      ['b', '=REPT(A2;2)', 'stays 2'],
    ]);
    expect(bench.emulator.inspect.notes(bench.id, 0)).toEqual([
      { row: 1, column: 0, note: 'note of b' },
    ]);
  });

  it('leaves hidden rows in place and sorts the others around them', async () => {
    await filled([['n'], [5], [4], [3], [2], [1]]);
    bench.emulator.people.at(bench.id, 0).filter(0, ['4']);
    await bench.batch(sort({ startRowIndex: 1 }, [0, 'ASCENDING']));
    expect(column(0)).toEqual(['n', 1, 4, 2, 3, 5]);
  });
});

describe('a basic filter', () => {
  it('hides rows only from people: reads and writes work as if it did not exist (C4)', async () => {
    await filled([['status'], ['NEW'], ['DONE'], ['NEW']]);
    await bench.batch({
      setBasicFilter: {
        filter: { range: { sheetId: 0 }, criteria: { '0': { hiddenValues: ['NEW'] } } },
      },
    });
    expect(hiddenRows()).toEqual([1, 3]);
    bench.put('A2', [['OPEN']]);
    expect(column(0)).toEqual(['status', 'OPEN', 'DONE', 'NEW']);
    // A new filter shows the rows that the old one hid.
    bench.emulator.people.at(bench.id, 0).filter(0, ['DONE']);
    expect(hiddenRows()).toEqual([2]);
    await bench.batch({ setBasicFilter: { filter: { range: { sheetId: 0 } } } });
    expect(hiddenRows()).toEqual([]);
    bench.emulator.people.at(bench.id, 0).filter(0, ['DONE']);
    await bench.batch({ clearBasicFilter: { sheetId: 0 } });
    expect(hiddenRows()).toEqual([]);
  });
});
