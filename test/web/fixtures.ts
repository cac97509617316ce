import { PROBLEMS, type ProblemCode } from '../../src/base/catalogue.ts';
import {
  type FormReport,
  NO_CLAIM,
  type Problem,
  type Report,
  STATE_TITLES,
  type TargetReport,
  worstOf,
} from '../../src/health/report.ts';
import { judge } from '../../src/health/judge.ts';
import type { FormIdentity } from '../../src/mirror/types.ts';
import type { FormDetails } from '../../src/web/form-page.ts';
import {
  before,
  DAY,
  factsOf,
  FORM_A,
  FORM_B,
  heldForm,
  HOUR,
  job,
  MINUTE,
  NOW,
  run,
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

/** A problem as the catalogue has it. */
export const problem = (code: ProblemCode, changes: Partial<Problem> = {}): Problem => ({
  code,
  level: PROBLEMS[code].severity,
  title: PROBLEMS[code].title,
  message: PROBLEMS[code].meaning,
  remedy: PROBLEMS[code].remedy,
  command: null,
  since: before(12 * MINUTE),
  ...changes,
});

/** A form in a target, as the judge reports it: well, unless `changes` say otherwise. */
export function formReport(
  form: FormIdentity,
  target = 'db',
  changes: Partial<FormReport> = {},
): FormReport {
  const place = { table: form.slug.replaceAll('-', '_') };
  const [well] = judge(factsOf({ held: { forms: [heldForm(form)] } })).forms;
  const { state = 'ok' } = changes;
  return { ...well!, ...place, target, title: STATE_TITLES[state], ...changes };
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

/** A target keeps nothing of a form. */
export const NO_DETAILS: FormDetails = {
  runs: [],
  rejected: [],
};

const SHEET =
  'https://docs.google.com/spreadsheets/d/1AbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdefg/edit';
const inSheet = (gid: number): Partial<FormReport> => ({
  location: 'tab “Responses”',
  table: null,
  url: `${SHEET}#gid=${gid}`,
});
const SHEET_TARGET = targetReport('team-sheet', {
  kind: 'google-sheets',
  address: SHEET,
  readAt: before(41_000),
});
const INCOMPLETE = problem('RUN_INCOMPLETE', {
  message:
    'The source reports 412 submissions of form "Customer feedback" (feedback), and 409 were seen, without proof that nothing was missed.',
});

/** A workspace as it may look on a working day: mostly well, with one of each problem. */
export function realisticReport(): Report {
  const unavailable = problem('FORMS_FAILED', {
    message: 'Forms API, GET /submissions?formId=frm_44hq0x&page=1: answered 503.',
  });
  const held = problem('DELETIONS_HELD', {
    message: '312 of 1,260 rows are not at the source any more. None was marked deleted.',
    command: 'forms-mirror sync --full --accept-deletes --form summer-camp-2026 --target warehouse',
  });
  const rejected = problem('ROWS_REJECTED', { message: '3 submissions could not be stored.' });
  const notice = {
    code: 'ROWS_COPIED' as const,
    blocks: false,
    message: 'Rows 14 and 15 of tab “Responses” are copies of one submission.',
    remedy: 'Delete the copy.',
  };
  const claim = formReport(FORM_A).claim;
  const forms = [
    formReport(CONTACT, 'warehouse', { rows: 18_204, deletedRows: 12 }),
    formReport(CONTACT, 'team-sheet', { rows: 18_204, ...inSheet(1), notices: [notice] }),
    formReport(SUMMER, 'warehouse', {
      state: 'attention',
      rows: 1_260,
      problems: [held],
      claim: { ...claim, held: 312 },
    }),
    formReport(SUMMER, 'team-sheet', { rows: 1_572, ...inSheet(2) }),
    formReport(FEEDBACK, 'warehouse', {
      state: 'attention',
      rows: 409,
      rejected: 3,
      problems: [INCOMPLETE, rejected],
    }),
    formReport(JOBS, 'warehouse', { state: 'failed', rows: 87, problems: [unavailable] }),
    formReport(ORDERS, 'warehouse', {
      state: 'paused',
      rows: 40_911,
      deletedRows: 204,
      pause: {
        since: before(2 * HOUR),
        by: 'status page, admin at 10.0.0.7',
        reason: 'Migration of the <orders> table',
        ofTarget: false,
        command: 'forms-mirror resume --form orders --target warehouse',
      },
    }),
    formReport(NEWS, 'warehouse', {
      state: 'working',
      title: 'First copy',
      rows: 31_000,
      claim: NO_CLAIM,
      lastRun: null,
      running: job({ startedAt: before(2 * MINUTE), seen: 31_000, total: 80_000 }),
    }),
    formReport(OLD, 'warehouse', {
      state: 'ended',
      title: 'Gone at the source',
      rows: 143,
      goneAt: before(40 * DAY),
      problems: [problem('FORM_GONE')],
    }),
  ];
  return reportOf(forms, {
    title: '1 form has failed, 2 need attention',
    summary: 'Submissions of the other forms as of 20 s ago · 7 forms, 92,014 submissions',
    targets: [targetReport('warehouse'), SHEET_TARGET],
  });
}

/** The source is away, and a target with it. */
export function failingReport(): Report {
  const waiting = { state: 'waiting', title: 'Waiting for the source' } as const;
  return reportOf(
    [CONTACT, SUMMER, FEEDBACK].map((each) => formReport(each, 'warehouse', waiting)),
    {
      state: 'failed',
      title: 'The Forms API does not answer',
      summary: 'Submissions as of 14 min ago · 3 forms, 19,873 submissions',
      problems: [
        problem('FORMS_FAILED', {
          message:
            'Forms API, GET /forms: connection refused (ECONNREFUSED). It was tried again 6 times.',
        }),
      ],
      source: { heardAt: before(14 * MINUTE) },
      targets: [
        targetReport('warehouse', {
          state: 'failed',
          isReadable: false,
          readAt: before(5 * MINUTE),
          problem: problem('TARGET_UNREACHABLE', {
            message: 'Target warehouse (postgres://db.internal:5432/forms) does not answer.',
          }),
        }),
      ],
    },
  );
}

/** What the warehouse keeps of {@link FEEDBACK}. */
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
  const entry = (id: string, reason: string) => ({
    kind: 'rejected' as const,
    id,
    status: 'NEW',
    createdAt: null,
    reason,
    atMs: NOW - 2 * HOUR,
  });
  return {
    runs,
    rejected: [
      entry('sub_8Kq2mZx0', 'createdAt is no date; the row has none.'),
      ...Array.from({ length: 60 }, (_, at) => entry(`no-id:5f1d0c9a${at}`, 'The item has no ID.')),
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
  const forms = Array.from({ length: count }, (_, at) => {
    const identity = form(
      `frm_${(at * 7_919 + 1_000_003).toString(36)}`,
      `${SLUGS[at % 6]}-${2_000 + at}`,
      `${NAMES[at % 6]} ${at + 1}`,
    );
    const failed = problem('FORMS_FAILED', {
      message: `Forms API, GET /submissions?formId=${identity.id}&page=1&limit=100&sortBy=submittedAt&sortOrder=desc: answered 503 (upstream connect error or disconnect/reset before headers).`,
    });
    const isFailing = areAllFailing || at % 30 === 7;
    const wrong: Partial<FormReport> = isFailing
      ? { state: 'failed', problems: [failed] }
      : at % 20 === 3
        ? { state: 'attention', problems: [INCOMPLETE] }
        : {};
    const shared = { rows: 150 + ((at * 7_919) % 90_000), deletedRows: at % 9 };
    const rejected = at % 17 === 0 ? 2 : 0;
    return [
      formReport(identity, 'warehouse', { ...shared, rejected, ...wrong }),
      formReport(identity, 'team-sheet', {
        ...shared,
        ...inSheet(1_000_000 + at),
        ...(areAllFailing ? wrong : {}),
      }),
    ];
  }).flat();
  return reportOf(forms, { targets: [targetReport('warehouse'), SHEET_TARGET] });
}
