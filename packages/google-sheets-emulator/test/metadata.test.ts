import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench, clientWith, refusal, ROBOT } from './support/client.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.start();
});
afterEach(() => bench.emulator.stop());

type Metadata = sheets_v4.Schema$DeveloperMetadata;
type Lookup = sheets_v4.Schema$DeveloperMetadataLookup;

const column = (index: number): sheets_v4.Schema$DeveloperMetadataLocation => ({
  dimensionRange: { sheetId: 0, dimension: 'COLUMNS', startIndex: index, endIndex: index + 1 },
});
const row = (index: number): sheets_v4.Schema$DeveloperMetadataLocation => ({
  dimensionRange: { sheetId: 0, dimension: 'ROWS', startIndex: index, endIndex: index + 1 },
});

const create = (developerMetadata: Metadata): sheets_v4.Schema$Request => ({
  createDeveloperMetadata: { developerMetadata: { visibility: 'DOCUMENT', ...developerMetadata } },
});

const search = async (...lookups: Lookup[]): Promise<(number | null | undefined)[]> => {
  const { data } = await bench.api.spreadsheets.developerMetadata.search({
    spreadsheetId: bench.id,
    requestBody: {
      dataFilters: lookups.map((developerMetadataLookup) => ({ developerMetadataLookup })),
    },
  });
  return (data.matchedDeveloperMetadata ?? []).map((match) => match.developerMetadata?.metadataId);
};

const places = [
  create({ metadataId: 1, metadataKey: 'a', metadataValue: 'x', location: { spreadsheet: true } }),
  create({ metadataId: 2, metadataKey: 'a', metadataValue: 'y', location: { sheetId: 0 } }),
  create({ metadataId: 3, metadataKey: 'b', metadataValue: 'x', location: column(1) }),
  create({ metadataId: 4, metadataKey: 'b', metadataValue: 'z', location: row(2) }),
];

describe('developer metadata', () => {
  it('is answered where it hangs, with an ID of its own', async () => {
    const [reply] = await bench.batch(
      create({ metadataKey: 'k', metadataValue: 'v', location: column(1) }),
    );
    const made = reply?.createDeveloperMetadata?.developerMetadata;
    expect(made).toEqual({
      metadataId: expect.any(Number),
      metadataKey: 'k',
      metadataValue: 'v',
      visibility: 'DOCUMENT',
      location: {
        locationType: 'COLUMN',
        // A sheet ID of 0 is left out, as Google leaves out every zero of that kind.
        dimensionRange: { dimension: 'COLUMNS', startIndex: 1, endIndex: 2 },
      },
    });
    const { data } = await bench.api.spreadsheets.developerMetadata.get({
      spreadsheetId: bench.id,
      metadataId: made?.metadataId ?? 0,
    });
    expect(data).toEqual(made);
    expect(
      await refusal(
        bench.api.spreadsheets.developerMetadata.get({ spreadsheetId: bench.id, metadataId: 5 }),
      ),
    ).toMatchObject({ code: 404, status: 'NOT_FOUND' });
  });

  it('shows in spreadsheets.get on the spreadsheet, the tab, and the row or column', async () => {
    await bench.batch(...places);
    const { data } = await bench.api.spreadsheets.get({
      spreadsheetId: bench.id,
      fields:
        'developerMetadata.metadataId,sheets(developerMetadata.metadataId,data(columnMetadata.developerMetadata.metadataId,rowMetadata.developerMetadata.metadataId))',
    });
    const grid = data.sheets?.[0]?.data?.[0];
    expect(data.developerMetadata).toEqual([{ metadataId: 1 }]);
    expect(data.sheets?.[0]?.developerMetadata).toEqual([{ metadataId: 2 }]);
    expect(grid?.columnMetadata?.slice(0, 2)).toEqual([
      {},
      { developerMetadata: [{ metadataId: 3 }] },
    ]);
    expect(grid?.rowMetadata?.[2]).toEqual({ developerMetadata: [{ metadataId: 4 }] });
  });

  it.each<[string, Lookup, number[]]>([
    ['ID', { metadataId: 3 }, [3]],
    ['key', { metadataKey: 'b' }, [3, 4]],
    ['key and value', { metadataKey: 'a', metadataValue: 'y' }, [2]],
    ['value alone', { metadataValue: 'x' }, [1, 3]],
    ['type of location', { locationType: 'ROW' }, [4]],
    [
      'exact location',
      { metadataLocation: column(1), locationMatchingStrategy: 'EXACT_LOCATION' },
      [3],
    ],
    ['location that a row crosses', { metadataLocation: column(1) }, [2, 3, 4]],
    ['another column', { metadataLocation: column(2) }, [2, 4]],
    ['the spreadsheet, which crosses nothing', { metadataLocation: { spreadsheet: true } }, [1]],
    ['nothing', { metadataKey: 'nope' }, []],
  ])('is found by %s', async (_, lookup, ids) => {
    await bench.batch(...places);
    expect(await search(lookup)).toEqual(ids);
  });

  it('is found by a range: whole rows or columns in it', async () => {
    await bench.batch(...places);
    const { data } = await bench.api.spreadsheets.developerMetadata.search({
      spreadsheetId: bench.id,
      requestBody: { dataFilters: [{ a1Range: 'Sheet1!A:C' }] },
    });
    expect(
      data.matchedDeveloperMetadata?.map((match) => match.developerMetadata?.metadataId),
    ).toEqual([3]);
  });

  it('is updated and deleted by filter, several at once', async () => {
    await bench.batch(...places);
    const filter = { developerMetadataLookup: { metadataKey: 'b' } };
    const [updated] = await bench.batch({
      updateDeveloperMetadata: {
        dataFilters: [filter],
        developerMetadata: { metadataValue: 'new' },
        fields: 'metadataValue',
      },
    });
    expect(
      updated?.updateDeveloperMetadata?.developerMetadata?.map((item) => item.metadataValue),
    ).toEqual(['new', 'new']);
    const [deleted] = await bench.batch({ deleteDeveloperMetadata: { dataFilter: filter } });
    expect(deleted?.deleteDeveloperMetadata?.deletedDeveloperMetadata).toHaveLength(2);
    expect(await search({ metadataValue: 'new' })).toEqual([]);
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

  it('goes with its tab, and is not copied along with it', async () => {
    await bench.batch(
      { addSheet: { properties: { sheetId: 5, title: 'b' } } },
      create({ metadataId: 9, metadataKey: 'k', location: { sheetId: 5 } }),
      { duplicateSheet: { sourceSheetId: 5 } },
    );
    expect(await search({ metadataKey: 'k' })).toEqual([9]);
    await bench.batch({ deleteSheet: { sheetId: 5 } });
    expect(await search({ metadataKey: 'k' })).toEqual([]);
  });

  it('of visibility PROJECT is seen by its own Cloud project only', async () => {
    await bench.batch(
      create({ metadataId: 1, metadataKey: 'k', visibility: 'PROJECT', location: column(0) }),
    );
    expect(await search({ metadataKey: 'k' })).toEqual([1]);
    const token = bench.emulator.accounts.issue({ email: ROBOT, project: 'another' });
    const { data } = await clientWith(bench.emulator, token).spreadsheets.developerMetadata.search({
      spreadsheetId: bench.id,
      requestBody: { dataFilters: [{ developerMetadataLookup: { metadataKey: 'k' } }] },
    });
    expect(data).toEqual({});
  });

  it('has room for 30,000 characters on the spreadsheet and on each tab with its rows and columns', async () => {
    const fill = (length: number, location: sheets_v4.Schema$DeveloperMetadataLocation) =>
      bench.batch(create({ metadataKey: 'k', metadataValue: 'v'.repeat(length - 1), location }));
    await fill(30_000, { spreadsheet: true });
    await fill(20_000, { sheetId: 0 });
    await fill(5_000, column(0));
    await fill(5_000, row(0));
    const error = await refusal(fill(2, column(1)));
    expect(error.message).toContain('limit of 30000 characters');
    await bench.batch({ addSheet: { properties: { sheetId: 2, title: 'b' } } });
    await fill(30_000, { sheetId: 2 });
  });
});

describe('a data filter', () => {
  it('reads each managed column with its current range', async () => {
    await bench.put('Sheet1!A1:C3', [
      ['a', 'b', 'c'],
      [1, 2, 3],
      [4, 5, 6],
    ]);
    await bench.batch(
      create({ metadataKey: 'field', metadataValue: 'one', location: column(0) }),
      create({ metadataKey: 'field', metadataValue: 'three', location: column(2) }),
    );
    bench.emulator.people.at(bench.id, 0).moveColumns(0, 1, 3);
    const { data } = await bench.api.spreadsheets.values.batchGetByDataFilter({
      spreadsheetId: bench.id,
      requestBody: {
        majorDimension: 'COLUMNS',
        valueRenderOption: 'UNFORMATTED_VALUE',
        dataFilters: [
          { developerMetadataLookup: { metadataKey: 'field', metadataValue: 'one' } },
          { developerMetadataLookup: { metadataKey: 'field' } },
          { a1Range: 'Sheet1!A1:B1' },
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
      ['Sheet1!A1:B1', [['b'], ['c']], 1],
      ['Sheet1!A2:E2', [[2], [3], [1]], 1],
    ]);
  });

  it('that matches nothing answers nothing; one with two conditions is refused', async () => {
    const get = (filter: sheets_v4.Schema$DataFilter) =>
      bench.api.spreadsheets.values.batchGetByDataFilter({
        spreadsheetId: bench.id,
        requestBody: { dataFilters: [filter] },
      });
    const none = await get({ developerMetadataLookup: { metadataKey: 'k' } });
    expect(none.data).toEqual({ spreadsheetId: bench.id });
    const both = { a1Range: 'A1', gridRange: { sheetId: 0 } };
    expect((await refusal(get(both))).message).toContain('exactly one');
  });

  it('writes the same values to every range it matches, and fails when they do not fit one', async () => {
    await bench.batch(
      create({ metadataKey: 'k', location: column(0) }),
      create({ metadataKey: 'k', location: column(2) }),
    );
    const write = (values: unknown[][]) =>
      bench.api.spreadsheets.values.batchUpdateByDataFilter({
        spreadsheetId: bench.id,
        requestBody: {
          valueInputOption: 'RAW',
          data: [
            {
              dataFilter: { developerMetadataLookup: { metadataKey: 'k' } },
              majorDimension: 'COLUMNS',
              values,
            },
          ],
        },
      });
    const { data } = await write([['x', 'y']]);
    expect(data).toMatchObject({
      totalUpdatedCells: 4,
      totalUpdatedColumns: 2,
      totalUpdatedRows: 2,
    });
    expect(bench.grid()).toEqual([
      ['x', null, 'x'],
      ['y', null, 'y'],
    ]);
    expect((await refusal(write([['1'], ['2']]))).message).toContain('tried writing to column [B]');
    await bench.api.spreadsheets.values.batchClearByDataFilter({
      spreadsheetId: bench.id,
      requestBody: { dataFilters: [{ developerMetadataLookup: { metadataKey: 'k' } }] },
    });
    expect(bench.grid()).toEqual([]);
  });

  it('limits spreadsheets.getByDataFilter', async () => {
    await bench.put('Sheet1!A1:B1', [['a', 'b']]);
    await bench.batch(create({ metadataKey: 'k', location: column(1) }));
    const { data } = await bench.api.spreadsheets.getByDataFilter({
      spreadsheetId: bench.id,
      fields: 'sheets.data(startColumn,rowData.values.formattedValue)',
      requestBody: { dataFilters: [{ developerMetadataLookup: { metadataKey: 'k' } }] },
    });
    expect(data.sheets).toEqual([
      { data: [{ startColumn: 1, rowData: [{ values: [{ formattedValue: 'b' }] }] }] },
    ]);
  });
});
