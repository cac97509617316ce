/*
 * Every problem the program can report, one row each. Error codes, titles, remedies, exit codes, the times before a
 * notification, metrics and docs/reference/problems.md come from here. docs/troubleshooting.md explains each.
 */

interface CatalogueRow {
  /** What it is about. A problem of the source or a target that shows in several forms is reported once. */
  readonly scope: 'source' | 'target' | 'form' | 'queue' | 'settings' | 'program';
  /** `error`: the copy falls behind, or may be wrong. `warning`: something needs attention, and the copy is as claimed. */
  readonly severity: 'error' | 'warning';
  /** The same attempt can succeed later without a change by a person. Notifications count such problems of a form or target as one. */
  readonly retryable?: true;
  /** How long a problem lasts before people are notified. 0: at once, because it does not end by itself. Null: never. */
  readonly graceMs: number | null;
  /** A few words: `The target is full`. */
  readonly title: string;
  /** What to do; null if the message says it, or if there is nothing to do. */
  readonly remedy: string | null;
}

/** The remedy of problems that have no better one. */
export const CHECK =
  'Run forms-mirror check: it tries the source and every target, and reports the problem.';

/** An outage is reported when it has outlasted the retries of a request. */
const OUTAGE_MS = 60_000;
/** A refused key stays refused until a person acts. The wait covers a short failure of a gateway. */
const KEY_MS = 20_000;
/** The next run or two repair it. */
const REPAIR_MS = 10 * 60_000;
/** Slow runs, a start and a short stop are not silence. */
const SILENCE_MS = 10 * 60_000;
/** The next row comparison repairs it, which takes a while in a large form. */
const REREAD_MS = 3_600_000;

const ROWS = {
  SETTINGS: {
    scope: 'settings',
    severity: 'error',
    graceMs: 0,
    title: 'A setting is wrong',
    remedy: 'Correct the setting and restart. forms-mirror check lists all mistakes.',
  },
  OTHER_SCHEMA: {
    scope: 'target',
    severity: 'error',
    graceMs: 0,
    title: 'Another build wrote the target',
    remedy: null,
  },
  USAGE: {
    scope: 'settings',
    severity: 'error',
    graceMs: null,
    title: 'Wrong usage',
    remedy: null,
  },
  FORMS_UNAUTHORIZED: {
    scope: 'source',
    severity: 'error',
    graceMs: KEY_MS,
    title: 'The Forms API refuses the key',
    remedy:
      'Set a valid FORMS_API_KEY and restart, or restore the key. Nothing is lost until then.',
  },
  FORMS_REFUSED: {
    scope: 'source',
    severity: 'error',
    graceMs: OUTAGE_MS,
    title: 'The Forms API refuses a request',
    remedy: CHECK,
  },
  FORMS_FAILED: {
    scope: 'source',
    severity: 'error',
    retryable: true,
    graceMs: OUTAGE_MS,
    title: 'The Forms API fails',
    remedy: 'The next run tries again. If this lasts, run forms-mirror check.',
  },
  RUN_INCOMPLETE: {
    scope: 'form',
    severity: 'warning',
    retryable: true,
    graceMs: REPAIR_MS,
    title: 'Not proven complete',
    remedy: 'The submissions that were read are stored. The next run tries again.',
  },
  FORM_GONE: {
    scope: 'form',
    severity: 'warning',
    graceMs: 0,
    title: 'Gone at the source',
    remedy:
      'If it was deleted on purpose, there is nothing to do: its rows stay. If not, check that the key belongs to the right workspace.',
  },
  DELETIONS_HELD: {
    scope: 'form',
    severity: 'warning',
    graceMs: 0,
    title: 'Deletions are held',
    remedy: null,
  },
  SLUG_REUSED: {
    scope: 'form',
    severity: 'error',
    graceMs: 0,
    title: 'A slug names another form now',
    remedy:
      'In the settings, replace the slug with the ID of the form that you mean, and restart. forms-mirror forms lists the IDs.',
  },
  PAUSED: {
    scope: 'form',
    severity: 'warning',
    graceMs: null,
    title: 'Paused',
    remedy: null,
  },
  TARGET_UNREACHABLE: {
    scope: 'target',
    severity: 'error',
    retryable: true,
    graceMs: OUTAGE_MS,
    title: 'The target does not answer',
    remedy:
      'The next run tries again. If this lasts, check that the target is up: forms-mirror check tries it.',
  },
  TARGET_DENIED: {
    scope: 'target',
    severity: 'error',
    graceMs: OUTAGE_MS,
    title: 'The target denies access',
    remedy: null,
  },
  TARGET_BUSY: {
    scope: 'target',
    severity: 'warning',
    retryable: true,
    graceMs: null,
    title: 'Another run writes to the form',
    remedy: null,
  },
  TARGET_FULL: {
    scope: 'target',
    severity: 'error',
    graceMs: OUTAGE_MS,
    title: 'The target is full',
    remedy: 'Make room in the target. The next run continues where this one stopped.',
  },
  TARGET_FAILED: {
    scope: 'target',
    severity: 'error',
    retryable: true,
    graceMs: OUTAGE_MS,
    title: 'The target fails',
    remedy: null,
  },
  COPY_OUTDATED: {
    scope: 'form',
    severity: 'error',
    retryable: true,
    graceMs: REREAD_MS,
    title: 'The copy must be read again',
    remedy:
      'There is nothing to do: the next run reads everything again. To do it now: forms-mirror sync.',
  },
  COPY_REFILLED: {
    scope: 'form',
    severity: 'warning',
    graceMs: 0,
    title: 'The copy was missing and had to be filled again',
    remedy:
      'If it was removed by mistake, restore a backup of the target and run forms-mirror sync --full. Run forms-mirror forget again for submissions that were erased on request.',
  },
  CLOCK: {
    scope: 'form',
    severity: 'warning',
    graceMs: OUTAGE_MS,
    title: 'A clock was wrong',
    remedy:
      'Set the clocks of all machines that run forms-mirror. Nothing is lost: until that time, new changes are dated just after the last one.',
  },
  ROWS_REJECTED: {
    scope: 'form',
    severity: 'warning',
    // Repeated only when more are rejected.
    graceMs: 0,
    title: 'Submissions were rejected',
    remedy: "The form's page on the status page lists their IDs with the reason for each.",
  },
  WRITE_BACK_REFUSED: {
    scope: 'form',
    severity: 'warning',
    graceMs: null,
    title: 'Status changes were refused',
    remedy:
      "The form's page on the status page lists their IDs with the reason for each. Compare MARK_STATUS and MARK_FROM with what the source allows.",
  },
  STALE: {
    scope: 'form',
    severity: 'error',
    retryable: true,
    graceMs: SILENCE_MS,
    title: 'Stale',
    remedy:
      'Check that start is running, or the timer that runs sync. If start has ended, its log says why: start it again.',
  },
  QUEUE_FAILED: {
    scope: 'queue',
    severity: 'error',
    retryable: true,
    graceMs: OUTAGE_MS,
    title: 'The queue does not work',
    remedy: 'Check the server in QUEUE_URL. Work resumes by itself when it is back.',
  },
  DATA_DIR: {
    scope: 'program',
    severity: 'error',
    graceMs: OUTAGE_MS,
    title: 'Failures cannot be recorded',
    remedy: 'Give this user the right to write the folder, and make sure that its disk has room.',
  },
  CANCELLED: {
    scope: 'program',
    severity: 'warning',
    retryable: true,
    graceMs: null,
    title: 'Stopped',
    remedy: null,
  },
  INTERNAL: {
    scope: 'program',
    severity: 'error',
    graceMs: 0,
    title: 'A defect of the program',
    remedy: 'This is a defect: please report it with the log around it.',
  },
} as const satisfies Record<string, CatalogueRow>;

/** The code of a problem. */
export type ProblemCode = keyof typeof ROWS;

/** Every problem by its code. */
export const PROBLEMS: Readonly<Record<ProblemCode, CatalogueRow>> = ROWS;
