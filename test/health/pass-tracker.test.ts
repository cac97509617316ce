import { describe, expect, it } from 'vitest';
import { MirrorError } from '../../src/base/errors.ts';
import { Events } from '../../src/base/events.ts';
import { PassTracker } from '../../src/health/pass-tracker.ts';
import { newestPass } from '../../src/health/pass-summary.ts';
import type { SyncEvents } from '../../src/sync/events.ts';
import { before, formOverview, passRecord, passReport } from './fake-source.ts';
import { ManualClock } from './manual-clock.ts';
import { FORM_A } from './health-of.ts';

function openTracker() {
  const events = new Events<SyncEvents>();
  const seen: string[] = [];
  const tracker = new PassTracker(events, new ManualClock(), {
    onPass: ({ form, target, pass }) =>
      seen.push(`${target}/${form.id} ${pass.endedAt} ${pass.outcome}`),
    onEnd: () => {},
  });
  return { events, seen, tracker };
}

describe('the pass tracker', () => {
  it('reports a pass of this process once, though the target records it too', () => {
    const { events, seen, tracker } = openTracker();
    tracker.addRecorded('db', [formOverview(FORM_A, {}, [passRecord(60_000)])]);
    const pass = passRecord(1_000, { inserted: 2 });
    events.emit('pass.ended', passReport(FORM_A, 'db', pass));
    // Targets may round their times.
    const remembered = { ...pass, endedAt: before(800) };
    const form = formOverview(FORM_A, {}, [remembered, passRecord(60_000)]);
    expect(tracker.withNewPasses('db', [form])).toEqual([]);
    tracker.addRecorded('db', [form]);
    expect(seen).toEqual([`db/frm_a ${before(1_000)} ok`]);
  });

  it('reports a pass of this process once, though its record was read before it told of its end', () => {
    const { events, seen, tracker } = openTracker();
    tracker.addRecorded('db', [formOverview(FORM_A, {}, [passRecord(60_000)])]);
    const pass = passRecord(1_000, { outcome: 'incomplete' });
    const form = formOverview(FORM_A, {}, [pass, passRecord(60_000)]);
    tracker.addRecorded('db', [form], new Map([[FORM_A.id, [pass]]]));
    events.emit('pass.ended', passReport(FORM_A, 'db', pass));
    expect(seen.length).toBe(1);
    expect(tracker.summary('db', FORM_A.id).unproven.incremental).toBe(1);
    const next = passRecord(-5_000);
    events.emit('pass.ended', passReport(FORM_A, 'db', next));
    expect(seen.length).toBe(2);
  });

  it('L17: takes a look for a pass that found nothing, counts it as none, and misses none for it', () => {
    const { events, seen, tracker } = openTracker();
    tracker.addRecorded('db', [formOverview(FORM_A, {}, [passRecord(300_000)])]);
    const byLook = passRecord(9_000, { requests: 0, startedAt: before(10_000) });
    events.emit('pass.ended', { ...passReport(FORM_A, 'db', byLook), byLook: true });
    const { lookedMs, provenMs } = tracker.summary('db', FORM_A.id);
    // It knows how the source was when it began.
    expect([lookedMs, provenMs].map((ms) => new Date(ms).toISOString())).toEqual([
      before(10_000),
      before(10_000),
    ]);
    expect(seen).toEqual([]);
    // A pass of another worker that ended before the look.
    const form = formOverview(FORM_A, {}, [passRecord(60_000), passRecord(300_000)]);
    expect(tracker.withNewPasses('db', [form])).toEqual([form]);
    const failed = passRecord(5_000, { outcome: 'failed', code: 'TARGET_FAILED' });
    events.emit('pass.ended', passReport(FORM_A, 'db', failed));
    events.emit('pass.ended', { ...passReport(FORM_A, 'db', byLook), byLook: true });
    expect(newestPass(tracker.summary('db', FORM_A.id))?.outcome).toBe('failed');
  });

  it('L17: takes a look over a form whose deletions are withheld for a pass that withheld them', () => {
    const { events, tracker } = openTracker();
    const end = { outcome: 'withheld', withheld: 40, code: 'DELETIONS_HELD' } as const;
    tracker.addRecorded('db', [formOverview(FORM_A, {}, [passRecord(300_000, end)])]);
    const byLook = passRecord(9_000, { ...end, requests: 0, startedAt: before(10_000) });
    events.emit('pass.ended', { ...passReport(FORM_A, 'db', byLook), byLook: true });
    const summary = tracker.summary('db', FORM_A.id);
    expect(newestPass(summary)).toMatchObject({ ...end, endedAt: before(10_000) });
    expect([summary.withheld, summary.lookedMs]).toEqual([40, Date.parse(before(10_000))]);
  });

  it('reports no pass that ended before it looked, but takes them into account', () => {
    const { seen, tracker } = openTracker();
    const held = passRecord(3_600_000, { kind: 'full', outcome: 'withheld', withheld: 40 });
    const forms = [formOverview(FORM_A, {}, [passRecord(1_000), held])];
    expect(tracker.withNewPasses('db', forms)).toEqual([]);
    tracker.addRecorded('db', forms);
    expect(seen).toEqual([]);
    expect(tracker.summary('db', FORM_A.id)).toMatchObject({
      withheld: 40,
      incremental: { outcome: 'ok' },
    });
  });

  it('reports each pass of other workers, in order', () => {
    const { seen, tracker } = openTracker();
    tracker.addRecorded('db', [formOverview(FORM_A, {}, [passRecord(300_000)])]);
    const passes = [
      passRecord(1_000),
      passRecord(61_000),
      passRecord(121_000),
      passRecord(300_000),
    ];
    const form = formOverview(FORM_A, {}, passes);
    expect(tracker.withNewPasses('db', [form])).toEqual([form]);
    tracker.addRecorded('db', [form], new Map([[FORM_A.id, passes]]));
    tracker.addRecorded('db', [form], new Map([[FORM_A.id, passes]]));
    expect(seen.map((line) => line.split(' ')[1])).toEqual([
      before(121_000),
      before(61_000),
      before(1_000),
    ]);
  });

  it('reports the first pass of a form that is new to a target it knows', () => {
    const { seen, tracker } = openTracker();
    tracker.addRecorded('db', []);
    tracker.addRecorded('db', [formOverview(FORM_A, {}, [passRecord(1_000, { kind: 'full' })])]);
    expect(seen).toHaveLength(1);
  });

  it('learns what a target records even when a pass of this process came first', () => {
    const { events, tracker } = openTracker();
    events.emit('pass.ended', passReport(FORM_A, 'db', passRecord(500)));
    const held = passRecord(3_600_000, { kind: 'full', outcome: 'withheld', withheld: 40 });
    tracker.addRecorded('db', [formOverview(FORM_A, {}, [passRecord(60_000), held])]);
    const summary = tracker.summary('db', FORM_A.id);
    expect(summary).toMatchObject({ withheld: 40, full: { outcome: 'withheld' } });
    expect(newestPass(summary)?.endedAt).toBe(before(500));
  });

  it('knows the code of a failure that no target could record', () => {
    const { events, seen, tracker } = openTracker();
    const failure = new MirrorError('TARGET_UNREACHABLE', 'Target db does not answer.');
    const pass = passRecord(500, { outcome: 'failed', error: failure.message });
    events.emit('pass.ended', passReport(FORM_A, 'db', pass, failure));
    expect(newestPass(tracker.summary('db', FORM_A.id))).toMatchObject({
      code: 'TARGET_UNREACHABLE',
    });
    expect(JSON.stringify(tracker.summary('db', FORM_A.id))).not.toContain('failure');
    expect(seen).toHaveLength(1);
  });

  it('follows a running pass, and is not put off by one that finds the form held', () => {
    const { events, tracker } = openTracker();
    const subject = { form: FORM_A, target: 'db', kind: 'full' as const, passId: 'p' };
    events.emit('pass.started', subject);
    expect(tracker.running('db', FORM_A.id)).toMatchObject({ seen: 0 });
    const counts = { seen: 300, total: 900, inserted: 300, updated: 0, unchanged: 0 };
    events.emit('pass.progress', { ...subject, ...counts });
    events.emit('pass.started', { ...subject, kind: 'incremental' });
    events.emit('pass.ended', passReport(FORM_A, 'db', passRecord(1, { outcome: 'busy' })));
    expect(tracker.running('db', FORM_A.id)).toMatchObject({ kind: 'full', seen: 300, total: 900 });
    events.emit('pass.ended', passReport(FORM_A, 'db', passRecord(0, { kind: 'full' })));
    expect(tracker.running('db', FORM_A.id)).toBeNull();
  });

  it('hears nothing after its end', () => {
    const { events, seen, tracker } = openTracker();
    tracker.stop();
    events.emit('pass.ended', passReport(FORM_A, 'db', passRecord(0)));
    expect(seen).toEqual([]);
  });
});
