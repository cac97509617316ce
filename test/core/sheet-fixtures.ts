import type { TestEmulator } from '../../packages/google-sheets-emulator/test/support/emulator.ts';
import type { Person } from '../../packages/google-sheets-emulator/test/support/people.ts';
import type { Stored } from '../../packages/google-sheets-emulator/test/support/inspect.ts';
import type { OpenForm, Store, TargetNotice } from '../../src/mirror/port.ts';
import { openSheetStore } from '../../src/targets/google-sheets/store.ts';
import type { SelectedField } from '../../src/mirror/types.ts';
import { newSpreadsheet } from '../support/spreadsheet.ts';
import { AGE, clock, formOf, NAME } from './store-fixtures.ts';

/** A spreadsheet with one form, the person who has its tab open, and runs of the store over it. */

/** Columns of a new tab; people's columns begin at 6. */
export const [AT, STATUS, FULL_NAME, AGE_AT, REMOVED, ID, OWN] = [0, 1, 2, 3, 4, 5, 6];

export interface SheetPlace extends AsyncDisposable {
  readonly emulator: TestEmulator;
  readonly spreadsheetId: string;
  open(): Promise<Store>;
  /** Opens the form, runs `work`, and ends as a run does. Returns the notices of the run. */
  write(
    work: (form: OpenForm) => Promise<unknown>,
    fields?: readonly SelectedField[],
  ): Promise<readonly TargetNotice[]>;
  person(): Person;
  sheetId(): number;
  grid(): Stored[][];
  /** The row of a submission. */
  placeOf(id: string): number;
  rowOf(id: string): Stored[] | undefined;
  /** Requests since the last call, by what they do. */
  calls(): { reads: number; writes: number };
}

export async function sheetPlace(): Promise<SheetPlace> {
  const { emulator, id: spreadsheetId } = await newSpreadsheet();
  const sheetId = (): number =>
    emulator.inspect.metadata(spreadsheetId).find(({ metadataKey }) => metadataKey === 'fm.form')
      ?.location?.sheetId ?? -1;
  const open = (): Promise<Store> =>
    openSheetStore(spreadsheetId, {
      name: 'default',
      clock,
      emulatorUrl: emulator.url,
    });
  const store = await open();
  const grid = (): Stored[][] => emulator.inspect.grid(spreadsheetId, sheetId());
  const placeOf = (id: string): number => grid().findIndex((line) => line.includes(id));
  return {
    emulator,
    spreadsheetId,
    open,
    async write(work, fields = [NAME, AGE]) {
      await using form = await store.open(formOf('contact', fields));
      await form.prepare(formOf('contact', fields), fields);
      await work(form);
      return form.finish();
    },
    person: () => emulator.people.at(spreadsheetId, sheetId()),
    sheetId,
    grid,
    placeOf,
    rowOf: (id) => grid()[placeOf(id)],
    calls() {
      const counts = emulator.requests.counts();
      emulator.requests.clear();
      return counts;
    },
    [Symbol.asyncDispose]: () => emulator.stop(),
  };
}
