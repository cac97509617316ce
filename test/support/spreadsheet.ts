import { onTestFinished } from 'vitest';
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
  /** The settings that make it the target. */
  readonly env: Readonly<Record<'SHEETS_EMULATOR_URL' | 'TARGET_URL', string>>;
}

export async function newSpreadsheet(): Promise<Spreadsheet> {
  const emulator = await startTestEmulator();
  emulator.accounts.issue({ email: EMULATOR_EMAIL }, EMULATOR_TOKEN);
  const id = emulator.createSpreadsheet({ title: 'Answers' });
  const { url } = emulator;
  const env = { SHEETS_EMULATOR_URL: url.replace(/\/$/, ''), TARGET_URL: `sheets:${id}` };
  return { emulator, id, url, env, [Symbol.asyncDispose]: () => emulator.stop() };
}

/** Opens one until the test has finished. */
export async function openSheet(): Promise<Spreadsheet> {
  const sheet = await newSpreadsheet();
  onTestFinished(() => sheet.emulator.stop());
  return sheet;
}
