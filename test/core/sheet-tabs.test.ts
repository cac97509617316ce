import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Person } from '../../packages/google-sheets-emulator/test/support/people.ts';
import type { FormHealthText } from '../../src/mirror/health-text.ts';
import type { Change, Entry, Store } from '../../src/mirror/port.ts';
import { openSheetStore } from '../../src/targets/google-sheets/store.ts';
import { newSpreadsheet, type Spreadsheet } from '../support/spreadsheet.ts';
import { AGE, clock, formOf, NAME, row, RUN } from './store-fixtures.ts';

/** The tabs that show people the state of the mirror in a spreadsheet. */

const FORM = formOf('contact', [NAME, AGE]);
const WELL: FormHealthText = {
  state: 'ok',
  title: 'Up to date',
  message: null,
  remedy: null,
  staleAfterMinutes: 45,
  asOfMs: Date.now(),
};
const REJECTED: Entry = {
  kind: 'rejected',
  id: 'x1',
  status: 'NEW',
  createdAt: null,
  reason: 'It has no data.',
  atMs: 0,
};

describe('the Mirror and Summary tabs', () => {
  let sheet: Spreadsheet;
  let health: FormHealthText;
  beforeEach(async () => {
    health = WELL;
    sheet = await newSpreadsheet();
  });
  afterEach(() => sheet[Symbol.asyncDispose]());

  const open = (summary?: boolean): Promise<Store> =>
    openSheetStore(sheet.id, {
      name: 'default',
      clock,
      emulatorUrl: sheet.url,
      summary,
      describe: (_form, _recordOf, _nowMs, timeText) => ({
        ...health,
        message: `Answers as of ${timeText('2026-07-01T12:00:30.000Z')}.`,
      }),
    });
  /** A run that ends with a change. */
  const run = async (change: Change, summary?: boolean): Promise<void> => {
    await using store = await open(summary);
    await using form = await store.open(FORM);
    await form.prepare(FORM, [NAME, AGE]);
    await form.commit(change);
    await form.commit({ run: { ...RUN, startedAtMs: clock.now() } });
    await form.finish();
  };
  const titles = (): string[] =>
    sheet.emulator.inspect.tabs(sheet.id).map(({ title }) => title ?? '');
  const shown = (title: string): string => {
    const rows = sheet.emulator.inspect.shown(sheet.id, title);
    return rows.map((cells) => cells.join(' | ')).join('\n');
  };
  const tabAt = (title: string) => {
    const tab = sheet.emulator.inspect.tabs(sheet.id).find((each) => each.title === title);
    return sheet.emulator.people.at(sheet.id, tab?.sheetId ?? 0);
  };
  const ROWS = [row('a', { f_name: 'Ada' }), row('b', { f_name: 'Bob' }, 'DONE')];

  it('show first whether everything is healthy, and then the problems, without an answer', async () => {
    await run({ rows: ROWS });
    expect(shown('Mirror')).toMatch(/^Form \| State/);
    expect(shown('Mirror')).toMatch(/contact \| Up to date \| 2 \| 0 \|/);
    expect(shown('Mirror')).not.toContain('Needs attention');
    health = { ...WELL, state: 'failed', title: 'The last run failed' };
    await run({ entries: [REJECTED] });
    expect(shown('Mirror')).toMatch(/^Form .*\ncontact \| The last run failed/);
    expect(shown('Mirror')).toMatch(
      /contact \| x1 \|.*It has no data\. \| The forms service has the original\./,
    );
    expect(shown('Mirror')).not.toContain('Ada');
  });

  it('show every time in the time zone of the spreadsheet, and name it', async () => {
    const atMs = Date.parse('2026-07-01T11:59:00.000Z');
    health = { ...WELL, asOfMs: atMs };
    await run({ rows: ROWS, entries: [{ ...REJECTED, atMs }] });
    tabAt('contact').setTimeZone('America/New_York');
    await run({ rows: ROWS });
    expect(shown('Mirror')).toContain('| Complete as of (America/New_York) | Details |');
    expect(shown('Mirror')).toContain(
      '| 2026-07-01 07:59 | Answers as of 2026-07-01 08:00 America/New_York.',
    );
    expect(shown('Mirror')).toMatch(/Seen \(America\/New_York\)[^]*x1 .*\| 2026-07-01 07:59 \|/);
    expect(shown('Mirror')).not.toContain('UTC');
  });

  it('L17: do not call a form up to date that needs attention', async () => {
    await run({ rows: ROWS });
    tabAt('contact').duplicateRow(1);
    await run({ rows: [row('c', {})] });
    expect(shown('Mirror')).toMatch(/^Form .*\ncontact \| Up to date, but see below/);
    expect(shown('Mirror')).toMatch(/contact \| Up to date, but see below \| 3 \|/);
    expect(shown('Mirror')).toMatch(/Needs attention[^]*these rows are copies[^]*Delete the copy/);
  });

  it('L17: become stale without a write when the mirror stops', async () => {
    health = { ...WELL, asOfMs: Date.now() - 46 * 60_000 };
    await run({ rows: ROWS });
    expect(shown('Mirror')).toMatch(/^Form .*\ncontact \| Stale/);
  });

  it('L18: do not name a submission that was forgotten', async () => {
    await run({ rows: ROWS, entries: [REJECTED] });
    expect(shown('Mirror')).toContain('x1');
    await using store = await open();
    await using form = await store.open(FORM);
    await form.erase({ kind: 'forget', ids: ['x1'] });
    expect(shown('Mirror')).not.toContain('x1');
  });

  it('are made again if people delete them, and the Summary tab only if it is wanted', async () => {
    await run({ rows: ROWS });
    await run({});
    expect(titles()).toEqual(expect.arrayContaining(['Mirror', 'Summary']));
    expect(shown('Summary')).toMatch(/contact \| 2 \| \d \| 1/);
    tabAt('Mirror').deleteTab();
    tabAt('Summary').deleteTab();
    await run({ rows: [row('c', {})] });
    expect(titles()).toEqual(expect.arrayContaining(['Mirror', 'Summary']));
    tabAt('Summary').deleteTab();
    await run({ rows: [row('d', {})] }, false);
    expect(titles()).not.toContain('Summary');
  });

  it('L17: count submissions by status, week and answer, without removed ones', async () => {
    const rows = Array.from({ length: 31 }, (_, at) => {
      const answers = { f_name: at < 19 ? 'red' : 'blue', f_age: at < 10 ? 3 : 12 };
      return row(`s${at}`, answers, at < 4 ? 'DONE' : 'NEW');
    });
    const today = { ...row('today', {}, 'SPAM'), createdAt: new Date().toISOString() };
    await run({ rows: [...rows, today] });
    await run({ deleted: ['s0'] });
    const lines = shown('Summary').split('\n');
    const counts = lines.flatMap((line) => /^(.+? \| \d+ \| \d+%) \|/.exec(line)?.[1] ?? []);
    expect(counts.filter((line) => !line.includes('| 0 |'))).toEqual([
      'NEW | 27 | 87%',
      'DONE | 3 | 10%',
      'Another status | 1 | 3%',
      'red | 18 | 60%',
      'blue | 12 | 40%',
      '12 | 21 | 70%',
      '3 | 9 | 30%',
    ]);
    expect(lines.filter((line) => /^(All answers|No answer)/.test(line))).toEqual(
      ['All answers | 30', 'No answer | 1', 'All answers | 30', 'No answer | 1'].map((line) =>
        expect.stringContaining(line),
      ),
    );
    expect(lines.find((line) => line.startsWith('contact | '))).toBe('contact | 31 | 1 | 27');
    expect(lines.find((line) => line.includes('Earlier'))).toMatch(/\| Earlier \| 30$/);
  });

  it.each<[string, (person: Person) => void]>([
    ['tab', (person) => person.deleteTab()],
    ['column', (person) => person.deleteColumns(2)],
    ['column of removals', (person) => person.deleteColumns(4)],
    ['header', (person) => person.deleteRows(0)],
    [
      'place of the header',
      (person) => {
        person.freezeRows(0);
        person.sortSheet(2, 'DESCENDING');
      },
    ],
  ])('L17: count again after people removed the %s', async (_, act) => {
    const rows = Array.from({ length: 12 }, (_, at) =>
      row(`s${at}`, { f_name: at < 7 ? 'red' : 'blue', f_age: at }),
    );
    await run({ rows });
    const before = shown('Summary');
    expect(before).toContain('Full name | Submissions');
    act(tabAt('contact'));
    await run({ rows });
    expect(shown('Summary')).toBe(before);
  });

  it('L17: a hidden tab that people protect is named by the failure', async () => {
    await run({ rows: ROWS });
    tabAt('forms-mirror data').protect({ top: 0 });
    await expect(run({ rows: [row('c', {})] })).rejects.toMatchObject({
      code: 'TARGET_DENIED',
      message: expect.stringContaining('(all cells) on the tab "forms-mirror data". Allow mirror@'),
    });
  });

  it.each(['cut', '5', '{"state":'])(
    'L17: a record that people damaged is named: %s',
    async (text) => {
      await run({ rows: ROWS });
      const hidden = sheet.emulator.inspect.grid(sheet.id, 'forms-mirror data');
      const damaged = hidden.findIndex(([kind]) => kind === 'state');
      tabAt('forms-mirror data').type(damaged, 3, text);
      const failure = {
        code: 'TARGET_FAILED',
        retryable: false,
        message: expect.stringMatching(
          `^Row ${damaged + 1} of the mirror's hidden tab \\("forms-mirror data", .*\\) is damaged\\. .*Version history`,
        ),
      };
      await expect(run({ rows: [row('c', {})] })).rejects.toMatchObject(failure);
      await using store = await open();
      await expect(store.forms()).rejects.toMatchObject(failure);
    },
  );

  it('L17: claim nothing of a tab without its column of IDs, and name it', async () => {
    await run({ rows: ROWS, state: (state) => ({ ...state, submissionsAsOfMs: 1 }) });
    tabAt('contact').deleteColumns(4);
    await using store = await open();
    expect((await store.forms())[0]).toMatchObject({
      state: { submissionsAsOfMs: null },
      notices: [{ code: 'ID_COLUMN_DELETED', blocks: true }],
    });
    await store.putRecord('a poll', 1, null);
    expect(shown('Mirror')).toMatch(/Needs attention[^]*The column of submission IDs was deleted/);
  });

  it.each([true, false])(
    'go on in a copy of the file, or beside those of a copy without marks (%s)',
    async (hasMarks) => {
      const { files } = sheet.emulator;
      await run({ rows: ROWS });
      tabAt('contact').type(1, 8, 'a note');
      const { document } = files.get(sheet.id);
      sheet = { ...sheet, id: sheet.emulator.createSpreadsheet() };
      files.get(sheet.id).document = document.fork();
      if (!hasMarks) files.get(sheet.id).document.metadata = [];
      const before = titles();
      await run({ rows: [...ROWS, row('c', {})] });
      const [name] = titles();
      expect(titles().length).toBe(before.length * (hasMarks ? 1 : 2) - (hasMarks ? 0 : 1));
      expect(name).toBe(hasMarks ? 'contact' : 'contact (2)');
      const notes = sheet.emulator.inspect.grid(sheet.id, 'contact').map((cells) => cells[8]);
      expect(notes).toContain('a note');
      expect(shown(hasMarks ? 'Summary' : 'Summary (2)')).toMatch(/contact \| 3 \|/);
    },
  );

  it('do not change the rest of the spreadsheet, nor a tab that people protect', async () => {
    await run({ rows: ROWS });
    tabAt('Mirror').protect({ top: 0, bottom: 1 });
    const before = shown('Mirror');
    await run({ rows: [row('c', {})] });
    expect(shown('Mirror')).toBe(before);
    await using store = await open();
    expect(await store.check()).toContainEqual({
      what: 'forms-mirror cannot write into the protected range (1:1) on the tab "Mirror"',
      isOk: false,
      remedy: expect.stringContaining('Data › Protect sheets and ranges'),
    });
    expect(sheet.emulator.inspect.grid(sheet.id, 'contact')).toHaveLength(4);
  });
});
