import {
  startTestEmulator,
  type TestEmulator,
} from '../../packages/google-sheets-emulator/test/support/emulator.ts';
import { EMULATOR_EMAIL, EMULATOR_TOKEN } from '../../src/targets/google/credentials.ts';

/** An empty spreadsheet that the mirror may write to, on its own emulator. */
export interface Spreadsheet extends AsyncDisposable {
  readonly emulator: TestEmulator;
  readonly id: string;
  readonly url: string;
}

export async function newSpreadsheet(): Promise<Spreadsheet> {
  const emulator = await startTestEmulator();
  emulator.accounts.issue({ email: EMULATOR_EMAIL }, EMULATOR_TOKEN);
  const id = emulator.createSpreadsheet({ title: 'Answers' });
  return { emulator, id, url: emulator.url, [Symbol.asyncDispose]: () => emulator.stop() };
}
