import { errorCode } from './error-code.ts';
import { printable } from './printable.ts';

/**
 * Every code an error of ours can carry. `retryable`: trying the same thing again later can help without
 * anyone changing anything. The README lists exactly these; a test keeps both equal.
 */
export const ERROR_CODES = {
  SETTINGS: {
    retryable: false,
    meaning: 'A setting is missing, misspelled or invalid.',
  },
  OTHER_SCHEMA: {
    retryable: false,
    meaning:
      'A target, or a file in DATA_DIR, was written by another build of forms-mirror; nothing in it was changed.',
  },
  USAGE: { retryable: false, meaning: 'A command was called with unknown arguments.' },
  FORMS_UNREACHABLE: {
    retryable: true,
    meaning: 'The Forms API did not answer: wrong host, network down, or too slow.',
  },
  FORMS_UNAUTHORIZED: {
    retryable: false,
    meaning: 'The Forms API refused the key: wrong, revoked or missing.',
  },
  FORMS_NOT_FOUND: {
    retryable: false,
    meaning: 'A form or submission does not exist, or belongs to another workspace.',
  },
  FORMS_REFUSED: {
    retryable: false,
    meaning: 'The Forms API refused a request (400, 409 or another 4xx).',
  },
  FORMS_FAILED: {
    retryable: true,
    meaning: 'The Forms API kept failing (5xx or 429) after all retries.',
  },
  FORMS_NOT_JSON: {
    retryable: true,
    meaning:
      'The response was not the JSON that the API documents: HTML, cut short, or another shape.',
  },
  FORMS_REDIRECT: {
    retryable: false,
    meaning: 'The API answered with a redirect. The key is never sent to another address.',
  },
  FORMS_PAGE_IGNORED: {
    retryable: false,
    meaning:
      'The API answers every page number with the same page, so a form cannot be read completely.',
  },
  PASS_INCOMPLETE: {
    retryable: true,
    meaning:
      'The source gave no proof that nothing was missed: the list changed too much, hides submissions, or shows some twice.',
  },
  FORM_GONE: {
    retryable: false,
    meaning: 'The form no longer exists at the source. Its table stays.',
  },
  DELETES_WITHHELD: {
    retryable: false,
    meaning: 'More rows disappeared than MAX_DELETE_FRACTION allows. Nothing was marked deleted.',
  },
  SLUG_REUSED: {
    retryable: false,
    meaning:
      'A slug in the settings belongs to another form now than the one that it first named: nothing of that other form is copied.',
  },
  PAUSED: {
    retryable: false,
    meaning: 'A person paused the form or the target. Nothing is written until it is resumed.',
  },
  TARGET_UNREACHABLE: { retryable: true, meaning: 'The target did not answer.' },
  TARGET_DENIED: {
    retryable: false,
    meaning: 'The target refused access: wrong password, missing right, unwritable file.',
  },
  TARGET_BUSY: {
    retryable: true,
    meaning: 'Another run is writing to this form in this target.',
  },
  TARGET_LOST_LOCK: {
    retryable: true,
    meaning:
      'Another run took over this form while this one was stalled. This one wrote nothing more.',
  },
  TARGET_FULL: {
    retryable: false,
    meaning: 'The target is full: disk, or cells of a spreadsheet.',
  },
  TARGET_FAILED: {
    retryable: true,
    meaning: 'The target refused or broke a write for another reason.',
  },
  NOT_RUNNING: {
    retryable: false,
    meaning: 'The command needs a running start, and none answers here.',
  },
  QUEUE_UNREACHABLE: {
    retryable: true,
    meaning: 'The queue (Redis or PostgreSQL) did not answer.',
  },
  QUEUE_DENIED: {
    retryable: false,
    meaning: 'The queue refused access: wrong password, unknown database or missing right.',
  },
  QUEUE_BUSY: {
    retryable: false,
    meaning: 'Another process uses the embedded queue in this DATA_DIR.',
  },
  QUEUE_UNSAFE: {
    retryable: false,
    meaning: 'Redis may drop jobs: maxmemory-policy must be noeviction.',
  },
  CANCELLED: {
    retryable: true,
    meaning: 'The process was asked to stop, or another worker took over. It finished its batch.',
  },
  INTERNAL: { retryable: false, meaning: 'A defect in this program. Please report it.' },
} as const satisfies Record<string, { retryable: boolean; meaning: string }>;

/** One of the codes of {@link ERROR_CODES}. */
export type ErrorCode = keyof typeof ERROR_CODES;

/** `value` where it is one of our codes, as read back from a target; null for anything else. */
export function errorCodeOrNull(value: unknown): ErrorCode | null {
  return typeof value === 'string' && Object.hasOwn(ERROR_CODES, value)
    ? (value as ErrorCode)
    : null;
}

/** Options of a {@link MirrorError}. */
export interface MirrorErrorOptions {
  cause?: unknown;
  /** Overrides the code's own answer, where this one case is known better. */
  retryable?: boolean;
}

/**
 * The error that people see, with subclasses where callers need more facts. The message is for a person: what happened,
 * to which form and target, what to do now. It never holds an answer, a key or a password (L11, L15); `cause` may, so it
 * is never printed or logged.
 */
export class MirrorError extends Error {
  override readonly name: string = 'MirrorError';
  readonly code: ErrorCode;
  readonly retryable: boolean;

  /** `message` may quote names from elsewhere: it is made printable. Several lines are given as several texts. */
  constructor(
    code: ErrorCode,
    message: string | readonly string[],
    options: MirrorErrorOptions = {},
  ) {
    const lines = typeof message === 'string' ? [message] : message;
    super(
      lines.map(printable).join('\n'),
      options.cause === undefined ? {} : { cause: options.cause },
    );
    this.code = code;
    this.retryable = options.retryable ?? ERROR_CODES[code].retryable;
  }
}

/**
 * What stopped the work of an aborted signal: its reason, where it was aborted with a CANCELLED that says why, or else that
 * somebody asked for it.
 */
export function stopReason(signal: AbortSignal | undefined, cause?: unknown): MirrorError {
  const reason: unknown = signal?.reason;
  if (reason instanceof MirrorError && reason.code === 'CANCELLED') return reason;
  return new MirrorError('CANCELLED', 'Stopped on request.', { cause: cause ?? reason });
}

/** True for an error that an AbortSignal of ours caused. */
export function isAbort(error: unknown): boolean {
  return (
    (error instanceof MirrorError && error.code === 'CANCELLED') ||
    (error instanceof Error && error.name === 'AbortError')
  );
}

/**
 * Any thrown value as a MirrorError. A foreign error becomes INTERNAL with its class name only: foreign messages
 * may quote answers or passwords, so adapters translate what they know before it gets here.
 */
export function toMirrorError(error: unknown): MirrorError {
  if (error instanceof MirrorError) return error;
  if (isAbort(error)) return stopReason(undefined, error);
  const code = errorCode(error);
  const name = error instanceof Error ? error.name : typeof error;
  const kind = code === undefined ? name : `${name} (${code})`;
  return new MirrorError(
    'INTERNAL',
    `Unexpected ${kind}. This is a defect; please report it with the log around it.`,
    { cause: error },
  );
}

/** `text` made safe for queues and logs: well-formed, free of NUL, at most `maxLength` characters. */
export function safeText(text: string, maxLength = 2_000): string {
  const clean = text.toWellFormed().replaceAll('\0', '\u2400');
  return clean.length <= maxLength ? clean : `${clean.slice(0, maxLength - 1).toWellFormed()}…`;
}
