import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { InspectedRanges } from '../../../packages/google-sheets-emulator/test/support/inspect.ts';
import { EMULATOR_TOKEN } from '../../../src/targets/google/credentials.ts';
import { SheetMirror } from './sheet-mirror.ts';

/* Columns of the tab: Submitted at, Status, Name, Age, Removed, Submission ID. Rows 2 to 31 show s0 to s29. */
const [AT, STATUS, NAME, AGE, REMOVED, ID] = [0, 1, 2, 3, 4, 5];
const FORM = 'frm_contact';

const LIST = (...choices: string[]): sheets_v4.Schema$TableColumnProperties => ({
  columnType: 'DROPDOWN',
  dataValidationRule: {
    condition: {
      type: 'ONE_OF_LIST',
      values: choices.map((userEnteredValue) => ({ userEnteredValue })),
    },
  },
});

describe('what people lay over a form’s tab', () => {
  let mirror: SheetMirror;
  beforeEach(async () => {
    mirror = await SheetMirror.begin();
  });
  afterEach(() => mirror[Symbol.asyncDispose]());

  const ranges = (): InspectedRanges =>
    mirror.place.sandbox.inspect.ranges(mirror.place.spreadsheetId, 'Contact');
  const table = (): sheets_v4.Schema$Table | undefined => ranges().tables[0];
  const names = () => table()?.columnProperties?.map(({ columnName }) => columnName);
  const ids = (): unknown[] => {
    const grid = mirror.grid();
    const header = grid.find((cells) => cells.includes('Submission ID')) ?? [];
    return grid.map((cells) => cells[header.indexOf('Submission ID')]);
  };
  const column = (index: number): unknown[] => mirror.grid().map((cells) => cells[index] ?? null);
  const sheetId = (): number => table()?.range?.sheetId ?? 0;

  /** What somebody's script asks of the API. */
  async function script(...requests: sheets_v4.Schema$Request[]): Promise<void> {
    const { sandbox, spreadsheetId } = mirror.place;
    const answer = await fetch(`${sandbox.url}v4/spreadsheets/${spreadsheetId}:batchUpdate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${EMULATOR_TOKEN}` },
      body: JSON.stringify({ requests }),
    });
    expect([answer.status, answer.ok ? '' : await answer.text()]).toEqual([200, '']);
  }

  /** Two new submissions arrive, in a pass that changes nothing when it is repeated (L4). */
  async function twoMore(first = 30): Promise<void> {
    mirror.submit(first);
    mirror.submit(first + 1);
    expect(await mirror.pass()).toMatchObject({ outcome: 'ok', inserted: 2 });
    const before = mirror.grid();
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', inserted: 0, updated: 0 });
    expect(mirror.grid()).toEqual(before);
    expect(await mirror.verify()).toMatchObject({ outcome: 'same', notices: [] });
  }

  /** A filter over our columns alone, from the header row on. */
  const filterOver = (header: number): Promise<void> => {
    const sheetId = mirror.place.sandbox.inspect
      .tabs(mirror.place.spreadsheetId)
      .find(({ title }) => title === 'Contact')?.sheetId;
    const rows = { startRowIndex: header, endRowIndex: header + 31 };
    const range = { sheetId: sheetId ?? 0, ...rows, startColumnIndex: 0, endColumnIndex: 6 };
    return script({ setBasicFilter: { filter: { range } } });
  };

  const inOrder = (count: number): string[] => [
    'Submission ID',
    ...Array.from({ length: count }, (_, index) => `s${index}`),
  ];

  describe('a table', () => {
    it('L1 L4: takes in new rows, below the others, pass after pass', async () => {
      mirror.person.convertToTable();
      expect(table()?.range).toMatchObject({ startRowIndex: 0, endRowIndex: 31 });
      await twoMore();
      await twoMore(32);
      expect(table()?.range).toMatchObject({ startRowIndex: 0, endRowIndex: 35 });
      expect(ids()).toEqual(inOrder(34));
    });

    it('L1: is the same to a process that has written to it before, in the same pass and in the next', async () => {
      await twoMore();
      mirror.person.convertToTable();
      await twoMore(32);
      mirror.target = await mirror.place.openElsewhere();
      await twoMore(34);
      expect(table()?.range?.endRowIndex).toBe(37);
    });

    it('L4: takes answers that do not fit its types, as they are, and shows them marked', async () => {
      mirror.person.convertToTable({
        [AT]: { columnType: 'DATE' },
        [STATUS]: LIST('NEW'),
        [NAME]: { columnType: 'DOUBLE' },
        [AGE]: { columnType: 'TEXT' },
      });
      const types = table()?.columnProperties;
      await twoMore();
      expect(table()?.columnProperties).toEqual(types);
      expect(mirror.grid().at(-1)).toEqual([
        expect.any(Number),
        'DONE',
        'Person 31',
        51,
        null,
        's31',
      ]);
      expect(mirror.warnings).toEqual([]);
    });

    it('L4: gets its answers back where a column was made one of checkboxes, and no FALSE beside new ones', async () => {
      mirror.person.convertToTable({
        [AGE]: { columnType: 'BOOLEAN' },
        [REMOVED]: { columnType: 'BOOLEAN' },
      });
      expect(column(AGE)[1]).toBe(false);
      expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', updated: 30 });
      expect(column(AGE).slice(0, 3)).toEqual(['Age', 20, 21]);
      await twoMore();
      expect(column(REMOVED)).toEqual(['Removed', ...Array.from({ length: 32 }, () => null)]);
      expect(table()?.columnProperties?.[AGE]?.columnType).toBe('BOOLEAN');
    });

    it('L9: keeps the names that people gave its columns, and takes those that the form gives', async () => {
      mirror.person.convertToTable();
      mirror.person.renameColumn(NAME, 'Who');
      mirror.store.relabelField(FORM, 'field_age', 'Years');
      mirror.store.relabelField(FORM, 'field_name', 'Full name');
      await mirror.pass('full');
      await twoMore();
      expect(names()).toEqual([
        'Submitted at',
        'Status',
        'Who',
        'Years',
        'Removed',
        'Submission ID',
      ]);
    });

    it('L9: takes in the column of a new question, between two of its own or behind its last', async () => {
      mirror.person.convertToTable({ [AGE]: { columnType: 'DOUBLE' } });
      mirror.store.addField(FORM, { id: 'field_city', label: 'City' });
      await mirror.pass('full');
      await twoMore();
      expect(names()).toEqual([
        'Submitted at',
        'Status',
        'Name',
        'Age',
        'City',
        'Removed',
        'Submission ID',
      ]);
      mirror.person.moveColumns(5, 2, 1);
      mirror.store.addField(FORM, { id: 'field_country', label: 'Country' });
      await mirror.pass('full');
      await twoMore(32);
      expect(names()).toEqual([
        'Submitted at',
        'Removed',
        'Submission ID',
        'Status',
        'Name',
        'Age',
        'City',
        'Country',
      ]);
      expect(table()?.range).toMatchObject({ endColumnIndex: 8, endRowIndex: 35 });
      expect(table()?.columnProperties?.[5]).toMatchObject({
        columnName: 'Age',
        columnType: 'DOUBLE',
      });
    });

    it('leaves beside it what people keep there', async () => {
      mirror.person.convertToTable();
      mirror.person.type(0, 6, 'Notes');
      mirror.person.type(30, 6, 'about s29');
      mirror.person.type(33, 0, 'Total');
      await twoMore();
      expect(table()?.range).toMatchObject({ endRowIndex: 33, endColumnIndex: 6 });
      expect(mirror.grid()[30]?.[6]).toBe('about s29');
      expect(mirror.grid()[35]?.[0]).toBe('Total');
    });

    it('whose header is a title above ours: the names that Sheets gives its columns are no submission', async () => {
      mirror.person.insertTitleRow(0, 'Contacts');
      mirror.person.type(0, ID, 'checked by Ann');
      mirror.person.convertToTable();
      expect(mirror.grid()[0]?.slice(0, 3)).toEqual(['Contacts', 'Column 2', 'Column 3']);
      await twoMore();
      expect(mirror.grid()[0]?.slice(REMOVED, ID + 1)).toEqual(['Column 5', 'checked by Ann']);
      expect(table()?.range).toMatchObject({ startRowIndex: 0, endRowIndex: 34 });
    });

    it('may go: the rows stay, and new ones arrive', async () => {
      const id = mirror.person.convertToTable();
      await twoMore();
      await script({ deleteTable: { tableId: id } });
      await twoMore(32);
      expect(ids()).toEqual(inOrder(34));
      expect(ranges().tables).toEqual([]);
    });

    it('is sorted, and its rows are found again', async () => {
      mirror.person.convertToTable();
      mirror.person.sortRange({ top: 1, bottom: 31, left: 0, right: 6 }, [
        { column: AGE, order: 'DESCENDING' },
      ]);
      mirror.store.setAnswers('s3', { field_name: 'New name', field_age: 23 });
      await twoMore();
      expect(mirror.grid().find((cells) => cells[ID] === 's3')).toContain('New name');
      expect(ids().slice(-3)).toEqual(['s0', 's30', 's31']);
      expect(table()?.range?.endRowIndex).toBe(33);
    });

    it('L1: that ends above the last rows is stretched over them when new ones come', async () => {
      const id = mirror.person.convertToTable();
      const range = { ...table()?.range, endRowIndex: 25 };
      await script({ updateTable: { table: { tableId: id, range }, fields: 'range' } });
      await twoMore();
      expect(table()?.range?.endRowIndex).toBe(33);
      expect(ids()).toEqual(inOrder(32));
    });

    it('of people’s own, over other rows, is left as it is', async () => {
      mirror.person.pasteValues(34, NAME, [
        ['City', 'Count'],
        ['Praha', 4],
      ]);
      const range = {
        startRowIndex: 34,
        endRowIndex: 36,
        startColumnIndex: NAME,
        endColumnIndex: REMOVED,
      };
      mirror.person.convertToTable();
      const own = sheetId();
      await script({ deleteTable: { tableId: table()?.tableId ?? '' } });
      await script({ addTable: { table: { range: { ...range, sheetId: own } } } });
      await twoMore();
      expect(table()?.range).toMatchObject({ startRowIndex: 36, endRowIndex: 38 });
      expect(ids().slice(0, 33)).toEqual(inOrder(32));
    });
  });

  describe('a filter', () => {
    it('C4: that ends at the last row takes in new rows, and hides none that it did not hide', async () => {
      mirror.person.filter(STATUS, ['DONE']);
      await twoMore();
      expect(ranges().basicFilter?.range).toMatchObject({ startRowIndex: 0, endRowIndex: 33 });
      expect(ids()).toEqual(inOrder(32));
      const { hiddenRows } = mirror.place.sandbox.inspect.layout(
        mirror.place.spreadsheetId,
        'Contact',
      );
      expect(hiddenRows).toEqual(Array.from({ length: 15 }, (_, index) => 2 + index * 2));
    });

    it('takes in the column of a new question, so that a sort of it tears no row apart (C1)', async () => {
      mirror.person.moveColumns(REMOVED, 2, 0);
      await filterOver(0);
      mirror.store.addField(FORM, { id: 'field_city', label: 'City' });
      await mirror.pass('full');
      await twoMore();
      expect(ranges().basicFilter?.range).toMatchObject({ endColumnIndex: 7 });
    });

    it('of one person, and alternating colours, take new rows in, too', async () => {
      mirror.person.convertToTable();
      const range = { ...table()?.range };
      await script({ deleteTable: { tableId: table()?.tableId ?? '' } });
      const rowProperties = { firstBandColor: { red: 1 }, secondBandColor: { blue: 1 } };
      await script(
        { addFilterView: { filter: { range } } },
        { addBanding: { bandedRange: { range, rowProperties } } },
      );
      await twoMore();
      expect(ranges().filterViews[0]?.range?.endRowIndex).toBe(33);
      expect(ranges().bandedRanges[0]?.range?.endRowIndex).toBe(33);
    });

    it('does not keep rows or columns away that Google does not let it take in', async () => {
      mirror.person.moveColumns(REMOVED, 2, 0);
      mirror.person.insertTitleRow(0, 'Contacts');
      mirror.person.freezeRows(2);
      await filterOver(1);
      // A title over two columns, and a remark beside two rows: what is merged is not moved.
      mirror.person.merge({ top: 0, bottom: 1, left: 4, right: 6 });
      mirror.person.merge({ top: 30, bottom: 32, left: 8, right: 9 });
      mirror.store.addField(FORM, { id: 'field_city', label: 'City' });
      await mirror.pass('full');
      await twoMore();
      expect(ids().slice(1)).toEqual(inOrder(32));
      expect(mirror.grid()[1]?.[6]).toBe('City');
      expect(ranges().basicFilter?.range).toMatchObject({ endRowIndex: 32, endColumnIndex: 6 });
    });
  });

  it('new rows in it look like the one above, except for the colour of its cells', async () => {
    mirror.person.filter(STATUS, []);
    const dates = { type: 'DATE', pattern: 'd. m. yyyy' };
    mirror.person.format({ left: AT, right: AT + 1 }, { numberFormat: dates });
    mirror.person.format({ top: 30, bottom: 31 }, { backgroundColor: { red: 1, green: 1 } });
    await twoMore();
    const { sandbox, spreadsheetId } = mirror.place;
    const cell = sandbox.inspect.cell(spreadsheetId, 'Contact', 31, AT);
    expect(cell.format.numberFormat).toEqual(dates);
    expect(cell.format.backgroundColor).toBeUndefined();
  });
});
