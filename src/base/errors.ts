import { PROBLEMS, type ProblemCode } from './catalogue.ts';
import { printable } from './printable.ts';

/**
 * The error that people see, with subclasses where callers need more facts. The message is for a person: what
 * happened, to which form and target, what to do. It never contains an answer, a key or a password (L11, L15).
 * `cause` may contain them, so it is never printed or logged.
 */
export class MirrorError extends Error {
  override readonly name: string = 'MirrorError';
  readonly code: ProblemCode;
  readonly retryable: boolean;

  /**
   * `message` may quote names from elsewhere; they are made printable. Pass several lines as several texts. `retryable` overrides
   * the catalogue's value for this code.
   */
  constructor(
    code: ProblemCode,
    message: string | readonly string[],
    { cause, retryable }: { readonly cause?: unknown; readonly retryable?: boolean } = {},
  ) {
    super([message].flat().map(printable).join('\n'), cause === undefined ? {} : { cause });
    this.code = code;
    this.retryable = retryable ?? PROBLEMS[code].retryable === true;
  }
}

/** One mistake in the settings. Contains no secret (L15). */
export interface SettingMistake {
  readonly variable: string;
  /** The mistake and its correction: the rest of a sentence after the variable's name, without a period. */
  readonly message: string;
  /** A line to copy and adapt, `NAME=value`. */
  readonly example: string;
}

/** The whole sentence: `TARGET_FORMS names nope, and there is no such form.` */
export const mistakeText = ({ variable, message }: SettingMistake): string =>
  `${variable} ${message}${message.endsWith('?') ? '' : '.'}`;

/** All mistakes at once: code SETTINGS, exit code 2. Each is one line: the variable, the mistake, an example. */
export class SettingsError extends MirrorError {
  readonly problems: readonly SettingMistake[];

  constructor(mistakes: readonly SettingMistake[]) {
    super(
      'SETTINGS',
      mistakes.map((each) => `${mistakeText(each)} Example: ${each.example}`),
    );
    this.problems = mistakes;
  }
}

/** The error of an aborted signal: its reason if that is a CANCELLED error, otherwise a new one, which says that a person asked to stop. */
export function stopReason(signal: AbortSignal | undefined, cause?: unknown): MirrorError {
  const reason: unknown = signal?.reason;
  if (reason instanceof MirrorError && reason.code === 'CANCELLED') return reason;
  return new MirrorError('CANCELLED', 'Stopped on request.', { cause: cause ?? reason });
}

/** Whether one of our AbortSignals caused the error. */
export function isAbort(error: unknown): boolean {
  return (
    (error instanceof MirrorError && error.code === 'CANCELLED') ||
    (error instanceof Error && error.name === 'AbortError')
  );
}

/**
 * Any thrown value as a MirrorError. A foreign error becomes INTERNAL with only its class name: foreign messages may quote answers
 * or passwords, so adapters translate the errors that they know before.
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

/** `text` made safe for queues and logs: well-formed, without NUL, at most `maxLength` characters. */
export function safeText(text: string, maxLength = 2_000): string {
  const clean = text.toWellFormed().replaceAll('\0', '\u2400');
  return clean.length <= maxLength ? clean : `${clean.slice(0, maxLength - 1).toWellFormed()}…`;
}

/** Error codes of Node, drivers and servers are constants. They may be shown even where a foreign message may not (L11, L15). */
const CODE = /^[A-Z0-9_]{2,60}$/;

/** More causes than any library chains. The limit exists because an error may be its own cause. */
const MAX_DEPTH = 5;

/** An error and the errors behind it: for one of several addresses, or a cause. */
export function* errorsIn(error: unknown, depth = MAX_DEPTH): Generator<Error, void, undefined> {
  if (!(error instanceof Error) || depth === 0) return;
  yield error;
  const behind: unknown[] = error instanceof AggregateError ? error.errors : [];
  for (const next of [...behind, error.cause]) yield* errorsIn(next, depth - 1);
}

/**
 * The code of a foreign error (`ECONNREFUSED`, `28P01`, `ERR_TLS_CERT_ALTNAME_INVALID`): its own, or that of the first error behind
 * it. Undefined if none has a textual code.
 */
export function errorCode(error: unknown): string | undefined {
  for (const { code } of errorsIn(error) as Iterable<{ code?: unknown }>)
    if (typeof code === 'string' && CODE.test(code)) return code;
  return undefined;
}
