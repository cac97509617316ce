import { onTestFinished } from 'vitest';
import {
  startTestEmulator,
  type TestEmulator,
} from '../../packages/google-sheets-emulator/test/support/emulator.ts';
import type { Person } from '../../packages/google-sheets-emulator/test/support/people.ts';
import { EMULATOR_EMAIL, EMULATOR_TOKEN } from '../../src/targets/google/credentials.ts';

/** An empty spreadsheet that the mirror may write, and the people at it. */
export interface CliSheet {
  readonly emulator: TestEmulator;
  readonly id: string;
  /** What makes it the target. */
  readonly env: Readonly<Record<'SHEETS_EMULATOR_URL' | 'TARGET_URL', string>>;
  /** A person at a tab, by its title. */
  readonly people: (tab: string) => Person;
}

/** Opens one until the test has finished. */
export async function openSheet(): Promise<CliSheet> {
  const emulator = await startTestEmulator();
  onTestFinished(() => emulator.stop());
  emulator.accounts.issue({ email: EMULATOR_EMAIL }, EMULATOR_TOKEN);
  const id = emulator.createSpreadsheet({ shares: { [EMULATOR_EMAIL]: 'writer' } });
  const env = { SHEETS_EMULATOR_URL: emulator.url.replace(/\/$/, ''), TARGET_URL: `sheets:${id}` };
  return { emulator, id, env, people: (tab) => emulator.people.at(id, tab) };
}
