import type { ProblemCode } from '../base/catalogue.ts';
import { MirrorError } from '../base/errors.ts';

/** The facts of a failed call, besides its code and message. */
export interface FormsApiFailure {
  /** Which request, without the key and without search text: `GET /submissions?formId=…&page=3`. */
  request: string;
  /** What happened, in a few words for a log line: `answered 503`. */
  reason: string;
  /** What to do now, as a sentence. */
  remedy?: string | undefined;
  /** The HTTP status; null when there was no answer. */
  status?: number | null;
  /** What the API says about single fields of what we sent. */
  fields?: ReadonlyMap<string, string> | undefined;
  /** The wait that the server asked for. */
  retryAfterMs?: number | undefined;
  /** Overrides the code's own answer. */
  retryable?: boolean | undefined;
  /** A cleaned cause: it must hold neither key nor answers. */
  cause?: Error | undefined;
}

/**
 * A call to the Forms API that failed. Neither its message nor its cause holds the key, search text or an answer. Wrong
 * settings and calls after dispose are plain MirrorErrors, as nothing was sent.
 */
export class FormsApiError extends MirrorError {
  override readonly name = 'FormsApiError';
  /** The HTTP status; null when there was no answer. */
  readonly status: number | null;
  /** Messages of a 400 (or another refusal) by field, as far as they do not repeat what we sent. Empty for most errors. */
  readonly fields: ReadonlyMap<string, string>;
  /** Which request: `GET /submissions?formId=…&page=3`. */
  readonly request: string;
  /** What happened, in a few words: `answered 503`. */
  readonly reason: string;
  /** The wait that the server asked for with `Retry-After`, if it did. */
  readonly retryAfterMs: number | undefined;

  constructor(code: ProblemCode, failure: FormsApiFailure) {
    const remedy = failure.remedy === undefined ? '' : ` ${failure.remedy}`;
    super(code, `Forms API, ${failure.request}: ${failure.reason}.${remedy}`, {
      cause: failure.cause,
      ...(failure.retryable === undefined ? {} : { retryable: failure.retryable }),
    });
    this.status = failure.status ?? null;
    this.fields = failure.fields ?? new Map();
    this.request = failure.request;
    this.reason = failure.reason;
    this.retryAfterMs = failure.retryAfterMs;
  }
}

/** What `call` resolves to; null when it rejects with FORMS_NOT_FOUND. */
export async function orNull<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof MirrorError && error.code === 'FORMS_NOT_FOUND') return null;
    throw error;
  }
}
