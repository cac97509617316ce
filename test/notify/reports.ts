import type { ProblemCode } from '../../src/base/catalogue.ts';
import type { FormReport, Problem, Report, TargetReport } from '../../src/health/report.ts';
import * as fixtures from '../web/fixtures.ts';

/** The beginning of all tests of notifications. */
export const { NOW } = fixtures;

/** So many seconds after {@link NOW}. */
export const time = (atS: number): string => fixtures.before(-atS * 1_000);

/** A problem as the catalogue describes it, that has just been seen. */
export const problem = (code: ProblemCode, changes: Partial<Problem> = {}): Problem =>
  fixtures.problem(code, { message: `It happened: ${code}.`, since: null, ...changes });

/** A form that is well in the target `db`. */
export const form = (at: number, changes: Partial<FormReport> = {}): FormReport =>
  fixtures.formReport({ id: `frm_${at}`, slug: `form-${at}`, name: `Form ${at}` }, 'db', changes);

/** Several forms that are well, or as `changes` says. */
export const forms = (count: number, changes: Partial<FormReport> = {}): FormReport[] =>
  Array.from({ length: count }, (_, at) => form(at, changes));

/** A target that is well. */
export const target = (changes: Partial<TargetReport> = {}): TargetReport =>
  fixtures.targetReport('db', changes);

/** A pause. */
export const PAUSE = { since: time(0), by: 'jo', reason: null, ofTarget: false, command: 'resume' };

/** A mirror that is well, with five forms in one target. */
export const report = (changes: Partial<Report> = {}): Report =>
  fixtures.reportOf(forms(5), { source: { heardAt: time(1_000_000) }, ...changes });

/** A source that does not answer as it should since a minute before. */
export const failing = (code: ProblemCode, changes: Partial<Problem> = {}): Partial<Report> => ({
  problems: [problem(code, changes)],
  source: { heardAt: time(-60) },
});
