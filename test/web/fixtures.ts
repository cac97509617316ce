import { PROBLEMS, type ProblemCode } from '../../src/base/catalogue.ts';
import type { FormCopy, TargetContent } from '../../src/health/facts.ts';
import { judge } from '../../src/health/judge.ts';
import {
  type FormReport,
  type Problem,
  problemOf,
  type Report,
  STATE_TITLES,
  type TargetReport,
  worstOf,
} from '../../src/health/report.ts';
import { EMPTY_TALLY, type Tally } from '../../src/mirror/form-state.ts';
import type { FormIdentity } from '../../src/mirror/types.ts';
import type { FormDetails } from '../../src/web/form-page.ts';
import type { EntryKind } from '../../src/mirror/port.ts';
import {
  AWAY,
  before,
  busy,
  DAY,
  factsOf,
  failed,
  FORM_A,
  FORM_B,
  type FormChanges,
  formCopy,
  HOUR,
  job,
  keeping,
  MINUTE,
  NEW_STATE,
  NOW,
  QUEUE,
  run,
  silent,
  targetOf,
  UNHEARD,
} from '../health/facts.ts';

export { before, FORM_A, FORM_B, NOW };

const form = (id: string, slug: string, name: string): FormIdentity => ({ id, slug, name });

export const CONTACT = form('frm_7f2k1q', 'contact', 'Kontaktní formulář');
export const SUMMER = form('frm_9s0dd2', 'summer-camp-2026', 'Přihláška na letní tábor 2026 🏕️');
export const FEEDBACK = form('frm_1aa0z8', 'feedback', 'Customer feedback');
const JOBS = form(
  'frm_44hq0x',
  'job-application',
  'Job application: Senior Backend Engineer (Praha / remote), second round',
);
const ORDERS = form('frm_c3p0r2', 'orders', 'Bestellformular Großkunden');
const NEWS = form('frm_new5lt', 'newsletter', 'Newsletter');
const OLD = form('frm_old123', 'christmas-party', 'Christmas party 2025');

const WELL = judge(factsOf());

/** A problem as in the catalog. */
export function problem(code: ProblemCode, changes: Partial<Problem> = {}): Problem {
  const message = PROBLEMS[code].title;
  return problemOf({ code, message, sinceMs: NOW - 12 * MINUTE }, changes);
}

/** A form in a target, as the judge reports it: without problems except for `changes`. */
export function formReport(
  form: FormIdentity,
  target = 'db',
  changes: Partial<FormReport> = {},
): FormReport {
  const place = { location: `table ${form.slug}`, table: form.slug.replaceAll('-', '_') };
  const { state = 'ok' } = changes;
  return { ...WELL.forms[0]!, form, target, ...place, title: STATE_TITLES[state], ...changes };
}

/** A target that answers. */
export const targetReport = (name: string, changes: Partial<TargetReport> = {}): TargetReport => ({
  ...WELL.targets[0]!,
  name,
  address: 'postgres://db.internal:5432/forms',
  readAt: before(3_000),
  ...changes,
});

/** A mirror with these forms, in the targets that they name. */
export function reportOf(
  forms: readonly FormReport[] = [formReport(FORM_A), formReport(FORM_B)],
  changes: Partial<Report> = {},
): Report {
  const state = worstOf(forms.map((each) => each.state));
  const targets = [...new Set(forms.map(({ target }) => target))].map((name) => targetReport(name));
  return {
    ...WELL,
    state,
    title: STATE_TITLES[state],
    summary: 'Submissions as of 20 s ago, answers as of 2 h ago · 2 forms, 200 submissions',
    targets: targets.length === 0 ? [targetReport('db')] : targets,
    forms,
    ...changes,
  };
}

/** A target has no copy of a form. */
export const NO_DETAILS: FormDetails = { runs: [], entries: [] };

const SHEET =
  'https://docs.google.com/spreadsheets/d/1AbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdefg/edit';
const inSheet = (gid: number): FormChanges => ({
  location: 'tab “Responses”',
  place: { url: `${SHEET}#gid=${gid}` },
});
const UNPROVEN = run(25_000, {
  outcome: 'incomplete',
  error:
    'The source reports 412 submissions of form "Customer feedback" (feedback), and 409 were seen, without proof that nothing was missed.',
});

/** The report of these forms in a database and in a sheet. */
const inBoth = (warehouse: Partial<TargetContent>, sheet: FormCopy[], queue = QUEUE): Report => {
  const team = { name: 'team-sheet', kind: 'google-sheets', address: SHEET };
  const targets = [
    targetOf(warehouse, WAREHOUSE),
    targetOf({ forms: sheet }, { ...team, readAtMs: NOW - 41_000 }),
  ];
  return judge(factsOf({ targets, queue }));
};
const WAREHOUSE = { name: 'warehouse', address: 'postgres://db.internal:5432/forms' };

/** A workspace as it may look on a working day: mostly without problems, with one of each problem. */
export function realisticReport(): Report {
  const answered = 'Forms API, GET /submissions?formId=frm_44hq0x&page=1: answered 503.';
  const notice = {
    code: 'ROWS_COPIED' as const,
    blocks: false,
    message: 'Rows 14 and 15 of tab “Responses” are copies of one submission.',
    remedy: 'Delete the copy.',
  };
  const rows = (live: number, others: Partial<Tally> = {}) => ({ rows: { NEW: live }, ...others });
  const forms = [
    formCopy(CONTACT, { tally: rows(18_204, { deleted: 12 }) }),
    formCopy(SUMMER, { tally: rows(1_260, { held: 312 }) }),
    formCopy(FEEDBACK, { tally: rows(409, { rejected: 3 }), runs: [UNPROVEN] }),
    formCopy(JOBS, { tally: rows(87), runs: [failed(25_000, 'FORMS_FAILED', answered)] }),
    formCopy(ORDERS, { tally: rows(40_911, { deleted: 204 }) }),
    formCopy(NEWS, {
      state: { ...NEW_STATE, tally: { ...EMPTY_TALLY, ...rows(31_000) } },
      runs: [],
    }),
    formCopy(OLD, { tally: rows(143), state: { goneAtMs: NOW - 40 * DAY } }),
  ];
  const by = 'status page, admin at 10.0.0.7';
  const reason = 'Migration of the <orders> table';
  const pauses = [{ formId: ORDERS.id, since: before(2 * HOUR), by, reason }];
  const copying = job({ formId: NEWS.id, target: 'warehouse', seen: 31_000, total: 80_000 });
  const sheet = [
    formCopy(CONTACT, { tally: rows(18_204), ...inSheet(1), notices: [notice] }),
    formCopy(SUMMER, { tally: rows(1_572), ...inSheet(2) }),
  ];
  return inBoth({ forms, pauses }, sheet, busy(copying));
}

/** The source is unreachable, and one target, too. */
export function failingReport(): Report {
  const forms = [CONTACT, SUMMER, FEEDBACK].map((each) => formCopy(each, silent(14 * MINUTE)));
  const refused =
    'Forms API, GET /forms: connection refused (ECONNREFUSED). It was tried again 6 times.';
  const message = 'Target warehouse (postgres://db.internal:5432/forms) does not answer.';
  return judge(
    factsOf({
      ...keeping({ source: { ...UNHEARD, message: refused, atMs: NOW } }),
      content: { forms },
      read: { ...WAREHOUSE, readAtMs: NOW - 5 * MINUTE, problem: { ...AWAY, message } },
    }),
  );
}

/** The rows of {@link FEEDBACK} in the warehouse. */
export function feedbackDetails(): FormDetails {
  const runs = Array.from({ length: 10 }, (_, at) => {
    const outcome = at === 0 || at === 7 ? 'incomplete' : at === 4 ? 'failed' : 'ok';
    const error = {
      ok: null,
      incomplete: 'The source reports 412 submissions, and 409 were seen, without proof.',
      failed: 'Forms API, GET /submissions?formId=frm_1aa0z8&page=2: answered 502.',
    }[outcome];
    const changes = { inserted: at % 5 === 0 ? 2 : 0, isWhole: at === 9 };
    return run(35_000 + at * MINUTE, { outcome, error, ...changes });
  });
  const entry = (id: string, reason: string, kind: EntryKind = 'rejected') => ({
    kind,
    id,
    status: 'NEW',
    createdAt: null,
    reason,
    atMs: NOW - 2 * HOUR,
  });
  return {
    runs,
    entries: [
      entry('sub_8Kq2mZx0', 'createdAt is no date; the row has none.'),
      ...Array.from({ length: 60 }, (_, at) => entry(`no-id:5f1d0c9a${at}`, 'The item has no ID.')),
      entry('sub_6Fd1', 'The source answers 403 for its ID.', 'undecided'),
      entry('sub_4Tz7', 'PATCH: refused with 409.', 'refused'),
    ],
  };
}

/** Names of forms of a large workspace. */
const NAMES = [
  'Přihláška na letní tábor',
  'Customer feedback after the visit',
  'Bestellformular Großkunden',
  'Job application: Senior Backend Engineer (Praha / remote)',
  'Newsletter',
  'Conference registration with workshops and dinner',
] as const;
const SLUGS = ['camp', 'feedback', 'orders', 'jobs', 'news', 'conference'] as const;

/** A workspace of `count` forms, each in a warehouse and in a sheet; some fail, some are not proven, or all fail. */
export function manyForms(count: number, areAllFailing = false): Report {
  const reused =
    'The slug belongs to another form now, of which nothing is copied. In TARGET_FORMS, replace it with the ID of the form that you mean.';
  const wrong = { runs: [failed(25_000, 'SLUG_REUSED', reused)] };
  const formsOf = (changesOf: (at: number) => FormChanges): FormCopy[] =>
    Array.from({ length: count }, (_, at) => {
      const id = `frm_${(at * 7_919 + 1_000_003).toString(36)}`;
      const [slug, name] = [`${SLUGS[at % 6]}-${2_000 + at}`, `${NAMES[at % 6]} ${at + 1}`];
      const rows = { NEW: 150 + ((at * 7_919) % 90_000) };
      const tally = { rows, deleted: at % 9, rejected: at % 17 === 0 ? 2 : 0 };
      return formCopy({ id, slug, name }, { tally, ...changesOf(at) });
    });
  const warehouse = formsOf((at) => {
    if (areAllFailing || at % 30 === 7) return wrong;
    return at % 20 === 3 ? { runs: [UNPROVEN] } : {};
  });
  const sheet = formsOf((at) => ({ ...inSheet(1_000_000 + at), ...(areAllFailing && wrong) }));
  return inBoth({ forms: warehouse }, sheet);
}
