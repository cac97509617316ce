import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type ProblemCode } from '../../src/base/catalogue.ts';
import { judge } from '../../src/health/judge.ts';
import type { FormReport, Problem, Report } from '../../src/health/report.ts';
import { settingsTroubles } from '../../src/health/trouble.ts';
import { OUTCOMES, type OutcomeName } from '../../src/mirror/form-state.ts';
import { propertyRuns } from '../support/property.ts';
import {
  agreement,
  AWAY,
  busy,
  DAY,
  factsOf,
  FORM_A,
  FORM_B,
  type FormChanges,
  HOUR,
  job,
  kept,
  MINUTE,
  NEW_STATE,
  NOW,
  pause,
  planOf,
  QUEUE,
  queueAway,
  FULL,
  run,
  UNHEARD,
  UNMATCHED,
  WAIT,
  WRITTEN,
} from './facts.ts';

/** Some possible facts, in any combination. */
const agoMs = fc.constantFrom(-HOUR, 0, 20_000, 5 * MINUTE, HOUR, 9 * DAY);
const codes = fc.constantFrom<ProblemCode[]>(
  ...(['FORMS_FAILED', 'FORMS_UNAUTHORIZED', 'TARGET_DENIED', 'SETTINGS', 'SLUG_REUSED'] as const),
);
const outcome = fc.constantFrom<OutcomeName>(...OUTCOMES);
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { freq: 3, nil: null });
const aRun = fc
  .tuple(agoMs, outcome, codes)
  .map(([ms, how, code]) => run(ms, { outcome: how, code: how === 'failed' ? code : null }));
const someForm: fc.Arbitrary<FormChanges> = fc.record({
  agoMs,
  runs: fc.array(aRun, { maxLength: 3 }),
  losses: fc.constantFrom([], [], ['Rows are missing.']),
  refilledAtMs: maybe(agoMs.map((ms) => NOW - ms)),
  tally: fc.record({ held: fc.constantFrom(0, 0, 3), undecided: fc.constantFrom(0, 1) }),
  writeBack: maybe(maybe(codes).map((code) => Object.assign({}, WRITTEN, { code }))),
  state: fc.constantFrom({}, {}, NEW_STATE, { goneAtMs: NOW - DAY }, { goneAtMs: NOW - 8 * DAY }),
});
const someFacts = fc
  .record({
    a: someForm,
    b: someForm,
    held: fc.record({
      pauses: fc.constantFrom([], [], [pause(null)], [pause('frm_a')]),
      agreement: maybe(agoMs.map(agreement)),
    }),
    read: fc.constantFrom({}, { trouble: AWAY }),
    queue: fc.constantFrom(QUEUE, null, busy(job())),
    troubles: fc.subarray([
      ...queueAway(NOW - HOUR).troubles,
      ...settingsTroubles([UNMATCHED]),
      FULL,
      WAIT,
    ]),
    plan: fc.constantFrom(planOf(), planOf([FORM_B]), planOf([FORM_A], -HOUR), null),
    kept: fc.record({
      runs: fc.array(
        fc.tuple(agoMs, codes).map(([ms, code]) => kept(ms, { code })),
        { maxLength: 1 },
      ),
      source: fc.constantFrom(null, null, { ...UNHEARD, atMs: NOW }),
    }),
    isChosen: fc.constantFrom(
      () => true,
      (_: string, { id }: { id: string }) => id === 'frm_b',
    ),
  })
  .map(factsOf);

const isError = ({ level }: Problem): boolean => level === 'error';

/** What a report may not say, as far as it can be seen from the report. */
function untruths(report: Report): string[] {
  const found: string[] = [];
  const must = (is: boolean, what: string): void => void (is || found.push(what));
  const ofTargets = report.targets.flatMap(({ problem }) => problem ?? []);
  const ofAll = [...report.problems, ...ofTargets];
  for (const form of report.forms) {
    const { claim, problems, state } = form;
    const { submissionsAsOf: asOf, answersAsOf, statusesAsOf } = claim;
    must(asOf !== null || (answersAsOf ?? statusesAsOf) === null, 'claims statuses of no rows');
    must(state !== 'ok' || asOf !== null, 'a form is well of which nothing is claimed');
    must(state !== 'ok' || problems.length === 0, 'a form is well with problems');
    must(asOf === null || Date.parse(asOf) <= NOW, 'claims what is to come');
    const hides = form.pause === null && state !== 'failed' && problems.some(isError);
    must(!hides, 'a form with an error has not failed');
    const target = report.targets.find(({ name }) => name === form.target)?.problem ?? [];
    const causes = [...report.problems, target].flat().filter(isError);
    for (const { code } of problems)
      must(
        code !== 'STALE' || causes.every((cause) => cause.code === 'DATA_DIR'),
        'a form is stale for which a problem of all is the cause',
      );
  }
  must(report.state === 'failed' || !ofAll.some(isError), 'an error of all is no failure');
  if (report.state === 'ok') {
    must(ofAll.length === 0, 'all is well with problems');
    const worse = report.forms.filter(({ state }) => state !== 'ok' && state !== 'ended');
    const isAsBefore = ({ state, claim: { submissionsAsOf } }: FormReport): boolean =>
      state === 'working' && NOW - Date.parse(submissionsAsOf ?? '') <= 7 * MINUTE;
    must(worse.every(isAsBefore), 'all is well with forms that are not');
  }
  return found;
}

it('L17: calls nothing well that is not known to be, and reports the causes', () => {
  const property = fc.property(someFacts, (facts) => {
    expect(untruths(judge(facts))).toEqual([]);
  });
  fc.assert(property, propertyRuns(1_000));
});
