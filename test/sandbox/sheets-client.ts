import { OAuth2Client } from 'google-auth-library';
import { sheets, type sheets_v4 } from 'googleapis/build/src/apis/sheets/index.js';
import {
  startSheetsSandbox,
  type SheetsSandbox,
  type SheetsSandboxOptions,
} from '../../src/sandbox/sheets-api/sheets-sandbox.ts';

/** The address of the mirror's service account in these tests. */
export const ROBOT = 'robot@forms-mirror.iam.gserviceaccount.com';

/** Google's own client, pointed at a stand-in, with a token for `email`. */
export function clientFor(sandbox: SheetsSandbox, email = ROBOT): sheets_v4.Sheets {
  return clientWith(sandbox, sandbox.accounts.issue({ email }));
}

/** Google's own client with a given token. */
export function clientWith(sandbox: SheetsSandbox, token: string): sheets_v4.Sheets {
  const auth = new OAuth2Client();
  auth.setCredentials({ access_token: token, expiry_date: Date.now() + 3_600_000 });
  return sheets({ version: 'v4', rootUrl: sandbox.url, auth, retry: false });
}

/** The `error` of a refused call, as Google's client got it. Throws when the call was not refused. */
export async function refusal(
  call: Promise<unknown>,
): Promise<{ code: number; message: string; status: string; details?: Record<string, unknown>[] }> {
  try {
    await call;
  } catch (error) {
    const data = (error as { response?: { data?: { error?: unknown } } }).response?.data?.error;
    if (data === undefined) throw error;
    return data as { code: number; message: string; status: string };
  }
  throw new Error('the call was not refused');
}

/** A stand-in with one spreadsheet that the robot may write to, and short ways to use it. */
export class Bench {
  readonly sandbox: SheetsSandbox;
  readonly api: sheets_v4.Sheets;
  readonly id: string;

  constructor(sandbox: SheetsSandbox, id: string) {
    this.sandbox = sandbox;
    this.id = id;
    this.api = clientFor(sandbox);
  }

  /** Starts a stand-in; `tab` is the size of its only tab, 10 × 5 by default. */
  static async start(
    options: SheetsSandboxOptions = {},
    spreadsheet: Parameters<SheetsSandbox['createSpreadsheet']>[0] = {},
  ): Promise<Bench> {
    const sandbox = await startSheetsSandbox(options);
    const id = sandbox.createSpreadsheet({
      tab: { rows: 10, columns: 5 },
      shares: { [ROBOT]: 'writer' },
      ...spreadsheet,
    });
    return new Bench(sandbox, id);
  }

  /** batchUpdate; returns the replies. */
  async batch(...requests: sheets_v4.Schema$Request[]): Promise<sheets_v4.Schema$Response[]> {
    const { data } = await this.api.spreadsheets.batchUpdate({
      spreadsheetId: this.id,
      requestBody: { requests },
    });
    return data.replies ?? [];
  }

  /** values.update, RAW. */
  async put(range: string, values: unknown[][], valueInputOption = 'RAW'): Promise<void> {
    await this.api.spreadsheets.values.update({
      spreadsheetId: this.id,
      range,
      valueInputOption,
      requestBody: { values },
    });
  }

  /** values.get. */
  async get(
    range: string,
    options: {
      valueRenderOption?: string;
      dateTimeRenderOption?: string;
      majorDimension?: string;
    } = {},
  ): Promise<sheets_v4.Schema$ValueRange> {
    const { data } = await this.api.spreadsheets.values.get({
      spreadsheetId: this.id,
      range,
      ...options,
    });
    return data;
  }

  /** What the first tab holds. */
  grid(): (string | number | boolean | null)[][] {
    return this.sandbox.inspect.grid(this.id, 0);
  }
}

/** The seed of a property test: random, or that of FC_SEED. fast-check prints it when a property fails. */
export function seed(): { seed?: number } {
  const given = process.env['FC_SEED'];
  return given === undefined ? {} : { seed: Number(given) };
}
