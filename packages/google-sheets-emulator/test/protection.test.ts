import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench, refusal } from './support/client.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.start();
});
afterEach(() => bench.emulator.stop());

const PROTECTED =
  'You are trying to edit a protected cell or object. Please contact the spreadsheet owner to remove protection if you need to edit.';

const write = (rowIndex: number, columnIndex: number): sheets_v4.Schema$Request => ({
  updateCells: {
    start: { rowIndex, columnIndex },
    fields: 'userEnteredValue',
    rows: [{ values: [{ userEnteredValue: { stringValue: 'x' } }] }],
  },
});

describe('a hard protection that does not name the caller', () => {
  beforeEach(() => {
    bench.emulator.people.at(bench.id, 0).protect({ top: 2, bottom: 4, left: 1, right: 3 });
  });

  const columns = { startColumnIndex: 0, endColumnIndex: 2 };
  it.each<[string, sheets_v4.Schema$Request]>([
    ['updateCells', write(3, 2)],
    ['repeatCell', { repeatCell: { range: columns, cell: {}, fields: '*' } }],
    [
      'deleteDimension',
      { deleteDimension: { range: { dimension: 'ROWS', startIndex: 3, endIndex: 5 } } },
    ],
    [
      'insertDimension',
      { insertDimension: { range: { dimension: 'ROWS', startIndex: 3, endIndex: 4 } } },
    ],
  ])('stops %s', async (kind, request) => {
    expect(await refusal(bench.batch(request))).toMatchObject({
      code: 400,
      status: 'INVALID_ARGUMENT',
      message: `Invalid requests[0].${kind}: ${PROTECTED}`,
    });
  });

  it('cannot be removed by the caller, but by the owner', async () => {
    const owner = bench.emulator.people.at(bench.id, 0);
    const id = owner.protect({ left: 4, right: 5 });
    const lift = { deleteProtectedRange: { protectedRangeId: id } };
    expect((await refusal(bench.batch(lift))).message).toContain(PROTECTED);
    owner.unprotect(id);
    await bench.batch(write(0, 4));
  });
});

describe('a hard protection of whole columns', () => {
  it('prevents rows from being inserted or added; one that ends before the last row lets some be added', async () => {
    const owner = bench.emulator.people.at(bench.id, 0);
    const id = owner.protect({ left: 3, right: 4 });
    const [insert, append]: sheets_v4.Schema$Request[] = [
      { insertDimension: { range: { dimension: 'ROWS', startIndex: 3, endIndex: 4 } } },
      { appendDimension: { dimension: 'ROWS', length: 1 } },
    ] as const;
    for (const request of [insert, append]) {
      expect((await refusal(bench.batch(request))).message).toContain(PROTECTED);
    }
    owner.unprotect(id);
    owner.protect({ left: 3, right: 4, top: 0, bottom: 8 });
    expect((await refusal(bench.batch(insert))).message).toContain(PROTECTED);
    await bench.batch(append);
  });
});

describe('a protection that only warns', () => {
  it('does not apply to callers of the API', async () => {
    await bench.batch({
      addProtectedRange: { protectedRange: { range: { endRowIndex: 1 }, warningOnly: true } },
    });
    await bench.batch(write(0, 0));
    // Nor does an account that is not among the editors.
    bench.emulator.people.at(bench.id, 0).protect({ top: 1, bottom: 2 }, { warningOnly: true });
    await bench.batch(write(1, 0));
    expect(bench.grid()).toEqual([['x'], ['x']]);
  });
});

it('a protected tab may be edited only by its owner', async () => {
  const owner = bench.emulator.people.at(bench.id, 0);
  const id = owner.protect({});
  expect((await refusal(bench.batch(write(0, 0)))).message).toContain(PROTECTED);
  owner.unprotect(id);
  await bench.batch(write(0, 0));
});
