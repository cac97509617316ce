import { PROBLEMS, type ProblemCode } from '../../src/base/catalogue.ts';
import {
  type FormReport,
  NO_CLAIM,
  type Problem,
  type Report,
  type TargetReport,
} from '../../src/health/report.ts';

/** The beginning of all tests of notifications. */
export const NOW = Date.UTC(2026, 4, 12, 9, 30);

/** So many seconds after {@link NOW}. */
export const time = (atS: number): string => new Date(NOW + atS * 1_000).toISOString();

/** A problem as the catalogue describes it. */
export function problem(code: ProblemCode, changes: Partial<Problem> = {}): Problem {
  const { severity: level, title, remedy } = PROBLEMS[code];
  const message = `It happened: ${code}.`;
  return {
    code,
    level,
    title,
    message,
    remedy,
    command: null,
    since: null,
    isExplained: false,
    ...changes,
  };
}

/** A form that is well in the target `db`. */
export function form(at: number, changes: Partial<FormReport> = {}): FormReport {
  const nothing = { pause: null, problems: [], notices: [], running: null, goneAt: null };
  const times = { since: null, staleSince: null, nextRunAt: null };
  return {
    form: { id: `frm_${at}`, slug: `form-${at}`, name: `Form ${at}` },
    target: 'db',
    state: 'ok',
    title: 'Up to date',
    ...nothing,
    ...times,
    claim: { ...NO_CLAIM, submissionsAsOf: time(-20) },
    location: `table form_${at}`,
    url: null,
    table: `form_${at}`,
    rows: 100,
    deletedRows: 0,
    rejected: 0,
    forgotten: 0,
    refused: 0,
    lastRun: { outcome: 'ok', startedAt: time(-21), endedAt: time(-20), code: null, error: null },
    ...changes,
  };
}

/** Several forms that are well, or as `changes` says. */
export const forms = (count: number, changes: Partial<FormReport> = {}): FormReport[] =>
  Array.from({ length: count }, (_, at) => form(at, changes));

/** A target that is well. */
export const target = (changes: Partial<TargetReport> = {}): TargetReport => ({
  name: 'db',
  state: 'ok',
  kind: 'sqlite',
  address: 'sqlite:mirror.sqlite',
  isReadable: true,
  readAt: time(0),
  pause: null,
  problem: null,
  ...changes,
});

/** A pause. */
export const PAUSE = { since: time(0), by: 'jo', reason: null, ofTarget: false, command: 'resume' };

/** A mirror that is well, with five forms in one target. */
export const report = (changes: Partial<Report> = {}): Report => ({
  at: time(0),
  version: '1.2.3',
  state: 'ok',
  title: 'Up to date',
  summary: '',
  problems: [],
  targets: [target()],
  forms: forms(5),
  source: { condition: 'answering', title: 'Answers', since: null },
  queue: {
    backend: 'redis',
    address: 'redis://127.0.0.1',
    isReachable: true,
    nextPollAt: null,
    waiting: 0,
    active: 0,
    workers: null,
  },
  ...changes,
});

/** A source that does not answer as it should. */
export const failing = (code: ProblemCode, changes: Partial<Problem> = {}): Partial<Report> => ({
  problems: [problem(code, changes)],
  source: { condition: 'failing', title: 'Fails', since: null },
});
