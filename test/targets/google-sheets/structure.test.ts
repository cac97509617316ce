import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Person } from '../../../packages/google-sheets-emulator/test/support/people.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { SheetsApi } from '../../../src/targets/google-sheets/api/sheets-api.ts';
import {
  type FormTab,
  readStructure,
  requireColumns,
  requireRevision,
  type Structure,
} from '../../../src/targets/google-sheets/structure.ts';
import { EMULATOR_EMAIL, openAccount } from '../../../src/targets/google/credentials.ts';
import { AT, ID, OWN, type SheetPlace, sheetPlace } from '../../core/sheet-fixtures.ts';
import { row } from '../../core/store-fixtures.ts';

let place: SheetPlace;
let api: SheetsApi;
beforeEach(async () => {
  place = await sheetPlace();
  const rootUrl = place.emulator.url;
  const account = await openAccount({ emulatorUrl: rootUrl }, EMULATOR_EMAIL);
  const { spreadsheetId } = place;
  api = new SheetsApi({ spreadsheetId, account, clock: systemClock, rootUrl });
  const rows = ['s0', 's1', 's2'].map((id) => row(id, { f_name: id, f_age: 20 }));
  await place.write((form) => form.commit({ rows }));
});
afterEach(() => place[Symbol.asyncDispose]());

const read = async (): Promise<Structure> => readStructure(await api.structure());

it('a spreadsheet of another build is not touched', async () => {
  const found = await api.structure();
  const marks = (found.sheets ?? []).flatMap((sheet) => sheet.developerMetadata ?? []);
  const mark = marks.find(({ metadataValue }) => metadataValue?.startsWith('["state '));
  Object.assign(mark ?? {}, {
    metadataValue: mark?.metadataValue?.replace(/state \d+/, 'state 0'),
  });
  expect(() => readStructure(found)).toThrow(/written by another build.*delete the hidden tab/);
});

const tabIn = ({ forms }: Structure): FormTab => [...forms.values()][0] as FormTab;

describe('a write that requires the columns as they were read', () => {
  it.each<[string, (person: Person) => void]>([
    ['move one', (person) => person.moveColumns(AT, 1, 3)],
    ['move one of theirs between ours', (person) => person.moveColumns(OWN, 1, 2)],
    ['insert one', (person) => person.insertColumns(ID)],
    ['delete the first of ours', (person) => person.deleteColumns(AT)],
    ['delete the last of ours', (person) => person.deleteColumns(ID)],
    [
      'delete all that are behind the last of ours, and it',
      (person) => person.deleteColumns(ID, 5),
    ],
  ])('is refused if people %s', async (_, act) => {
    // The mark of the column after ours is added with the first write by place.
    await place.write((form) => form.commit({ rows: [row('s3', { f_name: 'new' })] }));
    const tab = tabIn(await read());
    act(place.person());
    const before = place.grid();
    const { sheetId } = tab;
    const written = api.update([
      ...requireColumns(tab, 7),
      { appendDimension: { sheetId, dimension: 'ROWS', length: 1 } },
    ]);
    await expect(written).rejects.toMatchObject({ fault: expect.stringMatching(/taken|refused/) });
    expect(place.grid()).toEqual(before);
  });
});

it('L13: a write that requires an earlier revision is refused, however late it arrives', async () => {
  const before = await read();
  const write = (structure: Structure, name: string) =>
    api.update(requireRevision(structure, name));
  await write(before, 'a');
  await write(await read(), 'b');
  await write(await read(), 'c');
  await expect(write(before, 'late')).rejects.toMatchObject({ fault: 'taken' });
  expect((await read()).revision).toBe('c');
});
