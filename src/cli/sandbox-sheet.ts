import { errorCode } from '../base/error-code.ts';
import { MirrorError } from '../base/errors.ts';
import { EMULATOR_EMAIL, EMULATOR_TOKEN } from '../targets/google/credentials.ts';

/** A stand-in for Google Sheets with one empty spreadsheet that the mirror may write to. */
export interface SandboxSheet extends AsyncDisposable {
  /** Settings that mirror into it. */
  readonly env: { readonly SHEETS_EMULATOR_URL: string; readonly TARGET_URL: string };
  /** Shows the spreadsheet as a page. */
  readonly viewUrl: string;
}

/** Starts it on loopback, on `port` or, with 0, any free one. Throws USAGE outside a checkout of the repository. */
export async function startSandboxSheet(port = 0): Promise<SandboxSheet> {
  const { startSheetsEmulator } = await loadEmulator();
  const emulator = await startSheetsEmulator({ port });
  emulator.accounts.issue({ email: EMULATOR_EMAIL }, EMULATOR_TOKEN);
  const id = emulator.createSpreadsheet({
    title: 'Form submissions',
    shares: { [EMULATOR_EMAIL]: 'writer' },
  });
  const root = emulator.url.replace(/\/$/, '');
  return {
    env: { SHEETS_EMULATOR_URL: root, TARGET_URL: `sheets:${id}` },
    viewUrl: `${root}/view/${id}`,
    [Symbol.asyncDispose]: () => emulator.stop(),
  };
}

/** The published package does not carry the emulator. */
async function loadEmulator() {
  try {
    return await import('google-sheets-emulator');
  } catch (error) {
    if (errorCode(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new MirrorError(
      'USAGE',
      '--sheets needs a checkout of the repository, where npm ci installs the stand-in for Google Sheets: this package does not include it.',
    );
  }
}
