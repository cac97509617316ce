import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Person } from '../../../../packages/google-sheets-emulator/test/support/people.ts';
import type { SpreadsheetOptions } from '../../../../packages/google-sheets-emulator/src/spreadsheet-files.ts';
import type { FormWriter, Target } from '../../../../src/mirror/target.ts';
import { METADATA_KEYS } from '../../../../src/targets/google-sheets/api/metadata.ts';
import { AT_ONCE, CHECKPOINT, FORM, NAME, pass, row } from '../../../contract/target-harness.ts';
import { SleepersClock, type SheetsPlace, sheetsPlace } from '../sheets-place.ts';

const MINUTE_MS = 60_000;

describe('the empty tab that a new spreadsheet comes with', () => {
  let place: SheetsPlace;
  let clock: SleepersClock;
  let target: Target;
  let rows = 0;
  beforeEach(() => start());
  afterEach(() => place.dispose());

  async function start(spreadsheet: SpreadsheetOptions = {}): Promise<void> {
    clock = new SleepersClock();
    place = await sheetsPlace({ clock, spreadsheet });
    target = await place.open();
    rows = 0;
  }
  async function restart(spreadsheet: SpreadsheetOptions): Promise<void> {
    await place.dispose();
    await start(spreadsheet);
  }
  /** A pass that brings something new. */
  async function mirror(name = FORM.name): Promise<void> {
    await using writer: FormWriter = await target.openWriter({ ...FORM, name }, AT_ONCE);
    await writer.prepare([NAME]);
    await writer.apply([row(`s${rows++}`)], []);
    await writer.finish(pass({ inserted: 1 }), { checkpoint: CHECKPOINT });
  }
  /** The passes after those that made the tab. */
  async function mirrorLater(): Promise<void> {
    clock.advance(11 * MINUTE_MS);
    await mirror();
  }
  const person = (): Person => place.sandbox.people.at(place.spreadsheetId, 0);
  const titles = (): string[] =>
    place.sandbox.inspect.tabs(place.spreadsheetId).map(({ title }) => title);
  /** What people see, in order. */
  const visible = async (): Promise<string[]> => {
    const page = await fetch(`${place.sandbox.url}view/${place.spreadsheetId}`);
    const [nav = ''] = /<nav>.*<\/nav>/.exec(await page.text()) ?? [];
    return [...nav.matchAll(/>([^<]+)<\/a>/g)].map(([, title]) => title ?? '');
  };
  const marks = (): number =>
    place.sandbox.inspect
      .metadata(place.spreadsheetId)
      .filter(({ metadataKey }) => metadataKey === METADATA_KEYS.emptyTab).length;

  it('is hidden when the form’s tab is made, and deleted by a later pass', async () => {
    await mirror();
    expect(await visible()).toEqual([FORM.name, 'Summary', 'Mirror']);
    expect(titles()).toContain('Sheet1');
    await mirror();
    expect(titles()).toContain('Sheet1');
    await mirrorLater();
    expect(titles()).not.toContain('Sheet1');
    await mirrorLater();
    expect(await visible()).toEqual([FORM.name, 'Summary', 'Mirror']);
  });

  it.each(['Tabellenblatt1', 'Feuille 1', 'Лист1', 'シート1', '工作表1'])(
    'goes whatever its language calls it: %s',
    async (title) => {
      await restart({ tab: { title } });
      await mirror();
      expect(await visible()).toEqual([FORM.name, 'Summary', 'Mirror']);
      await mirrorLater();
      expect(titles()).not.toContain(title);
    },
  );

  it.each<[string, SpreadsheetOptions, (someone: Person) => void]>([
    ['has a name that somebody gave it', { tab: { title: 'Notes' } }, () => {}],
    ['has another size', { tab: { rows: 500 } }, () => {}],
    ['holds something', {}, (someone) => someone.type(700, 3, 'ours')],
    ['is coloured', {}, (someone) => someone.format({ top: 3, bottom: 4 }, BOLD)],
    ['has a remark', {}, (someone) => someone.note(2, 2, 'to do')],
    ['is protected', {}, (someone) => void someone.protect({ left: 1, right: 2 })],
    ['has a filter', {}, (someone) => someone.filter(0, [])],
    ['is not the only one', {}, (someone) => void someone.addTab('Report')],
  ])('stays as it is where it %s', async (_, spreadsheet, deed) => {
    await restart(spreadsheet);
    const [title = ''] = titles();
    deed(person());
    for (const pass of [mirror, mirrorLater]) {
      await pass();
      expect(await visible()).toContain(title);
      expect(marks()).toBe(0);
    }
  });

  it('is shown again where somebody typed into it while it was being hidden, and is theirs then', async () => {
    await mirror();
    person().type(0, 0, 'what I was about to write');
    await mirrorLater();
    expect(await visible()).toEqual(['Sheet1', FORM.name, 'Summary', 'Mirror']);
    expect(marks()).toBe(0);
    person().type(0, 0, '');
    await mirrorLater();
    expect(titles()).toContain('Sheet1');
  });

  it('is theirs once they have made it visible', async () => {
    await mirror();
    person().hideTab(false);
    await mirrorLater();
    await mirrorLater();
    expect(await visible()).toContain('Sheet1');
  });

  it('stays, hidden, beside a tab of people’s own, whose formulas may name it', async () => {
    await mirror();
    person().addTab('Report');
    place.sandbox.requests.clear();
    await mirrorLater();
    expect(titles()).toContain('Sheet1');
    expect(await visible()).not.toContain('Sheet1');
    expect(marks()).toBe(0);
  });

  it('is shown again beside a tab of people’s own, too, where somebody typed into it', async () => {
    await mirror();
    person().type(0, 0, 'what I was about to write');
    person().addTab('Report');
    await mirrorLater();
    expect(await visible()).toContain('Sheet1');
    expect(marks()).toBe(0);
  });

  it('fails no pass where Google refuses to delete it', async () => {
    await mirror();
    const body = JSON.stringify({
      error: { code: 400, message: 'no', status: 'INVALID_ARGUMENT' },
    });
    place.sandbox.faults.add({ path: /:batchUpdate$/, status: 400, body, after: 2, times: 1 });
    await mirrorLater();
    expect(titles()).toContain('Sheet1');
    await mirrorLater();
    expect(titles()).not.toContain('Sheet1');
  });

  it('keeps the tabs of further forms before the Mirror tab', async () => {
    const writers = ['One', 'Two', 'Three'].map((name) =>
      target.openWriter({ id: name, slug: name, name }, AT_ONCE),
    );
    for (const writer of await Promise.all(writers)) await writer.prepare([NAME]);
    expect(await visible()).toEqual(['One', 'Two', 'Three', 'Mirror']);
  });
});

const BOLD = { textFormat: { bold: true } };
