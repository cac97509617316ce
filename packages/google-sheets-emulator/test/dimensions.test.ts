import fc from 'fast-check';
import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench, refusal } from './support/client.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.start();
});
afterEach(() => bench.emulator.stop());

const span = (dimension: 'ROWS' | 'COLUMNS', startIndex: number, endIndex: number) => ({
  sheetId: 0,
  dimension,
  startIndex,
  endIndex,
});

const insert = (
  dimension: 'ROWS' | 'COLUMNS',
  start: number,
  end: number,
  inheritFromBefore = false,
): sheets_v4.Schema$Request => ({
  insertDimension: { range: span(dimension, start, end), inheritFromBefore },
});

const remove = (dimension: 'ROWS' | 'COLUMNS', start: number, end: number) => ({
  deleteDimension: { range: span(dimension, start, end) },
});

const move = (dimension: 'ROWS' | 'COLUMNS', start: number, end: number, to: number) => ({
  moveDimension: { source: span(dimension, start, end), destinationIndex: to },
});

describe('insertDimension', () => {
  it('inherits the look of the row before or after', async () => {
    const person = bench.emulator.people.at(bench.id, 0);
    person.format({ top: 0, bottom: 1, left: 0, right: 1 }, { textFormat: { bold: true } });
    bench.put('A1', [['header'], ['data']]);
    await bench.batch(insert('ROWS', 1, 2), insert('ROWS', 1, 2, true));
    const bold = [1, 2].map(
      (row) => bench.emulator.inspect.cell(bench.id, 0, row, 0).format.textFormat?.bold,
    );
    expect(bold).toEqual([true, undefined]);
    expect(bench.grid().flat()).toEqual(['header', 'data']);
    expect(bench.grid()).toHaveLength(4);
  });

  it.each([
    [insert('ROWS', 11, 12, true), 'range.startIndex is larger than current grid size (10)'],
    [
      insert('ROWS', 10, 11),
      'range.startIndex must be less than the grid size (10) if inheritFromBefore is false.',
    ],
    [insert('ROWS', 0, 1, true), 'inheritFromBefore cannot be true when inserting at index 0.'],
  ])('is refused where Google refuses it (%#)', async (request, message) => {
    expect((await refusal(bench.batch(request))).message).toBe(
      `Invalid requests[0].insertDimension: ${message}`,
    );
  });
});

describe('deleteDimension', () => {
  it.each([
    [remove('ROWS', 0, 10), "You can't delete all the rows on the sheet."],
    [remove('COLUMNS', 0, 5), "You can't delete all the columns on the sheet."],
    [
      remove('ROWS', 10, 11),
      "Cannot delete a row that doesn't exist. Tried to delete row index 10 but there are only 10 rows.",
    ],
  ])('is refused where nothing would be left, or nothing is (%#)', async (request, message) => {
    expect((await refusal(bench.batch(request))).message).toBe(
      `Invalid requests[0].deleteDimension: ${message}`,
    );
  });

  it('keeps at least one row that is not frozen, and counts frozen rows down', async () => {
    bench.emulator.people.at(bench.id, 0).freezeRows(2);
    expect((await refusal(bench.batch(remove('ROWS', 2, 10)))).message).toContain(
      'Sorry, it is not possible to delete all non-frozen rows.',
    );
    await bench.batch(remove('ROWS', 0, 1));
    const { data } = await bench.api.spreadsheets.get({
      spreadsheetId: bench.id,
      fields: 'sheets.properties.gridProperties',
    });
    expect(data.sheets?.[0]?.properties?.gridProperties).toEqual({
      rowCount: 9,
      columnCount: 5,
      frozenRowCount: 1,
    });
  });
});

describe('what points at rows and columns', () => {
  it('follows them: metadata, protected ranges, conditional formats, filters, formulas', async () => {
    bench.put('C1', [['key']]);
    const column = { startColumnIndex: 2, endColumnIndex: 3 };
    const location = { dimensionRange: { dimension: 'COLUMNS', startIndex: 2, endIndex: 3 } };
    await bench.batch(
      {
        createDeveloperMetadata: {
          developerMetadata: { metadataId: 1, metadataKey: 'k', visibility: 'DOCUMENT', location },
        },
      },
      { addProtectedRange: { protectedRange: { range: column, warningOnly: true } } },
      {
        addConditionalFormatRule: {
          rule: {
            ranges: [column],
            booleanRule: {
              condition: {
                type: 'CUSTOM_FORMULA',
                values: [{ userEnteredValue: '=ISNUMBER($C1)' }],
              },
              format: { textFormat: { bold: true } },
            },
          },
        },
      },
      {
        setBasicFilter: { filter: { range: {}, criteria: { '2': { hiddenValues: ['x'] } } } },
      },
      {
        updateCells: {
          start: { rowIndex: 0, columnIndex: 0 },
          fields: 'userEnteredValue',
          rows: [{ values: [{ userEnteredValue: { formulaValue: '=$C1&C:C&B1:D1' } }] }],
        },
      },
    );
    await bench.batch(insert('COLUMNS', 1, 2), move('COLUMNS', 3, 4, 6), insert('ROWS', 0, 1));
    const { data } = await bench.api.spreadsheets.get({
      spreadsheetId: bench.id,
      fields: 'sheets(data.columnMetadata,protectedRanges,conditionalFormats,basicFilter)',
    });
    const sheet = data.sheets?.[0];
    const moved = { startColumnIndex: 5, endColumnIndex: 6 };
    expect(sheet?.data?.[0]?.columnMetadata?.[5]?.developerMetadata).toMatchObject([
      { metadataId: 1, location: { dimensionRange: { startIndex: 5, endIndex: 6 } } },
    ]);
    expect(sheet?.protectedRanges?.[0]?.range).toEqual(moved);
    expect(sheet?.conditionalFormats?.[0]?.ranges).toEqual([moved]);
    const { condition } = sheet?.conditionalFormats?.[0]?.booleanRule ?? {};
    expect(condition?.values).toEqual([{ userEnteredValue: '=ISNUMBER($F2)' }]);
    expect(Object.keys(sheet?.basicFilter?.criteria ?? {})).toEqual(['5']);
    expect(bench.grid()[1]?.[0]).toBe('=$F2&F:F&C2:D2');
    await bench.batch(remove('COLUMNS', 5, 6));
    expect(bench.emulator.inspect.metadata(bench.id)).toEqual([]);
    expect(bench.grid()[1]?.[0]).toBe('=#REF!&#REF!&C2:D2');
  });
});

/** The same grid as plain lists: what the emulator must agree with. */
class Model {
  rows: (number | null)[][];
  /** Where row and column tags are now; undefined once deleted. */
  rowTags: (number | undefined)[];
  columnTags: (number | undefined)[];

  constructor(rows: (number | null)[][]) {
    this.rows = rows;
    this.rowTags = rows.map((_, index) => index);
    this.columnTags = (rows[0] ?? []).map((_, index) => index);
  }

  apply(rows: boolean, change: <T>(list: T[], filler: () => T) => T[]): void {
    if (rows) {
      this.rows = change(this.rows, () => this.columnTags.map(() => null));
      this.rowTags = change(this.rowTags, () => undefined);
    } else {
      this.rows = this.rows.map((row) => change(row, () => null));
      this.columnTags = change(this.columnTags, () => undefined);
    }
  }
}

interface Step {
  kind: 'insert' | 'delete' | 'move';
  rows: boolean;
  a: number;
  b: number;
  c: number;
}

function requestFor(step: Step, size: number): sheets_v4.Schema$Request | undefined {
  const dimension = step.rows ? 'ROWS' : 'COLUMNS';
  const start = step.a % size;
  const end = start + 1 + (step.b % Math.min(3, size - start));
  if (step.kind === 'insert') return insert(dimension, start, end);
  if (step.kind === 'delete') return end - start < size ? remove(dimension, start, end) : undefined;
  return move(dimension, start, end, step.c % (size + 1));
}

function applyToModel(model: Model, step: Step, request: sheets_v4.Schema$Request): void {
  const { startIndex: start = 0, endIndex: end = 0 } = (request.insertDimension?.range ??
    request.deleteDimension?.range ??
    request.moveDimension?.source ??
    {}) as { startIndex?: number; endIndex?: number };
  model.apply(step.rows, (list, filler) => {
    const copy = [...list];
    if (step.kind === 'insert') {
      copy.splice(start, 0, ...Array.from({ length: end - start }, filler));
      return copy;
    }
    const block = copy.splice(start, end - start);
    if (step.kind === 'delete') return copy;
    const to = request.moveDimension?.destinationIndex ?? 0;
    if (to >= start && to <= end) return list;
    copy.splice(to > start ? to - block.length : to, 0, ...block);
    return copy;
  });
}

describe('any row of inserts, deletions and moves', () => {
  it('leaves cells and metadata where a plain list has them', async () => {
    const step: fc.Arbitrary<Step> = fc.record({
      kind: fc.constantFrom('insert', 'delete', 'move'),
      rows: fc.boolean(),
      a: fc.nat(50),
      b: fc.nat(50),
      c: fc.nat(50),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        const [height, width] = [6, 4];
        const id = bench.emulator.createSpreadsheet({ tab: { rows: height, columns: width } });
        const person = bench.emulator.people.at(id, 0);
        const values = Array.from({ length: height }, (_, row) =>
          Array.from({ length: width }, (__, column) => row * 10 + column),
        );
        person.pasteValues(0, 0, values);
        const owner = new Bench(bench.emulator, id);
        bench.emulator.people.share(id, 'robot@example-project.iam.gserviceaccount.com', 'writer');
        const tags = (count: number) =>
          Array.from({ length: count }, (_, index) => ({
            createDeveloperMetadata: {
              developerMetadata: {
                metadataId: 200 + index,
                metadataKey: 'tag',
                visibility: 'DOCUMENT',
                location: { dimensionRange: span('COLUMNS', index, index + 1) },
              },
            },
          }));
        await owner.batch(...tags(width));
        const model = new Model(values);
        const requests: sheets_v4.Schema$Request[] = [];
        for (const one of steps) {
          const size = one.rows ? model.rowTags.length : model.columnTags.length;
          const request = requestFor(one, size);
          if (request === undefined) continue;
          requests.push(request);
          applyToModel(model, one, request);
        }
        if (requests.length > 0) await owner.batch(...requests);
        const trimmed = model.rows.map((row) =>
          row.slice(0, row.findLastIndex((value) => value !== null) + 1),
        );
        while (trimmed.at(-1)?.length === 0) trimmed.pop();
        expect(bench.emulator.inspect.grid(id, 0)).toEqual(trimmed);
        expect(bench.emulator.inspect.tabs(id)[0]).toMatchObject({
          rows: model.rowTags.length,
          columns: model.columnTags.length,
        });
        const places = bench.emulator.inspect
          .metadata(id)
          .map((item) => [item.metadataId, item.location?.dimensionRange?.startIndex]);
        const expected = model.columnTags.flatMap((tag, at) =>
          tag === undefined ? [] : [[200 + tag, at]],
        );
        const byId = (list: unknown[][]) => list.sort((a, b) => Number(a[0]) - Number(b[0]));
        expect(byId(places)).toEqual(byId(expected));
      }),
      { numRuns: 60, seed: Number(process.env['FC_SEED']) },
    );
  });
});
