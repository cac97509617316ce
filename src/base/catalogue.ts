/*
 * Every problem the program can report, one row each. Error codes, titles, remedies, exit codes, the times before a
 * notification, metrics and docs/reference/problems.md come from here.
 */

interface CatalogueRow {
  /** What it is about. A problem of the source or a target that shows in several forms is reported once. */
  readonly scope: 'source' | 'target' | 'form' | 'queue' | 'settings' | 'program';
  /** `error`: the copy falls behind, or may be wrong. `warning`: something needs attention, and the copy is as claimed. */
  readonly severity: 'error' | 'warning';
  /** The same attempt can succeed later without a change by a person. */
  readonly retryable?: true;
  /** How long a problem lasts before people are notified. 0: at once, because it does not end by itself. Null: never. */
  readonly graceMs: number | null;
  /** A few words: `The target is full`. */
  readonly title: string;
  /** What the code means, for the reference. */
  readonly meaning: string;
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
    meaning: 'A setting is missing, misspelled or invalid.',
    remedy: 'Correct the setting and restart. forms-mirror check lists all mistakes.',
  },
  OTHER_SCHEMA: {
    scope: 'target',
    severity: 'error',
    graceMs: 0,
    title: 'Another build wrote the target',
    meaning: 'A target was written by another build of forms-mirror; nothing in it was changed.',
    remedy: null,
  },
  USAGE: {
    scope: 'settings',
    severity: 'error',
    graceMs: null,
    title: 'Wrong usage',
    meaning: 'A command was called with unknown arguments.',
    remedy: null,
  },
  FORMS_UNAUTHORIZED: {
    scope: 'source',
    severity: 'error',
    graceMs: KEY_MS,
    title: 'The Forms API refuses the key',
    meaning: 'The Forms API refused the key: wrong, revoked or missing.',
    remedy:
      'Set a valid FORMS_API_KEY and restart, or restore the key. Nothing is lost until then.',
  },
  FORMS_REFUSED: {
    scope: 'source',
    severity: 'error',
    graceMs: OUTAGE_MS,
    title: 'The Forms API refuses a request',
    meaning:
      'The Forms API refused a request (400, 404, 409 or another 4xx), or answered with a redirect, which is not followed: the key is never sent to another address.',
    remedy: CHECK,
  },
  FORMS_FAILED: {
    scope: 'source',
    severity: 'error',
    retryable: true,
    graceMs: OUTAGE_MS,
    title: 'The Forms API fails',
    meaning:
      'The Forms API did not answer (wrong host, network down, too slow), kept failing after all retries (5xx or 429), or its responses did not match its documentation: HTML, cut short, or the same page for every page number.',
    remedy: 'The next run tries again. If this lasts, run forms-mirror check.',
  },
  RUN_INCOMPLETE: {
    scope: 'form',
    severity: 'warning',
    retryable: true,
    graceMs: REPAIR_MS,
    title: 'Not proven complete',
    meaning:
      'The source gave no proof that nothing was missed: the list changed too much, hides submissions, or shows some twice. In a spreadsheet: people moved rows or deleted columns during a write.',
    remedy: 'The submissions that were read are stored. The next run tries again.',
  },
  FORM_GONE: {
    scope: 'form',
    severity: 'warning',
    graceMs: 0,
    title: 'Gone at the source',
    meaning: 'The form no longer exists at the source. Its table stays.',
    remedy:
      'If it was deleted on purpose, there is nothing to do: its rows stay. If not, check that the key belongs to the right workspace.',
  },
  DELETIONS_HELD: {
    scope: 'form',
    severity: 'warning',
    graceMs: 0,
    title: 'Deletions are held',
    meaning: 'More rows disappeared than MAX_DELETE_FRACTION allows. None was marked deleted.',
    remedy: null,
  },
  SLUG_REUSED: {
    scope: 'form',
    severity: 'error',
    graceMs: 0,
    title: 'A slug names another form now',
    meaning:
      'A slug in the settings now belongs to another form than before. Nothing of that other form is copied.',
    remedy:
      'In the settings, replace the slug with the ID of the form that you mean, and restart. forms-mirror forms lists the IDs.',
  },
  PAUSED: {
    scope: 'form',
    severity: 'warning',
    graceMs: null,
    title: 'Paused',
    meaning: 'A person paused the form or the target. Nothing is written until it is resumed.',
    remedy: null,
  },
  TARGET_UNREACHABLE: {
    scope: 'target',
    severity: 'error',
    retryable: true,
    graceMs: OUTAGE_MS,
    title: 'The target does not answer',
    meaning: 'The target did not answer.',
    remedy:
      'The next run tries again. If this lasts, check that the target is up: forms-mirror check tries it.',
  },
  TARGET_DENIED: {
    scope: 'target',
    severity: 'error',
    graceMs: OUTAGE_MS,
    title: 'The target denies access',
    meaning: 'The target refused access: wrong password, missing right, unwritable file.',
    remedy: null,
  },
  TARGET_BUSY: {
    scope: 'target',
    severity: 'warning',
    retryable: true,
    graceMs: null,
    title: 'Another run writes to the form',
    meaning: 'Another run is writing to this form in this target, or took it over.',
    remedy: null,
  },
  TARGET_FULL: {
    scope: 'target',
    severity: 'error',
    graceMs: OUTAGE_MS,
    title: 'The target is full',
    meaning: 'The target is full: disk, or cells of a spreadsheet.',
    remedy: 'Make room in the target. The next run continues where this one stopped.',
  },
  TARGET_FAILED: {
    scope: 'target',
    severity: 'error',
    retryable: true,
    graceMs: OUTAGE_MS,
    title: 'The target fails',
    meaning: 'The target refused or broke a write for another reason.',
    remedy: null,
  },
  COPY_OUTDATED: {
    scope: 'form',
    severity: 'error',
    retryable: true,
    graceMs: REREAD_MS,
    title: 'The copy must be read again',
    meaning:
      'The copy is not as the mirror left it, or not as the settings want it: rows, columns or tables are missing or were changed, or the rows were stored with other fields, other hashed fields or another HASH_KEY.',
    remedy:
      'There is nothing to do: the next run reads everything again. To do it now: forms-mirror sync.',
  },
  COPY_REFILLED: {
    scope: 'form',
    severity: 'warning',
    graceMs: 0,
    title: 'The copy was missing and had to be filled again',
    meaning:
      'The copy was missing and had to be filled again from the source. Deleted submissions, history and the list of erased submissions are lost. Shown for seven days.',
    remedy:
      'If it was removed by mistake, restore a backup of the target and run forms-mirror sync --full. Run forms-mirror forget again for submissions that were erased on request.',
  },
  CLOCK: {
    scope: 'form',
    severity: 'warning',
    graceMs: OUTAGE_MS,
    title: 'A clock was wrong',
    meaning:
      'The last change of the copy is dated in the future: the clock of the machine that wrote it was ahead, or the clock of this one is behind.',
    remedy:
      'Set the clocks of all machines that run forms-mirror. Nothing is lost: until that time, new changes are dated just after the last one.',
  },
  ROWS_REJECTED: {
    scope: 'form',
    severity: 'warning',
    // Repeated only when more are rejected.
    graceMs: 0,
    title: 'Submissions were rejected',
    meaning: 'The target could not store some submissions. It stores all others.',
    remedy: "The form's page on the status page lists their IDs with the reason for each.",
  },
  WRITE_BACK_REFUSED: {
    scope: 'form',
    severity: 'warning',
    graceMs: null,
    title: 'Status changes were refused',
    meaning: 'The source refused to change the status of some submissions.',
    remedy:
      "The form's page on the status page lists their IDs with the reason for each. Compare MARK_STATUS and MARK_FROM with what the source allows.",
  },
  STALE: {
    scope: 'form',
    severity: 'error',
    retryable: true,
    graceMs: SILENCE_MS,
    title: 'Stale',
    meaning:
      'No run has ended, and no poll has found the form unchanged, for longer than the schedule explains.',
    remedy:
      'Check that start is running, or the timer that runs sync. If start has ended, its log says why: start it again.',
  },
  QUEUE_FAILED: {
    scope: 'queue',
    severity: 'error',
    retryable: true,
    graceMs: OUTAGE_MS,
    title: 'The queue does not work',
    meaning:
      'The queue (Redis or PostgreSQL) did not answer, refused access, may drop jobs (Redis needs maxmemory-policy noeviction), or did not start a poll on time. Or another process uses the embedded queue in DATA_DIR.',
    remedy: 'Check the server in QUEUE_URL. Work resumes by itself when it is back.',
  },
  DATA_DIR: {
    scope: 'program',
    severity: 'error',
    graceMs: OUTAGE_MS,
    title: 'Failures cannot be recorded',
    meaning: 'DATA_DIR cannot be written, so a failure that no target records might go unnoticed.',
    remedy: 'Give this user the right to write the folder, and make sure that its disk has room.',
  },
  CANCELLED: {
    scope: 'program',
    severity: 'warning',
    retryable: true,
    graceMs: null,
    title: 'Stopped',
    meaning: 'The process was asked to stop, or another worker took over. It finished its batch.',
    remedy: null,
  },
  INTERNAL: {
    scope: 'program',
    severity: 'error',
    graceMs: 0,
    title: 'A defect of the program',
    meaning: 'A defect in this program. Please report it.',
    remedy: 'This is a defect: please report it with the log around it.',
  },
} as const satisfies Record<string, CatalogueRow>;

/** The code of a problem. */
export type ProblemCode = keyof typeof ROWS;

/** Every problem by its code. */
export const PROBLEMS: Readonly<Record<ProblemCode, CatalogueRow>> = ROWS;
