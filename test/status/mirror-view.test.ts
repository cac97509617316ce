import { describe, expect, it } from 'vitest';
import { MirrorError } from '../../src/base/errors.ts';
import { reportOf } from '../../src/status/report.ts';
import { NOW, QUEUE, before, formOverview, passRecord } from './fake-source.ts';
import { FORM_A, FORM_B, failedPass, pairOf, reading, viewOf } from './view-of.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('a form in a target', () => {
  it('is well when its newest pass is proven', () => {
    const view = viewOf();
    expect(pairOf(view)).toMatchObject({ state: 'ok', problems: [], provenAt: before(20_000) });
    expect(view.state).toBe('ok');
  });

  it('has failed when its newest pass did, and says what to do', () => {
    const view = viewOf({
      'db frm_a': [passRecord(MINUTE), failedPass(1_000, 'TARGET_FULL', 'No room.')],
    });
    const { state, problems } = pairOf(view);
    expect(state).toBe('failed');
    expect(problems).toMatchObject([
      { code: 'TARGET_FULL', level: 'error', message: 'No room.', calls: true, covered: false },
    ]);
    expect(problems[0]?.remedy).toContain('Make room');
    expect(view.state).toBe('failed');
  });

  it('only wants attention when the full pass failed and what is new still arrives', () => {
    const full = { ...failedPass(MINUTE, 'FORMS_FAILED', 'answered 503'), kind: 'full' as const };
    const { state, problems } = pairOf(viewOf({ 'db frm_a': [full, passRecord(1_000)] }));
    expect(state).toBe('attention');
    expect(problems[0]).toMatchObject({ level: 'warning', code: 'FORMS_FAILED', calls: true });
    expect(problems[0]?.message).toContain('status changes and deletions do not');
  });

  it('is well again after a full pass, whatever an earlier incremental one met', () => {
    const passes = [failedPass(MINUTE, 'FORMS_FAILED'), passRecord(1_000, { kind: 'full' })];
    expect(pairOf(viewOf({ 'db frm_a': passes })).state).toBe('ok');
  });

  it('calls a person at the second unproven pass in a row, not at the first', () => {
    const unproven = (agoMs: number) =>
      passRecord(agoMs, { outcome: 'incomplete', error: 'moved' });
    const once = pairOf(viewOf({ 'db frm_a': [passRecord(9_000), unproven(5_000)] }));
    expect(once.state).toBe('attention');
    expect(once.problems[0]).toMatchObject({ code: 'PASS_INCOMPLETE', calls: false });
    const twice = pairOf(viewOf({ 'db frm_a': [unproven(5_000), unproven(1_000)] }));
    expect(twice.problems[0]).toMatchObject({ calls: true });
    const broken = [unproven(9_000), passRecord(5_000), unproven(1_000)];
    expect(pairOf(viewOf({ 'db frm_a': broken })).problems[0]).toMatchObject({ calls: false });
  });

  it('L8: keeps telling of withheld deletions while incremental passes go well, with the command that releases them', () => {
    const held = passRecord(HOUR, { kind: 'full', outcome: 'withheld', withheld: 312 });
    const { state, problems } = pairOf(viewOf({ 'db frm_a': [held, passRecord(1_000)] }));
    expect(state).toBe('attention');
    expect(problems).toMatchObject([
      {
        code: 'DELETES_WITHHELD',
        command: 'forms-mirror sync --full --accept-deletes --form frm_a --target db',
      },
    ]);
    const released = [held, passRecord(1_000, { kind: 'full', deleted: 312 })];
    expect(pairOf(viewOf({ 'db frm_a': released })).problems).toEqual([]);
    const failedSince = [held, { ...failedPass(1_000, 'FORMS_FAILED'), kind: 'full' as const }];
    const codes = pairOf(viewOf({ 'db frm_a': failedSince })).problems.map(({ code }) => code);
    expect(codes).toContain('DELETES_WITHHELD');
  });

  it('that is gone wants attention for a week, then it has ended', () => {
    const gone = (agoMs: number) => {
      const overview = {
        kind: 'sqlite' as const,
        address: 'x',
        forms: [formOverview(FORM_A, { goneAt: before(agoMs) })],
      };
      const pass = passRecord(agoMs, { outcome: 'gone', error: 'answers 404' });
      return pairOf(viewOf({ 'db frm_a': [pass] }, { targets: [reading({ overview })] }));
    };
    expect(gone(DAY)).toMatchObject({ state: 'attention', problems: [{ code: 'FORM_GONE' }] });
    expect(gone(8 * DAY).state).toBe('ended');
  });

  it('that came back is gone no longer', () => {
    const overview = {
      kind: 'sqlite' as const,
      address: 'x',
      forms: [formOverview(FORM_A, { goneAt: before(HOUR) })],
    };
    const passes = [passRecord(HOUR, { outcome: 'gone' }), passRecord(1_000)];
    const view = viewOf({ 'db frm_a': passes }, { targets: [reading({ overview })] });
    expect(pairOf(view)).toMatchObject({ state: 'ok', problems: [] });
  });

  it.each([
    ['a pass that found the form held', passRecord(1_000, { outcome: 'busy' })],
    ['a pass that was stopped', passRecord(1_000, { outcome: 'cancelled' })],
    ['a pass that another one took over', failedPass(1_000, 'TARGET_LOST_LOCK')],
  ])('is as well as before after %s', (_, pass) => {
    expect(pairOf(viewOf({ 'db frm_a': [passRecord(MINUTE), pass] })).state).toBe('ok');
    const ill = [failedPass(MINUTE, 'TARGET_FULL'), pass];
    expect(pairOf(viewOf({ 'db frm_a': ill })).state).toBe('failed');
  });

  it('that is planned and has no pass yet waits; one that the settings no longer choose has ended', () => {
    const fresh = { id: 'frm_new', slug: 'new', name: 'New' };
    const plan = {
      at: before(1_000),
      forms: [FORM_A, fresh].map((form) => ({ form, targets: ['db'] })),
      problem: null,
      notices: [],
    };
    const held = passRecord(HOUR, { kind: 'full', outcome: 'withheld', withheld: 30 });
    const passes = { 'db frm_new': [], 'db frm_b': [held] };
    const view = viewOf(passes, { plan, knownSinceMs: () => NOW });
    expect(pairOf(view, fresh)).toMatchObject({ state: 'waiting', overview: null });
    expect(pairOf(view, FORM_B)).toMatchObject({ state: 'ended', problems: [], wanted: false });
    // Another worker's newer plan may know it.
    const newer = viewOf({ 'db frm_b': [passRecord(100)] }, { plan });
    expect(pairOf(newer, FORM_B).state).toBe('ok');
  });

  it('that is being read works; the mirror as a whole is well all the same once it was proven', () => {
    const running = { kind: 'full' as const, startedAtMs: NOW, heardAtMs: NOW, seen: 5, total: 9 };
    const view = viewOf({}, { running: (_, form) => (form === 'frm_a' ? running : null) });
    expect(pairOf(view).state).toBe('working');
    expect(view.state).toBe('ok');
  });
});

describe('a cause that forms share', () => {
  it('a refused key is told once, for all', () => {
    const refused = failedPass(1_000, 'FORMS_UNAUTHORIZED', 'the key was refused (401)');
    const view = viewOf({ 'db frm_a': [passRecord(MINUTE), refused] });
    expect(view.problems).toMatchObject([{ code: 'FORMS_UNAUTHORIZED' }]);
    expect(pairOf(view).problems[0]).toMatchObject({ covered: true });
    expect(reportOf(view, '1').forms[0]?.problems[0]).toMatchObject({ covered: true });
  });

  it('a key refused to another worker is known by the words in the target', () => {
    const error =
      'Forms API, GET /submissions?…: the key was refused (401): it is wrong, revoked or missing.';
    const view = viewOf({ 'db frm_a': [passRecord(1_000, { outcome: 'failed', error })] });
    expect(view.problems).toMatchObject([{ code: 'FORMS_UNAUTHORIZED' }]);
  });

  it('an API that fails two forms with no success in between is told once; one form alone is its own matter', () => {
    const one = viewOf({ 'db frm_a': [failedPass(9_000, 'FORMS_FAILED')] });
    expect(one.problems).toEqual([]);
    expect(pairOf(one).problems[0]).toMatchObject({ covered: false });
    const two = viewOf({
      'db frm_a': [failedPass(9_000, 'FORMS_FAILED')],
      'db frm_b': [failedPass(8_000, 'FORMS_FAILED')],
    });
    expect(two.problems).toMatchObject([{ code: 'FORMS_FAILED' }]);
    const between = viewOf({
      'db frm_a': [failedPass(9_000, 'FORMS_FAILED')],
      'db frm_b': [passRecord(8_500), failedPass(8_000, 'FORMS_FAILED')],
    });
    expect(between.problems).toEqual([]);
  });

  it('a plan that cannot be made is told until something succeeds', () => {
    const problem = { code: 'FORMS_UNREACHABLE' as const, message: 'no answer', at: before(1_000) };
    const plan = { at: null, forms: [], problem, notices: [] };
    expect(viewOf({}, { plan }).problems).toMatchObject([{ code: 'FORMS_UNREACHABLE' }]);
    const since = { 'db frm_a': [passRecord(500)] };
    expect(viewOf(since, { plan }).problems).toEqual([]);
  });

  it('a target that fails two forms is told once, and only there', () => {
    const passes = {
      'db frm_a': [failedPass(9_000, 'TARGET_DENIED')],
      'db frm_b': [failedPass(8_000, 'TARGET_DENIED')],
    };
    const view = viewOf(passes, { targets: [reading(), reading({ name: 'sheet' })] });
    expect(view.targets.map(({ problem }) => problem?.code)).toEqual(['TARGET_DENIED', undefined]);
    expect(pairOf(view).problems[0]).toMatchObject({ covered: true });
  });

  it('a target that cannot be read is told at the second try, and keeps its last reading', () => {
    const failure = { code: 'TARGET_UNREACHABLE' as const, message: 'no answer' };
    const once = viewOf({}, { targets: [reading({ failure, failures: 1 })] });
    expect(once.targets[0]).toMatchObject({ problem: null, readable: false });
    const twice = viewOf({}, { targets: [reading({ failure, failures: 2 })] });
    expect(twice.targets[0]?.problem).toMatchObject({ code: 'TARGET_UNREACHABLE' });
    expect(twice.pairs).toHaveLength(2);
    expect(twice.state).toBe('failed');
  });

  it('a queue that is away, and a scheduler that does not tick', () => {
    expect(viewOf({}, { queue: null, queueFailures: 1 }).problems).toEqual([]);
    const away = viewOf({}, { queue: { ...QUEUE, reachable: false }, queueFailures: 2 });
    expect(away.problems).toMatchObject([{ code: 'QUEUE_UNREACHABLE' }]);
    const schedules = [{ kind: 'incremental' as const, nextRunAt: before(HOUR), overdue: true }];
    const late = viewOf({}, { queue: { ...QUEUE, schedules } });
    expect(late.problems).toMatchObject([{ code: 'SCHEDULE_OVERDUE' }]);
    expect(late.problems[0]?.message).toContain('1 h');
  });
});

describe('silence', () => {
  const old = (agoMs: number) => [passRecord(agoMs)];

  it('begins two missed runs and ten minutes after the last sign of life', () => {
    const fresh = viewOf({ 'db frm_a': old(11 * MINUTE), 'db frm_b': old(1_000) });
    expect(pairOf(fresh).state).toBe('ok');
    const silent = viewOf({ 'db frm_a': old(13 * MINUTE), 'db frm_b': old(1_000) });
    expect(pairOf(silent).problems).toMatchObject([
      { code: 'SILENT', calls: true, track: 'silence' },
    ]);
  });

  it('of a form that never had a pass counts from when it was first known', () => {
    const fresh = { id: 'frm_new', slug: 'new', name: 'New' };
    const plan = {
      at: before(0),
      forms: [{ form: fresh, targets: ['db'] }],
      problem: null,
      notices: [],
    };
    const known = (agoMs: number) =>
      pairOf(viewOf({ 'db frm_new': [] }, { plan, knownSinceMs: () => NOW - agoMs }), fresh);
    expect(known(MINUTE).state).toBe('waiting');
    expect(known(HOUR).problems).toMatchObject([{ code: 'SILENT' }]);
  });

  it('follows the schedule: a night without runs is none', () => {
    const nextDueAt = (afterMs: number): number => afterMs + 12 * HOUR;
    expect(viewOf({ 'db frm_a': old(20 * HOUR) }, { nextDueAt }).state).toBe('ok');
    expect(pairOf(viewOf({ 'db frm_a': old(25 * HOUR) }, { nextDueAt })).state).toBe('failed');
  });

  it('of all forms is told once', () => {
    const view = viewOf({ 'db frm_a': old(HOUR), 'db frm_b': old(HOUR) });
    expect(view.problems).toMatchObject([
      { code: 'SILENT', title: 'Nothing is heard of any form' },
    ]);
    expect(pairOf(view).problems).toMatchObject([{ code: 'SILENT', calls: false }]);
  });

  it('of one form calls nobody while it may be that of all', () => {
    const view = viewOf({ 'db frm_a': old(13 * MINUTE), 'db frm_b': old(10 * MINUTE) });
    expect(view.problems).toEqual([]);
    expect(pairOf(view).problems).toMatchObject([{ code: 'SILENT', calls: false }]);
  });

  it('is broken by a pass at work, here or elsewhere, and by a pause', () => {
    const running = {
      kind: 'full' as const,
      startedAtMs: 0,
      heardAtMs: NOW - 1_000,
      seen: 5,
      total: 9,
    };
    const here = viewOf({ 'db frm_a': old(HOUR) }, { running: () => running });
    expect(pairOf(here).problems).toEqual([]);
    const depth = {
      ...QUEUE.queues[0]!,
      step: 'sync' as const,
      target: 'db',
      kind: 'full' as const,
    };
    const elsewhere = { ...QUEUE, queues: [{ ...depth, active: 1 }] };
    expect(pairOf(viewOf({ 'db frm_a': old(HOUR) }, { queue: elsewhere })).problems).toEqual([]);
    const paused = { ...QUEUE, queues: [{ ...depth, paused: true }] };
    const view = viewOf({ 'db frm_a': old(HOUR) }, { queue: paused });
    expect(pairOf(view).problems).toEqual([]);
    expect(view.targets[0]?.paused).toBe(true);
    expect(reportOf(view, '1').forms[0]?.nextRunAt).toBeNull();
  });

  it('counts from the start of this process, and from the end of an outage', () => {
    const targets = [reading({ listeningSinceMs: NOW - MINUTE })];
    expect(viewOf({ 'db frm_a': old(DAY), 'db frm_b': old(DAY) }, { targets }).state).toBe('ok');
  });

  it('is not expected of a form that is gone', () => {
    const passes = { 'db frm_a': [passRecord(HOUR, { outcome: 'gone' })] };
    const tracks = pairOf(viewOf(passes)).problems.map(({ track }) => track);
    expect(tracks).toEqual(['passes']);
  });
});

describe('the report', () => {
  it('has seconds of lag, the next run and the last pass', () => {
    const { forms, queue } = reportOf(viewOf(), '1.2.3');
    expect(forms[0]).toMatchObject({
      lagSeconds: 20,
      nextRunAt: before(-38_000),
      lastPass: { kind: 'incremental', outcome: 'ok' },
      lastFullPass: { kind: 'full' },
    });
    expect(queue).toMatchObject({ backend: 'redis', waiting: 1, active: 0 });
  });

  it('L11, L15: carries no more of an error than code and message', () => {
    const cause = new Error('secret answer');
    const failure = new MirrorError('TARGET_FAILED', 'broke', { cause });
    const { code, message } = failure;
    const view = viewOf({}, { targets: [reading({ failure: { code, message }, failures: 3 })] });
    expect(JSON.stringify(reportOf(view, '1'))).not.toContain('secret');
  });
});
