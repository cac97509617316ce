import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Alert,
  type AlertEntry,
  NOTHING_TOLD,
  type Observation,
  REMINDER_MS,
  judge,
  judgeRejected,
  parseAlertMemory,
} from '../../src/status/alert-book.ts';
import type { Problem, ProblemCode } from '../../src/status/problem.ts';
import { propertyRuns } from '../support/property.ts';

const HOUR = 3_600_000;

function problemWith(code: ProblemCode): Problem {
  return { level: 'error', code, title: code, message: '', remedy: null, command: null };
}

function observation(changes: Partial<Observation> = {}): Observation {
  return {
    key: 'k',
    subject: { form: { id: 'f', name: 'F' }, target: 't' },
    problem: null,
    calls: true,
    covered: false,
    evidence: 'e',
    goodAtMs: Number.MAX_SAFE_INTEGER,
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
  calls: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, fc.constant(false)),
  covered: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, fc.constant(true)),
  evidence: fc.integer({ min: 0, max: 3 }).map(String),
});

interface Told extends Alert {
  readonly step: number;
}

type Steps = readonly (typeof step extends fc.Arbitrary<infer S> ? S : never)[];

/** Plays the steps; after each the memory goes through JSON, as over a restart. */
function play(steps: Steps): { told: Told[]; entries: (AlertEntry | undefined)[] } {
  const told: Told[] = [];
  const entries: (AlertEntry | undefined)[] = [];
  let entry: AlertEntry | undefined;
  let nowMs = 0;
  for (const [at, { afterMs, code, calls, covered, evidence }] of steps.entries()) {
    nowMs += afterMs;
    const problem = code === null ? null : problemWith(code);
    const judged = judge(entry, observation({ problem, calls, covered, evidence }), nowMs);
    if (judged.alert !== undefined) told.push({ ...judged.alert, step: at });
    const subjects = judged.entry === undefined ? {} : { k: judged.entry };
    entry = parseAlertMemory(JSON.stringify({ ...NOTHING_TOLD, subjects }))?.subjects['k'];
    entries.push(entry);
  }
  return { told, entries };
}

describe('the state machine of alerts', () => {
  it('tells no two equal alerts in a row, but for a reminder after a day', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const { told } = play(steps);
        const wrong = told.filter((alert, at) => {
          const before = told[at - 1];
          if (before === undefined) return false;
          if (alert.turn === 'still-bad') return alert.atMs - before.atMs < REMINDER_MS;
          return before.turn === alert.turn && before.problem.code === alert.problem.code;
        });
        expect(wrong).toEqual([]);
      }),
      propertyRuns(2_000),
    );
  });

  it('tells well only after bad, and each code once between two wells', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let spell = new Set<string>();
        const wrong = play(steps).told.filter(({ turn, problem }) => {
          const known = spell.has(problem.code);
          const empty = spell.size === 0;
          if (turn === 'well') spell = new Set();
          else spell.add(problem.code);
          if (turn === 'well') return empty;
          return turn === 'bad' ? known : !known;
        });
        expect(wrong).toEqual([]);
      }),
      propertyRuns(2_000),
    );
  });

  it('tells every turn to bad at once, unless another subject tells of it', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const { told, entries } = play(steps);
        for (const [at, { code, calls, covered, evidence }] of steps.entries()) {
          const before = entries[at - 1];
          const wasWell = before === undefined || before.codes.length === 0;
          if (code === null || !calls || covered || !wasWell) continue;
          if (before?.covered === evidence) continue;
          expect(told.find((alert) => alert.step === at)).toMatchObject({ turn: 'bad' });
        }
      }),
      propertyRuns(2_000),
    );
  });

  it('tells every turn to well, once', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const { told, entries } = play(steps);
        for (const [at, { code }] of steps.entries()) {
          const wasTold = (entries[at - 1]?.codes.length ?? 0) > 0;
          const well = told.some((alert) => alert.step === at && alert.turn === 'well');
          expect(well).toBe(code === null && wasTold);
        }
      }),
      propertyRuns(2_000),
    );
  });

  it('does not take the lack of news for good news', () => {
    const bad = judge(undefined, observation({ problem: problemWith('TARGET_FULL') }), 1_000);
    const unsure = judge(bad.entry, observation({ goodAtMs: 500 }), 2_000);
    expect(unsure).toEqual({ entry: bad.entry, alert: undefined });
    expect(judge(unsure.entry, observation({ goodAtMs: 1_500 }), 3_000).alert?.turn).toBe('well');
  });

  it('reminds once a day, but not of a form that is gone', () => {
    const remind = (code: ProblemCode): string[] => {
      let entry: AlertEntry | undefined;
      const turns: string[] = [];
      for (let hour = 0; hour <= 72; hour++) {
        const judged = judge(entry, observation({ problem: problemWith(code) }), hour * HOUR);
        ({ entry } = judged);
        if (judged.alert !== undefined) turns.push(judged.alert.turn);
      }
      return turns;
    };
    expect(remind('TARGET_FULL')).toEqual(['bad', 'still-bad', 'still-bad', 'still-bad']);
    expect(remind('FORM_GONE')).toEqual(['bad']);
  });
});

describe('rejected submissions', () => {
  it('are told when there are more, with those of a day together', () => {
    const counts = [0, 5, 5, 7, 9, 2, 4] as const;
    let entry: ReturnType<typeof judgeRejected>['entry'];
    const risen = counts.map((count, at) => {
      const judged = judgeRejected(entry, count, at * 10 * HOUR);
      ({ entry } = judged);
      return judged.risen;
    });
    // Told at 10 h; 7 at 30 h is within the day; 9 at 40 h is not; the fall to 2 lowers what was told; 4 waits for its day.
    expect(risen).toEqual([0, 5, 0, 0, 4, 0, 0]);
  });

  it('never tells the same one twice, nor forgets one for good', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50), { minLength: 1, maxLength: 30 }), (counts) => {
        let entry: ReturnType<typeof judgeRejected>['entry'];
        let known = 0;
        for (const [at, count] of counts.entries()) {
          const judged = judgeRejected(entry, count, at * REMINDER_MS);
          ({ entry } = judged);
          expect(judged.risen).toBe(Math.max(0, count - known));
          known = count;
        }
      }),
      propertyRuns(500),
    );
  });
});

describe('what was told', () => {
  it('is read back as written, and anything else is no memory', () => {
    const entry = judge(undefined, observation({ problem: problemWith('TARGET_FULL') }), 5).entry!;
    const memory = { ...NOTHING_TOLD, subjects: { ['__proto__x']: entry } };
    expect(parseAlertMemory(JSON.stringify(memory))).toEqual(memory);
    for (const text of [
      '',
      '{',
      '[]',
      '{"version":2}',
      JSON.stringify({ ...memory, rejected: 1 }),
    ]) {
      expect(parseAlertMemory(text)).toBeUndefined();
    }
  });
});
