import {
  startSheetsEmulator,
  type SheetsEmulator,
  type SheetsEmulatorOptions,
} from '../../src/emulator.ts';
import { Inspection } from './inspect.ts';
import { People } from './all-people.ts';

/** An emulator whose browser users and stored cells are at a test's hand. */
export interface TestEmulator extends SheetsEmulator {
  /** What people do in the browser meanwhile. */
  readonly people: People;
  /** Looks past the API at what is stored. */
  readonly inspect: Inspection;
}

/** Starts an emulator on loopback, on any free port. */
export async function startTestEmulator(
  options: SheetsEmulatorOptions = {},
): Promise<TestEmulator> {
  const emulator = await startSheetsEmulator(options);
  const now = (): number => options.clock?.now() ?? Date.now();
  return {
    ...emulator,
    people: new People(emulator.files),
    inspect: new Inspection(emulator.files, now),
  };
}
