import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RowChange } from '../../../../src/targets/google-sheets/rows/row-comparison.ts';
import { groupsOf } from '../../../../src/targets/google-sheets/write/row-groups.ts';
import type { SheetRow } from '../../../../src/targets/google-sheets/rows/row-values.ts';
import type { ColumnKey } from '../../../../src/targets/google-sheets/api/metadata.ts';
import type { SheetValue } from '../../../../src/targets/google-sheets/api/cell-value.ts';
import type { Layout } from '../../../../src/targets/google-sheets/columns/layout.ts';
import {
  planWrites,
  type WritePlanInput,
} from '../../../../src/targets/google-sheets/write/write-plan.ts';
import { verificationRanges } from '../../../../src/targets/google-sheets/write/verification.ts';
import { propertyRuns } from '../../../support/property.ts';

const KEYS: readonly ColumnKey[] = ['s:id', 's:at', 's:status', 'f:a', 'f:b', 's:removed'];

/** Our columns at these places; whatever lies between is people's. */
const layout = (places: readonly number[], rowCount = 1_000): Layout => ({
  sheetId: 7,
  title: 'Tab',
  rowCount,
  columnCount: Math.max(...places) + 3,
  columns: new Map(
    places.map((index, place) => [KEYS[place] ?? 's:id', { index, metadataId: place }]),
  ),
});

const newRow = (id: string, values: Partial<Record<ColumnKey, SheetValue>> = {}): SheetRow => ({
  id,
  createdAt: null,
  values: new Map<ColumnKey, SheetValue>([
    ['s:id', id],
    ...(Object.entries(values) as [ColumnKey, SheetValue][]),
  ]),
  fingerprint: 0,
});

const change = (row: number, cells: Record<number, SheetValue>): RowChange => ({
  row,
  id: `sub_${row}`,
  values: new Map(Object.entries(cells).map(([column, value]) => [Number(column), value])),
  was: new Map(),
  strict: false,
});

const plan = (input: Partial<WritePlanInput>) =>
  planWrites({
    layout: layout([0, 1, 2, 3, 4, 5]),
    changes: [],
    newRows: [],
    lastRow: 10,
    formatFromAbove: false,
    growsRanges: false,
    fillsTable: false,
    undoSheetId: 99,
    first: [],
    reservedBytes: 10_000,
    ...input,
  });

describe('the plan of a write', () => {
  it('writes what differs, and puts the rows by before', () => {
    const [batch, ...others] = plan({
      changes: [change(3, { 2: 'DONE', 3: null }), change(4, { 2: 'x', 3: 5 })],
    });
    expect(others).toEqual([]);
    expect(batch?.requests).toEqual([
      {
        copyPaste: {
          source: {
            sheetId: 7,
            startRowIndex: 3,
            endRowIndex: 5,
            startColumnIndex: 0,
            endColumnIndex: 8,
          },
          destination: {
            sheetId: 99,
            startRowIndex: 0,
            endRowIndex: 2,
            startColumnIndex: 0,
            endColumnIndex: 8,
          },
          pasteType: 'PASTE_FORMULA',
        },
      },
      {
        updateCells: {
          start: { sheetId: 7, rowIndex: 3, columnIndex: 2 },
          rows: [
            { values: [{ userEnteredValue: { stringValue: 'DONE' } }, {}] },
            {
              values: [
                { userEnteredValue: { stringValue: 'x' } },
                { userEnteredValue: { numberValue: 5 } },
              ],
            },
          ],
          fields: 'userEnteredValue',
        },
      },
    ]);
    expect(batch && verificationRanges(layout([0, 1, 2]), batch, "Mirror's undo")).toEqual([
      "'Tab'!1:1",
      "'Tab'!A4:A5",
    ]);
    const strict = plan({ changes: [{ ...change(3, { 2: 'DONE' }), strict: true }] })[0];
    expect(strict && verificationRanges(layout([0, 1, 2]), strict, "Mirror's undo")).toContain(
      "'Mirror''s undo'!A1:E1",
    );
  });

  it('inserts new rows below the last one, in columns of ours only', () => {
    const rows = [newRow('a', { 'f:a': 'x' }), newRow('b')];
    const [batch] = plan({ layout: layout([1, 4]), newRows: rows, formatFromAbove: true });
    expect(batch?.requests.map((request) => Object.keys(request)[0])).toEqual([
      'insertDimension',
      'updateCells',
      'updateCells',
    ]);
    expect(batch?.requests[0]?.insertDimension).toEqual({
      range: { sheetId: 7, dimension: 'ROWS', startIndex: 11, endIndex: 13 },
      inheritFromBefore: true,
    });
    expect(
      batch?.requests.slice(1).map((request) => request.updateCells?.start?.columnIndex),
    ).toEqual([1, 4]);
    expect(batch?.inserted).toEqual([{ row: 11, rows }]);
  });

  it('makes room first where the grid ends: an insert cannot go past it', () => {
    const [batch] = plan({ layout: layout([0, 1, 2, 3, 4, 5], 11), newRows: [newRow('a')] });
    expect(batch?.requests.map((request) => Object.keys(request)[0])).toEqual([
      'appendDimension',
      'repeatCell',
      'repeatCell',
      'insertDimension',
      'updateCells',
    ]);
  });

  it('is nothing for nothing', () => {
    expect(plan({})).toEqual([]);
  });

  it('stays within 2 MB a write, and 300,000 cells put by, and loses and repeats nothing', () => {
    const text = fc.integer({ min: 0, max: 40_000 }).map((length) => 'ž😀"\n'.repeat(length / 4));
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.boolean(), text), { maxLength: 120, size: 'max' }),
        fc.array(text, { maxLength: 120, size: 'max' }),
        fc.constantFrom([0, 1, 2, 3, 4, 5], [0, 2, 3, 7, 8, 11], [9, 8, 7, 1, 0, 4], [0, 3_000]),
        (changed, added, places) => {
          const changes = changed.map(([next, value], index) =>
            change(next ? index * 2 : index * 2 + 1, { [places[1] ?? 1]: value }),
          );
          const sorted = changes.toSorted((a, b) => a.row - b.row);
          const newRows = added.map((value, index) => newRow(`n${index}`, { 's:at': value }));
          const batches = plan({ layout: layout(places), changes: sorted, newRows, lastRow: 400 });
          for (const batch of batches) {
            expect(Buffer.byteLength(JSON.stringify(batch.requests))).toBeLessThanOrEqual(
              2_000_000,
            );
            expect(batch.undoRows * (Math.max(...places) + 3)).toBeLessThanOrEqual(300_000);
          }
          const touched = batches.flatMap(({ groups }) =>
            groups.flatMap(({ row, ids }) => ids.map((_, y) => row + y)),
          );
          expect(touched).toEqual(sorted.map(({ row }) => row));
          let next = 401;
          for (const { row, rows } of batches.flatMap(({ inserted }) => inserted)) {
            expect(row).toBe(next);
            next += rows.length;
          }
          expect(batches.flatMap(({ inserted }) => inserted.flatMap(({ rows }) => rows))).toEqual(
            newRows,
          );
        },
      ),
      propertyRuns(40),
    );
  });
});

describe('changes in groups', () => {
  it('join rows that follow each other and change in the same columns', () => {
    const groups = groupsOf([
      change(1, { 2: 'a', 3: 'b', 7: 'c' }),
      change(2, { 2: 'd', 3: 'e', 7: 'f' }),
      change(3, { 2: 'g' }),
      change(5, { 2: 'h' }),
    ]);
    expect(
      groups.map(({ row, ids, parts }) => [
        row,
        ids.length,
        parts.map((part) => [part.column, part.values]),
      ]),
    ).toEqual([
      [
        1,
        2,
        [
          [
            2,
            [
              ['a', 'b'],
              ['d', 'e'],
            ],
          ],
          [7, [['c'], ['f']]],
        ],
      ],
      [3, 1, [[2, [['g']]]]],
      [5, 1, [[2, [['h']]]]],
    ]);
  });
});
