import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench, refusal } from './support/client.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.start();
});
afterEach(() => bench.emulator.stop());

describe('tabs', () => {
  it.each([
    [
      { addSheet: { properties: { title: 'SHEET1' } } },
      'A sheet with the name "SHEET1" already exists. Please enter another name.',
    ],
    [
      { addSheet: { properties: { title: 'x'.repeat(101) } } },
      'Sheet name cannot be greater than 100 characters.',
    ],
    [{ addSheet: { properties: { title: '' } } }, 'Sheet name cannot be blank.'],
    [
      { addSheet: { properties: { sheetId: 0 } } },
      'A sheet with id 0 already exists. Please enter another id.',
    ],
    [{ deleteSheet: { sheetId: 0 } }, "You can't remove all the sheets in a document."],
    [
      {
        updateSheetProperties: {
          properties: { sheetId: 0, gridProperties: { frozenRowCount: 10 } },
          fields: 'gridProperties.frozenRowCount',
        },
      },
      "You can't freeze all visible rows on the sheet.",
    ],
    [
      { updateSheetProperties: { properties: { sheetId: 5, title: 'x' }, fields: 'title' } },
      'No sheet with id: 5',
    ],
  ])('refuse what Google refuses (%#)', async (request, message) => {
    const kind = Object.keys(request)[0];
    expect((await refusal(bench.batch(request))).message).toBe(
      `Invalid requests[0].${kind}: ${message}`,
    );
  });
});

describe('the spreadsheet', () => {
  it('returns only the requested fields, and refuses a mask that names no field', async () => {
    bench.put('B2', [['x']]);
    await bench.batch({ addSheet: { properties: { sheetId: 3, title: 'Other' } } });
    const get = async (options: object) =>
      (await bench.api.spreadsheets.get({ spreadsheetId: bench.id, ...options })).data;
    const plain = await get({});
    expect(plain.sheets?.map((sheet) => sheet.data)).toEqual([undefined, undefined]);
    expect(await get({ fields: 'sheets.properties.title' })).toEqual({
      sheets: [{ properties: { title: 'Sheet1' } }, { properties: { title: 'Other' } }],
    });
    const wrong = await refusal(get({ fields: 'sheets.nope' }));
    expect(wrong).toMatchObject({
      message: 'Request contains an invalid argument.',
      details: [{ fieldViolations: [{ field: 'sheets.nope' }] }],
    });
  });
});
