import type { ProblemCode } from './problem.ts';

/** What to do about a code when the message does not say more; null: nothing, it mends itself or the message has it all. */
export function remedyFor(code: ProblemCode | null): string | null {
  return code === null ? CHECK : (REMEDIES[code] ?? null);
}

const CHECK =
  'Run forms-mirror check: it tries the source and every target and says what is wrong.';
const BY_ITSELF = 'The next pass tries again by itself.';
const REPORT = 'This is a defect: please report it with the log around it.';

const REMEDIES: Partial<Record<ProblemCode, string>> = {
  SETTINGS: CHECK,
  FORMS_UNREACHABLE: `${BY_ITSELF} If it lasts, forms-mirror check says more.`,
  FORMS_UNAUTHORIZED:
    'Everything waits until there is a key that works: set FORMS_API_KEY and start again, or restore the key. Nothing is lost.',
  FORMS_NOT_FOUND: CHECK,
  FORMS_REFUSED: CHECK,
  FORMS_FAILED: `The Forms API itself is in trouble. ${BY_ITSELF}`,
  FORMS_NOT_JSON: `${BY_ITSELF} If it lasts, forms-mirror check says more.`,
  FORMS_REDIRECT: 'Set FORMS_API_URL to the address that the API has now and start again.',
  FORMS_PAGE_IGNORED:
    'The API has a fault that makes the form unreadable: tell its operator that every page number brings the same page.',
  PASS_INCOMPLETE: `What was seen is stored. ${BY_ITSELF}`,
  FORM_GONE:
    'If it was deleted on purpose, nothing is to be done: its rows stay. If not, check that the key belongs to the right workspace.',
  TARGET_UNREACHABLE: `${BY_ITSELF} If it lasts, see that the target is up: forms-mirror check tries it.`,
  TARGET_DENIED: 'Give the mirror the right it lacks; forms-mirror check says which.',
  TARGET_FULL: 'Make room in the target; the next pass takes up where this one stopped.',
  TARGET_FAILED: `${BY_ITSELF} If it lasts, forms-mirror check and the log say more.`,
  QUEUE_UNREACHABLE:
    'See that the server of QUEUE_URL is up. Work goes on by itself when it is back.',
  QUEUE_DENIED: 'Check user and password in QUEUE_URL.',
  SILENT: 'See that start or a worker runs and what its log says.',
  SCHEDULE_OVERDUE: 'See that start runs, and what its log says.',
  FAILED: CHECK,
  INTERNAL: REPORT,
};
