import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SheetMirror } from './sheet-mirror.ts';

const FORM = 'frm_contact';
const [AT, NOTE] = [0, 7];
const HEADER = ['Submitted at', 'Status', 'Name', 'Years', 'City', 'Removed', 'Submission ID'];

describe('C7: a header row that was sorted into the rows', () => {
  let mirror: SheetMirror;
  beforeEach(async () => {
    mirror = await SheetMirror.begin(4);
    mirror.person.freezeRows(0);
    mirror.person.sortSheet(AT, 'ASCENDING');
    mirror.store.relabelField(FORM, 'field_age', 'Years');
    mirror.store.addField(FORM, { id: 'field_city', label: 'City' });
    mirror.submit(4);
  });
  afterEach(() => mirror[Symbol.asyncDispose]());

  const ids = (): unknown[] => {
    const grid = mirror.grid();
    const header = grid.find((cells) => cells.includes('Submission ID')) ?? [];
    return grid.map((cells) => cells[header.indexOf('Submission ID')] ?? cells[0]);
  };
  const rows = ['s0', 's1', 's2', 's3', 's4'];

  it('comes back above them, and takes new names and columns', async () => {
    expect(ids()).toEqual(['s0', 's1', 's2', 's3', 'Submission ID']);
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', inserted: 1 });
    expect(ids()).toEqual(['Submission ID', ...rows]);
    expect(mirror.grid()[0]).toEqual(HEADER);
    expect(await mirror.verify()).toMatchObject({ outcome: 'same', notices: [] });
  });

  it('comes back when there are only rows to write, below a title, with what people wrote beside', async () => {
    await mirror.pass('full');
    mirror.person.insertTitleRow(0, 'Customers');
    mirror.person.sortRange({ top: 1 }, [{ column: AT }]);
    mirror.person.type(1, NOTE, 'call back');
    mirror.submit(5);
    expect(await mirror.pass()).toMatchObject({ outcome: 'ok', inserted: 1 });
    expect(ids()).toEqual(['Customers', 'Submission ID', ...rows, 's5']);
    expect(mirror.grid()[1]).toEqual(HEADER);
    expect(mirror.grid()[2]?.[NOTE]).toBe('call back');
    const before = mirror.grid();
    await mirror.pass('full');
    expect(mirror.grid()).toEqual(before);
  });

  it('stays where it is when it cannot be moved, and the rows are kept up to date', async () => {
    mirror.person.merge({ top: 3, bottom: 5, left: 8, right: 9 });
    mirror.store.setAnswers('s1', { field_name: 'Ada', field_age: 21 });
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', inserted: 1 });
    // None can be inserted into what is merged: the new one goes into a blank row.
    expect(ids()).toEqual([...rows.slice(0, 4), 'Submission ID', 's4']);
    expect(mirror.grid()[1]).toContain('Ada');
  });
});
