import {
  startSheetsEmulator,
  type SheetsEmulator,
  type SheetsEmulatorOptions,
} from '../../src/emulator.ts';
import { Inspection } from './inspect.ts';
import { Person } from './people.ts';

/** An emulator whose browser users and stored cells are available to a test. */
export interface TestEmulator extends SheetsEmulator {
  /** Actions of people in the browser at the same time, without quota, log or network. */
  readonly people: {
    /** The owner of a file with this tab open, by title or sheet ID. */
    at(spreadsheetId: string, tab: string | number): Person;
  };
  /** Reads the stored data without the API. */
  readonly inspect: Inspection;
}

/** Starts an emulator on loopback, on any free port. */
export async function startTestEmulator(
  options: SheetsEmulatorOptions = {},
): Promise<TestEmulator> {
  const emulator = await startSheetsEmulator(options);
  const { files } = emulator;
  const inspect = new Inspection(files, () => options.clock?.now() ?? Date.now());
  return {
    ...emulator,
    people: {
      at: (id, tab) => new Person(files, id, inspect.sheet(id, tab).id),
    },
    inspect,
  };
}
