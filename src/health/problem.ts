import type { ErrorCode } from '../base/errors.ts';

/** Codes of what is wrong with the mirror: those of errors, and what shows only from outside of a pass. */
export type ProblemCode =
  | ErrorCode
  | 'STALE'
  | 'ROWS_REJECTED'
  | 'MARKS_REFUSED'
  | 'COPY_DAMAGED'
  | 'COPY_REFILLED'
  | 'SETTINGS_CHANGED'
  | 'SCHEDULE_OVERDUE'
  | 'SOURCE_WAITING'
  | 'FAILED';

/** The aspects of a form in a target; each has its own problem at a time, and its own alert. */
export type Track = 'passes' | 'deletions' | 'staleness' | 'marking';

/** Something that needs attention. Holds no answer and no secret (L11, L15). */
export interface Problem {
  /** `error`: the copy falls behind. `warning`: the copy is fine as far as is known, but something about it needs attention, or is not known for sure. */
  readonly level: 'error' | 'warning';
  readonly code: ProblemCode;
  /** A few words: `Deletions withheld`. */
  readonly title: string;
  /** What happened, as sentences. */
  readonly message: string;
  /** What to do, as sentences; null when nothing is to be done. */
  readonly remedy: string | null;
  /** A command line that does it. */
  readonly command: string | null;
  /** Since when, as far as is known (ISO); null when it is not. */
  readonly since: string | null;
}

/** A problem of one form in one target. */
export interface FormProblem extends Problem {
  readonly track: Track;
  /** False while it may well be over with the next pass: it is shown, but nobody is alerted. */
  readonly notifies: boolean;
  /** True when a problem of the source or the target is the cause: that one is announced instead. */
  readonly inhibited: boolean;
  /** True when it stays as it is until a person decides; `check` fails then. */
  readonly needsDecision: boolean;
  /** Identifies the fact behind it: the start of the pass that shows it. */
  readonly occurrence: string;
}

/** What to do, the command line included. */
export function remedyText({
  remedy,
  command,
}: Pick<Problem, 'remedy' | 'command'>): string | null {
  return command === null ? remedy : `${remedy ?? ''} ${command}`.trim();
}

/** What to do about a code where the message does not say more; null: nothing, or the message has it all. */
export function remedyFor(code: ProblemCode | null): string | null {
  return code === null ? CHECK : (REMEDIES[code] ?? null);
}

const CHECK =
  'Run forms-mirror check: it tries the source and every target and says what is wrong.';
const NEXT_PASS = 'The next pass tries again.';
const LASTING = 'If this lasts, run forms-mirror check.';

const REMEDIES: Partial<Record<ProblemCode, string>> = {
  SETTINGS: CHECK,
  FORMS_UNREACHABLE: `${NEXT_PASS} ${LASTING}`,
  FORMS_UNAUTHORIZED:
    'Everything waits until there is a valid key: set FORMS_API_KEY and restart, or restore the key. Nothing is lost.',
  FORMS_NOT_FOUND: CHECK,
  FORMS_REFUSED: CHECK,
  FORMS_FAILED: `The Forms API itself is in trouble. ${NEXT_PASS}`,
  FORMS_NOT_JSON: `${NEXT_PASS} ${LASTING}`,
  FORMS_REDIRECT: "Set FORMS_API_URL to the API's new address and restart.",
  FORMS_PAGE_IGNORED:
    'The API has a defect that makes the form unreadable: report to its operator that every page number returns the same page.',
  COPY_DAMAGED: 'Nothing is to be done: the next pass reads everything again.',
  COPY_REFILLED:
    'If it was removed by mistake, restore a backup of the target and run forms-mirror sync --full. Run forms-mirror forget again for submissions that were erased on request.',
  SETTINGS_CHANGED:
    'Nothing is to be done: the next pass under these settings reads everything again. At once: forms-mirror sync.',
  SLUG_REUSED:
    'In the settings, write the ID of the form that is meant in place of its slug, and restart. forms-mirror forms lists the IDs.',
  PASS_INCOMPLETE: `The submissions that were read are stored. ${NEXT_PASS} ${LASTING}`,
  FORM_GONE:
    'If it was deleted on purpose, there is nothing to do: rows that were mirrored stay. If not, check that the key belongs to the right workspace.',
  TARGET_UNREACHABLE: `${NEXT_PASS} If this lasts, check that the target is up: forms-mirror check tries it.`,
  TARGET_DENIED: 'Grant the mirror the right it lacks; forms-mirror check says which.',
  TARGET_FULL: 'Make room in the target; the next pass continues where this one stopped.',
  TARGET_FAILED: `${NEXT_PASS} If this lasts, see forms-mirror check and the log.`,
  QUEUE_UNREACHABLE:
    'Check that the server of QUEUE_URL is up. Work resumes by itself when it is back.',
  QUEUE_DENIED: 'Check user and password in QUEUE_URL.',
  ROWS_REJECTED: "The form's page in the status page lists their IDs with the reason for each.",
  MARKS_REFUSED:
    'forms-mirror explain <submission-id> says why. Compare MARK_STATUS and MARK_FROM with what the source allows.',
  SOURCE_WAITING: `Nothing is to be done: it is tried again by itself. ${LASTING}`,
  NOT_RUNNING: 'Start it again, and look into its log for why it ended.',
  STALE: 'Check that start or a worker is running, and its log.',
  SCHEDULE_OVERDUE: 'Check that start is running, and its log.',
  FAILED: CHECK,
  INTERNAL: 'This is a defect: please report it with the log around it.',
};
