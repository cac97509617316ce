import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { JsonText } from '../../../../src/mirror/types.ts';
import { FORM, field } from '../../../contract/target-harness.ts';
import { COLOUR, FIELDS, REMARK, submission, SUBMISSIONS, SummaryPlace } from './summary-place.ts';

describe('the numbers on the Summary tab', () => {
  let sheet: SummaryPlace;
  beforeEach(async () => {
    sheet = await SummaryPlace.begin();
  });
  afterEach(() => sheet[Symbol.asyncDispose]());

  it('L17: are those of the rows that are not removed, and their sums are the whole', async () => {
    const odd = [
      submission(30, {}, { status: 'SEVENTH' }),
      submission(31, { [COLOUR.id]: null }, { createdAt: '2020-01-01T00:00:00.000Z' }),
      submission(32, {}, { createdAt: null }),
    ];
    await sheet.pass([...SUBMISSIONS, ...odd], {
      also: (writer) => writer.markDeleted(['s0', 's1'], '2026-03-03T08:00:00.000Z'),
    });
    const { counts, weeks } = sheet.form();
    expect(counts).toEqual([
      ['Submissions', '31'],
      ['Status', 'Submissions'],
      // s2 to s29: evens are NEW, odds DONE; s31 is DONE, s32 NEW.
      ['NEW', '15'],
      ['IN_PROGRESS', '0'],
      ['DONE', '15'],
      ['PAID', '0'],
      ['REJECTED', '0'],
      ['ARCHIVED', '0'],
      ['Another status, or none', '1'],
      ['Colour', 'Submissions'],
      ['green', '11'],
      ['red', '10'],
      ['blue', '9'],
      ['Other answers', '0'],
      ['All answers', '30'],
      ['No answer', '1'],
      ['Stars', 'Submissions'],
      ['1', '6'],
      ['2', '7'],
      ['3', '6'],
      ['4', '6'],
      ['Other answers', '0'],
      ['All answers', '25'],
      ['No answer', '6'],
    ]);
    expect(weeks[0]).toEqual(['Week from', 'Submissions']);
    // 29 January to 26 February: a submission a day.
    expect(weeks.slice(-9)).toEqual([
      ['2026-01-19', '0'],
      ['2026-01-26', '4'],
      ['2026-02-02', '7'],
      ['2026-02-09', '7'],
      ['2026-02-16', '7'],
      ['2026-02-23', '4'],
      ['2026-03-02', '0'],
      ['Earlier', '1'],
      ['Later, no date', '1'],
    ]);
    const sum = weeks.slice(1).reduce((all, [, count]) => all + Number(count), 0);
    expect(sum).toBe(31);
  });

  it.each<[string, (sheet: SummaryPlace) => void]>([
    ['sort the rows', (on) => on.person(FORM.name).sortSheet(on.column('Colour'))],
    [
      'move the column of a question',
      (on) => on.person(FORM.name).moveColumns(on.column('Colour'), 1, 0),
    ],
    [
      'move the column of the IDs',
      (on) => on.person(FORM.name).moveColumns(on.column('Submission ID'), 1, 4),
    ],
    [
      'move the column of the dates',
      (on) => on.person(FORM.name).moveColumns(on.column('Submitted at'), 1, 6),
    ],
    ['insert columns', (on) => on.person(FORM.name).insertColumns(0, 3)],
    ['rename the tab', (on) => on.person(FORM.name).renameTab("Ann's 'new' tab")],
    [
      'insert a title above the headers',
      (on) => on.person(FORM.name).insertTitleRow(0, 'Our form'),
    ],
    ['put empty rows between', (on) => on.person(FORM.name).insertRows(7, 3)],
    [
      'insert a row right below the headers, and sort it down',
      (on) => {
        on.person(FORM.name).insertRows(1, 1);
        on.person(FORM.name).sortSheet(on.column('Submission ID'), 'DESCENDING');
      },
    ],
    [
      'write notes below, beside the rows',
      (on) => on.person(FORM.name).type(40, on.column('Status'), 'NEW'),
    ],
    [
      'write a total below, and call it so in the column of the IDs',
      (on) => {
        const person = on.person(FORM.name);
        person.type(33, on.column('Submission ID'), 'Total');
        person.type(33, on.column('Stars'), '=SUM(D2:D31)');
        person.type(33, on.column('Colour'), 'all colours');
      },
    ],
    ['repeat the headers below', (on) => on.person(FORM.name).copyRow(0, 33)],
    [
      'repeat the headers between the rows, called otherwise',
      (on) => {
        on.person(FORM.name).renameColumn(on.column('Submission ID'), '*');
        on.person(FORM.name).insertRows(7, 1);
        on.person(FORM.name).copyRow(0, 7);
      },
    ],
    ['hide rows', (on) => on.person(FORM.name).filter(on.column('Status'), ['NEW'])],
    ['move the Summary tab, and rename it', (on) => on.person('Summary').moveTab(0)],
    [
      'insert rows and columns on the Summary tab',
      (on) => {
        on.person('Summary').insertRows(2, 2);
      },
    ],
  ])('stay the same when people %s, without a write', async (_, act) => {
    await sheet.pass(SUBMISSIONS, {
      also: (writer) => writer.markDeleted(['s4'], '2026-03-03T08:00:00.000Z'),
    });
    const live = SUBMISSIONS.filter(({ id }) => id !== 's4');
    await sheet.pass(live);
    const before = sheet.form();
    expect(before.counts.length).toBeGreaterThan(15);
    act(sheet);
    expect(sheet.form()).toEqual(before);
    sheet.place.sandbox.requests.clear();
    await sheet.pass(live);
    expect(sheet.place.sandbox.requests.counts().writes).toBe(0);
    expect(sheet.form()).toEqual(before);
  });

  it('go by what people call a column now', async () => {
    await sheet.pass(SUBMISSIONS);
    sheet.person(FORM.name).renameColumn(sheet.column('Colour'), 'Which one?');
    expect(sheet.count('Which one?')).toBe('Submissions');
    expect(sheet.count('Colour')).toBeUndefined();
  });

  it('count a new answer with the others at once, and by itself after the next full pass', async () => {
    await sheet.pass(SUBMISSIONS);
    const violet = [40, 41].map((nth) => submission(nth, { [COLOUR.id]: 'violet' }));
    await sheet.pass(violet, { kind: 'incremental' });
    expect(sheet.count('Other answers')).toBe('2');
    expect(sheet.count('All answers')).toBe('32');
    expect(sheet.count('violet')).toBeUndefined();
    await sheet.pass([...SUBMISSIONS, ...violet]);
    expect(sheet.count('violet')).toBe('2');
    expect(sheet.count('Other answers')).toBe('0');
  });

  it('keep answers apart that COUNTIF would not: letter case, wildcards, signs, digits kept as text', async () => {
    const answers = ['*', '?', 'a*', '>5', '=1', '1', '01', 'red', 'Red', '"', "'"];
    const rows = Array.from({ length: 44 }, (_, nth) =>
      submission(nth, { [COLOUR.id]: answers[nth % answers.length] ?? null }),
    );
    await sheet.pass(rows);
    const { counts } = sheet.form();
    const from = counts.findIndex(([label]) => label === 'Colour') + 1;
    expect(new Map(counts.slice(from, from + answers.length))).toEqual(
      new Map(answers.map((answer) => [answer, '4'])),
    );
    expect(sheet.count('Other answers')).toBe('0');
  });

  it('count what was answered in words of one’s own, hashed, or as a list, for no question of choice', async () => {
    const lists = field('field_4_lists', 'Lists', { position: 3 });
    const hashed = field('field_5_hashed', 'Hashed', { position: 4, hashed: true });
    const joined = field('field_6_joined', 'Several', { position: 5 });
    const rows = SUBMISSIONS.map((_, nth) =>
      submission(nth, {
        [lists.id]: new JsonText('["a","b"]'),
        [hashed.id]: 'h1',
        [joined.id]: nth % 2 === 0 ? 'tea, coffee' : 'coffee',
      }),
    );
    await sheet.pass(rows, { fields: [...FIELDS, lists, hashed, joined] });
    const labels = sheet.form().counts.map(([label]) => label);
    expect(labels).not.toContain(REMARK.label);
    expect(labels).not.toContain('Lists');
    expect(labels).not.toContain('Hashed');
    // Where the choices of one text begin and end nobody tells: the text is counted as it is.
    expect([sheet.count('tea, coffee'), sheet.count('coffee')]).toEqual(['15', '15']);
  });

  it('show the first answers of a question that grew beyond its lines, and how many others there are', async () => {
    await sheet.pass(SUBMISSIONS);
    const more = Array.from({ length: 30 }, (_, nth) =>
      submission(100 + nth, { [COLOUR.id]: `shade ${nth % 15}` }),
    );
    await sheet.pass([...SUBMISSIONS, ...more]);
    const { counts } = sheet.form();
    const own = counts.slice(counts.findIndex(([label]) => label === 'Colour') + 1);
    const lines = own.slice(
      0,
      own.findIndex(([label]) => label === 'Other answers'),
    );
    expect(lines.length).toBe(12);
    expect(lines.slice(0, 3).map(([, count]) => count)).toEqual(['10', '10', '10']);
    expect(sheet.count('Other answers')).toBe('12');
    const varied = Array.from({ length: 100 }, (_, nth) =>
      submission(200 + nth, { [COLOUR.id]: `${nth}` }),
    );
    await sheet.pass([...SUBMISSIONS, ...varied]);
    expect(sheet.form().counts.map(([label]) => label)).not.toContain('Colour');
  });

  it.each(['Colour', 'Stars', 'Status'])(
    'are right for all rows but one where people put a formula that fails under %s',
    async (label) => {
      await sheet.pass(SUBMISSIONS);
      // The row of s1: blue, one star, DONE.
      const grid = sheet.place.sandbox.inspect.grid(sheet.place.spreadsheetId, FORM.name);
      const at = grid.findIndex((cells) => cells.includes('s1'));
      const before = new Map(sheet.form().counts);
      sheet.person(FORM.name).type(at, sheet.column(label), '=1/0');
      const after = new Map(sheet.form().counts);
      const fewer = { Colour: ['blue'], Stars: ['1'], Status: ['DONE'] }[label] ?? [];
      for (const one of ['red', 'blue', 'green', '1', '2', '3', '4', 'NEW', 'DONE']) {
        const lost = fewer.includes(one) ? 1 : 0;
        expect([one, after.get(one)]).toEqual([one, String(Number(before.get(one)) - lost)]);
      }
    },
  );

  it('say so when people copied rows', async () => {
    await sheet.pass(SUBMISSIONS);
    sheet.person(FORM.name).duplicateRow(3);
    expect(sheet.count('Submissions')).toBe('31');
    expect(sheet.shown().flat()).toContain(
      'Rows that repeat a submission and are counted, too: 1. See the problems on the tab Mirror.',
    );
  });

  it('are right where the comma is the decimal sign', async () => {
    await using czech = await SummaryPlace.begin({ spreadsheet: { locale: 'cs_CZ' } });
    await sheet.pass(SUBMISSIONS);
    await czech.pass(SUBMISSIONS);
    expect(czech.form()).toEqual(sheet.form());
  });

  it('L17: come right again after people sorted the header row into the rows', async () => {
    await sheet.pass(SUBMISSIONS);
    const before = sheet.form();
    const person = sheet.person(FORM.name);
    const [at, id] = [sheet.column('Submitted at'), sheet.column('Submission ID')];
    person.freezeRows(0);
    person.sortSheet(at);
    expect(sheet.column('Submission ID')).toBe(-1);
    await sheet.pass(SUBMISSIONS);
    expect(sheet.column('Submission ID')).toBe(id);
    expect(sheet.form()).toEqual(before);
  });

  it('come right again after people deleted the header row', async () => {
    await sheet.pass(SUBMISSIONS);
    const before = sheet.form();
    sheet.person(FORM.name).freezeRows(0);
    sheet.person(FORM.name).deleteRows(0);
    await sheet.pass(SUBMISSIONS);
    await sheet.pass(SUBMISSIONS);
    expect(sheet.form()).toEqual(before);
  });

  it('L18: hold no answer: what is forgotten is not on the tab', async () => {
    const secret = submission(40, { [COLOUR.id]: 'secret shade' });
    await sheet.pass([...SUBMISSIONS, secret]);
    expect(sheet.count('secret shade')).toBe('1');
    const { inspect } = sheet.place.sandbox;
    const stored = JSON.stringify([
      inspect.grid(sheet.place.spreadsheetId, 'Summary'),
      inspect.metadata(sheet.place.spreadsheetId),
    ]);
    for (const answer of ['secret shade', '"red', '"blue']) expect(stored).not.toContain(answer);
    await sheet.pass([], {
      kind: 'incremental',
      also: (writer) => writer.forget(['s40'], '2026-03-04T08:00:00.000Z'),
    });
    expect(sheet.shown().flat()).not.toContain('secret shade');
    expect(sheet.count('Submissions')).toBe('30');
  });
});
