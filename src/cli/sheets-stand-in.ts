import { startSheetsSandbox } from '../sandbox/sheets-api/sheets-sandbox.ts';
import { EMULATOR_EMAIL, EMULATOR_TOKEN } from '../targets/google-sheets/credentials.ts';

/** A stand-in for Google Sheets with one empty spreadsheet that is shared with us. */
export interface SheetsStandIn extends AsyncDisposable {
  /** Settings that mirror into it. */
  readonly env: { readonly SHEETS_EMULATOR_URL: string; readonly TARGET_URL: string };
  /** Shows the spreadsheet as a page. */
  readonly viewUrl: string;
}

/** Starts it on loopback, on `port` or, with 0, any free one. */
export async function startSheetsStandIn(port = 0): Promise<SheetsStandIn> {
  const sandbox = await startSheetsSandbox({ port });
  sandbox.accounts.issue({ email: EMULATOR_EMAIL }, EMULATOR_TOKEN);
  const id = sandbox.createSpreadsheet({
    title: 'Form submissions',
    shares: { [EMULATOR_EMAIL]: 'writer' },
  });
  const root = sandbox.url.replace(/\/$/, '');
  return {
    env: { SHEETS_EMULATOR_URL: root, TARGET_URL: `sheets:${id}` },
    viewUrl: `${root}/view/${id}`,
    [Symbol.asyncDispose]: () => sandbox.stop(),
  };
}
