import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Person } from './support/people.ts';
import { Bench } from './support/client.ts';

let bench: Bench;
let person: Person;
beforeEach(async () => {
  bench = await Bench.start();
  person = bench.emulator.people.at(bench.id, 'Sheet1');
  person.pasteValues(0, 0, [
    ['id', 'name', 'n'],
    ['1', 'Zoe', 3],
    ['2', 'Ann', 1],
    ['3', 'Bob', 2],
  ]);
});
afterEach(() => bench.emulator.stop());

const column = (index: number) => bench.grid().map((row) => row[index] ?? null);

describe('a person', () => {
  it('sorts the sheet below its frozen header; without one the header is sorted along', () => {
    person.freezeRows(1);
    person.sortSheet(1);
    expect(column(1)).toEqual(['name', 'Ann', 'Bob', 'Zoe']);
    person.sortSheet(2, 'DESCENDING');
    expect(column(2)).toEqual(['n', 3, 2, 1]);
    person.freezeRows(0);
    person.sortSheet(1);
    expect(column(1)).toEqual(['Ann', 'Bob', 'name', 'Zoe']);
  });

  it('moves, inserts, deletes and renames columns, notes and all', () => {
    person.note(1, 1, 'about Zoe');
    person.moveColumns(1, 1, 0);
    person.insertColumns(1, 2);
    person.renameColumn(0, 'Who');
    person.deleteColumns(3);
    expect(bench.grid()[0]).toEqual(['Who', null, null, 'n']);
    expect(bench.emulator.inspect.notes(bench.id, 0)).toEqual([
      { row: 1, column: 0, note: 'about Zoe' },
    ]);
  });

  it('inserts blank and title rows, deletes, moves, copies and duplicates rows', () => {
    person.insertTitleRow(0, 'Our list');
    person.insertRows(3);
    expect(column(0)).toEqual(['Our list', 'id', '1', null, '2', '3']);
    person.deleteRows(3);
    person.moveRows(2, 1, 5);
    person.duplicateRow(2);
    person.copyRow(4, 6);
    expect(column(0)).toEqual(['Our list', 'id', '2', '2', '3', '1', '3']);
  });

  it('types numbers, dates, formulas and texts as the browser takes them', () => {
    person.format({ left: 4, right: 5 }, { numberFormat: { type: 'TEXT' } });
    person.type(1, 3, '=C2*2');
    person.type(2, 3, '1/2/2026');
    person.type(3, 3, '007');
    person.type(3, 4, '007');
    expect(bench.emulator.inspect.shown(bench.id, 0).map((row) => row.slice(3))).toEqual([
      [],
      ['6'],
      ['1/2/2026'],
      ['7', '007'],
    ]);
    expect(bench.emulator.inspect.types(bench.id, 0)[1]).toEqual([
      'string',
      'string',
      'number',
      'formula',
    ]);
    person.type(1, 3, '');
    expect(bench.grid()[1]).toEqual(['1', 'Zoe', 3]);
    expect(() => person.type(50, 0, 'x')).toThrow('exceeds grid limits');
  });

  it('keeps a date column’s way of showing dates when typing into it; the API does not (C10)', async () => {
    person.format({ left: 3, right: 4 }, { numberFormat: { type: 'DATE', pattern: 'd. m. yyyy' } });
    person.type(1, 3, '1/2/2026');
    await bench.put('Sheet1!D3', [['1/2/2026']], 'USER_ENTERED');
    expect(bench.emulator.inspect.shown(bench.id, 0).map((row) => row[3])).toEqual([
      undefined,
      '2. 1. 2026',
      '1/2/2026',
      undefined,
    ]);
  });

  it('filters and hides; nothing is gone by it', () => {
    const before = bench.grid();
    person.filter(1, ['Ann']);
    person.hideRows(3);
    person.hideColumns(0);
    expect(bench.grid()).toEqual(before);
    expect(bench.emulator.inspect.layout(bench.id, 0)).toEqual({
      frozenRowCount: 0,
      frozenColumnCount: 0,
      hiddenRows: [2, 3],
      hiddenColumns: [0],
      widths: {},
    });
  });

  it('formats cells, writes notes, and both can be looked up', () => {
    person.format(
      { top: 1, bottom: 2, left: 1, right: 2 },
      { textFormat: { strikethrough: true } },
    );
    person.note(1, 1, 'called');
    expect(bench.emulator.inspect.cell(bench.id, 0, 1, 1)).toEqual({
      value: 'Zoe',
      shown: 'Zoe',
      format: { textFormat: { strikethrough: true } },
      note: 'called',
    });
  });

  it('handles tabs: adds, renames, deletes', () => {
    const notes = person.addTab('Notes');
    person.renameTab('Leads');
    const titles = (): unknown[] => bench.emulator.inspect.tabs(bench.id).map(({ title }) => title);
    expect(titles()).toEqual(['Leads', 'Notes']);
    bench.emulator.people.at(bench.id, notes).deleteTab();
    expect(titles()).toEqual(['Leads']);
  });

  it('leaves no trace in the request log, but counts as a change', () => {
    const before = bench.emulator.inspect.revision(bench.id);
    person.type(0, 4, 'x');
    expect(bench.emulator.inspect.revision(bench.id)).toBe(before + 1);
    expect(bench.emulator.requests.all()).toEqual([]);
  });

  it('does the same thing in the same way every time', async () => {
    const play = async () => {
      const other = await Bench.start();
      const actor = other.emulator.people.at(other.id, 0);
      actor.pasteValues(0, 0, [['b'], ['a']]);
      actor.protect({ top: 0, bottom: 1 });
      actor.addTab('x');
      actor.sortSheet(0);
      const { data } = await other.api.spreadsheets.get({
        spreadsheetId: other.id,
        includeGridData: true,
      });
      await other.emulator.stop();
      return data;
    };
    expect(await play()).toEqual(await play());
  });

  it('who is no owner is held by protections and shares', () => {
    const { people } = bench.emulator;
    person.protect({ top: 0, bottom: 1 });
    const guest = people.at(bench.id, 0, 'guest@example.com');
    expect(() => guest.renameColumn(0, 'x')).toThrow('protected cell');
    guest.type(1, 4, 'fine');
    expect(bench.grid()[1]?.[4]).toBe('fine');
  });
});
