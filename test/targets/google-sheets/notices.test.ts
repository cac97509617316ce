import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TargetNotice } from '../../../src/mirror/notices.ts';
import type { CheckResult } from '../../../src/mirror/target.ts';
import { SheetMirror } from './sheet-mirror.ts';

/* Columns of the tab: Submission ID, Submitted at, Status, Name, Age, Removed. Row 2 shows s0. */
const [ID, STATUS, NOTE] = [0, 2, 6];

describe('what people did to a tab is named, with a remedy, wherever they look', () => {
  let mirror: SheetMirror;
  beforeEach(async () => {
    mirror = await SheetMirror.begin();
  });
  afterEach(() => mirror[Symbol.asyncDispose]());

  const check = (text: string): Promise<CheckResult | undefined> =>
    mirror.target.check().then((all) => all.find(({ message }) => message.includes(text)));
  const problems = (): string[] =>
    mirror
      .shown()
      .slice(6)
      .map((cells) => cells[12] ?? '')
      .filter((text) => text !== '');

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
    mirror.person.deleteColumns(4);
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

  it('L17: a copied row is named with the row that it repeats', async () => {
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

  it('L17: a row whose ID was cleared is named with the row that shows its submission now, and keeps its note', async () => {
    mirror.person.insertColumns(NOTE);
    mirror.person.type(7, NOTE, 'call back');
    mirror.person.type(7, ID, '');
    await noticed({
      code: 'ROWS_WITHOUT_ID',
      rows: [8],
      message: expect.stringContaining('row 8, whose submission now stands in row 32'),
    });
    expect(mirror.grid()[7]?.[NOTE]).toBe('call back');
    expect(mirror.grid()[31]?.[ID]).toBe('s6');
    mirror.person.deleteRows(7);
    await forgotten();
  });

  it('L17: rows of people’s own are not taken for rows that lost their ID', async () => {
    mirror.person.type(35, STATUS, 'Total');
    mirror.person.type(35, 1, '=COUNTA(A2:A31)');
    mirror.person.insertRows(4);
    mirror.person.type(4, STATUS, 'checked until here');
    expect((await mirror.pass('full')).notices).toEqual([]);
    await forgotten();
  });
});
