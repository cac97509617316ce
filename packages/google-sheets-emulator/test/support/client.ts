import { OAuth2Client } from 'google-auth-library';
import { sheets, type sheets_v4 } from 'googleapis/build/src/apis/sheets/index.js';
import { columnIndex } from '../../src/a1.ts';
import type { SheetsEmulator, SheetsEmulatorOptions } from '../../src/emulator.ts';
import { startTestEmulator, type TestEmulator } from './emulator.ts';
import type { Pasted } from './people.ts';

/** The service account in these tests. */
const ROBOT = 'robot@example-project.iam.gserviceaccount.com';

/** Google's own client, pointed at an emulator. */
function clientFor(emulator: SheetsEmulator): sheets_v4.Sheets {
  const auth = new OAuth2Client();
  const access_token = emulator.accounts.issue({ email: ROBOT });
  auth.setCredentials({ access_token, expiry_date: Date.now() + 3_600_000 });
  return sheets({ version: 'v4', rootUrl: emulator.url, auth, retry: false });
}

/** The `error` of a refused call, as Google's client received it. Throws if the call was not refused. */
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

/** An emulator with one spreadsheet that the robot may write to, and short methods for it. */
export class Bench {
  readonly emulator: TestEmulator;
  readonly api: sheets_v4.Sheets;
  readonly id: string;

  constructor(emulator: TestEmulator, id: string) {
    this.emulator = emulator;
    this.id = id;
    this.api = clientFor(emulator);
  }

  /** Starts an emulator; `tab` is the size of its only tab, 10 × 5 by default. */
  static async start(
    options: SheetsEmulatorOptions = {},
    spreadsheet: Parameters<SheetsEmulator['createSpreadsheet']>[0] = {},
  ): Promise<Bench> {
    const emulator = await startTestEmulator(options);
    const id = emulator.createSpreadsheet({
      tab: { rows: 10, columns: 5 },
      ...spreadsheet,
    });
    return new Bench(emulator, id);
  }

  /** batchUpdate; returns the replies. */
  async batch(...requests: sheets_v4.Schema$Request[]): Promise<sheets_v4.Schema$Response[]> {
    const { data } = await this.api.spreadsheets.batchUpdate({
      spreadsheetId: this.id,
      requestBody: { requests },
    });
    return data.replies ?? [];
  }

  /** Lets a person paste values into the first tab, from a cell on. */
  put(cell: string, values: readonly (readonly Pasted[])[]): void {
    const [, letters = '', number = ''] = /^([A-Z]+)(\d+)$/.exec(cell) ?? [];
    const person = this.emulator.people.at(this.id, 0);
    person.pasteValues(Number(number) - 1, columnIndex(letters), values);
  }

  /** The content of the first tab. */
  grid(): (string | number | boolean | null)[][] {
    return this.emulator.inspect.grid(this.id, 0);
  }
}
