import type { ProblemCode } from '../../src/base/catalogue.ts';
import { describe, expect, it } from 'vitest';
import { type SourceFacts, assessCondition } from '../../src/health/source-state.ts';
import type { Problem } from '../../src/health/problem.ts';
import { NOW, before } from './fake-source.ts';
import { failedPass, healthOf } from './health-of.ts';

const MINUTE = 60_000;

const judge = (changes: Partial<SourceFacts> = {}) =>
  assessCondition({
    nowMs: NOW,
    problem: null,
    wait: null,
    heardAtMs: NOW - 20_000,
    nextRunMs: (afterMs) => afterMs + MINUTE,
    ...changes,
  });

const problem = (code: ProblemCode): Problem => ({
  level: 'error',
  code,
  title: `title of ${code}`,
  message: '',
  remedy: null,
  command: null,
  since: before(90_000),
});

const wait = {
  sinceMs: NOW - 42_000,
  untilMs: NOW + 5_000,
  throttled: false,
  reason: 'answered 503',
};

describe('the state of the source', () => {
  it.each([
    ['FORMS_UNAUTHORIZED', 'refusing'],
    ['FORMS_REDIRECT', 'refusing'],
    ['FORMS_UNREACHABLE', 'silent'],
    ['FORMS_FAILED', 'failing'],
    ['FORMS_FAILED', 'failing'],
  ] as const)('%s: %s, since when', (code, condition) => {
    const found = judge({ problem: problem(code), wait });
    expect(found).toMatchObject({ condition, title: `title of ${code}`, since: before(90_000) });
  });

  it.each([
    [{ ...wait }, 'failing', 'The Forms API has failed for 42 s (answered 503)'],
    [{ ...wait, throttled: true }, 'throttling', 'The Forms API asks for fewer requests, for 42 s'],
    [
      { ...wait, silent: true, reason: 'no answer for 12 s' },
      'slow',
      'The Forms API is slow: no answer for 12 s',
    ],
  ])('while a request is to be tried again: %#', (waiting, condition, title) => {
    const found = judge({ wait: waiting });
    expect(found).toMatchObject({ condition, title, since: before(42_000) });
  });

  it('L17: answers only while it was heard as lately as the schedule explains', () => {
    expect(judge()).toMatchObject({ condition: 'answering', heardAt: before(20_000) });
    expect(judge({ heardAtMs: NOW - 3 * MINUTE }).condition).toBe('answering');
    expect(judge({ heardAtMs: NOW - 3 * MINUTE - 1 })).toMatchObject({
      condition: 'unknown',
      title: 'The Forms API was last heard 3 min ago',
    });
    expect(judge({ heardAtMs: 0 })).toMatchObject({ condition: 'unknown', heardAt: null });
    expect(judge({ heardAtMs: NOW + 10 * MINUTE }).condition).toBe('unknown');
  });

  it('takes no trouble of planning for one of the source, and is part of the health', () => {
    expect(judge({ problem: problem('SETTINGS') }).condition).toBe('answering');
    const refused = { 'db frm_a': [failedPass(1, 'FORMS_UNAUTHORIZED', 'The key was refused.')] };
    expect(healthOf(refused).source.condition).toBe('refusing');
    const sourceWait = { ...wait, throttled: true };
    expect(healthOf({}, { sourceWait }).source.condition).toBe('throttling');
    expect(healthOf().source.condition).toBe('answering');
  });
});
