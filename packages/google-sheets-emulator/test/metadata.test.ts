import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench, refusal } from './support/client.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.start();
});
afterEach(() => bench.emulator.stop());

type Metadata = sheets_v4.Schema$DeveloperMetadata;

const column = (index: number): sheets_v4.Schema$DeveloperMetadataLocation => ({
  dimensionRange: { sheetId: 0, dimension: 'COLUMNS', startIndex: index, endIndex: index + 1 },
});
const create = (developerMetadata: Metadata): sheets_v4.Schema$Request => ({
  createDeveloperMetadata: { developerMetadata: { visibility: 'DOCUMENT', ...developerMetadata } },
});

const places = [
  create({ metadataId: 1, metadataKey: 'a', metadataValue: 'x', location: { spreadsheet: true } }),
  create({ metadataId: 2, metadataKey: 'a', metadataValue: 'y', location: { sheetId: 0 } }),
  create({ metadataId: 3, metadataKey: 'b', metadataValue: 'x', location: column(1) }),
];

describe('developer metadata', () => {
  it('shows in spreadsheets.get on the spreadsheet, the tab, and the column', async () => {
    await bench.batch(...places);
    const { data } = await bench.api.spreadsheets.get({
      spreadsheetId: bench.id,
      fields:
        'developerMetadata.metadataId,sheets(developerMetadata.metadataId,data(columnMetadata.developerMetadata.metadataId))',
    });
    const grid = data.sheets?.[0]?.data?.[0];
    expect(data.developerMetadata).toEqual([{ metadataId: 1 }]);
    expect(data.sheets?.[0]?.developerMetadata).toEqual([{ metadataId: 2 }]);
    expect(grid?.columnMetadata?.slice(0, 2)).toEqual([
      {},
      { developerMetadata: [{ metadataId: 3 }] },
    ]);
  });

  it('with an ID that exists fails the whole batch: a lock that two writers can fight for', async () => {
    await bench.batch(create({ metadataId: 8, metadataKey: 'k', location: { spreadsheet: true } }));
    const error = await refusal(
      bench.batch(
        { appendDimension: { sheetId: 0, dimension: 'ROWS', length: 1 } },
        create({ metadataId: 8, metadataKey: 'k', location: { spreadsheet: true } }),
      ),
    );
    expect(error.message).toBe(
      'Invalid requests[1].createDeveloperMetadata: Cannot add developer metadata with ID [8] because developer metadata with that ID already exists.',
    );
    expect(bench.emulator.inspect.tabs(bench.id)[0]?.rows).toBe(10);
  });

  it.each<[string, Metadata]>([
    ['no key', { location: { spreadsheet: true } }],
    ['no location', { metadataKey: 'k' }],
    [
      'two columns',
      {
        metadataKey: 'k',
        location: { dimensionRange: { dimension: 'COLUMNS', startIndex: 0, endIndex: 2 } },
      },
    ],
    ['a column beyond the grid', { metadataKey: 'k', location: column(5) }],
    ['a tab that does not exist', { metadataKey: 'k', location: { sheetId: 4 } }],
  ])('with %s is refused', async (_, metadata) => {
    expect(await refusal(bench.batch(create(metadata)))).toMatchObject({
      code: 400,
      message: expect.stringMatching(/^Invalid requests\[0\]\.createDeveloperMetadata: /),
    });
  });

  it('goes with its tab, or by its ID', async () => {
    await bench.batch(
      { addSheet: { properties: { sheetId: 5, title: 'b' } } },
      create({ metadataId: 9, metadataKey: 'k', location: { sheetId: 5 } }),
      create({ metadataId: 10, metadataKey: 'k', location: { spreadsheet: true } }),
      { deleteSheet: { sheetId: 5 } },
    );
    const ids = (): unknown[] =>
      bench.emulator.inspect.metadata(bench.id).map(({ metadataId }) => metadataId);
    expect(ids()).toEqual([10]);
    const lookup = { developerMetadataLookup: { metadataId: 10 } };
    await bench.batch({ deleteDeveloperMetadata: { dataFilter: lookup } });
    expect(ids()).toEqual([]);
    const other = { developerMetadataLookup: { metadataKey: 'k' } };
    const refused = refusal(bench.batch({ deleteDeveloperMetadata: { dataFilter: other } }));
    expect(await refused).toMatchObject({ code: 501 });
  });

  it('deleted where it was read and made again with its ID fails the whole batch once it has moved or changed', async () => {
    await bench.batch(...places);
    const required = (id: number, metadataValue: string, location: Metadata['location']) => {
      const lookup = {
        metadataId: id,
        metadataValue,
        ...(location !== undefined && { metadataLocation: location }),
        locationMatchingStrategy: 'EXACT_LOCATION',
      };
      return [
        { deleteDeveloperMetadata: { dataFilter: { developerMetadataLookup: lookup } } },
        create({ metadataId: id, metadataKey: 'c', metadataValue, ...(location && { location }) }),
        { appendDimension: { sheetId: 0, dimension: 'ROWS', length: 1 } },
      ];
    };
    await bench.batch(...required(3, 'x', column(1)), ...required(1, 'x', { spreadsheet: true }));
    expect(bench.emulator.inspect.tabs(bench.id)[0]?.rows).toBe(12);
    const taken = /requests\[1\]\.createDeveloperMetadata: .* already exists/;
    bench.emulator.people.at(bench.id, 0).insertColumns(1);
    const before = bench.emulator.inspect.metadata(bench.id);
    for (const batch of [
      required(3, 'x', column(1)),
      required(3, 'other', column(2)),
      required(1, 'other', { spreadsheet: true }),
    ])
      expect(await refusal(bench.batch(...batch))).toMatchObject({
        code: 400,
        message: expect.stringMatching(taken),
      });
    expect(bench.emulator.inspect.metadata(bench.id)).toEqual(before);
    expect(bench.emulator.inspect.tabs(bench.id)[0]?.rows).toBe(12);
  });

  it('has room for 30,000 characters on the spreadsheet and on each tab with its columns', async () => {
    const fill = (length: number, location: sheets_v4.Schema$DeveloperMetadataLocation) =>
      bench.batch(create({ metadataKey: 'k', metadataValue: 'v'.repeat(length - 1), location }));
    await fill(30_000, { spreadsheet: true });
    await fill(20_000, { sheetId: 0 });
    await fill(5_000, column(0));
    await fill(5_000, column(2));
    const error = await refusal(fill(2, column(1)));
    expect(error.message).toContain('limit of 30000 characters');
    await bench.batch({ addSheet: { properties: { sheetId: 2, title: 'b' } } });
    await fill(30_000, { sheetId: 2 });
  });
});

describe('a data filter', () => {
  it('reads each managed column with its current range', async () => {
    bench.put('A1', [
      ['a', 'b', 'c'],
      [1, 2, 3],
      [4, 5, 6],
    ]);
    await bench.batch(
      create({ metadataId: 1, metadataKey: 'field', location: column(0) }),
      create({ metadataId: 3, metadataKey: 'field', location: column(2) }),
    );
    bench.emulator.people.at(bench.id, 0).moveColumns(0, 1, 3);
    const { data } = await bench.api.spreadsheets.values.batchGetByDataFilter({
      spreadsheetId: bench.id,
      requestBody: {
        majorDimension: 'COLUMNS',
        valueRenderOption: 'UNFORMATTED_VALUE',
        dataFilters: [
          { developerMetadataLookup: { metadataId: 1 } },
          { developerMetadataLookup: { metadataId: 3 } },
          { developerMetadataLookup: { metadataId: 1 } },
          { gridRange: { sheetId: 0, startRowIndex: 1, endRowIndex: 2 } },
        ],
      },
    });
    expect(
      data.valueRanges?.map(({ valueRange, dataFilters }) => [
        valueRange?.range,
        valueRange?.values,
        dataFilters?.length,
      ]),
    ).toEqual([
      ['Sheet1!C1:C10', [['a', 1, 4]], 2],
      ['Sheet1!B1:B10', [['c', 3, 6]], 1],
      ['Sheet1!A2:E2', [[2], [3], [1]], 1],
    ]);
  });
});
