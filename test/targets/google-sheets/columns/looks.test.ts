import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Person } from '../../../../packages/google-sheets-emulator/test/support/people.ts';
import type { Target } from '../../../../src/mirror/target.ts';
import type { PickedField, Row } from '../../../../src/mirror/types.ts';
import { EMULATOR_TOKEN } from '../../../../src/targets/google/credentials.ts';
import { AT_ONCE, field, FORM, row } from '../../../contract/target-harness.ts';
import { SleepersClock, type SheetsPlace, sheetsPlace } from '../sheets-place.ts';

const NAME = field('f_name', 'Name');
const MAIL = field('f_mail', 'E-mail', { position: 1 });
const REST = field('f_rest', 'Is there anything else that you would like us to know?', {
  position: 2,
});
const FIELDS = [NAME, MAIL];
/* Columns of the tab; people's begin at 6. */
const [AT, ID, OWN] = [0, 5, 6];

describe('what a new tab looks like', () => {
  let place: SheetsPlace;
  let target: Target;
  beforeEach(async () => {
    const spreadsheet = { locale: 'cs_CZ', timeZone: 'Europe/Prague' };
    place = await sheetsPlace({ clock: new SleepersClock(), spreadsheet });
    target = await place.open();
  });
  afterEach(() => place.dispose());

  async function mirror(rows: readonly Row[], fields: readonly PickedField[] = FIELDS) {
    await using writer = await target.openWriter(FORM, AT_ONCE);
    await writer.prepare(fields);
    return (await writer.apply(rows, [])).outcomes;
  }
  const answers = (id: string, text: string): Row => row(id, { f_name: text, f_mail: 'a@b.cz' });
  const person = (): Person => place.sandbox.people.at(place.spreadsheetId, FORM.name);
  const inspect = (): SheetsPlace['sandbox']['inspect'] => place.sandbox.inspect;
  const headers = (): unknown[] => inspect().grid(place.spreadsheetId, FORM.name)[0] ?? [];
  const ids = (column = ID): unknown[] =>
    inspect()
      .grid(place.spreadsheetId, FORM.name)
      .map((cells) => cells[column]);
  const format = (line: number, column: number): sheets_v4.Schema$CellFormat =>
    inspect().cell(place.spreadsheetId, FORM.name, line, column).format;
  async function tab(fields: string): Promise<sheets_v4.Schema$Sheet> {
    const mask = encodeURIComponent(`sheets(properties,${fields})`);
    const url = `${place.sandbox.url}v4/spreadsheets/${place.spreadsheetId}?fields=${mask}`;
    const answer = await fetch(url, { headers: { authorization: `Bearer ${EMULATOR_TOKEN}` } });
    const { sheets = [] } = (await answer.json()) as sheets_v4.Schema$Spreadsheet;
    return sheets.find(({ properties }) => properties?.title === FORM.name) ?? {};
  }
  /** Of each row below the header; undefined for one that is as tall as its text, line breaks included. */
  async function heights(): Promise<(number | undefined)[]> {
    const sheetId = (await tab('data(startRow)')).properties?.sheetId ?? 0;
    const page = await fetch(`${place.sandbox.url}view/${place.spreadsheetId}?gid=${sheetId}`);
    const [body = ''] = /<tbody>.*<\/tbody>/s.exec(await page.text()) ?? [];
    return [...body.matchAll(/<tr(?: class="(set)")? style="height:(\d+)px/g)].map(
      ([, set, height]) => (set === undefined ? undefined : Number(height)),
    );
  }

  it('reads from the left: when, in what state, the answers; the ID last, small and grey', async () => {
    await mirror([answers('a', 'Ada')]);
    expect(headers()).toEqual([
      'Submitted at',
      'Status',
      'Name',
      'E-mail',
      'Removed',
      'Submission ID',
    ]);
    expect(format(1, ID).textFormat).toMatchObject({ fontSize: 8 });
    expect(format(1, 2).textFormat?.fontSize).toBeUndefined();
  });

  it('L9: an answer that comes later stands behind the last one, before Removed and the ID', async () => {
    await mirror([answers('a', 'Ada')]);
    await mirror([answers('b', 'Bob')], [...FIELDS, REST]);
    expect(headers().slice(3)).toEqual(['E-mail', REST.label, 'Removed', 'Submission ID']);
    expect(ids(ID + 1)).toEqual(['Submission ID', 'a', 'b']);
    // The rule that greys what was removed has moved along.
    const { conditionalFormats = [] } = await tab('conditionalFormats');
    const formulas = conditionalFormats.map(
      ({ booleanRule }) => booleanRule?.condition?.values?.[0]?.userEnteredValue,
    );
    expect(formulas[0]).toBe('=ISNUMBER($F1)');
  });

  it('L9: where the ID stands first, nothing moves', async () => {
    await mirror([answers('a', 'Ada')]);
    person().moveColumns(ID, 1, 0);
    await mirror([answers('a', 'Ada'), answers('b', 'Bob')], [...FIELDS, REST]);
    expect(headers()).toEqual([
      'Submission ID',
      'Submitted at',
      'Status',
      'Name',
      'E-mail',
      REST.label,
      'Removed',
    ]);
    expect(ids(0)).toEqual(['Submission ID', 'a', 'b']);
  });

  it('has rows of one height, whatever the answers, those that come later too', async () => {
    await mirror([answers('a', 'one\ntwo\nthree')]);
    await mirror([answers('a', 'one\ntwo\nthree'), answers('b', 'four\nfive')]);
    const all = await heights();
    expect(all.length).toBeGreaterThan(20);
    expect(new Set(all)).toEqual(new Set([21]));
    expect(format(2, 2).wrapStrategy).toBe('CLIP');
  });

  it('leaves a height that people chose as it is', async () => {
    await mirror([answers('a', 'Ada')]);
    person().setHeight(1, 60);
    await mirror([answers('a', 'Ada'), answers('b', 'Bob')]);
    expect((await heights()).slice(0, 2)).toEqual([60, 21]);
  });

  it('shows times as people of the spreadsheet’s locale write them', async () => {
    await mirror([answers('a', 'Ada')]);
    expect(inspect().shown(place.spreadsheetId, FORM.name)[1]?.[AT]).toBe('1.3.2026 13:00:00');
  });

  it('gives an e-mail address and a long question more room than a name', async () => {
    await mirror([answers('a', 'Ada')], [...FIELDS, REST]);
    const { widths } = inspect().layout(place.spreadsheetId, FORM.name);
    const [name = 0, mail = 0, rest = 0] = [widths[2], widths[3], widths[4]];
    expect(mail).toBeGreaterThan('somebody.longname@example.com'.length * 7);
    expect(name).toBeLessThan(mail);
    expect(rest).toBeGreaterThan(mail);
  });

  it('has a filter over all of it, people’s columns included, which grows with its rows', async () => {
    await mirror([answers('a', 'Ada')]);
    await mirror([answers('a', 'Ada'), answers('b', 'Bob')], [...FIELDS, REST]);
    const { basicFilter, properties } = await tab('basicFilter');
    const { rowCount, columnCount } = properties?.gridProperties ?? {};
    expect(basicFilter?.range).toMatchObject({
      startRowIndex: 0,
      endRowIndex: rowCount,
      startColumnIndex: 0,
      endColumnIndex: columnCount,
    });
    expect(columnCount).toBe(11);
  });

  it('a sort by its filter takes people’s notes along, and rows that it hides are kept up to date', async () => {
    await mirror([answers('a', 'Ada'), answers('b', 'Bob'), answers('c', 'Cyd')]);
    for (const [index, id] of ['a', 'b', 'c'].entries()) {
      person().type(index + 1, OWN, `note on ${id}`);
    }
    person().useFilter(2, 'DESCENDING', ['Ada']);
    expect(
      await mirror([answers('a', 'Adele'), answers('b', 'Bert'), answers('d', 'Dan')]),
    ).toEqual(['updated', 'updated', 'inserted']);
    const grid = inspect().grid(place.spreadsheetId, FORM.name).slice(1);
    expect(grid.map((cells) => [cells[ID], cells[2], cells[OWN]])).toEqual([
      ['c', 'Cyd', 'note on c'],
      ['b', 'Bert', 'note on b'],
      ['a', 'Adele', 'note on a'],
      ['d', 'Dan', undefined],
    ]);
    expect((await tab('basicFilter')).basicFilter?.criteria).toEqual({
      2: { hiddenValues: ['Ada'] },
    });
  });

  it('is people’s to change: nothing of it is set again', async () => {
    await mirror([answers('a', 'Ada')]);
    person().clearFilter();
    person().setWidth(2, 77);
    person().format({ left: ID, right: ID + 1 }, { textFormat: { bold: true } });
    await mirror([answers('a', 'Ada'), answers('b', 'Bob')], [...FIELDS, REST]);
    expect((await tab('basicFilter')).basicFilter).toBeUndefined();
    expect(inspect().layout(place.spreadsheetId, FORM.name).widths[2]).toBe(77);
    expect(format(2, ID + 1).textFormat).toEqual({ bold: true });
  });
});
