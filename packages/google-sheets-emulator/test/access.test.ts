import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { afterEach, describe, expect, it } from 'vitest';
import { Bench, clientWith, refusal, ROBOT } from './support/client.ts';

let bench: Bench;
afterEach(() => bench.emulator.stop());

const read = (target: Bench, token: string, id = target.id) =>
  clientWith(target.emulator, token).spreadsheets.get({
    spreadsheetId: id,
    fields: 'spreadsheetId',
  });

const written = (stringValue: string): sheets_v4.Schema$Request => ({
  updateCells: {
    start: { sheetId: 0, rowIndex: 0, columnIndex: 0 },
    rows: [{ values: [{ userEnteredValue: { stringValue } }] }],
    fields: 'userEnteredValue',
  },
});

const writeOne = (target: Bench, client = target.api) =>
  client.spreadsheets.batchUpdate({
    spreadsheetId: target.id,
    requestBody: { requests: [written('x')] },
  });

describe('who may do what', () => {
  it('distinguishes a wrong ID, a file that is not shared, and a viewer', async () => {
    bench = await Bench.start();
    const { accounts, people } = bench.emulator;
    expect(await refusal(read(bench, accounts.issue({ email: ROBOT }), 'wrong'))).toEqual({
      code: 404,
      message: 'Requested entity was not found.',
      status: 'NOT_FOUND',
    });
    const stranger = accounts.issue({ email: 'stranger@example.com' });
    const denied = {
      code: 403,
      message: 'The caller does not have permission',
      status: 'PERMISSION_DENIED',
    };
    expect(await refusal(read(bench, stranger))).toEqual(denied);
    people.share(bench.id, 'Stranger@Example.com', 'reader');
    expect((await read(bench, stranger)).status).toBe(200);
    expect(await refusal(writeOne(bench, clientWith(bench.emulator, stranger)))).toEqual(denied);
  });

  it('refuses missing and wrong credentials', async () => {
    bench = await Bench.start();
    const bare = await fetch(`${bench.emulator.url}v4/spreadsheets/${bench.id}`);
    expect(bare.status).toBe(403);
    expect(await bare.json()).toEqual({
      error: {
        code: 403,
        message: 'The request is missing a valid API key.',
        status: 'PERMISSION_DENIED',
      },
    });
    expect(await refusal(read(bench, 'nonsense'))).toMatchObject({
      code: 401,
      status: 'UNAUTHENTICATED',
      message: expect.stringMatching(/^Request had invalid authentication credentials\./),
    });
  });
});
