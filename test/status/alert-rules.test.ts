import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../src/base/errors.ts';
import { type Alert, NOTHING_TOLD, parseAlertMemory } from '../../src/status/alert-book.ts';
import { consider } from '../../src/status/alert-rules.ts';
import type { TargetReading } from '../../src/status/known-pairs.ts';
import { buildView } from '../../src/status/mirror-view.ts';
import { pairKey } from '../../src/status/pass-book.ts';
import {
  NO_PASSES,
  type NotedPass,
  type PairMemory,
  remember,
} from '../../src/status/pass-memory.ts';
import { propertyRuns } from '../support/property.ts';
import { NOW, QUEUE, before, formOverview, passRecord } from './fake-source.ts';
import { FORM_A, FORM_B, failedPass, reading, viewOf } from './view-of.ts';

const MINUTE = 60_000;

const line = ({ turn, subject, problem }: Alert): string =>
  [turn, problem.code, subject.form?.id ?? '*', subject.target ?? '*'].join(' ');

/** What two looks in a row tell. */
function tellsBetween(
  first: Parameters<typeof viewOf>,
  second: Parameters<typeof viewOf>,
): string[] {
  const { memory } = consider(NOTHING_TOLD, viewOf(...first));
  return consider(memory, viewOf(...second)).alerts.map(line);
}

describe('what is told', () => {
  it('of a refused key: one alert, not one for each form', () => {
    const refused = (agoMs: number) => failedPass(agoMs, 'FORMS_UNAUTHORIZED');
    const passes = { 'db frm_a': [refused(2_000)], 'db frm_b': [refused(1_000)] };
    const { alerts, memory } = consider(NOTHING_TOLD, viewOf(passes));
    expect(alerts.map(line)).toEqual(['bad FORMS_UNAUTHORIZED * *']);
    // A new key: one form is read. The other one's failure is old news.
    const better = { 'db frm_a': [refused(2_000), passRecord(0)], 'db frm_b': [refused(1_000)] };
    expect(consider(memory, viewOf(better)).alerts.map(line)).toEqual([
      'well FORMS_UNAUTHORIZED * *',
    ]);
  });

  it('of a form whose failure is its own: that form, and its recovery', () => {
    const ill = { 'db frm_a': [failedPass(MINUTE, 'TARGET_FULL')] };
    expect(consider(NOTHING_TOLD, viewOf(ill)).alerts.map(line)).toEqual([
      'bad TARGET_FULL frm_a db',
    ]);
    const well = { 'db frm_a': [failedPass(MINUTE, 'TARGET_FULL'), passRecord(0)] };
    expect(tellsBetween([ill], [well])).toEqual(['well TARGET_FULL frm_a db']);
  });

  it('of an outage that grows: the first form, then the API, then nothing for each of the others', () => {
    const one = { 'db frm_a': [failedPass(9_000, 'FORMS_FAILED')] };
    const two = { ...one, 'db frm_b': [failedPass(8_000, 'FORMS_FAILED')] };
    expect(tellsBetween([one], [two])).toEqual(['bad FORMS_FAILED * *']);
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
    const { alerts, memory } = consider(NOTHING_TOLD, viewOf(passes));
    expect(alerts.map(line).toSorted()).toEqual([
      'bad DELETES_WITHHELD frm_b db',
      'bad FORM_GONE frm_a db',
      'bad PASS_INCOMPLETE frm_b db',
    ]);
    expect(consider(memory, viewOf(passes)).alerts).toEqual([]);
  });

  it('of rejected submissions: how many more there are', () => {
    const holding = (rejected: number) => {
      const forms = [formOverview(FORM_A, { rejected }), formOverview(FORM_B)];
      return [reading({ overview: { kind: 'sqlite', address: 'x', forms } })];
    };
    const first = consider(NOTHING_TOLD, viewOf({}, { targets: holding(3) }));
    expect(first.alerts[0]).toMatchObject({
      turn: 'bad',
      problem: { code: 'ROWS_REJECTED', title: '3 newly rejected submissions' },
    });
    const later = { targets: holding(5), nowMs: NOW + 25 * 3_600_000, nextDueAt: () => Infinity };
    const second = consider(first.memory, viewOf({}, later));
    expect(second.alerts[0]?.problem.message).toContain('(5 in all)');
    expect(second.alerts).toHaveLength(1);
  });

  it('of the queue, and of silence everywhere', () => {
    const away = { queue: { ...QUEUE, reachable: false }, queueFailures: 2 };
    expect(tellsBetween([], [{}, away])).toEqual(['bad QUEUE_UNREACHABLE * *']);
    expect(tellsBetween([{}, away], [])).toEqual(['well QUEUE_UNREACHABLE * *']);
    const old = [passRecord(3_600_000)];
    expect(tellsBetween([], [{ 'db frm_a': old, 'db frm_b': old }])).toEqual(['bad SILENT * *']);
  });

  it('after a restart: nothing twice, and no good news from a target that was not read yet', () => {
    const held = [passRecord(9_000, { kind: 'full', outcome: 'withheld', withheld: 30 })];
    const told = consider(NOTHING_TOLD, viewOf({ 'db frm_a': held }));
    const memory = parseAlertMemory(JSON.stringify(told.memory))!;
    const plan = {
      at: before(0),
      forms: [{ form: FORM_A, targets: ['db'] }],
      problem: null,
      notices: [],
    };
    const unread = [reading({ overview: null, readAtMs: 0 })];
    const start = consider(
      memory,
      viewOf({ 'db frm_a': [] }, { targets: unread, plan, knownSinceMs: () => NOW }),
    );
    expect(start.alerts).toEqual([]);
    expect(consider(start.memory, viewOf({ 'db frm_a': held })).alerts).toEqual([]);
  });

  it('of what the settings no longer choose: nothing, and it is forgotten', () => {
    const told = consider(
      NOTHING_TOLD,
      viewOf({ 'db frm_a': [failedPass(MINUTE, 'TARGET_FULL')] }),
    );
    const plan = {
      at: before(1_000),
      forms: [{ form: FORM_B, targets: ['db'] }],
      problem: null,
      notices: [],
    };
    const passes = { 'db frm_a': [failedPass(MINUTE, 'TARGET_FULL')] };
    const after = consider(told.memory, viewOf(passes, { plan }));
    expect(after.alerts).toEqual([]);
    expect(Object.keys(after.memory.subjects)).toEqual([]);
  });
});

/** A mirror of three forms in two targets that lives from event to event. */
class LittleMirror {
  nowMs = NOW;
  readonly forms = ['x', 'y', 'z'].map((id) => ({ id, slug: id, name: id.toUpperCase() }));
  readonly #memories = new Map<string, PairMemory>();
  #alertMemory = NOTHING_TOLD;
  readonly told: Alert[] = [];

  pass(form: number, target: string, pass: Partial<NotedPass>): void {
    this.nowMs += 1_000;
    const at = new Date(this.nowMs).toISOString();
    const key = pairKey(target, this.forms[form]!.id);
    const whole = { ...passRecord(0), code: null, startedAt: at, endedAt: at, ...pass };
    this.#memories.set(key, remember(this.#memories.get(key) ?? NO_PASSES, whole));
    this.look();
  }

  look(): void {
    const forms = this.forms.map((form) => formOverview(form));
    const targets: TargetReading[] = ['db', 'sheet'].map((name) =>
      reading({
        name,
        overview: { kind: 'postgres', address: name, forms },
        readAtMs: this.nowMs,
        listeningSinceMs: this.nowMs,
      }),
    );
    const view = buildView({
      nowMs: this.nowMs,
      targets,
      queue: QUEUE,
      queueFailures: 0,
      plan: { at: null, forms: [], problem: null, notices: [] },
      nextDueAt: (afterMs) => afterMs + MINUTE,
      knownSinceMs: () => 0,
      memory: (target, form) => this.#memories.get(pairKey(target, form)) ?? NO_PASSES,
      running: () => null,
    });
    const { memory, alerts } = consider(this.#alertMemory, view);
    this.#alertMemory = parseAlertMemory(JSON.stringify(memory)) ?? NOTHING_TOLD;
    this.told.push(...alerts);
  }
}

const FAILURES: readonly ErrorCode[] = [
  'FORMS_UNAUTHORIZED',
  'FORMS_FAILED',
  'FORMS_REFUSED',
  'TARGET_FULL',
  'TARGET_LOST_LOCK',
];

const event = fc.record({
  form: fc.nat(2),
  target: fc.constantFrom('db', 'sheet'),
  pass: fc.oneof(
    { weight: 3, arbitrary: fc.constant({ outcome: 'ok' as const }) },
    fc.constant({ outcome: 'ok' as const, kind: 'full' as const }),
    fc.constant({ outcome: 'incomplete' as const, code: 'PASS_INCOMPLETE' as const }),
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
  const track = problem.code === 'DELETES_WITHHELD' ? 'deletions' : 'passes';
  return `${subject.form?.id ?? '*'} ${subject.target ?? '*'} ${track}`;
};

describe('a mirror that lives', () => {
  it('is told of turn by turn: bad, each cause once, then well', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const mirror = new LittleMirror();
        for (const { form, target, pass } of events) mirror.pass(form, target, pass);
        const bad = new Map<string, Set<string>>();
        const wrong = mirror.told.filter((alert) => {
          const codes = bad.get(subjectOf(alert)) ?? new Set();
          bad.set(
            subjectOf(alert),
            alert.turn === 'well' ? new Set() : new Set([...codes, alert.problem.code]),
          );
          return alert.turn === 'well' ? codes.size === 0 : codes.has(alert.problem.code);
        });
        expect(wrong.map(line)).toEqual([]);
      }),
      propertyRuns(400),
    );
  });

  it('tells a refused key for all forms together, never for one', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const mirror = new LittleMirror();
        for (const { form, target, pass } of events) mirror.pass(form, target, pass);
        const refused = mirror.told.filter(({ problem }) => problem.code === 'FORMS_UNAUTHORIZED');
        expect(refused.filter(({ subject }) => subject.form !== null).map(line)).toEqual([]);
      }),
      propertyRuns(400),
    );
  });

  it('is told well of everything once every form was read whole again, and nothing after that', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const mirror = new LittleMirror();
        for (const { form, target, pass } of events) mirror.pass(form, target, pass);
        const heal = (): void => {
          for (const target of ['db', 'sheet']) {
            for (const form of [0, 1, 2]) mirror.pass(form, target, { kind: 'full' });
          }
        };
        heal();
        const turns = new Map(mirror.told.map((alert) => [subjectOf(alert), alert.turn]));
        expect([...turns].filter(([, turn]) => turn !== 'well')).toEqual([]);
        const { length } = mirror.told;
        heal();
        expect(mirror.told).toHaveLength(length);
      }),
      propertyRuns(400),
    );
  });
});
