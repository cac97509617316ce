import type { OAuth2Client } from 'google-auth-library';
import { expect, it } from 'vitest';
import { SpreadsheetRegistry } from '../../../src/targets/google-sheets/registry.ts';
import { SleepersClock } from './sheets-place.ts';

it.each([
  ['at Google keeps a second between two requests', undefined, [0, 1_000, 2_000]],
  ['of a stand-in, which counts none, does not wait', 'http://127.0.0.1:1/', [0, 0, 0]],
] as const)('a spreadsheet %s', async (_, rootUrl, expected) => {
  const clock = new SleepersClock();
  const begun = clock.now();
  const starts: number[] = [];
  const request = async (): Promise<unknown> => {
    starts.push(clock.now() - begun);
    return { data: {} };
  };
  const account = { auth: { request } as unknown as OAuth2Client, email: undefined, key: 'one' };
  const spreadsheet = new SpreadsheetRegistry(clock).spreadsheet(account, 'sheet', rootUrl);
  for (let nth = 0; nth < expected.length; nth++) await spreadsheet.api.protections();
  expect(starts).toEqual(expected);
});
