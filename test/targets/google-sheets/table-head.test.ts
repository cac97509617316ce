import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SheetMirror } from './sheet-mirror.ts';

const FORM = 'frm_contact';
/* Columns of the tab: Submitted at, Status, Name, Age, Removed, Submission ID. */
const [AT, REMOVED, ID] = [0, 4, 5];
const HEADER = ['Submitted at', 'Status', 'Name', 'Age', 'Removed', 'Submission ID'];

describe('a table whose head is a submission’s row', () => {
  let mirror: SheetMirror;
  beforeEach(async () => {
    mirror = await SheetMirror.begin(4);
    await mirror.pass('full');
    mirror.person.freezeRows(0);
    mirror.person.sortSheet(AT);
    mirror.person.convertToTable();
  });
  afterEach(() => mirror[Symbol.asyncDispose]());

  const notices = async (): Promise<string[]> =>
    ((await mirror.overview())?.notices ?? []).map(
      ({ code, message, remedy }) => `${code}: ${message} ${remedy}`,
    );
  const expectQuiet = async (mostReads = 2): Promise<void> => {
    const before = mirror.grid();
    mirror.place.sandbox.requests.clear();
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', updated: 0, inserted: 0 });
    const { reads, writes } = mirror.place.sandbox.requests.counts();
    expect([reads <= mostReads, writes]).toEqual([true, 0]);
    expect(mirror.grid()).toEqual(before);
  };

  it('L4, L17: no pass rewrites it, it is named, and all else is written', async () => {
    expect(mirror.rowOf('s0')?.[REMOVED]).toBe('Column 5');
    mirror.store.setAnswers('s1', { field_name: 'New name', field_age: 21 });
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', updated: 1, rejected: 1 });
    expect(mirror.rowOf('s1')).toContain('New name');
    await mirror.pass('full');
    await expectQuiet();
    await expectQuiet();
    expect(await notices()).toEqual([
      'CELLS_IN_HEAD: On the tab "Contact" the head of the table "Table1" (A2:F2) keeps forms-mirror from writing: ' +
        '1 submission is not as the source has it. Everything else is written. Revert the table to unformatted data (by ' +
        'its menu); from the header row on it can be made a table again. The rest follows by itself.',
    ]);
    expect(mirror.shown().flat().join('\n')).toContain('the head of the table "Table1" (A2:F2)');
    expect(await mirror.verify()).toMatchObject({ outcome: 'same' });
  });

  it('L1: what is in its way is written once it is no table any more', async () => {
    mirror.store.setStatus('s0', 'PAID');
    await mirror.pass('full');
    expect(mirror.rowOf('s0')).not.toContain('PAID');
    mirror.person.revertTables();
    expect(await mirror.pass()).toMatchObject({ kind: 'full', outcome: 'ok', rejected: 0 });
    expect(mirror.grid()[0]).toEqual(HEADER);
    expect(mirror.rowOf('s0')).toEqual([expect.any(Number), 'PAID', 'Person 0', 20, null, 's0']);
    expect(await notices()).toEqual([]);
    await mirror.pass('full');
    await expectQuiet();
    expect(await mirror.verify()).toMatchObject({ outcome: 'same', listed: 0 });
  });

  it('L8: names that a table leaves behind, one of them given twice, are no submission', async () => {
    mirror.person.revertTables();
    const names = ['Column 1', 'Column 2', 'Column 3', 'Column 4', 'Column 5', 'Column 5 2'];
    mirror.person.pasteValues(12, 0, [names]);
    for (let round = 0; round < 2; round++) {
      expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', deleted: 0 });
    }
    expect(mirror.grid().at(-1)).toEqual(names);
  });

  it('L8: nor are they where people deleted the columns of dates and statuses', async () => {
    mirror.person.revertTables();
    await mirror.pass('full');
    mirror.person.deleteColumns(0, 2);
    const names = ['Column 1', 'Column 2', 'Column 3', 'Column 4'];
    mirror.person.pasteValues(12, 0, [names]);
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', deleted: 0 });
    expect(mirror.grid().at(-1)).toEqual(names);
  });

  it('L17: once its ID is cleared it is named as a row without one, and taken for no submission', async () => {
    await mirror.pass('full');
    const row = mirror.grid().findIndex((cells) => cells.includes('s0'));
    mirror.person.type(row, ID, '');
    expect(mirror.grid()[row]?.[ID]).toBe('Column 6');
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', inserted: 1, deleted: 0 });
    expect((await notices()).join('\n')).toContain(`ROWS_WITHOUT_ID: `);
    expect((await notices()).join('\n')).toContain(`row ${row + 1}`);
    mirror.person.revertTables();
    for (let round = 0; round < 2; round++) {
      expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', inserted: 0, deleted: 0 });
    }
    expect((await notices()).join('\n')).toContain('ROWS_WITHOUT_ID: ');
    expect(mirror.grid()[row]?.slice(1, ID)).toEqual(['NEW', 'Person 0', 20, 'Column 5']);
  });

  it('L8, L17: a submission whose ID looks like such a name is one all the same', async () => {
    mirror.person.revertTables();
    const id = 'Order 12';
    mirror.store.insert({ id, formId: FORM, data: {}, status: 'NEW', createdAt: Date.now() });
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', inserted: 1 });
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', inserted: 0, deleted: 0 });
    expect(await notices()).toEqual([]);
    mirror.store.delete(id);
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', deleted: 1 });
    expect(mirror.rowOf(id)?.[REMOVED]).toEqual(expect.any(Number));
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', inserted: 0, deleted: 0 });
    expect(await notices()).toEqual([]);
  });

  it('L8: a deletion waits likewise, and new submissions and questions arrive', async () => {
    mirror.store.delete('s0');
    mirror.submit(4);
    mirror.store.addField(FORM, { id: 'field_city', label: 'City' });
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', inserted: 1 });
    expect(mirror.rowOf('s0')?.includes('Column 5')).toBe(true);
    await mirror.pass('full');
    // One more looks for the submission that is gone.
    await expectQuiet(3);
    expect((await notices()).join()).toContain('the head of the table "Table1" (A2:G2)');
    mirror.person.revertTables();
    await mirror.pass();
    expect(mirror.rowOf('s0')?.filter((cell) => typeof cell === 'number')).toHaveLength(3);
    expect(await mirror.verify()).toMatchObject({ outcome: 'same', notices: [] });
  });
});
