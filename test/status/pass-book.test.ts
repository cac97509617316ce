import { describe, expect, it } from 'vitest';
import { MirrorError } from '../../src/base/errors.ts';
import { Events } from '../../src/base/events.ts';
import { PassBook } from '../../src/status/pass-book.ts';
import { newestPass } from '../../src/status/pass-memory.ts';
import type { SyncEvents } from '../../src/sync/events.ts';
import { before, formOverview, passRecord, passReport } from './fake-source.ts';
import { ManualClock } from './manual-clock.ts';
import { FORM_A } from './view-of.ts';

function openBook() {
  const events = new Events<SyncEvents>();
  const told: string[] = [];
  const book = new PassBook(events, new ManualClock(), {
    onPass: ({ pair, pass }) =>
      told.push(`${pair.target}/${pair.form.id} ${pass.endedAt} ${pass.outcome}`),
    onChange: () => {},
  });
  return { events, told, book };
}

describe('the book of passes', () => {
  it('tells a pass of this process once, though the target remembers it too', () => {
    const { events, told, book } = openBook();
    book.noteRemembered('db', [formOverview(FORM_A, {}, [passRecord(60_000)])]);
    const pass = passRecord(1_000, { inserted: 2 });
    events.emit('pass.ended', passReport(FORM_A, 'db', pass));
    // Targets may round their times.
    const remembered = { ...pass, endedAt: before(800) };
    const form = formOverview(FORM_A, {}, [remembered, passRecord(60_000)]);
    expect(book.behind('db', [form])).toEqual([]);
    book.noteRemembered('db', [form]);
    expect(told).toEqual([`db/frm_a ${before(1_000)} ok`]);
  });

  it('tells no pass that had ended before it looked, and remembers what they say', () => {
    const { told, book } = openBook();
    const held = passRecord(3_600_000, { kind: 'full', outcome: 'withheld', withheld: 40 });
    const forms = [formOverview(FORM_A, {}, [passRecord(1_000), held])];
    expect(book.behind('db', forms)).toEqual([]);
    book.noteRemembered('db', forms);
    expect(told).toEqual([]);
    expect(book.memory('db', FORM_A.id)).toMatchObject({
      withheld: 40,
      incremental: { outcome: 'ok' },
    });
  });

  it('tells each pass of other workers, in order', () => {
    const { told, book } = openBook();
    book.noteRemembered('db', [formOverview(FORM_A, {}, [passRecord(300_000)])]);
    const passes = [
      passRecord(1_000),
      passRecord(61_000),
      passRecord(121_000),
      passRecord(300_000),
    ];
    const form = formOverview(FORM_A, {}, passes);
    expect(book.behind('db', [form])).toEqual([form]);
    book.noteRemembered('db', [form], new Map([[FORM_A.id, passes]]));
    book.noteRemembered('db', [form], new Map([[FORM_A.id, passes]]));
    expect(told.map((line) => line.split(' ')[1])).toEqual([
      before(121_000),
      before(61_000),
      before(1_000),
    ]);
  });

  it('tells the first pass of a form that is new to a target it knows', () => {
    const { told, book } = openBook();
    book.noteRemembered('db', []);
    book.noteRemembered('db', [formOverview(FORM_A, {}, [passRecord(1_000, { kind: 'full' })])]);
    expect(told).toHaveLength(1);
  });

  it('learns what a target remembers even when a pass of this process came first', () => {
    const { events, book } = openBook();
    events.emit('pass.ended', passReport(FORM_A, 'db', passRecord(500)));
    const held = passRecord(3_600_000, { kind: 'full', outcome: 'withheld', withheld: 40 });
    book.noteRemembered('db', [formOverview(FORM_A, {}, [passRecord(60_000), held])]);
    const memory = book.memory('db', FORM_A.id);
    expect(memory).toMatchObject({ withheld: 40, full: { outcome: 'withheld' } });
    expect(newestPass(memory)?.endedAt).toBe(before(500));
  });

  it('knows the code of a failure that no target could record', () => {
    const { events, told, book } = openBook();
    const failure = new MirrorError('TARGET_UNREACHABLE', 'Target db does not answer.');
    const pass = passRecord(500, { outcome: 'failed', error: failure.message });
    events.emit('pass.ended', passReport(FORM_A, 'db', pass, failure));
    expect(newestPass(book.memory('db', FORM_A.id))).toMatchObject({ code: 'TARGET_UNREACHABLE' });
    expect(JSON.stringify(book.memory('db', FORM_A.id))).not.toContain('failure');
    expect(told).toHaveLength(1);
  });

  it('follows a running pass, and is not put off by one that finds the form held', () => {
    const { events, book } = openBook();
    const subject = { form: FORM_A, target: 'db', kind: 'full' as const };
    events.emit('pass.started', subject);
    expect(book.running('db', FORM_A.id)).toMatchObject({ seen: 0 });
    const counts = { seen: 300, total: 900, inserted: 300, updated: 0, unchanged: 0 };
    events.emit('pass.progress', { ...subject, ...counts });
    events.emit('pass.started', { ...subject, kind: 'incremental' });
    events.emit('pass.ended', passReport(FORM_A, 'db', passRecord(1, { outcome: 'busy' })));
    expect(book.running('db', FORM_A.id)).toMatchObject({ kind: 'full', seen: 300, total: 900 });
    events.emit('pass.ended', passReport(FORM_A, 'db', passRecord(0, { kind: 'full' })));
    expect(book.running('db', FORM_A.id)).toBeNull();
  });

  it('hears nothing after its end', () => {
    const { events, told, book } = openBook();
    book.stop();
    events.emit('pass.ended', passReport(FORM_A, 'db', passRecord(0)));
    expect(told).toEqual([]);
  });
});
