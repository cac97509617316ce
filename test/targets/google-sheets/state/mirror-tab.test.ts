import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Person } from '../../../../packages/google-sheets-emulator/test/support/people.ts';
import type { FormWriter, Target } from '../../../../src/mirror/target.ts';
import type { FormIdentity, PassRecord } from '../../../../src/mirror/types.ts';
import { AT_ONCE, CHECKPOINT, FORM, NAME, pass, row } from '../../../contract/target-harness.ts';
import { SleepersClock, type SheetsPlace, sheetsPlace } from '../sheets-place.ts';

const MINUTE_MS = 60_000;

describe('the Mirror tab', () => {
  let place: SheetsPlace;
  let clock: SleepersClock;
  let target: Target;

  beforeEach(async () => {
    clock = new SleepersClock('2026-03-02T08:00:00.000Z');
    place = await sheetsPlace({ clock, spreadsheet: { timeZone: 'Europe/Prague' } });
    target = await place.open();
  });
  afterEach(() => place.dispose());

  const shown = (): string[][] => place.sandbox.inspect.shown(place.spreadsheetId, 'Mirror');
  const health = (): string | undefined => shown()[0]?.[1];
  /** A table from its headers to the empty row below it; texts only as far to the right as there are any. */
  function table(title: string): string[][] {
    const all = shown();
    const start = all.findIndex(([text]) => text === title) + 1;
    const end = all.findIndex((cells, row) => row > start && cells.every((text) => text === ''));
    return all.slice(start, end < 0 ? all.length : end);
  }
  const forms = (): string[][] => table('Forms');
  const problems = (): string[][] => table('Problems');
  const fields = (): string[][] => table('Fields');
  const ended = (rest: Partial<PassRecord> = {}): PassRecord =>
    pass({ endedAt: new Date(clock.now()).toISOString(), ...rest });
  async function write(
    work: (writer: FormWriter) => Promise<unknown>,
    form: FormIdentity = FORM,
  ): Promise<void> {
    await using writer = await target.openWriter(form, AT_ONCE);
    await work(writer);
  }

  it('shows each form’s rows, last success, last error and problems', async () => {
    await write(async (writer) => {
      await writer.prepare([NAME]);
      await writer.apply(
        [row('a'), row('b'), row('c')],
        [{ submissionId: 'x', reason: 'has no ID', stored: false }],
      );
      await writer.markDeleted(['b'], '2026-03-02T08:00:00.000Z');
      await writer.finish(ended(), { checkpoint: CHECKPOINT });
    });
    clock.advance(5 * MINUTE_MS);
    await write(
      (writer) =>
        writer.finish(ended({ outcome: 'failed', error: 'The Forms API did not answer.' }), {}),
      { id: 'frm_2', slug: 'zzz', name: 'Zzz' },
    );
    expect(forms()).toEqual([
      [
        'Form',
        'State',
        'Details',
        'What to do',
        'Rows',
        'Removed',
        'Problems',
        'Last success',
        'Last pass',
      ],
      [
        'Contact form',
        'All submissions but those listed, at last success',
        'Answers were never compared.',
        '',
        '2',
        '1',
        '1',
        '3/2/2026 9:00:05',
        '3/2/2026 9:00:00',
      ],
      [
        'Zzz',
        'The last pass failed',
        'The Forms API did not answer.',
        'Run forms-mirror check: it tries the source and every target and says what is wrong.',
        '0',
        '0',
        '0',
        '',
        '3/2/2026 9:05:00',
      ],
    ]);
    expect(problems()).toEqual([
      [
        'Form',
        'Submission ID',
        'What happened',
        'What to do',
        'Kept',
        '',
        '',
        'First seen',
        'Last seen',
      ],
      [
        'Contact form',
        'x',
        'has no ID',
        'It has no row here. Correct it at the source.',
        'no',
        '',
        '',
        '3/2/2026 9:00:00',
        '3/2/2026 9:00:00',
      ],
    ]);
    expect(shown()[2]?.[1]).toMatch(
      /^Room for about [\d,]+000 more submissions \(.* of Google's 10 million cells are in use\)$/,
    );
  });

  it('says by itself that the copy is stale when nothing is written any more', async () => {
    await write(async (writer) => {
      await writer.prepare([NAME]);
      await writer.finish(ended(), { checkpoint: CHECKPOINT });
    });
    const revision = place.sandbox.inspect.revision(place.spreadsheetId);
    expect(health()).toBe('All submissions at last success');
    clock.advance(44 * MINUTE_MS);
    expect(health()).toBe('All submissions at last success');
    clock.advance(2 * MINUTE_MS);
    expect([health(), forms()[1]?.[1]]).toEqual(['Stale', 'Stale']);
    // Nothing was written: the formula compares with NOW().
    expect(place.sandbox.inspect.revision(place.spreadsheetId)).toBe(revision);
  });

  it('L17: dates a long pass by its beginning, and is not stale when it has just ended', async () => {
    const startedAt = new Date(clock.now()).toISOString();
    clock.advance(50 * MINUTE_MS);
    await write(async (writer) => {
      await writer.prepare([NAME]);
      const checkpoint = { ...CHECKPOINT, provenAt: startedAt };
      await writer.finish(ended({ startedAt }), { checkpoint });
    });
    expect(health()).toBe('All submissions at last success');
    expect(forms()[1]?.slice(7)).toEqual(['3/2/2026 9:00:00', '3/2/2026 9:50:00']);
    clock.advance(46 * MINUTE_MS);
    expect(health()).toBe('Stale');
  });

  it('L17: is not stale while looks find that nothing changed, each seldom written', async () => {
    const checkpoint = { ...CHECKPOINT, hidden: 0, provenAt: ended().endedAt };
    await write(async (writer) => {
      await writer.prepare([NAME]);
      await writer.finish(ended(), { checkpoint });
    });
    const begun = place.sandbox.inspect.revision(place.spreadsheetId);
    const lookNow = (open: readonly string[] = []): Promise<void> => {
      const at = new Date(clock.now()).toISOString();
      // The newest page moves on with every newcomer.
      const newest = { digests: new Set<string>(), oldest: at };
      const others = { total: 1, statuses: new Map([['NEW', 1]]), besides: 'a1b2', newest };
      return target.recordLook({ at, open, others });
    };
    for (let minute = 0; minute < 60; minute++) {
      clock.advance(MINUTE_MS);
      await lookNow();
    }
    expect(health()).toBe('All submissions at last success');
    expect(forms()[1]?.[7]).toMatch(/^3\/2\/2026 \d+:5\d:00$/);
    // Once in ten minutes.
    expect(place.sandbox.inspect.revision(place.spreadsheetId) - begun).toBeLessThanOrEqual(7);
    // What a look found to differ is not known to be current: nothing but a pass says so.
    for (let minute = 0; minute < 50; minute++) {
      clock.advance(MINUTE_MS);
      await lookNow([FORM.id]);
    }
    expect(health()).toBe('Stale');
  });

  it('leaves the limit of staleness to people', async () => {
    await write((writer) => writer.finish(ended(), { checkpoint: CHECKPOINT }));
    place.sandbox.people.at(place.spreadsheetId, 'Mirror').type(1, 1, '5');
    clock.advance(6 * MINUTE_MS);
    expect(health()).toBe('Stale');
    await write((writer) => writer.finish(ended({ inserted: 1 }), { checkpoint: CHECKPOINT }));
    expect(health()).toBe('All submissions at last success');
    expect(shown()[1]?.[1]).toBe('5');
  });

  it('says when passes fail, and when a form is gone', async () => {
    await write((writer) => writer.finish(ended(), { checkpoint: CHECKPOINT }));
    await write((writer) => writer.finish(ended({ outcome: 'failed', error: 'Boom' }), {}));
    expect([health(), forms()[1]?.[1]]).toEqual(['The last pass failed', 'The last pass failed']);
    const goneAt = '2026-03-02T08:00:00.000Z';
    await write((writer) => writer.finish(ended({ outcome: 'gone' }), { goneAt }));
    expect([health(), forms()[1]?.[1]]).toEqual(['Gone at the source', 'Gone at the source']);
    // A form that is gone does not turn stale.
    clock.advance(600 * MINUTE_MS);
    expect(health()).toBe('Gone at the source');
  });

  it('a quiet mirror writes a sign of life every ten minutes, so that it does not turn stale', async () => {
    await write(async (writer) => {
      await writer.prepare([NAME]);
      await writer.finish(ended(), { checkpoint: CHECKPOINT });
    });
    place.sandbox.requests.clear();
    for (let minute = 0; minute < 120; minute++) {
      clock.advance(MINUTE_MS);
      await write(async (writer) => {
        await writer.prepare([NAME]);
        await writer.finish(ended({ inserted: 0 }), { checkpoint: CHECKPOINT });
      });
      expect(health()).toBe('All submissions at last success');
    }
    // One of each is for the empty tab that came with the spreadsheet.
    expect(place.sandbox.requests.counts()).toEqual({ reads: 120 + 1, writes: 12 + 1 });
    // What was not written is known in this process all the same, and no older than ten minutes elsewhere.
    const last = new Date(clock.now()).toISOString();
    expect((await target.overview())[0]?.lastPass?.endedAt).toBe(last);
  });

  it('is a dictionary of fields, with their former labels', async () => {
    await write((writer) => writer.prepare([NAME]));
    clock.advance(24 * 60 * MINUTE_MS);
    await write((writer) => writer.prepare([{ ...NAME, label: 'Your name' }]));
    await write((writer) => writer.prepare([]));
    expect(fields()).toEqual([
      ['Form', 'Field ID', 'Label', 'Former labels', '', '', '', 'Left the form', 'Column deleted'],
      [
        'Contact form',
        'field_1_a',
        'Your name',
        'Full name (until 2026-03-03)',
        '',
        '',
        '',
        '3/3/2026 9:00:00',
      ],
    ]);
  });

  it('comes back when people delete it, and the tables of its rows shrink as they grow', async () => {
    const bad = (count: number) =>
      Array.from({ length: count }, (_, index) => ({
        submissionId: `x${index}`,
        reason: 'odd',
        stored: false,
      }));
    await write(async (writer) => {
      await writer.apply([], bad(60));
      await writer.finish(ended(), { checkpoint: CHECKPOINT });
    });
    expect(problems()).toHaveLength(61);
    await write(async (writer) => {
      await writer.apply([], bad(2));
      await writer.finish(ended({ kind: 'full' }), { checkpoint: CHECKPOINT });
    });
    expect(problems()).toHaveLength(3);
    place.sandbox.people.at(place.spreadsheetId, 'Mirror').deleteTab();
    place.sandbox.people.at(place.spreadsheetId, 'Mirror state').deleteTab();
    await write(async (writer) => {
      await writer.prepare([NAME]);
      await writer.finish(ended({ inserted: 1 }), { checkpoint: CHECKPOINT });
    });
    expect(health()).toBe('All submissions but those listed, at last success');
    expect(fields()).toHaveLength(2);
  });

  it('reads from top to bottom: one table below the other, no wider than a screen', async () => {
    await write(async (writer) => {
      await writer.prepare([NAME]);
      await writer.finish(ended(), { checkpoint: CHECKPOINT });
    });
    const titles = shown().flatMap(([text = ''], row) =>
      ['Forms', 'Problems', 'Fields'].includes(text) ? [[row, text]] : [],
    );
    expect(titles).toEqual([
      [4, 'Forms'],
      [8, 'Problems'],
      [12, 'Fields'],
    ]);
    expect(problems()[1]).toEqual(['None.']);
    const { inspect } = place.sandbox;
    const mirror = inspect.tabs(place.spreadsheetId).find(({ title }) => title === 'Mirror');
    const { widths } = inspect.layout(place.spreadsheetId, 'Mirror');
    const total = Object.values(widths).reduce((sum, width) => sum + width, 0);
    expect([mirror?.columns, Object.keys(widths).length]).toEqual([9, 9]);
    expect(total).toBeLessThan(1_335);
  });

  it('L4: writes the tables below the forms only where they say something new', async () => {
    const person = place.sandbox.people.at.bind(
      place.sandbox.people,
      place.spreadsheetId,
      'Mirror',
    );
    const bad = (id: string) => [{ submissionId: id, reason: 'odd', stored: false }];
    await write(async (writer) => {
      await writer.prepare([NAME]);
      await writer.apply([], bad('x'));
      await writer.finish(ended(), { checkpoint: CHECKPOINT });
    });
    const row = (text: string): number => shown().findIndex((cells) => cells.includes(text));
    person().type(row('x'), 4, 'seen');
    person().type(row('field_1_a'), 4, 'seen');
    await write((writer) => writer.finish(ended({ inserted: 1 }), { checkpoint: CHECKPOINT }));
    expect([row('x'), row('field_1_a')].map((at) => shown()[at]?.[4])).toEqual(['seen', 'seen']);
    await write(async (writer) => {
      await writer.apply([], bad('y'));
      await writer.finish(ended({ inserted: 1 }), { checkpoint: CHECKPOINT });
    });
    expect([row('x'), row('field_1_a')].map((at) => shown()[at]?.[4] ?? '')).toEqual(['no', '']);
    expect(problems().map((cells) => cells[1])).toEqual(['Submission ID', 'x', 'y']);
  });

  it('puts right what people inserted, also where a process sees it for the first time', async () => {
    const finish = (): Promise<void> =>
      write((writer) => writer.finish(ended({ inserted: 1 }), { checkpoint: CHECKPOINT }));
    await write((writer) => writer.prepare([NAME]));
    await finish();
    const before = [problems(), fields()];
    for (const elsewhere of [false, true]) {
      place.sandbox.people.at(place.spreadsheetId, 'Mirror').insertRows(7, 3);
      place.sandbox.people.at(place.spreadsheetId, 'Mirror').type(11, 2, 'my remark');
      if (elsewhere) target = await place.openElsewhere();
      clock.advance(MINUTE_MS);
      await finish();
      expect([problems(), fields()]).toEqual(before);
      expect(shown().flat()).not.toContain('my remark');
    }
  });

  it.each<[string, (someone: Person) => void]>([
    ['a row above all', (someone) => someone.insertRows(0)],
    ['a column before all', (someone) => someone.insertColumns(0)],
    ['a word in place of the limit', (someone) => someone.type(1, 1, 'never')],
  ])('L17: turns stale with %s, too', async (_, act) => {
    await write((writer) => writer.finish(ended(), { checkpoint: CHECKPOINT }));
    act(place.sandbox.people.at(place.spreadsheetId, 'Mirror'));
    await write((writer) => writer.finish(ended(), { checkpoint: CHECKPOINT }));
    expect(health()).toBe('All submissions at last success');
    clock.advance(24 * 60 * MINUTE_MS);
    expect(health()).toMatch(/^Stale/);
  });

  it('moves the lower tables up when people deleted the tab of a form', async () => {
    const other = { id: 'frm_2', slug: 'zzz', name: 'Zzz' };
    for (const form of [FORM, other]) {
      await write(async (writer) => {
        await writer.prepare([NAME]);
        await writer.finish(ended(), { checkpoint: CHECKPOINT });
      }, form);
    }
    expect(forms().map(([name]) => name)).toEqual(['Form', 'Contact form', 'Zzz']);
    expect(fields()).toHaveLength(3);
    place.sandbox.people.at(place.spreadsheetId, 'Zzz').deleteTab();
    target = await place.openElsewhere();
    clock.advance(MINUTE_MS);
    await write((writer) => writer.finish(ended({ inserted: 1 }), { checkpoint: CHECKPOINT }));
    expect(forms().map(([name]) => name)).toEqual(['Form', 'Contact form']);
    expect(shown()[8]?.[0]).toBe('Problems');
    expect(fields()).toHaveLength(2);
    expect(shown().flat()).not.toContain('Zzz');
  });

  it('holds formulas of ours only, whatever forms and fields are called', async () => {
    const name = '=IMPORTDATA("http://evil")';
    await write(
      async (writer) => {
        await writer.prepare([{ ...NAME, label: name }]);
        await writer.apply([row('=1+1')], [{ submissionId: '=2', reason: '=3', stored: false }]);
        await writer.finish(ended({ outcome: 'failed', error: '=4' }), {});
      },
      { ...FORM, name },
    );
    const formulas = place.sandbox.inspect
      .tabs(place.spreadsheetId)
      // summary.test.ts looks at the formulas of that tab.
      .filter(({ title }) => title !== 'Summary')
      .flatMap((tab) => place.sandbox.inspect.formulas(place.spreadsheetId, tab.sheetId))
      .map((one) => one.text);
    expect(formulas.map((text) => text.slice(0, 12))).toEqual(['=IF(COUNTIF(', '=IF($H7="";"']);
  });
});
