import type { ProblemCode } from '../../src/base/catalogue.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Alert,
  type SubjectState,
  NO_ALERTS,
  type Observation,
  REPEAT_INTERVAL_MS,
  evaluate,
  evaluateRejected,
  parseAlertState,
} from '../../src/alerts/alert-state.ts';
import type { Problem } from '../../src/health/problem.ts';
import { propertyRuns } from '../support/property.ts';

const HOUR = 3_600_000;

function problemWith(code: ProblemCode): Problem {
  return {
    level: 'error',
    code,
    title: code,
    message: '',
    remedy: null,
    command: null,
    since: null,
  };
}

function observation(changes: Partial<Observation> = {}): Observation {
  return {
    key: 'k',
    subject: { form: { id: 'f', name: 'F' }, target: 't' },
    problem: null,
    notifies: true,
    inhibited: false,
    occurrence: 'e',
    healthyAtMs: Number.MAX_SAFE_INTEGER,
    forms: 0,
    ...changes,
  };
}

const CODES: readonly ProblemCode[] = ['FORMS_FAILED', 'TARGET_FULL', 'FORM_GONE'];

/** An observation and how long after the one before it was made. */
const step = fc.record({
  afterMs: fc.oneof(fc.constant(60_000), fc.integer({ min: 0, max: 30 * HOUR })),
  code: fc.oneof(
    { weight: 2, arbitrary: fc.constant(null) },
    { weight: 3, arbitrary: fc.constantFrom(...CODES) },
  ),
  notifies: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, fc.constant(false)),
  inhibited: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, fc.constant(true)),
  occurrence: fc.integer({ min: 0, max: 3 }).map(String),
});

interface Notified extends Alert {
  readonly step: number;
}

type Steps = readonly (typeof step extends fc.Arbitrary<infer S> ? S : never)[];

/** Plays the steps; after each the state goes through JSON, as over a restart. */
function play(steps: Steps): { notified: Notified[]; states: (SubjectState | undefined)[] } {
  const notified: Notified[] = [];
  const states: (SubjectState | undefined)[] = [];
  let state: SubjectState | undefined;
  let nowMs = 0;
  for (const [at, { afterMs, code, notifies, inhibited, occurrence }] of steps.entries()) {
    nowMs += afterMs;
    const problem = code === null ? null : problemWith(code);
    const evaluated = evaluate(
      state,
      observation({ problem, notifies, inhibited, occurrence }),
      nowMs,
    );
    if (evaluated.alert !== undefined) notified.push({ ...evaluated.alert, step: at });
    const subjects = evaluated.state === undefined ? {} : { k: evaluated.state };
    state = parseAlertState(JSON.stringify({ ...NO_ALERTS, subjects }))?.subjects['k'];
    states.push(state);
  }
  return { notified, states };
}

describe('the state machine of alerts', () => {
  it('sends no two equal alerts in a row, except for a repetition after a day', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const { notified } = play(steps);
        const wrong = notified.filter((alert, at) => {
          const before = notified[at - 1];
          if (before === undefined) return false;
          if (alert.status === 'repeated') return alert.atMs - before.atMs < REPEAT_INTERVAL_MS;
          return before.status === alert.status && before.problem.code === alert.problem.code;
        });
        expect(wrong).toEqual([]);
      }),
      propertyRuns(2_000),
    );
  });

  it('resolves only what fired, and fires for each code once until then', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let spell = new Set<string>();
        const wrong = play(steps).notified.filter(({ status, problem }) => {
          const known = spell.has(problem.code);
          const empty = spell.size === 0;
          if (status === 'resolved') spell = new Set();
          else spell.add(problem.code);
          if (status === 'resolved') return empty;
          return status === 'firing' ? known : !known;
        });
        expect(wrong).toEqual([]);
      }),
      propertyRuns(2_000),
    );
  });

  it('fires at once for every new problem, unless it is inhibited', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const { notified, states } = play(steps);
        for (const [at, { code, notifies, inhibited, occurrence }] of steps.entries()) {
          const before = states[at - 1];
          const wasResolved = before === undefined || before.codes.length === 0;
          if (code === null || !notifies || inhibited || !wasResolved) continue;
          if (before?.inhibited === occurrence) continue;
          expect(notified.find((alert) => alert.step === at)).toMatchObject({ status: 'firing' });
        }
      }),
      propertyRuns(2_000),
    );
  });

  it('resolves everything that fired, once', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const { notified, states } = play(steps);
        for (const [at, { code }] of steps.entries()) {
          const wasNotified = (states[at - 1]?.codes.length ?? 0) > 0;
          const resolved = notified.some(
            (alert) => alert.step === at && alert.status === 'resolved',
          );
          expect(resolved).toBe(code === null && wasNotified);
        }
      }),
      propertyRuns(2_000),
    );
  });

  it('does not take the lack of news for health', () => {
    const bad = evaluate(undefined, observation({ problem: problemWith('TARGET_FULL') }), 1_000);
    const unsure = evaluate(bad.state, observation({ healthyAtMs: 500 }), 2_000);
    expect(unsure).toEqual({ state: bad.state, alert: undefined });
    expect(evaluate(unsure.state, observation({ healthyAtMs: 1_500 }), 3_000).alert?.status).toBe(
      'resolved',
    );
  });

  it('repeats once a day, but not for a form that is gone', () => {
    const repeats = (code: ProblemCode): string[] => {
      let state: SubjectState | undefined;
      const statuses: string[] = [];
      for (let hour = 0; hour <= 72; hour++) {
        const evaluated = evaluate(state, observation({ problem: problemWith(code) }), hour * HOUR);
        ({ state } = evaluated);
        if (evaluated.alert !== undefined) statuses.push(evaluated.alert.status);
      }
      return statuses;
    };
    expect(repeats('TARGET_FULL')).toEqual(['firing', 'repeated', 'repeated', 'repeated']);
    expect(repeats('FORM_GONE')).toEqual(['firing']);
  });
});

describe('rejected submissions', () => {
  it('notify when there are more, those of a day together', () => {
    const counts = [0, 5, 5, 7, 9, 2, 4] as const;
    let state: ReturnType<typeof evaluateRejected>['state'];
    const risen = counts.map((count, at) => {
      const evaluated = evaluateRejected(state, count, at * 10 * HOUR);
      ({ state } = evaluated);
      return evaluated.risen;
    });
    // Told at 10 h; 7 at 30 h is within the day; 9 at 40 h is not; the fall to 2 lowers the state of alerts; 4 waits for its day.
    expect(risen).toEqual([0, 5, 0, 0, 4, 0, 0]);
  });

  it('never notify of the same one twice, nor forget one for good', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50), { minLength: 1, maxLength: 30 }), (counts) => {
        let state: ReturnType<typeof evaluateRejected>['state'];
        let known = 0;
        for (const [at, count] of counts.entries()) {
          const evaluated = evaluateRejected(state, count, at * REPEAT_INTERVAL_MS);
          ({ state } = evaluated);
          expect(evaluated.risen).toBe(Math.max(0, count - known));
          known = count;
        }
      }),
      propertyRuns(500),
    );
  });
});

describe('the state of alerts', () => {
  it('is read back as written, and anything else is no state', () => {
    const state = evaluate(
      undefined,
      observation({ problem: problemWith('TARGET_FULL') }),
      5,
    ).state!;
    const whole = { ...NO_ALERTS, subjects: { ['__proto__x']: state } };
    expect(parseAlertState(JSON.stringify(whole))).toEqual(whole);
    for (const text of [
      '',
      '{',
      '[]',
      '{"version":3}',
      JSON.stringify({ ...whole, rejected: 1 }),
    ]) {
      expect(parseAlertState(text)).toBeUndefined();
    }
  });
});
