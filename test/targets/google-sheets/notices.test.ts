import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TargetNotice } from '../../../src/mirror/notices.ts';
import type { CheckResult } from '../../../src/mirror/target.ts';
import { COPY_NOTE } from '../../../src/targets/google-sheets/write/copy-notes.ts';
import { SheetMirror } from './sheet-mirror.ts';

/* Columns of the tab: Submitted at, Status, Name, Age, Removed, Submission ID. Row 2 shows s0. */
const [STATUS, AGE, ID, NOTE] = [1, 3, 5, 6];

describe('what people did to a tab is named, with a remedy, wherever they look', () => {
  let mirror: SheetMirror;
  beforeEach(async () => {
    mirror = await SheetMirror.begin();
  });
  afterEach(() => mirror[Symbol.asyncDispose]());

  const check = (text: string): Promise<CheckResult | undefined> =>
    mirror.target.check().then((all) => all.find(({ message }) => message.includes(text)));
  const problems = (): string[] => {
    const shown = mirror.shown();
    const [start, end] = ['Problems', 'Fields'].map((title) =>
      shown.findIndex(([text]) => text === title),
    );
    const rows = shown.slice((start ?? 0) + 2, (end ?? 0) - 1);
    return rows.filter(([text]) => text !== 'None.').map((cells) => `${cells[2]} ${cells[3]}`);
  };

  /** The notice as every surface has it: the pass, its log, the overview, `verify`, `check`, the Mirror tab. */
  async function noticed(expected: Partial<TargetNotice>): Promise<void> {
    const notice = expect.objectContaining(expected);
    const report = await mirror.pass();
    expect(report).toMatchObject({ outcome: 'ok', notices: [notice] });
    const [{ message, remedy } = { message: '', remedy: '' }] = report.notices;
    expect(mirror.warnings.filter((text) => text === `${message} ${remedy}`)).toHaveLength(1);
    expect((await mirror.overview())?.notices).toEqual(report.notices);
    expect((await mirror.verify()).notices).toEqual(report.notices);
    expect(await check(message)).toEqual({ ok: true, message, remedy });
    expect(problems()).toEqual([`${message} ${remedy}`]);
    // What is known is not repeated each minute, in the log or in the sheet.
    const revision = mirror.place.sandbox.inspect.revision(mirror.place.spreadsheetId);
    await mirror.pass();
    expect(mirror.warnings.filter((text) => text === `${message} ${remedy}`)).toHaveLength(1);
    expect(mirror.place.sandbox.inspect.revision(mirror.place.spreadsheetId)).toBe(revision);
  }

  /** Once remedied, nothing speaks of it any more. */
  async function forgotten(): Promise<void> {
    expect(await mirror.pass()).toMatchObject({ outcome: 'ok', notices: [] });
    expect((await mirror.overview())?.notices).toEqual([]);
    expect(await mirror.verify()).toMatchObject({ outcome: 'same', notices: [] });
    expect(problems()).toEqual([]);
    expect((await mirror.target.check()).every(({ remedy }) => remedy === undefined)).toBe(true);
  }

  it('L17: nothing, as long as nobody changed anything', async () => {
    expect((await mirror.pass('full')).notices).toEqual([]);
    await forgotten();
  });

  it('L17: a deleted column of IDs: every surface says that passes fail, before anything is written', async () => {
    mirror.person.deleteColumns(ID);
    const before = mirror.grid();
    const report = await mirror.pass();
    expect(report).toMatchObject({ outcome: 'failed', code: 'TARGET_FAILED' });
    expect(report.error).toMatch(
      /column of submission IDs was deleted from the tab "Contact".*Undo.*Version history/,
    );
    expect(mirror.grid()).toEqual(before);
    expect(await check('column of submission IDs')).toMatchObject({
      ok: false,
      remedy: expect.stringMatching(/Undo the deletion.*delete it/),
    });
    expect((await mirror.overview())?.notices).toEqual([
      expect.objectContaining({ code: 'ID_COLUMN_DELETED', blocks: true, tab: 'Contact' }),
    ]);
    await expect(mirror.verify()).rejects.toThrow(/column of submission IDs was deleted/);
  });

  it('L17: deleted columns of the status and of answers stay away, and are said to, with the way to bring them back', async () => {
    mirror.person.deleteColumns(AGE);
    mirror.person.deleteColumns(STATUS);
    await noticed({
      code: 'COLUMNS_DELETED',
      blocks: false,
      columns: ['Status', 'Age'],
      message: expect.stringContaining('"Status", "Age" were deleted from the tab "Contact"'),
      remedy: expect.stringContaining(
        'forms-mirror sync --full --restore-columns --form frm_contact',
      ),
    });
    expect((await mirror.verify()).outcome).toBe('different');
    await mirror.pass('full', true);
    await forgotten();
  });

  it('L17: a copied row is named with the row that it repeats, and marked by a note beside those of people', async () => {
    const notes = () =>
      mirror.place.sandbox.inspect
        .notes(mirror.place.spreadsheetId, 'Contact')
        .map(({ row, column, note }) => [row, column, note]);
    mirror.person.duplicateRow(3);
    mirror.person.duplicateRow(10);
    mirror.person.duplicateRow(20);
    mirror.person.note(21, ID, 'mine');
    mirror.submit(30);
    expect(await mirror.pass()).toMatchObject({ outcome: 'ok' });
    expect(notes()).toEqual([
      [4, ID, COPY_NOTE],
      [11, ID, COPY_NOTE],
      [21, ID, 'mine'],
    ]);
    // The copy is what remains: it is none any more.
    mirror.person.deleteRows(20);
    mirror.person.deleteRows(3);
    expect(await mirror.pass()).toMatchObject({ outcome: 'ok' });
    expect(notes()).toEqual([
      [10, ID, COPY_NOTE],
      [19, ID, 'mine'],
    ]);
    mirror.person.note(19, ID, '');
    mirror.person.deleteRows(10);
    await forgotten();
    expect(notes()).toEqual([]);
  });

  it('L17: a copied row is said on every surface', async () => {
    mirror.person.duplicateRow(3);
    mirror.person.duplicateRow(10);
    await noticed({
      code: 'ROWS_COPIED',
      rows: [5, 12],
      message: expect.stringContaining('row 5 repeats row 4; row 12 repeats row 11'),
    });
    mirror.person.deleteRows(11);
    mirror.person.deleteRows(4);
    await forgotten();
  });

  it('L1: rows whose ID was cleared are known by their time and answers: they get it back, and keep their notes', async () => {
    mirror.person.insertColumns(NOTE);
    mirror.person.type(7, NOTE, 'call back');
    mirror.person.sortSheet(AGE, 'DESCENDING');
    const before = mirror.grid();
    for (const row of [3, 24]) mirror.person.type(row, ID, '');
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', inserted: 0, updated: 2 });
    expect(mirror.grid()).toEqual(before);
    expect(mirror.grid()[24]?.slice(ID, NOTE + 1)).toEqual(
      expect.arrayContaining(['s6', 'call back']),
    );
    await forgotten();
  });

  it('L1: of two that look alike, none is taken for the other', async () => {
    const twin = { formId: 'frm_contact', createdAt: Date.UTC(2026, 2, 1), status: 'NEW' };
    for (const id of ['twin1', 'twin2']) {
      mirror.store.insert({ ...twin, id, data: { field_name: 'Twin', field_age: 1 } });
    }
    await mirror.pass();
    for (const row of [31, 32]) mirror.person.type(row, ID, '');
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', inserted: 2 });
    expect((await mirror.overview())?.notices).toMatchObject([{ rows: [32, 33] }]);
  });

  it('L17: a row whose ID was cleared and that shows something else is named with the row that shows its submission now, and keeps its note', async () => {
    mirror.person.insertColumns(NOTE);
    mirror.person.type(7, NOTE, 'call back');
    mirror.person.type(7, ID, '');
    mirror.person.type(7, AGE, '99');
    await noticed({
      code: 'ROWS_WITHOUT_ID',
      rows: [8],
      message: expect.stringContaining('row 8, whose submission is now in row 32'),
    });
    expect(mirror.grid()[7]?.[NOTE]).toBe('call back');
    expect(mirror.grid()[31]?.[ID]).toBe('s6');
    mirror.person.deleteRows(7);
    await forgotten();
  });

  it('L17: rows of people’s own are not taken for rows that lost their ID', async () => {
    mirror.person.type(35, STATUS, 'Total');
    mirror.person.type(35, 0, '=COUNTA(B2:B31)');
    mirror.person.insertRows(4);
    mirror.person.type(4, STATUS, 'checked until here');
    expect((await mirror.pass('full')).notices).toEqual([]);
    await forgotten();
  });
});
