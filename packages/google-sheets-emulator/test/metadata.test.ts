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

describe('developer metadata', () => {
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

  it('has space for 30,000 characters on the spreadsheet and on each tab with its columns', async () => {
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
