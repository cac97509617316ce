import { describe, expect, it } from 'vitest';
import { MirrorError } from '../../src/base/errors.ts';
import { reportOf } from '../../src/health/report.ts';
import { NOW, QUEUE, before, formOverview, passRecord } from './fake-source.ts';
import { FORM_A, FORM_B, failedPass, formOf, reading, healthOf } from './health-of.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('a form in a target', () => {
  it('is well when its newest pass is proven', () => {
    const health = healthOf();
    expect(formOf(health)).toMatchObject({ state: 'ok', problems: [], provenAt: before(20_000) });
    expect(health.state).toBe('ok');
  });

  it('has failed when its newest pass did, and says what to do', () => {
    const health = healthOf({
      'db frm_a': [passRecord(MINUTE), failedPass(1_000, 'TARGET_FULL', 'No room.')],
    });
    const { state, problems } = formOf(health);
    expect(state).toBe('failed');
    expect(problems).toMatchObject([
      {
        code: 'TARGET_FULL',
        level: 'error',
        message: 'No room.',
        notifies: true,
        inhibited: false,
      },
    ]);
    expect(problems[0]?.remedy).toContain('Make room');
    expect(health.state).toBe('failed');
  });

  it('only wants attention when the full pass failed and what is new still arrives', () => {
    const full = { ...failedPass(MINUTE, 'FORMS_FAILED', 'answered 503'), kind: 'full' as const };
    const { state, problems } = formOf(healthOf({ 'db frm_a': [full, passRecord(1_000)] }));
    expect(state).toBe('attention');
    expect(problems[0]).toMatchObject({ level: 'warning', code: 'FORMS_FAILED', notifies: true });
    expect(problems[0]?.message).toContain('edited answers do not');
  });

  it('is well again after a full pass, whatever an earlier incremental one met', () => {
    const passes = [failedPass(MINUTE, 'FORMS_FAILED'), passRecord(1_000, { kind: 'full' })];
    expect(formOf(healthOf({ 'db frm_a': passes })).state).toBe('ok');
  });

  it('notifies a person at the second unproven pass in a row, not at the first', () => {
    const unproven = (agoMs: number) =>
      passRecord(agoMs, { outcome: 'incomplete', error: 'moved' });
    const once = formOf(healthOf({ 'db frm_a': [passRecord(9_000), unproven(5_000)] }));
    expect(once.state).toBe('attention');
    expect(once.problems[0]).toMatchObject({ code: 'RUN_INCOMPLETE', notifies: false });
    const twice = formOf(healthOf({ 'db frm_a': [unproven(5_000), unproven(1_000)] }));
    expect(twice.problems[0]).toMatchObject({ notifies: true });
    const broken = [unproven(9_000), passRecord(5_000), unproven(1_000)];
    expect(formOf(healthOf({ 'db frm_a': broken })).problems[0]).toMatchObject({ notifies: false });
  });

  it('L8: keeps telling of withheld deletions while incremental passes go well, with the command that releases them', () => {
    const held = passRecord(HOUR, { kind: 'full', outcome: 'withheld', withheld: 312 });
    const { state, problems } = formOf(healthOf({ 'db frm_a': [held, passRecord(1_000)] }));
    expect(state).toBe('attention');
    expect(problems).toMatchObject([
      {
        code: 'DELETIONS_HELD',
        command: 'forms-mirror sync --full --accept-deletes --form frm_a --target db',
      },
    ]);
    const released = [held, passRecord(1_000, { kind: 'full', deleted: 312 })];
    expect(formOf(healthOf({ 'db frm_a': released })).problems).toEqual([]);
    const failedSince = [held, { ...failedPass(1_000, 'FORMS_FAILED'), kind: 'full' as const }];
    const codes = formOf(healthOf({ 'db frm_a': failedSince })).problems.map(({ code }) => code);
    expect(codes).toContain('DELETIONS_HELD');
  });

  it('that is gone wants attention for a week, then it has ended', () => {
    const gone = (agoMs: number) => {
      const overview = {
        kind: 'sqlite' as const,
        address: 'x',
        forms: [formOverview(FORM_A, { goneAt: before(agoMs) })],
      };
      const pass = passRecord(agoMs, { outcome: 'gone', error: 'answers 404' });
      return formOf(healthOf({ 'db frm_a': [pass] }, { targets: [reading({ overview })] }));
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
    const health = healthOf({ 'db frm_a': passes }, { targets: [reading({ overview })] });
    expect(formOf(health)).toMatchObject({ state: 'ok', problems: [] });
  });

  it.each([
    ['a pass that found the form held', passRecord(1_000, { outcome: 'busy' })],
    ['a pass that was stopped', passRecord(1_000, { outcome: 'cancelled' })],
    ['a pass that another one took over', failedPass(1_000, 'TARGET_BUSY')],
  ])('is as well as before after %s', (_, pass) => {
    expect(formOf(healthOf({ 'db frm_a': [passRecord(MINUTE), pass] })).state).toBe('ok');
    const ill = [failedPass(MINUTE, 'TARGET_FULL'), pass];
    expect(formOf(healthOf({ 'db frm_a': ill })).state).toBe('failed');
  });

  it('that is planned and has no pass yet waits; one that the settings no longer choose has ended', () => {
    const fresh = { id: 'frm_new', slug: 'new', name: 'New' };
    const plan = {
      at: before(1_000),
      forms: [FORM_A, fresh].map((form) => ({ form, targets: ['db'] })),
      problem: null,
      unmatched: [],
      notices: [],
    };
    const held = passRecord(HOUR, { kind: 'full', outcome: 'withheld', withheld: 30 });
    const passes = { 'db frm_new': [], 'db frm_b': [held] };
    const health = healthOf(passes, { plan, knownSinceMs: () => NOW });
    expect(formOf(health, fresh)).toMatchObject({ state: 'waiting', overview: null });
    expect(formOf(health, FORM_B)).toMatchObject({ state: 'ended', problems: [], wanted: false });
    // Another worker's newer plan may know it.
    const newer = healthOf({ 'db frm_b': [passRecord(100)] }, { plan });
    expect(formOf(newer, FORM_B).state).toBe('ok');
  });

  it('that is being read works; the mirror as a whole is well all the same once it was proven', () => {
    const running = { kind: 'full' as const, startedAtMs: NOW, heardAtMs: NOW, seen: 5, total: 9 };
    const health = healthOf({}, { running: (_, form) => (form === 'frm_a' ? running : null) });
    expect(formOf(health).state).toBe('working');
    expect(health.state).toBe('ok');
  });
});

describe('since when', () => {
  const failing = (agoMs: number) => failedPass(agoMs, 'TARGET_FULL');

  it('a form fails: since the last pass that did not, however many failed', () => {
    const passes = [passRecord(HOUR), failing(9 * MINUTE), failing(MINUTE)];
    const health = healthOf({ 'db frm_a': passes });
    expect(formOf(health)).toMatchObject({
      since: before(HOUR),
      problems: [{ since: before(HOUR) }],
    });
    expect(health).toMatchObject({ state: 'failed', since: before(HOUR) });
    const always = healthOf({ 'db frm_a': [failing(9 * MINUTE), failing(MINUTE)] });
    expect(formOf(always).since).toBe(before(9 * MINUTE));
  });

  it('a full pass fails while the others do not: since the last full one', () => {
    const full = { ...failing(HOUR), kind: 'full' as const };
    const passes = [passRecord(DAY, { kind: 'full' }), passRecord(2 * HOUR), full, passRecord(1)];
    expect(formOf(healthOf({ 'db frm_a': passes })).since).toBe(before(DAY));
  });

  it('a form is well again: since the pass that showed it; unknown when it always was', () => {
    const passes = [failing(HOUR), passRecord(9 * MINUTE), passRecord(MINUTE)];
    const health = healthOf({ 'db frm_a': passes });
    expect(formOf(health)).toMatchObject({ state: 'ok', since: before(9 * MINUTE) });
    expect(health).toMatchObject({ state: 'ok', since: before(9 * MINUTE) });
    expect(healthOf().since).toBeNull();
  });

  it('a target and the mirror fail: since the first form did', () => {
    const health = healthOf({
      'db frm_a': [passRecord(HOUR), failing(2 * MINUTE)],
      'db frm_b': [passRecord(3 * HOUR), failing(MINUTE)],
    });
    expect(health.targets[0]).toMatchObject({ state: 'failed', since: before(3 * HOUR) });
    expect(health.since).toBe(before(3 * HOUR));
  });

  it('no plan can be made: since the last one that could', () => {
    const problem = { code: 'FORMS_UNREACHABLE' as const, message: 'away', at: before(1) };
    const plan = { at: before(DAY), forms: [], problem, unmatched: [], notices: [] };
    const old = { 'db frm_a': [passRecord(DAY)], 'db frm_b': [passRecord(DAY)] };
    const targets = [reading({ expectedSinceMs: NOW })];
    expect(healthOf(old, { plan, targets }).problems).toMatchObject([{ since: before(DAY) }]);
  });

  it('no plan can be made here, where others have planned since: since a pass was last proven', () => {
    const problem = { code: 'FORMS_FAILED' as const, message: 'away', at: before(1) };
    const plan = { at: before(HOUR), forms: [], problem, unmatched: [], notices: [] };
    const passes = { 'db frm_a': [passRecord(3 * MINUTE)], 'db frm_b': [passRecord(2 * MINUTE)] };
    expect(healthOf(passes, { plan }).problems).toMatchObject([{ since: before(2 * MINUTE) }]);
  });

  it('the queue is away, or every form stale', () => {
    const away = { ...QUEUE, reachable: false };
    const failures = { queueFailures: 2, queueFailingSinceMs: NOW - MINUTE };
    expect(healthOf({}, { queue: away, ...failures }).since).toBe(before(MINUTE));
    const old = [passRecord(HOUR)];
    expect(healthOf({ 'db frm_a': old, 'db frm_b': old }).since).toBe(before(HOUR));
  });
});

describe('a cause that forms share', () => {
  it('a refused key is shown once, for all', () => {
    const refused = failedPass(1_000, 'FORMS_UNAUTHORIZED', 'the key was refused (401)');
    const health = healthOf({ 'db frm_a': [passRecord(MINUTE), refused] });
    expect(health.problems).toMatchObject([{ code: 'FORMS_UNAUTHORIZED' }]);
    expect(formOf(health).problems[0]).toMatchObject({ inhibited: true });
    expect(reportOf(health, '1').forms[0]?.problems[0]).toMatchObject({ inhibited: true });
  });

  it('is known by the recorded code, whichever worker ran the pass; a record without code blames nobody', () => {
    const error =
      'Forms API, GET /submissions?…: the key was refused (401): it is wrong, revoked or missing.';
    const record = passRecord(1_000, { outcome: 'failed', error });
    const coded = healthOf({ 'db frm_a': [{ ...record, code: 'FORMS_UNAUTHORIZED' }] });
    expect(coded.problems).toMatchObject([{ code: 'FORMS_UNAUTHORIZED' }]);
    const old = healthOf({ 'db frm_a': [record] });
    expect(old.problems).toEqual([]);
    expect(formOf(old).problems).toMatchObject([{ code: 'INTERNAL', message: error }]);
  });

  it('an API that fails two forms with no success in between is shown once; one form alone is its own matter', () => {
    const one = healthOf({ 'db frm_a': [failedPass(9_000, 'FORMS_FAILED')] });
    expect(one.problems).toEqual([]);
    expect(formOf(one).problems[0]).toMatchObject({ inhibited: false });
    const two = healthOf({
      'db frm_a': [failedPass(9_000, 'FORMS_FAILED')],
      'db frm_b': [failedPass(8_000, 'FORMS_FAILED')],
    });
    expect(two.problems).toMatchObject([{ code: 'FORMS_FAILED' }]);
    const between = healthOf({
      'db frm_a': [failedPass(9_000, 'FORMS_FAILED')],
      'db frm_b': [passRecord(8_500), failedPass(8_000, 'FORMS_FAILED')],
    });
    expect(between.problems).toEqual([]);
  });

  it('a plan that cannot be made is shown until something succeeds', () => {
    const problem = { code: 'FORMS_UNREACHABLE' as const, message: 'no answer', at: before(1_000) };
    const plan = { at: null, forms: [], problem, unmatched: [], notices: [] };
    expect(healthOf({}, { plan }).problems).toMatchObject([{ code: 'FORMS_UNREACHABLE' }]);
    const since = { 'db frm_a': [passRecord(500)] };
    expect(healthOf(since, { plan }).problems).toEqual([]);
  });

  it('a target that fails two forms is shown once, and only there', () => {
    const passes = {
      'db frm_a': [failedPass(9_000, 'TARGET_DENIED')],
      'db frm_b': [failedPass(8_000, 'TARGET_DENIED')],
    };
    const health = healthOf(passes, { targets: [reading(), reading({ name: 'sheet' })] });
    expect(health.targets.map(({ problem }) => problem?.code)).toEqual([
      'TARGET_DENIED',
      undefined,
    ]);
    expect(formOf(health).problems[0]).toMatchObject({ inhibited: true });
  });

  it('a target that cannot be read is not well at the first try, an error at the second, and keeps its last reading', () => {
    const failure = {
      code: 'TARGET_UNREACHABLE' as const,
      message: 'no answer',
      sinceMs: NOW - MINUTE,
    };
    const once = healthOf({}, { targets: [reading({ failure, failures: 1 })] });
    expect(once.targets[0]).toMatchObject({ problem: { level: 'warning' }, readable: false });
    expect(once.state).toBe('waiting');
    const twice = healthOf({}, { targets: [reading({ failure, failures: 2 })] });
    expect(twice.targets[0]?.problem).toMatchObject({ code: 'TARGET_UNREACHABLE', level: 'error' });
    expect(twice.forms).toHaveLength(2);
    expect(twice.state).toBe('failed');
  });

  it('a queue that is away, and a scheduler that does not tick', () => {
    const once = healthOf({}, { queue: { ...QUEUE, reachable: false }, queueFailures: 1 });
    expect(once).toMatchObject({ state: 'waiting', problems: [{ level: 'warning' }] });
    const away = healthOf({}, { queue: { ...QUEUE, reachable: false }, queueFailures: 2 });
    expect(away.problems).toMatchObject([{ code: 'QUEUE_FAILED', level: 'error' }]);
    const schedules = [{ kind: 'incremental' as const, nextRunAt: before(HOUR), overdue: true }];
    const late = healthOf({}, { queue: { ...QUEUE, schedules } });
    expect(late.problems).toMatchObject([{ code: 'QUEUE_FAILED' }]);
    expect(late.problems[0]?.message).toContain('1 h');
  });
});

describe('staleness', () => {
  const old = (agoMs: number) => [passRecord(agoMs)];

  it('begins two missed runs and ten minutes after the last sign of life', () => {
    const fresh = healthOf({ 'db frm_a': old(11 * MINUTE), 'db frm_b': old(1_000) });
    expect(formOf(fresh).state).toBe('ok');
    const silent = healthOf({ 'db frm_a': old(13 * MINUTE), 'db frm_b': old(1_000) });
    expect(formOf(silent).problems).toMatchObject([
      { code: 'STALE', notifies: true, track: 'staleness' },
    ]);
  });

  it('of a form that never had a pass counts from when it was first known', () => {
    const fresh = { id: 'frm_new', slug: 'new', name: 'New' };
    const plan = {
      at: before(0),
      forms: [{ form: fresh, targets: ['db'] }],
      problem: null,
      unmatched: [],
      notices: [],
    };
    const known = (agoMs: number) =>
      formOf(healthOf({ 'db frm_new': [] }, { plan, knownSinceMs: () => NOW - agoMs }), fresh);
    expect(known(MINUTE).state).toBe('waiting');
    expect(known(HOUR).problems).toMatchObject([{ code: 'STALE' }]);
  });

  it('follows the schedule: a night without runs is none', () => {
    const nextRunMs = (afterMs: number): number => afterMs + 12 * HOUR;
    expect(healthOf({ 'db frm_a': old(20 * HOUR) }, { nextRunMs }).state).toBe('ok');
    expect(formOf(healthOf({ 'db frm_a': old(25 * HOUR) }, { nextRunMs })).state).toBe('failed');
  });

  it('of all forms is shown once', () => {
    const health = healthOf({ 'db frm_a': old(HOUR), 'db frm_b': old(HOUR) });
    expect(health.problems).toMatchObject([{ code: 'STALE', title: 'All forms are stale' }]);
    expect(formOf(health).problems).toMatchObject([{ code: 'STALE', notifies: false }]);
  });

  it('of one form notifies nobody while it may be that of all', () => {
    const health = healthOf({ 'db frm_a': old(13 * MINUTE), 'db frm_b': old(10 * MINUTE) });
    expect(health.problems).toEqual([]);
    expect(formOf(health).problems).toMatchObject([{ code: 'STALE', notifies: false }]);
  });

  it('is broken by a pass at work, here or elsewhere', () => {
    const running = {
      kind: 'full' as const,
      startedAtMs: 0,
      heardAtMs: NOW - 1_000,
      seen: 5,
      total: 9,
    };
    const here = healthOf({ 'db frm_a': old(HOUR) }, { running: () => running });
    expect(formOf(here).problems).toEqual([]);
    const depth = {
      ...QUEUE.queues[0]!,
      step: 'sync' as const,
      target: 'db',
      kind: 'full' as const,
    };
    const elsewhere = { ...QUEUE, queues: [{ ...depth, active: 1 }] };
    expect(formOf(healthOf({ 'db frm_a': old(HOUR) }, { queue: elsewhere })).problems).toEqual([]);
  });

  it('counts from the start of this process, and from the end of an outage', () => {
    const targets = [reading({ expectedSinceMs: NOW - MINUTE })];
    expect(healthOf({ 'db frm_a': old(DAY), 'db frm_b': old(DAY) }, { targets }).state).toBe('ok');
  });

  it('is not expected of a form that is gone', () => {
    const passes = { 'db frm_a': [passRecord(HOUR, { outcome: 'gone' })] };
    const tracks = formOf(healthOf(passes)).problems.map(({ track }) => track);
    expect(tracks).toEqual(['passes']);
  });
});

describe('the report', () => {
  it('has seconds of lag, the next run and the last pass', () => {
    const { forms, queue } = reportOf(healthOf(), '1.2.3');
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
    const health = healthOf(
      {},
      { targets: [reading({ failure: { code, message, sinceMs: NOW }, failures: 3 })] },
    );
    expect(JSON.stringify(reportOf(health, '1'))).not.toContain('secret');
  });
});
