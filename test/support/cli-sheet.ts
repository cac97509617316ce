import { onTestFinished } from 'vitest';
import type { TestEmulator } from '../../packages/google-sheets-emulator/test/support/emulator.ts';
import type { Person } from '../../packages/google-sheets-emulator/test/support/people.ts';
import { newSpreadsheet } from './spreadsheet.ts';

/** An empty spreadsheet that the mirror may write to, and its users. */
export interface CliSheet {
  readonly emulator: TestEmulator;
  readonly id: string;
  /** The settings that make it the target. */
  readonly env: Readonly<Record<'SHEETS_EMULATOR_URL' | 'TARGET_URL', string>>;
  /** A person at a tab, by its title. */
  readonly people: (tab: string) => Person;
}

/** Opens one until the test has finished. */
export async function openSheet(): Promise<CliSheet> {
  const { emulator, id, url } = await newSpreadsheet();
  onTestFinished(() => emulator.stop());
  const env = { SHEETS_EMULATOR_URL: url.replace(/\/$/, ''), TARGET_URL: `sheets:${id}` };
  return { emulator, id, env, people: (tab) => emulator.people.at(id, tab) };
}
