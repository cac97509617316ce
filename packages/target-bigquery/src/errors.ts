import type { ErrorDescription } from '../../../src/targets/sql/errors.ts';
import {
  accessFailure,
  credentialsFailure,
  EXPIRED_CREDENTIALS,
  factsOf,
  type FailureTexts,
} from '../../../src/targets/google/call-failure.ts';

/** The only right that the target requests from Google. */
const BIGQUERY_SCOPE = 'https://www.googleapis.com/auth/bigquery';
const API = { product: 'BigQuery', host: 'bigquery.googleapis.com', scope: BIGQUERY_SCOPE };
const CONSOLE = 'https://console.cloud.google.com';

/** Google's response, or how the call failed. */
export interface Failure {
  /** HTTP status; 0 without a response. */
  readonly status: number;
  /** Google's word: `invalidQuery`, `notFound`. */
  readonly reason: string;
  /** Google's message. It may be searched but never shown, because it may quote an answer (L11). */
  readonly text: string;
  readonly retryAfter?: string | undefined;
}

/** A failed call. Its message contains only Google's reason code; {@link BigQueryError.says} searches Google's own message. */
export class BigQueryError extends Error {
  readonly status: number;
  readonly reason: string;
  readonly retryAfter: string | undefined;
  readonly #text: string;

  constructor({ status, reason, text, retryAfter }: Failure) {
    const word = /^\w{1,40}$/.test(reason) ? reason : `status ${status}`;
    super(`BigQuery refused (${word})`);
    [this.status, this.reason, this.retryAfter] = [status, reason, retryAfter];
    this.#text = text;
  }

  says(pattern: RegExp): boolean {
    return pattern.test(`${this.reason} ${this.#text}`);
  }

  /** An API that is off, or a token without the right to it. */
  get access(): FailureTexts | undefined {
    return this.status === 403
      ? accessFailure({ reason: this.reason, text: this.#text }, API)
      : undefined;
  }

  /** The first group of a pattern in Google's message. Only for our own numbers. */
  found(pattern: RegExp): string | undefined {
    return pattern.exec(this.#text)?.[1];
  }

  /** Nothing happened, or the same request can be sent again with its ID. */
  get passes(): boolean {
    return (
      this.isThrottled ||
      this.status === 0 ||
      (this.status >= 500 && this.status !== 501) ||
      this.status === 408
    );
  }

  /** Nothing happened; the request must be sent again with another ID. */
  get isThrottled(): boolean {
    return (
      this.status === 429 ||
      /^(?:job|user)?RateLimitExceeded$/i.test(this.reason) ||
      this.says(/Exceeded rate limits/i)
    );
  }

  /** The transaction was rolled back because another one changed one of its tables first. */
  get isConflict(): boolean {
    return this.says(
      /aborted due to concurrent update|Could not serialize access|concurrent (?:update|modification)/i,
    );
  }

  get isAbsent(): boolean {
    return this.status === 404 || this.reason === 'notFound';
  }

  /** Something with that name exists. */
  get exists(): boolean {
    return this.status === 409 || this.reason === 'duplicate';
  }

  /** The resource was changed since its etag was read. */
  get isOutdated(): boolean {
    return this.status === 412 || this.reason === 'conditionNotMet';
  }
}

/** A row that does not fit into a request. */
export class RowTooLarge extends Error {}

/** A row to insert whose ID exists. */
export class RowExists extends Error {}

/** The subject of a call, for messages. */
export interface Subject {
  readonly project: string;
  readonly dataset: string;
  /** The account's address, if known. */
  readonly email: string | undefined;
}

const text = (code: ErrorDescription['code'], [what, remedy]: FailureTexts): ErrorDescription => ({
  code,
  what: what.replace(/\.$/, '').replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase()),
  remedy,
});

const denied = (texts: FailureTexts): ErrorDescription => text('TARGET_DENIED', texts);
const passing = (what: string): ErrorDescription =>
  text('TARGET_UNREACHABLE', [what, 'The next run tries again.']);

/** Describes an error of the client in words for people; undefined for an error that the client did not throw. */
export function describeBigQueryError(
  error: unknown,
  subject: Subject,
): ErrorDescription | undefined {
  if (error instanceof RowTooLarge)
    return {
      code: 'TARGET_FAILED',
      what: 'the answers are too large for one request to BigQuery (4 MB)',
      remedy: '',
      refused: 'row',
    };
  if (error instanceof RowExists)
    return { ...text('TARGET_FAILED', ['a row has an ID that exists', '']), refused: 'statement' };
  if (!(error instanceof BigQueryError)) {
    const credentials = credentialsFailure(factsOf(error));
    return credentials === undefined ? undefined : denied(credentials);
  }
  if (error.isThrottled) return passing('BigQuery asks for fewer calls');
  if (error.isConflict)
    return passing('another transaction changed a table of the mirror at the same time');
  if (error.status === 0) return passing(`BigQuery could not be reached (${error.reason})`);
  if (error.passes) return passing(`BigQuery answered ${error.status}`);
  if (error.status === 401) return denied(EXPIRED_CREDENTIALS);
  const { access } = error;
  if (access !== undefined) return denied(access);
  const found = refusals(subject).find(([words]) => error.says(words));
  if (found !== undefined) return denied([found[1], found[2]]);
  if (error.says(/^bytesBilledLimitExceeded|limit for bytes billed/i))
    return text('TARGET_FAILED', [
      'A job would have been billed more than the limit for one job',
      'Raise ?max-gb-per-job= in the address if the table has become so large.',
    ]);
  if (error.says(/^quotaExceeded/))
    return text('TARGET_FAILED', [
      `A quota of the project ${subject.project} is used up`,
      `See which (${CONSOLE}/iam-admin/quotas?project=${subject.project}); a daily one ends at midnight Pacific Time.`,
    ]);
  if (error.isAbsent)
    return text('TARGET_FAILED', [
      `A dataset or table is not in ${subject.project}.${subject.dataset}, or lies in another location than the address says`,
      'Compare ?location= with the location that the Cloud console shows for the dataset.',
    ]);
  return text('TARGET_FAILED', [
    error.message,
    "If someone changed a mirrored table or its columns, undo that. Otherwise, please report it with the statement from the project's job history.",
  ]);
}

/** Google's responses to a denied access, the most specific first: the reason code and the message. */
const refusals = ({
  project,
  dataset,
  email = 'the account of the credentials',
}: Subject): readonly (readonly [words: RegExp, what: string, remedy: string])[] => [
  [
    /has not enabled BigQuery/i,
    `The BigQuery API is disabled in the project ${project}, or there is no such project`,
    `Check the ID of the project, and enable the API (${CONSOLE}/apis/library/bigquery.googleapis.com?project=${project}).`,
  ],
  [
    /Not found: Project|project .*not (?:been )?found/i,
    `There is no project ${project}, or the account may not know of it`,
    'Copy the ID of the project (not its name or number) from the Cloud console into the address.',
  ],
  [
    /^billingNotEnabled|Billing has not been enabled|in the free tier|billing account\b.*\b(?:closed|disabled)/i,
    `The project ${project} has no active billing account, and BigQuery's sandbox changes no rows`,
    `Link one (${CONSOLE}/billing/linkedaccount?project=${project}); a free allowance of 1 TiB of queries a month remains.`,
  ],
  [
    /bigquery\.jobs\.create/,
    `The account may not run jobs in the project ${project}`,
    `Give ${email} the role BigQuery Job User there (${CONSOLE}/iam-admin/iam?project=${project}).`,
  ],
  [
    /bigquery\.datasets\.create/,
    `There is no dataset ${dataset} in ${project}, and the account may not make one`,
    `Make it in the Cloud console, and give ${email} the role BigQuery Data Editor in it.`,
  ],
  [
    /VPC Service Controls|SECURITY_POLICY_VIOLATED/i,
    'VPC Service Controls of the organization forbid this call',
    'Ask the administrator of its perimeters to allow it.',
  ],
  [
    /^accessDenied/,
    `The account may not do this in the dataset ${dataset} of ${project}`,
    `Give ${email} the role BigQuery Data Editor in ${dataset}, and BigQuery Job User in ${project}.`,
  ],
];
