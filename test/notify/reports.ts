import type { ProblemCode } from '../../src/base/catalogue.ts';
import type { FormReport, Problem, Report, TargetReport } from '../../src/health/report.ts';
import * as fixtures from '../web/fixtures.ts';

/** The start time of all tests of notifications. */
export const { NOW } = fixtures;

/** This many seconds after {@link NOW}. */
export const time = (atS: number): string => fixtures.before(-atS * 1_000);

/** A problem as in the catalog, seen just now. */
export const problem = (code: ProblemCode, changes: Partial<Problem> = {}): Problem =>
  fixtures.problem(code, { message: `It happened: ${code}.`, since: null, ...changes });

/** A form without problems in the target `db`. */
export const form = (at: number, changes: Partial<FormReport> = {}): FormReport =>
  fixtures.formReport({ id: `frm_${at}`, slug: `form-${at}`, name: `Form ${at}` }, 'db', changes);

/** Several forms without problems, with `changes`. */
export const forms = (count: number, changes: Partial<FormReport> = {}): FormReport[] =>
  Array.from({ length: count }, (_, at) => form(at, changes));

/** A target without problems. */
export const target = (changes: Partial<TargetReport> = {}): TargetReport =>
  fixtures.targetReport('db', changes);

/** A pause. */
export const PAUSE = { since: time(0), by: 'jo', reason: null, formId: 'frm_0', command: 'resume' };

/** A mirror without problems, with five forms in one target. */
export const report = (changes: Partial<Report> = {}): Report =>
  fixtures.reportOf(forms(5), { source: { heardAt: time(1_000_000) }, ...changes });

/** A source that has not answered correctly since a minute before. */
export const failing = (code: ProblemCode, changes: Partial<Problem> = {}): Partial<Report> => ({
  problems: [problem(code, changes)],
  source: { heardAt: time(-60) },
});
