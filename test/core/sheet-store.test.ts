import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Person } from '../../packages/google-sheets-emulator/test/support/people.ts';
import { MirrorError } from '../../src/base/errors.ts';
import { wholeRead } from '../../src/mirror/form-state.ts';
import type { Entry, OpenForm } from '../../src/mirror/port.ts';
import type { Row } from '../../src/mirror/types.ts';
import { SheetsApi } from '../../src/targets/google-sheets/api/sheets-api.ts';
import {
  AGE_AT,
  AT,
  FULL_NAME,
  ID,
  OWN,
  REMOVED,
  type SheetPlace,
  sheetPlace,
  STATUS,
} from './sheet-fixtures.ts';
import { AGE, formOf, messagesOf, NAME, row, RUN } from './store-fixtures.ts';

/** Changes of people to the tab of a form, and their results. */

let place: SheetPlace;
beforeEach(async () => {
  place = await sheetPlace();
});
afterEach(() => place[Symbol.asyncDispose]());

const people = (n: number, status = 'NEW'): Row[] =>
  Array.from({ length: n }, (_, at) =>
    row(`s${at}`, { f_name: `Person ${at}`, f_age: 20 + at }, status),
  );
/** The content of the ID column. */
const ids = (): string =>
  place
    .grid()
    .map((line) => line[ID])
    .join(' ');
const HEADER = ['Submitted at', 'Status', 'Full name', 'Age', 'Removed', 'Submission ID'];
const HASHED = { kind: 'rehash', fieldIds: ['f_name'], hash: () => 'a'.repeat(64) } as const;
/** IDs of the rows in which a name is readable. */
const plain = (): string[] =>
  place
    .grid()
    .flatMap((line) => (String(line[FULL_NAME]).startsWith('Person') ? [String(line[ID])] : []));
/** Stores rows, as the reading of a range does. */
const store =
  (rows: readonly Row[], deleted: readonly string[] = []) =>
  (form: OpenForm): Promise<unknown> =>
    form.commit({ rows, deleted, state: (state) => wholeRead(state, 0) });

describe('protections of people in a sheet', () => {
  beforeEach(() => place.write(store(people(6))));

  it('one row: the others are written, and it is listed and counted, and written once it is free', async () => {
    const at = place.placeOf('s3');
    const range = place.person().protect({ top: at, bottom: at + 1 });
    const rows = [...people(6, 'PAID'), row('s6', { f_name: 'Person 6' })];
    let listed: readonly Entry[] = [];
    const notices = await place.write(async (form) => {
      const applied = await form.commit({ rows, state: (state) => wholeRead(state, 1) });
      expect(applied).toMatchObject({ inserted: 1, updated: 5, rejected: 1 });
      listed = await form.entries(['rejected']);
      // L17: it is accounted for as in the source, and listed.
      expect(form.state.tally).toMatchObject({ rows: { PAID: 6, NEW: 1 }, rejected: 1 });
    });
    expect(['s2', 's3', 's6'].map((id) => place.rowOf(id)?.[STATUS])).toEqual([
      'PAID',
      'NEW',
      'NEW',
    ]);
    expect(listed).toMatchObject([
      {
        id: 's3',
        status: 'PAID',
        reason: 'Some cells of its row cannot be written because of the protected range (5:5).',
      },
    ]);
    expect(notices).toMatchObject([{ code: 'CELLS_PROTECTED' }]);
    expect(messagesOf(notices)).toEqual([
      'On the tab "contact" forms-mirror cannot write into the protected range (5:5): cells of 1 submission are not as the source ' +
        'has them. Everything else is written.',
    ]);
    expect(notices[0]?.remedy).toContain('Data › Protect sheets and ranges');
    await using other = await place.open();
    expect((await other.forms())[0]).toMatchObject({ losses: [], notices });
    // L4: nothing is written as long as nothing changes.
    place.calls();
    expect(await place.write(store(rows))).toEqual(notices);
    expect(place.calls().writes).toBe(1);
    place.person().unprotect(range);
    const [found] = await other.forms();
    expect(found?.losses).toEqual([]);
    expect(found?.state.ranges).toMatchObject([{ isDue: true }]);
    expect(await place.write(store(rows))).toEqual([]);
    expect(place.rowOf('s3')?.[STATUS]).toBe('PAID');
    expect((await other.forms())[0]).toMatchObject({
      losses: [],
      state: { tally: { rejected: 0 } },
    });
  });

  it('L6: any column, even one of notes: new rows wait, the rest is written, and the target has failed', async () => {
    place.person().type(0, OWN, 'Our notes');
    const range = place.person().protect({ left: OWN, right: OWN + 1 });
    const rows = [row('s4', { f_name: 'Other' }), row('s6', { f_name: 'New' })];
    const refused = {
      code: 'TARGET_DENIED',
      message: expect.stringMatching(
        /no row can be added for 1 new submission of .* because of the protected range \(G:G\).*Allow mirror@/,
      ),
    };
    await place.write(async (form) => {
      expect(await form.commit({ rows })).toMatchObject({ inserted: 0, updated: 1, rejected: 1 });
      expect(await form.refusal()).toMatchObject(refused);
      expect(form.state.tally).toMatchObject({ rows: { NEW: 6 }, unstored: { NEW: 1 } });
      expect(await form.entries(['rejected'])).toMatchObject([
        { id: 's6', reason: 'No row can be inserted because of the protected range (G:G).' },
      ]);
    });
    expect(place.rowOf('s4')?.[FULL_NAME]).toBe('Other');
    expect(place.placeOf('s6')).toBe(-1);
    // They also wait in a run that does not read them.
    await place.write(async (form) => expect(await form.refusal()).toMatchObject(refused));
    place.person().unprotect(range);
    await place.write(async (form) => {
      expect(form.state.ranges).toMatchObject([{ isDue: true }]);
      await store(rows)(form);
      expect(await form.refusal()).toBeNull();
      expect(form.state.tally).toMatchObject({ rows: { NEW: 7 }, unstored: {}, rejected: 0 });
    });
    expect(place.placeOf('s6')).toBe(7);
  });

  it('L8: the mark of a deleted row, and of one that came back', async () => {
    const at = place.placeOf('s2');
    const range = place.person().protect({ top: at, bottom: at + 1 });
    await place.write(async (form) => {
      expect(await form.commit({ deleted: ['s2', 's4'] })).toMatchObject({ deleted: 1 });
      expect(await form.entries(['undecided'])).toMatchObject([
        {
          id: 's2',
          reason: expect.stringContaining(
            'its row cannot be marked because of the protected range',
          ),
        },
      ]);
      expect(form.state.tally).toMatchObject({ rows: { NEW: 5 }, missing: { NEW: 1 }, deleted: 1 });
    });
    place.person().unprotect(range);
    await place.write((form) => form.commit({ deleted: ['s2'] }));
    expect(place.rowOf('s2')?.[REMOVED]).toEqual(expect.any(Number));
    place.person().protect({ left: REMOVED, right: REMOVED + 1 });
    await place.write(async (form) => {
      expect(await form.commit({ rows: [people(3)[2] as Row] })).toMatchObject({ rejected: 1 });
      expect(form.state.tally).toMatchObject({ deleted: 2, unstored: { NEW: 1 } });
    });
  });

  it('the header row: it shows former labels until it can be written, and new columns come last', async () => {
    const range = place.person().protect({ top: 0, bottom: 1 });
    expect(await place.write(store([row('s6', { f_name: 'New' })]))).toEqual([]);
    const fields = [{ ...NAME, label: 'Name' }, AGE, { ...AGE, id: 'f_more', label: 'More' }];
    const more = row('s7', { f_name: 'Newer', f_more: 'x' });
    expect(await place.write((form) => form.commit({ rows: [more] }), fields)).toEqual([]);
    expect(place.grid()[0]?.[FULL_NAME]).toBe('Full name');
    expect(place.rowOf('s7')?.[10]).toBe('x');
    place.person().unprotect(range);
    expect(await place.write((form) => form.commit({ rows: [more] }), fields)).toEqual([]);
    expect(place.grid()[0]).toEqual(expect.arrayContaining(['Name', 'More']));
  });

  it('L18: a row that must be forgotten: nothing is forgotten, and the message says what to do', async () => {
    const at = place.placeOf('s2');
    const range = place.person().protect({ top: at, bottom: at + 1 });
    const forget = (form: OpenForm): Promise<number> =>
      form.erase({ kind: 'forget', ids: ['s1', 's2'] });
    await expect(place.write(forget)).rejects.toMatchObject({
      code: 'TARGET_DENIED',
      message: expect.stringMatching(
        /does not let forms-mirror write: the protected range \(4:4\) on the tab "contact"\. Allow mirror@/,
      ),
    });
    expect(place.placeOf('s1')).toBe(2);
    place.person().unprotect(range);
    await place.write(async (form) => expect(await forget(form)).toBe(2));
    expect([place.placeOf('s1'), place.placeOf('s2')]).toEqual([-1, -1]);
  });

  it('L11: a row that must be hashed: all others are hashed, in writes of 2,000, and the erasure fails', async () => {
    const many = Array.from({ length: 2_500 }, (_, n) => row(`m${n}`, { f_name: `Person ${n}` }));
    await place.write(store([...people(6), ...many], ['s1']));
    const at = place.placeOf('s2');
    const range = place.person().protect({ top: at, bottom: at + 1 });
    place.calls();
    await expect(place.write((form) => form.erase(HASHED))).rejects.toMatchObject({
      code: 'TARGET_DENIED',
      message: expect.stringContaining('the protected range (4:4)'),
    });
    expect(place.calls().writes).toBeLessThanOrEqual(3);
    expect(plain()).toEqual(['s2']);
    place.person().unprotect(range);
    await place.write(async (form) => expect(await form.erase(HASHED)).toBe(1));
    expect(plain()).toEqual([]);
  });

  it.each([HASHED, { kind: 'columns', fieldIds: ['f_name'] }] as const)(
    'L9: rows of people below the data are not changed by $kind',
    async (what) => {
      const own = ['Total', '=SUM(D2:D7)', '=COUNTA(C2:C7)', 'note'];
      for (const [n, text] of own.entries()) place.person().type(10 + n, FULL_NAME, text);
      await place.write(async (form) => expect(await form.erase(what)).toBe(6));
      expect(
        place
          .grid()
          .slice(10)
          .map((line) => line[FULL_NAME]),
      ).toEqual(own);
    },
  );

  it('merged cells are reported', async () => {
    const at = place.placeOf('s2');
    place.person().merge({ top: at, bottom: at + 2, left: AGE_AT, right: AGE_AT + 1 });
    const rows = people(6).map((each) => row(each.id, { f_name: 'Other', f_age: 7 }));
    const [notice] = await place.write((form) => form.commit({ rows }));
    expect(notice).toMatchObject({
      code: 'CELLS_PROTECTED',
      message: expect.stringContaining('merged cells (D4:D5)'),
      remedy: expect.stringContaining('Unmerge'),
    });
    expect(place.rowOf('s3')?.[FULL_NAME]).toBe('Other');
  });
});

describe('rows of a sheet', () => {
  beforeEach(() => place.write(store(people(6))));

  it('a header that was sorted into them is put back on top, and a deleted one is made again', async () => {
    place.person().freezeRows(0);
    place.person().sortRange({}, [{ column: FULL_NAME, order: 'DESCENDING' }]);
    expect(place.grid()[0]?.[ID]).toBe('s5');
    await place.write(store(people(6)));
    expect(ids()).toBe('Submission ID s5 s4 s3 s2 s1 s0');
    place.person().deleteRows(0);
    await place.write(async (form) => {
      expect(form.losses).toEqual([]);
      await form.commit({ rows: [row('s6', {})] });
    });
    expect(place.grid()[0]).toEqual(HEADER);
    expect(place.grid()).toHaveLength(8);
  });

  it.each<[string, (person: Person) => void]>([
    ['a row was copied', (person) => person.duplicateRow(2)],
    [
      'answers of a row were copied with its ID',
      (person) => {
        person.duplicateRow(2);
        for (const column of [AT, STATUS]) person.type(3, column, '');
      },
    ],
    ['a header was sorted into the rows', (person) => person.sortRange({}, [{ column: ID }])],
    ['a header was deleted', (person) => person.deleteRows(0)],
  ])('L17: a poll sees that %s, and again that it is no more', async (_, act) => {
    place.person().freezeRows(0);
    await using other = await place.open();
    const isDue = async (): Promise<unknown> => (await other.forms())[0]?.state.ranges[0]?.isDue;
    expect(await isDue()).toBe(false);
    act(place.person());
    expect(await isDue()).toBe(true);
    const notices = await place.write(store(people(6)));
    expect(await isDue()).toBe(false);
    if (notices.length === 0) return;
    place.person().deleteRows(3);
    expect(await isDue()).toBe(true);
    expect(await place.write(store(people(6)))).toEqual([]);
    expect(await isDue()).toBe(false);
  });

  it('a tab that was emptied gets its header before its rows', async () => {
    const blank = Array.from({ length: ID + 1 }, () => '');
    place.person().pasteValues(
      0,
      0,
      place.grid().map(() => blank),
    );
    await place.write((form) => form.commit({ rows: people(6) }));
    expect(ids()).toBe('Submission ID s0 s1 s2 s3 s4 s5');
  });

  it('L9, L11: a column that people delete stays away if its field is no longer selected', async () => {
    place.person().deleteColumns(AGE_AT);
    await place.write(store(people(6)), [NAME]);
    await place.write(
      async (form) => {
        expect(form.losses).toEqual([]);
        await store(people(7))(form);
      },
      [NAME],
    );
    expect(place.grid()[0]).toEqual(HEADER.filter((header) => header !== 'Age'));
    const [form] = await (await place.open()).forms();
    expect(form?.fields.find(({ id }) => id === AGE.id)?.isFilled).toBe(false);
    await place.write(store(people(7)));
    expect(place.rowOf('s6')).toContain(26);
  });

  it('L9: headers that people changed stay unchanged, and rows above the header, too', async () => {
    for (const [column, text] of [
      [AT, 'Eingang'],
      [STATUS, 'Stand'],
      [FULL_NAME, 'Who'],
      [ID, 'Key'],
    ] as const)
      place.person().type(0, column, text);
    place.person().insertRows(0);
    place.person().type(0, AT, 'Contacts of 2026');
    place.person().type(0, STATUS, 'Jana');
    const renamed = [
      { ...NAME, label: 'Name' },
      { ...AGE, label: 'Years' },
    ];
    await place.write(async (form) => {
      expect(form.losses).toEqual([]);
      expect(await form.commit({ rows: people(7) })).toMatchObject({ inserted: 1, unchanged: 6 });
    }, renamed);
    expect(place.grid().slice(0, 2)).toEqual([
      ['Contacts of 2026', 'Jana'],
      ['Eingang', 'Stand', 'Who', 'Years', 'Removed', 'Key'],
    ]);
  });

  it('a row of people with a text in the column of IDs is theirs, unless the source has that ID', async () => {
    // A total of the column of statuses is no status.
    const total = ['Total', '6', 'Walk-in', '', '', 'by phone'];
    for (const [column, value] of total.entries()) place.person().type(8, column, value);
    const theirs = place.rowOf('by phone');
    const isDue = async (): Promise<unknown> =>
      (await (await place.open()).forms())[0]?.state.ranges[0]?.isDue;
    // One way of reading sees only our own columns, the other all.
    expect(await isDue()).toBe(true);
    const notices = await place.write(async (form) => {
      expect(form.losses).toEqual([]);
      await form.commit({ rows: people(7), state: (state) => wholeRead(state, 0) });
      expect(form.state.tally.rows).toEqual({ NEW: 7 });
    });
    expect(messagesOf(notices)).toEqual([
      expect.stringContaining('these rows have no ID of a submission: 10.'),
    ]);
    expect(await isDue()).toBe(false);
    expect(place.rowOf('by phone')).toEqual(theirs);
    await place.write(store([...people(7), row('by phone', { f_name: 'Ann' })]));
    expect(place.placeOf('by phone')).toBe(9);
    expect(place.rowOf('by phone')?.slice(STATUS, AGE_AT)).toEqual(['NEW', 'Ann']);
    expect(await place.write(store([]))).toEqual([]);
  });

  it.each(HEADER.slice(0, -1))('L17: a loss of the column "%s" is noticed', async (header) => {
    place.person().deleteColumns(HEADER.indexOf(header));
    await place.write(async ({ losses }) => {
      expect(losses).toContain(
        `The column "${header}" of contact was deleted; the form is read again.`,
      );
    });
  });

  it('L17: a status that people typed withdraws the claim about statuses', async () => {
    await place.write((form) =>
      form.commit({ state: (state) => ({ ...state, submissionsAsOfMs: 1, statusesAsOfMs: 1 }) }),
    );
    place.person().type(place.placeOf('s2'), STATUS, 'PAID');
    await place.write(async ({ state }) => {
      expect(state).toMatchObject({ submissionsAsOfMs: null, statusesAsOfMs: null });
      expect(state.tally.rows).toEqual({ NEW: 5, PAID: 1 });
    });
  });

  it('L1, L17: a new time zone of the spreadsheet withdraws the claims, and all times are written again', async () => {
    const shown = (): string[] =>
      place.emulator.inspect.shown(place.spreadsheetId, place.sheetId()).map(([at = '']) => at);
    const before = shown();
    place.person().setTimeZone('America/New_York');
    await place.write(async (form) => {
      expect(form.losses).toEqual([
        'The time zone of the spreadsheet was changed; the times of contact are written again.',
      ]);
      expect(form.state).toMatchObject({ submissionsAsOfMs: null, watermarkMs: null });
      expect(await form.commit({ rows: people(6) })).toMatchObject({ updated: 6 });
    });
    expect(shown()).not.toEqual(before);
    await place.write(async (form) => {
      expect(form.losses).toEqual([]);
      expect(await form.commit({ rows: people(6) })).toMatchObject({ unchanged: 6 });
    });
  });

  it('L10: an answer too long for a cell is cut, and listed; a full spreadsheet is a failure that says what to do', async () => {
    await place.write(async (form) => {
      await form.commit({ rows: [row('long', { f_name: 'x'.repeat(60_000) })] });
      expect(await form.entries(['rejected'])).toMatchObject([
        { id: 'long', reason: expect.stringContaining('50,000 characters') },
      ]);
    });
    expect(String(place.rowOf('long')?.[FULL_NAME])).toHaveLength(50_000);
    const tabs = place.emulator.inspect.tabs(place.spreadsheetId);
    const cells = tabs.reduce((sum, { rows, columns }) => sum + rows * columns, 0);
    place.person().insertRows(20, Math.floor((10_000_000 - cells) / 10) - 5);
    await expect(
      place.write((form) => form.commit({ rows: people(60).slice(6) })),
    ).rejects.toMatchObject({
      code: 'TARGET_FULL',
      message: expect.stringContaining('mirror into another spreadsheet'),
    });
  });

  it('L10: a new row looks like the last one, except for its color', async () => {
    const dates = { type: 'DATE', pattern: 'd. m. yyyy' };
    const yellow = { red: 1, green: 1 };
    for (const selection of [
      { left: AT, right: AT + 1 },
      { top: 6, bottom: 7 },
    ])
      place.person().format(selection, { backgroundColor: yellow, numberFormat: dates });
    await place.write((form) => form.commit({ rows: [row('s6', { f_name: 'Person 6' })] }));
    const formatAt = (column: number) =>
      place.emulator.inspect.cell(place.spreadsheetId, place.sheetId(), 7, column).format;
    expect(place.placeOf('s6')).toBe(7);
    expect(formatAt(AT)).toMatchObject({ numberFormat: dates, wrapStrategy: 'CLIP' });
    for (const column of [AT, AGE_AT, OWN])
      expect(formatAt(column).backgroundColor).toBeUndefined();
  });

  it('new rows are added oldest first, and those without a time last', async () => {
    const rows = [
      { ...row('n0', {}), createdAt: '2026-01-03T00:00:00.000Z' },
      { ...row('n1', {}), createdAt: null },
      { ...row('n2', {}), createdAt: '2026-01-02T00:00:00.000Z' },
    ];
    await place.write((form) => form.commit({ rows }));
    expect(
      place
        .grid()
        .slice(7)
        .map((line) => line[ID]),
    ).toEqual(['n2', 'n0', 'n1']);
  });

  it('new rows are added above the texts of people below, and move nothing with them', async () => {
    place.person().type(7, FULL_NAME, 'in total');
    await place.write((form) => form.commit({ rows: people(8) }));
    expect(place.placeOf('s7')).toBe(8);
    expect(place.grid()[9]?.[FULL_NAME]).toBe('in total');
  });
});

describe('a write that may have reached other rows', () => {
  const form = formOf('contact', [NAME, AGE]);
  /** Opens the form after a run was killed right after its write, and people did something. */
  const afterKill = async (act: () => void): Promise<OpenForm> => {
    await place.write(store(people(4)));
    const killed = await (await place.open()).open(form);
    await killed.prepare(form, [NAME, AGE]);
    await killed.commit({ rows: people(2, 'DONE') });
    act();
    return (await place.open()).open(form);
  };
  /** As if people had swapped these rows just before the write. */
  const swapRows = (): void => {
    const [written, other] = [place.placeOf('s0'), place.placeOf('s3')];
    place.person().type(written, ID, 's3');
    place.person().type(other, ID, 's0');
  };
  /** Something happens before or after the next write. */
  const atNextWrite = (act: (write: () => Promise<void>) => Promise<void>): void => {
    const update = vi.spyOn(SheetsApi.prototype, 'update');
    update.mockImplementationOnce(function (this: SheetsApi, requests) {
      return act(() => this.update(requests));
    });
  };
  const sureOf = async (next: OpenForm): Promise<string[]> => {
    const ids: string[] = [];
    for await (const rows of next.rows({ isSure: true })) ids.push(...rows.map(({ id }) => id));
    return ids;
  };

  it('is recognized if it reached its own, even if people have moved them since', async () => {
    await using next = await afterKill(() => place.person().sortSheet(AGE_AT, 'DESCENDING'));
    expect(await sureOf(next)).toEqual(['s3', 's2', 's1', 's0']);
    expect(next.state.ranges).toMatchObject([{ isDue: false }]);
  });

  it('L7, L18: its values there are removed, and its rows are unsure until they are compared again', async () => {
    await using next = await afterKill(swapRows);
    expect(place.rowOf('s3')?.slice(FULL_NAME, AGE_AT + 1)).toEqual([null, null]);
    expect(await sureOf(next)).not.toContain('s0');
    expect(next.state.ranges).toMatchObject([{ isDue: true }]);
    await next.prepare(form, [NAME, AGE]);
    const rows = [...people(2, 'DONE'), ...people(4).slice(2)];
    expect(await next.commit({ rows })).toMatchObject({ updated: 2 });
    expect(await sureOf(next)).toContain('s0');
    expect(place.rowOf('s3')?.[FULL_NAME]).toBe('Person 3');
  });

  it('L18: a row that is in doubt is forgotten with its ID', async () => {
    await using next = await afterKill(swapRows);
    const records = (): string =>
      place.emulator.inspect.grid(place.spreadsheetId, 'forms-mirror data').flat().join(' ');
    // Random names, such as the salt, may contain the same two characters.
    const id = /(?<![\w-])s0(?![\w-])/;
    expect(records()).toContain('"doubted":["s0"');
    expect(records()).toMatch(id);
    await next.erase({ kind: 'forget', ids: ['s0'] });
    expect(records()).not.toMatch(id);
  });

  it('L18: a row that people moved just before its deletion is found and deleted', async () => {
    await place.write(store(people(4)));
    atNextWrite(async (write) => {
      place.person().sortSheet(AGE_AT, 'DESCENDING');
      await write();
    });
    await place.write((open) => open.erase({ kind: 'forget', ids: ['s0'] }));
    vi.restoreAllMocks();
    expect(place.placeOf('s0')).toBe(-1);
  });

  it.each<[string, (person: Person) => void]>([
    ['a column', (person) => person.deleteColumns(FULL_NAME)],
    ['the tab', (person) => person.deleteTab()],
  ])('L17: does not make %s again that people have just deleted', async (_, act) => {
    await place.write(store(people(4)));
    atNextWrite(async (write) => {
      act(place.person());
      await write();
    });
    const written = place.write(store(people(4, 'DONE')));
    await expect(written).rejects.toMatchObject({ code: 'RUN_INCOMPLETE' });
    vi.restoreAllMocks();
    await using next = await (await place.open()).open(form);
    expect(next.losses).toEqual([expect.stringContaining('deleted')]);
    expect(next.state.ranges).toMatchObject([{ isDue: true }]);
  });

  it('L7: is looked for by the next run if Google did not say whether it reached its rows', async () => {
    await place.write(store(people(4)));
    atNextWrite(async (write) => {
      await write();
      swapRows();
      const away = new MirrorError('TARGET_UNREACHABLE', 'Google did not answer.');
      vi.spyOn(SheetsApi.prototype, 'values').mockRejectedValueOnce(away);
    });
    await place.write(async (open) => {
      const written = open.commit({ rows: people(2, 'DONE') });
      await expect(written).rejects.toMatchObject({ code: 'TARGET_UNREACHABLE' });
      // Ends like a run that has failed.
      await open.commit({ run: RUN });
    });
    vi.restoreAllMocks();
    await using next = await (await place.open()).open(form);
    expect(await sureOf(next)).not.toContain('s0');
    expect(place.rowOf('s3')?.[FULL_NAME]).toBeNull();
  });
});

describe('calls of the Sheets API', () => {
  it('L4: 10,000 new rows take 12, and without changes there are two reads and no write', async () => {
    const rows = people(10_000);
    place.calls();
    await place.write(async (form) => {
      for (let at = 0; at < rows.length; at += 2_000)
        await form.commit({ rows: rows.slice(at, at + 2_000) });
    });
    const { reads, writes } = place.calls();
    expect(reads + writes).toBeLessThanOrEqual(12);
    expect(place.grid()).toHaveLength(10_001);
    await place.write(async (form) => {
      for (let at = 0; at < rows.length; at += 2_000)
        expect(await form.commit({ rows: rows.slice(at, at + 2_000) })).toMatchObject({
          unchanged: 2_000,
        });
    });
    expect(place.calls()).toEqual({ reads: 2, writes: 0 });
  });

  it('100 changed rows among many take 5 reads and 2 writes', async () => {
    await place.write((form) => form.commit({ rows: people(2_000) }));
    place.calls();
    await place.write(async (form) => {
      expect(await form.commit({ rows: people(100, 'DONE') })).toMatchObject({ updated: 100 });
    });
    const { reads, writes } = place.calls();
    expect(reads).toBeLessThanOrEqual(5);
    expect(writes).toBeLessThanOrEqual(2);
  });
});

describe('a form of 700 questions', () => {
  it('L9: keeps its columns, although their marks must be short', async () => {
    const fields = Array.from({ length: 700 }, (_, n) => ({
      ...NAME,
      id: `field_1779667602${n}_abcdef`,
      label: `Question ${n}`,
      position: n,
    }));
    const rows = [row('a', Object.fromEntries(fields.map(({ id }, n) => [id, n])))];
    await place.write((form) => form.commit({ rows }), fields);
    const width = place.grid()[0]?.length;
    await place.write(async (form) => {
      expect(form.losses).toEqual([]);
      expect(await form.commit({ rows })).toMatchObject({ unchanged: 1 });
    }, fields);
    expect(place.grid()[0]).toHaveLength(width ?? 0);
  });
});

describe('a new tab', () => {
  it('L17: is in the next reading of this process, with its rows', async () => {
    await using store = await place.open();
    await using form = await store.open(formOf('contact', [NAME, AGE]));
    await form.prepare(formOf('contact', [NAME, AGE]), [NAME, AGE]);
    await form.commit({ rows: people(3) });
    const [found] = await store.forms();
    expect(found).toMatchObject({ losses: [], state: { tally: { rows: { NEW: 3 } } } });
  });

  it('comes first, and no tab of people is removed', async () => {
    await place.write(store(people(1)));
    const tabs = place.emulator.inspect.tabs(place.spreadsheetId);
    expect(tabs.map(({ title }) => title)).toEqual(['contact', 'Sheet1', 'forms-mirror data']);
  });

  it('is laid out for people: frozen header, notes, rows of one height, a gray rule for removed rows', async () => {
    await place.write(store(people(2)));
    const { inspect } = place.emulator;
    const sheet = [place.spreadsheetId, place.sheetId()] as const;
    expect(inspect.frozenRows(...sheet)).toBe(1);
    expect(inspect.cell(...sheet, 1, ID).format.textFormat).toMatchObject({ fontSize: 8 });
    expect(inspect.cell(...sheet, 2, FULL_NAME).format.wrapStrategy).toBe('CLIP');
    const notes = new Map(inspect.notes(...sheet).map(({ column, note }) => [column, note]));
    expect(notes.get(STATUS)).toContain('Change it there: what you type here is put back.');
    expect(notes.get(AT)).toContain('in the time zone of this spreadsheet');
    expect(notes.get(AT)).toContain('Change answers in the forms service');
  });
});
