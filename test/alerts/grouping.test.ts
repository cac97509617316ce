import type { ProblemCode } from '../../src/base/catalogue.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PassRecord } from '../../src/mirror/types.ts';
import {
  type Alert,
  type AlertState,
  NO_ALERTS,
  parseAlertState,
} from '../../src/alerts/alert-state.ts';
import { GROUP_INTERVAL_MS } from '../../src/alerts/gathering.ts';
import { type AlertChanges, evaluateAll } from '../../src/alerts/grouping.ts';
import { OUTAGE_GRACE_MS, SETTLE_MS } from '../../src/alerts/persistence.ts';
import type { TargetReading } from '../../src/health/facts.ts';
import { type MirrorHealth, assessMirror } from '../../src/health/mirror-health.ts';
import { formKey } from '../../src/health/facts.ts';
import { NO_PASSES, type PassSummary, addPass } from '../../src/health/pass-summary.ts';
import { propertyRuns } from '../support/property.ts';
import { NOW, QUEUE, before, formOverview, passRecord } from '../health/fake-source.ts';
import { FORM_A, FORM_B, failedPass, reading, healthOf } from '../health/health-of.ts';

const MINUTE = 60_000;
const LASTING = Math.max(OUTAGE_GRACE_MS, SETTLE_MS);

const line = ({ status, subject, problem }: Alert): string =>
  [status, problem.code, subject.form?.id ?? '*', subject.target ?? '*'].join(' ');

/** The alerts of a state that lasts: long enough to be announced, and its end as well. */
function evaluateLasting(before: AlertState, health: MirrorHealth): AlertChanges {
  const first = evaluateAll(before, health, true);
  const later = { ...health, nowMs: health.nowMs + LASTING };
  const second = evaluateAll(first.state, later, true);
  return { state: second.state, alerts: [...first.alerts, ...second.alerts] };
}

/** The alerts of two states, one after the other. */
function alertsBetween(
  first: Parameters<typeof healthOf>,
  second: Parameters<typeof healthOf>,
): string[] {
  const { state } = evaluateLasting(NO_ALERTS, healthOf(...first));
  return evaluateLasting(state, healthOf(...second)).alerts.map(line);
}

describe('alerts are sent', () => {
  it('of a refused key: one alert, not one for each form', () => {
    const refused = (agoMs: number) => failedPass(agoMs, 'FORMS_UNAUTHORIZED');
    const passes = { 'db frm_a': [refused(2_000)], 'db frm_b': [refused(1_000)] };
    const { alerts, state } = evaluateLasting(NO_ALERTS, healthOf(passes));
    expect(alerts.map(line)).toEqual(['firing FORMS_UNAUTHORIZED * *']);
    // A new key: one form is read. The other one's failure is old news.
    const better = {
      'db frm_a': [refused(2_000), passRecord(-LASTING)],
      'db frm_b': [refused(1_000)],
    };
    expect(evaluateLasting(state, healthOf(better)).alerts.map(line)).toEqual([
      'resolved FORMS_UNAUTHORIZED * *',
    ]);
  });

  it('of a form whose failure is its own: that form, and its recovery', () => {
    const ill = { 'db frm_a': [failedPass(MINUTE, 'TARGET_FULL')] };
    expect(evaluateLasting(NO_ALERTS, healthOf(ill)).alerts.map(line)).toEqual([
      'firing TARGET_FULL frm_a db',
    ]);
    const well = { 'db frm_a': [failedPass(MINUTE, 'TARGET_FULL'), passRecord(-LASTING)] };
    expect(alertsBetween([ill], [well])).toEqual(['resolved TARGET_FULL frm_a db']);
  });

  it('of an outage that grows: the first form, then the API, then nothing for each of the others', () => {
    const one = { 'db frm_a': [failedPass(9_000, 'FORMS_FAILED')] };
    const two = { ...one, 'db frm_b': [failedPass(8_000, 'FORMS_FAILED')] };
    expect(alertsBetween([one], [two])).toEqual(['firing FORMS_FAILED * *']);
  });

  it('of a form that is gone, of withheld deletions, of two unproven passes: each once', () => {
    const passes = {
      'db frm_a': [passRecord(5_000, { outcome: 'gone' })],
      'db frm_b': [
        passRecord(9_000, { kind: 'full', outcome: 'withheld', withheld: 30 }),
        passRecord(5_000, { outcome: 'incomplete' }),
        passRecord(4_000, { outcome: 'incomplete' }),
      ],
    };
    const { alerts, state } = evaluateLasting(NO_ALERTS, healthOf(passes));
    expect(alerts.map(line).toSorted()).toEqual([
      'firing DELETIONS_HELD frm_b db',
      'firing FORM_GONE frm_a db',
      'firing RUN_INCOMPLETE frm_b db',
    ]);
    expect(evaluateLasting(state, healthOf(passes)).alerts).toEqual([]);
  });

  it('of rejected submissions: how many more there are', () => {
    const holding = (rejected: number) => {
      const forms = [formOverview(FORM_A, { rejected }), formOverview(FORM_B)];
      return [reading({ overview: { kind: 'sqlite', address: 'x', forms } })];
    };
    const first = evaluateLasting(NO_ALERTS, healthOf({}, { targets: holding(3) }));
    expect(first.alerts[0]).toMatchObject({
      status: 'firing',
      problem: { code: 'ROWS_REJECTED', title: '3 newly rejected submissions' },
    });
    const later = { targets: holding(5), nowMs: NOW + 25 * 3_600_000, nextRunMs: () => Infinity };
    const second = evaluateLasting(first.state, healthOf({}, later));
    expect(second.alerts[0]?.problem.message).toContain('(5 in all)');
    expect(second.alerts).toHaveLength(1);
  });

  it('of the queue, and of staleness everywhere', () => {
    const away = { queue: { ...QUEUE, reachable: false }, queueFailures: 2 };
    expect(alertsBetween([], [{}, away])).toEqual(['firing QUEUE_FAILED * *']);
    expect(alertsBetween([{}, away], [])).toEqual(['resolved QUEUE_FAILED * *']);
    const old = [passRecord(3_600_000)];
    expect(alertsBetween([], [{ 'db frm_a': old, 'db frm_b': old }])).toEqual(['firing STALE * *']);
  });

  it('after a restart: nothing twice, and no good news from a target that was not read yet', () => {
    const held = [passRecord(9_000, { kind: 'full', outcome: 'withheld', withheld: 30 })];
    const sent = evaluateLasting(NO_ALERTS, healthOf({ 'db frm_a': held }));
    const state = parseAlertState(JSON.stringify(sent.state))!;
    const plan = {
      at: before(0),
      forms: [{ form: FORM_A, targets: ['db'] }],
      problem: null,
      unmatched: [],
      notices: [],
    };
    const unread = [reading({ overview: null, readAtMs: 0 })];
    const start = evaluateLasting(
      state,
      healthOf({ 'db frm_a': [] }, { targets: unread, plan, knownSinceMs: () => NOW }),
    );
    expect(start.alerts).toEqual([]);
    expect(evaluateLasting(start.state, healthOf({ 'db frm_a': held })).alerts).toEqual([]);
  });

  it('of what the settings no longer choose: nothing, and it is forgotten', () => {
    const sent = evaluateLasting(
      NO_ALERTS,
      healthOf({ 'db frm_a': [failedPass(MINUTE, 'TARGET_FULL')] }),
    );
    const plan = {
      at: before(1_000),
      forms: [{ form: FORM_B, targets: ['db'] }],
      problem: null,
      unmatched: [],
      notices: [],
    };
    const passes = { 'db frm_a': [failedPass(MINUTE, 'TARGET_FULL')] };
    const after = evaluateLasting(sent.state, healthOf(passes, { plan }));
    expect(after.alerts).toEqual([]);
    expect(Object.keys(after.state.subjects)).toEqual([]);
  });
});

describe('when alerts are sent', () => {
  const ill = { 'db frm_a': [failedPass(MINUTE, 'TARGET_FULL')] };
  /** What is sent at these times (ms) of a state that lasts. */
  const sentAt = (passes: Parameters<typeof healthOf>[0], ...at: number[]) => {
    let state = NO_ALERTS;
    return at.map((ms) => {
      const changes = evaluateAll(state, { ...healthOf(passes), nowMs: NOW + ms }, true);
      state = changes.state;
      return changes.alerts.map(({ status }) => status).join();
    });
  };

  it('an outage is told of when it has lasted 90 s, a refused key after 20 s', () => {
    expect(sentAt(ill, 0, 89_000, 90_000)).toEqual(['', '', 'firing']);
    const refused = { 'db frm_a': [failedPass(MINUTE, 'FORMS_UNAUTHORIZED')] };
    expect(sentAt(refused, 0, 19_000, 20_000)).toEqual(['', '', 'firing']);
  });

  it('what stays is told again once a day', () => {
    const HOUR = 60 * MINUTE;
    const times = [0, 2 * MINUTE, HOUR, 24 * HOUR + 2 * MINUTE, 400 * 24 * HOUR];
    expect(sentAt(ill, ...times)).toEqual(['', 'firing', '', 'repeated', 'repeated']);
  });
});

/** A mirror of three forms in two targets that lives from event to event. */
class LittleMirror {
  nowMs = NOW;
  readonly forms = ['x', 'y', 'z'].map((id) => ({ id, slug: id, name: id.toUpperCase() }));
  readonly #summaries = new Map<string, PassSummary>();
  #alertState = NO_ALERTS;
  readonly sent: Alert[] = [];

  pass(form: number, target: string, pass: Partial<PassRecord>): void {
    this.nowMs += 1_000;
    const at = new Date(this.nowMs).toISOString();
    const key = formKey(target, this.forms[form]!.id);
    const whole = { ...passRecord(0), code: null, startedAt: at, endedAt: at, ...pass };
    this.#summaries.set(key, addPass(this.#summaries.get(key) ?? NO_PASSES, whole));
    this.look();
  }

  look(): void {
    const forms = this.forms.map((form) => formOverview(form));
    const targets: TargetReading[] = ['db', 'sheet'].map((name) =>
      reading({
        name,
        overview: { kind: 'postgres', address: name, forms },
        readAtMs: this.nowMs,
        expectedSinceMs: this.nowMs,
      }),
    );
    const health = assessMirror({
      nowMs: this.nowMs,
      targets,
      queue: QUEUE,
      queueFailures: 0,
      queueFailingSinceMs: 0,
      plan: { at: null, forms: [], problem: null, unmatched: [], notices: [] },
      nextRunMs: (afterMs) => afterMs + MINUTE,
      nextRunAt: () => null,
      nextFullAt: () => null,
      knownSinceMs: () => 0,
      summary: (target, form) => this.#summaries.get(formKey(target, form)) ?? NO_PASSES,
      kept: [],
      dataDir: null,
      sourceWait: null,
      notRunning: null,
      isChosen: () => true,
      running: () => null,
    });
    const { state, alerts } = evaluateLasting(this.#alertState, health);
    this.#alertState = parseAlertState(JSON.stringify(state)) ?? NO_ALERTS;
    // One alert about several forms stands for those about each.
    this.sent.push(...alerts.flatMap((alert) => alert.members ?? [alert]));
    this.nowMs += LASTING;
  }

  /** Looks until what waited to be sent together has been. */
  rest(): void {
    this.nowMs += GROUP_INTERVAL_MS;
    this.look();
  }
}

const FAILURES: readonly ProblemCode[] = [
  'FORMS_UNAUTHORIZED',
  'FORMS_FAILED',
  'FORMS_REFUSED',
  'TARGET_FULL',
  'TARGET_BUSY',
];

const event = fc.record({
  form: fc.nat(2),
  target: fc.constantFrom('db', 'sheet'),
  pass: fc.oneof(
    { weight: 3, arbitrary: fc.constant({ outcome: 'ok' as const }) },
    fc.constant({ outcome: 'ok' as const, kind: 'full' as const }),
    fc.constant({ outcome: 'incomplete' as const, code: 'RUN_INCOMPLETE' as const }),
    fc.constant({ outcome: 'withheld' as const, kind: 'full' as const, withheld: 30 }),
    fc.constant({ outcome: 'gone' as const, code: 'FORM_GONE' as const }),
    fc.constant({ outcome: 'busy' as const }),
    {
      weight: 3,
      arbitrary: fc.constantFrom(...FAILURES).map((code) => ({ outcome: 'failed' as const, code })),
    },
  ),
});

const subjectOf = ({ subject, problem }: Alert): string => {
  const track = problem.code === 'DELETIONS_HELD' ? 'deletions' : 'passes';
  return `${subject.form?.id ?? '*'} ${subject.target ?? '*'} ${track}`;
};

describe('a mirror that lives', () => {
  it('is sent of status by status: bad, each cause once, then well', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const mirror = new LittleMirror();
        for (const { form, target, pass } of events) mirror.pass(form, target, pass);
        const firing = new Map<string, Set<string>>();
        const wrong = mirror.sent.filter((alert) => {
          const codes = firing.get(subjectOf(alert)) ?? new Set();
          firing.set(
            subjectOf(alert),
            alert.status === 'resolved' ? new Set() : new Set([...codes, alert.problem.code]),
          );
          return alert.status === 'resolved' ? codes.size === 0 : codes.has(alert.problem.code);
        });
        expect(wrong.map(line)).toEqual([]);
      }),
      propertyRuns(400),
    );
  });

  it('announces a refused key for all forms together, never for one', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const mirror = new LittleMirror();
        for (const { form, target, pass } of events) mirror.pass(form, target, pass);
        const refused = mirror.sent.filter(({ problem }) => problem.code === 'FORMS_UNAUTHORIZED');
        expect(refused.filter(({ subject }) => subject.form !== null).map(line)).toEqual([]);
      }),
      propertyRuns(400),
    );
  });

  it('is sent well of everything once every form was read whole again, and nothing after that', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const mirror = new LittleMirror();
        for (const { form, target, pass } of events) mirror.pass(form, target, pass);
        const heal = (): void => {
          for (const target of ['db', 'sheet']) {
            for (const form of [0, 1, 2]) mirror.pass(form, target, { kind: 'full' });
          }
          mirror.rest();
        };
        heal();
        const statuses = new Map(mirror.sent.map((alert) => [subjectOf(alert), alert.status]));
        expect([...statuses].filter(([, status]) => status !== 'resolved')).toEqual([]);
        const { length } = mirror.sent;
        heal();
        expect(mirror.sent).toHaveLength(length);
      }),
      propertyRuns(400),
    );
  });
});
