import { type ErrorCode, isAbort, MirrorError } from '../../../base/errors.ts';
import { type ProxyFailure, proxyFailureIn } from '../../../base/proxy-failure.ts';
import {
  accessFailure,
  type CallFacts,
  credentialsFailure,
  EXPIRED_CREDENTIALS,
  factsOf,
  type FailureTexts,
  UNTOUCHED,
} from '../../google/call-failure.ts';

/** The only right we ask Google for. */
export const BIGQUERY_SCOPE = 'https://www.googleapis.com/auth/bigquery';
const API = { product: 'BigQuery', host: 'bigquery.googleapis.com', scope: BIGQUERY_SCOPE };

/**
 * What a failed call means for what to do next. `throttled`, `unreachable`: nothing happened. `unclear`: it may have been
 * done: repeat it under the same request ID. `lost`: the job is not known any more: the same. `failed`: the job ended
 * without effect, for a reason that passes; `conflict`: another transaction was faster: repeat them as new requests.
 * `absent`: a dataset or table is not there. `exists`, `changed`: a table was made or changed by somebody else meanwhile.
 * `budget`: more bytes than are left. `refused`: the statement itself, an ASSERT in it, or that it took too long. `final`: a
 * person has to act.
 */
export type BigQueryFault =
  | 'throttled'
  | 'unreachable'
  | 'unclear'
  | 'lost'
  | 'failed'
  | 'conflict'
  | 'absent'
  | 'exists'
  | 'changed'
  | 'budget'
  | 'refused'
  | 'final';

/** With this a later try of the same pass is in vain. */
const IN_VAIN: ReadonlySet<BigQueryFault> = new Set(['final']);

/** What of Google's answer helps to tell failures apart. */
interface Said {
  /** Google's word for it: `invalidQuery`, `notFound`; empty when there was no answer. */
  readonly reason: string;
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  /** Its message: to be searched, never to be shown. */
  readonly text: string;
  readonly retryAfter?: string | undefined;
  /** There was no answer for as long as we wait. */
  readonly late?: boolean;
}

/**
 * A failed call of the BigQuery API in our own words. Google quotes values in its messages ("Bad double value: …"), so none
 * gets past this class (L11).
 */
export class BigQueryError extends MirrorError {
  readonly fault: BigQueryFault;
  readonly reason: string;
  readonly status: number;
  /** Whether it stayed unanswered for as long as we wait. */
  readonly late: boolean;
  /** What happened, and what to do: the two halves of the message. */
  readonly what: string;
  readonly remedy: string;
  /** `Retry-After` as Google sent it. */
  readonly retryAfter: string | undefined;
  /** Not to be seen by whoever inspects or logs the error. */
  readonly #text: string;

  constructor(
    fault: BigQueryFault,
    code: ErrorCode,
    [what, remedy]: FailureTexts,
    said: Said = { reason: '', status: 0, text: '' },
  ) {
    super(code, `${what} ${remedy}`, { retryable: !IN_VAIN.has(fault) });
    this.fault = fault;
    this.reason = said.reason;
    this.status = said.status;
    this.late = said.late === true;
    this.what = what;
    this.remedy = remedy;
    this.retryAfter = said.retryAfter;
    this.#text = said.text;
  }

  /** Whether Google's own message matches: for what a script asserts, and for the names in it. */
  says(pattern: RegExp): boolean {
    return pattern.test(this.#text);
  }

  /** The number that the first group of the pattern finds in Google's own message: no answer of anybody. */
  numberAt(pattern: RegExp): number | undefined {
    const digits = pattern.exec(this.#text)?.[1];
    return digits === undefined ? undefined : Number(digits);
  }
}

/** What was called, for messages. */
export interface CallSubject {
  readonly project: string;
  readonly dataset: string;
  /** The account's e-mail address, when it is known. */
  readonly email: string | undefined;
  /** True for a call that changes something. */
  readonly writes: boolean;
}

/** Translates whatever a call threw. Errors of ours pass through. */
export function toBigQueryError(error: unknown, subject: CallSubject): MirrorError {
  if (error instanceof MirrorError) return error;
  if (isAbort(error)) return new MirrorError('CANCELLED', 'Stopped on request.');
  const refused = proxyFailureIn(error);
  if (refused !== undefined) return proxyError(refused);
  const facts = factsOf(error);
  const credentials = credentialsFailure(facts);
  if (credentials !== undefined) return denied(credentials, facts);
  if (facts.status === 0) return networkError(facts, subject);
  return answerError(facts, subject);
}

/** The end of a job that is told by its own state, in place of an HTTP error. */
export const jobError = (
  result: { readonly reason?: string | null; readonly message?: string | null },
  subject: CallSubject,
): BigQueryError => {
  const [reason, text] = [result.reason ?? '', result.message ?? ''];
  if (/^(backendError|internalError|jobBackendError|jobInternalError)$/.test(reason)) {
    return passing('failed', `BigQuery ended a job with ${reason}.`, { reason, status: 0, text });
  }
  return answerError({ status: 400, reason, text, retryAfter: undefined }, subject);
};

/** An answer that is none: HTML of a gateway, cut short. */
export const damagedAnswer = (writes: boolean): BigQueryError =>
  new BigQueryError(writes ? 'unclear' : 'unreachable', 'TARGET_UNREACHABLE', [
    'BigQuery answered with something that is no answer of its API.',
    'Look for a proxy or gateway in between; the next pass tries again.',
  ]);

/** A job that takes longer than any of ours does. */
export const endlessJob = (minutes: number): BigQueryError =>
  new BigQueryError('refused', 'TARGET_UNREACHABLE', [
    `A job of BigQuery was not done after ${minutes} minutes, and was cancelled.`,
    'It may be short of slots; the next pass tries again.',
  ]);

const where = ({ project, dataset }: CallSubject): string => `${project}.${dataset}`;

const passing = (fault: BigQueryFault, what: string, said: Said): BigQueryError =>
  new BigQueryError(fault, 'TARGET_UNREACHABLE', [what, 'This usually passes by itself.'], said);

const denied = (texts: FailureTexts, said: Said): BigQueryError =>
  new BigQueryError('final', 'TARGET_DENIED', texts, said);

type AnswerFacts = Pick<CallFacts, 'status' | 'reason' | 'text' | 'retryAfter'>;

const RATE = /^(jobRateLimitExceeded|(user)?rateLimitExceeded|RATE_LIMIT_EXCEEDED)$/i;
const CONFLICT =
  /aborted due to concurrent update|Could not serialize access to table|due to concurrent (?:update|modification)/i;

function answerError(facts: AnswerFacts, subject: CallSubject): BigQueryError {
  const { status, reason, text } = facts;
  if (RATE.test(reason) || status === 429 || /Exceeded rate limits/i.test(text)) {
    const what = `BigQuery asks for fewer calls (${RATE.test(reason) ? reason : status}).`;
    return passing('throttled', what, facts);
  }
  if (CONFLICT.test(text)) {
    const what = `Another transaction changed ${where(subject)} at the same time.`;
    return passing('conflict', what, facts);
  }
  if (status >= 500 || status === 408) {
    const fault = subject.writes ? 'unclear' : 'unreachable';
    return passing(fault, `BigQuery answered ${status} for ${where(subject)}.`, facts);
  }
  if (status === 401) return denied(EXPIRED_CREDENTIALS, facts);
  return (
    projectError(facts, subject) ??
    spendingError(facts, subject) ??
    (isForbidden(facts) ? forbidden(facts, subject) : undefined) ??
    absentError(facts, subject) ??
    refused(facts, subject)
  );
}

/** Answered with 403, too, and nothing that a right would change. */
const NO_RIGHT = /^(responseTooLarge|blocked|billingTierLimitExceeded)$/;

const isForbidden = ({ status, reason }: AnswerFacts): boolean =>
  reason === 'accessDenied' || (status === 403 && !NO_RIGHT.test(reason));

const CONSOLE = 'https://console.cloud.google.com';
/** Also said of a project that is not there; with 400. */
const NOT_ENABLED = /has not enabled BigQuery/i;
const CLOSED_BILLING = /billing account\b.*\b(?:closed|disabled|suspended|delinquent|absent)\b/i;
const PROJECT_DELETED =
  /project\b.*\b(?:has been|was|is) (?:deleted|shut down|(?:pending|scheduled for) deletion)\b/i;
const PERIMETER = /VPC Service Controls|vpcServiceControls|SECURITY_POLICY_VIOLATED/i;

/** A refusal that is about tables or the dataset, and so about a role in it. */
const OF_DATASET = /\b(?:table|dataset|view)s?\b/i;

/** What is wrong with the project itself: no role in the dataset would change it. */
function projectError(facts: AnswerFacts, { project }: CallSubject): BigQueryError | undefined {
  const { status, reason, text } = facts;
  if (status !== 400 && !isForbidden(facts)) return undefined;
  if (NOT_ENABLED.test(text)) {
    const what = `The BigQuery API is disabled in the project ${project}, or there is no such project.`;
    const page = `${CONSOLE}/apis/library/${API.host}?project=${project}`;
    const remedy = `Enable it (${page}), wait two minutes, and try again; or copy the right ID of the project into the address.`;
    return denied([what, remedy], facts);
  }
  if (!isForbidden(facts)) return undefined;
  if (CLOSED_BILLING.test(text)) {
    const what = `Google says that the billing account of the project ${project} is closed or disabled.`;
    const page = `${CONSOLE}/billing/linkedaccount?project=${project}`;
    return denied([what, `Reopen it, or link another one (${page}).`], facts);
  }
  if (PERIMETER.test(`${reason} ${text}`)) {
    const what = `Google says that VPC Service Controls of your organization forbid this call to the project ${project}.`;
    const remedy = `Ask who administers them (${CONSOLE}/security/service-perimeter) to let this account, from this network, use BigQuery there.`;
    return denied([what, remedy], facts);
  }
  if (PROJECT_DELETED.test(text) && !OF_DATASET.test(text)) {
    const what = `Google says that the project ${project} has been deleted.`;
    const remedy = `Restore it within 30 days (${CONSOLE}/cloud-resource-manager), or write another one into the address.`;
    return denied([what, remedy], facts);
  }
  return undefined;
}

const OVER_LIMIT = /exceeded limit for bytes billed/i;

/** Whether a job was refused because it would be billed more than it may. */
export const isOverLimit = (error: unknown): error is BigQueryError =>
  error instanceof BigQueryError &&
  (error.reason === 'bytesBilledLimitExceeded' || error.says(OVER_LIMIT));

/** What costs, or may not cost. */
function spendingError(facts: AnswerFacts, { project }: CallSubject): BigQueryError | undefined {
  const { reason, text } = facts;
  if (
    reason === 'billingNotEnabled' ||
    /Billing has not been enabled|in the free tier/i.test(text)
  ) {
    return denied(
      [
        `The project ${project} has no billing account: BigQuery's sandbox lets nobody change rows.`,
        `Link one (https://console.cloud.google.com/billing/linkedaccount?project=${project}); a free allowance of 1 TiB a month remains.`,
      ],
      facts,
    );
  }
  if (reason === 'bytesBilledLimitExceeded' || OVER_LIMIT.test(text)) {
    const texts = [
      'A job would be billed more bytes than are left of BIGQUERY_MAX_BYTES_PER_DAY.',
      'It goes on at midnight UTC; raise the setting to go on before.',
    ] as const;
    return new BigQueryError('budget', 'TARGET_BUDGET', texts, facts);
  }
  if (reason === 'quotaExceeded' || /Custom quota exceeded/i.test(text)) {
    const texts = [
      `A quota of the project ${project} is used up.`,
      `See which (https://console.cloud.google.com/iam-admin/quotas?project=${project}) and raise it; a daily one ends at midnight Pacific Time.`,
    ] as const;
    return new BigQueryError('budget', 'TARGET_BUDGET', texts, facts);
  }
  return undefined;
}

function forbidden(facts: AnswerFacts, subject: CallSubject): BigQueryError {
  const { text } = facts;
  const { project, dataset, email } = subject;
  const whom = email ?? 'the account of the credentials';
  const access = accessFailure({ ...facts, rpc: '', quota: '', code: '', oauth: '' }, API);
  if (access !== undefined) return denied(access, facts);
  if (/bigquery\.jobs\.create/.test(text)) {
    const what = `The account may not run jobs in the project ${project}.`;
    const page = `https://console.cloud.google.com/iam-admin/iam?project=${project}`;
    return denied([what, `Give ${whom} the role BigQuery Job User there (${page}).`], facts);
  }
  if (/bigquery\.datasets\.create/.test(text)) {
    const what = `There is no dataset ${where(subject)}, and the account may not make one.`;
    const remedy = `Make it in the Cloud console and give ${whom} the role BigQuery Data Editor in it.`;
    return denied([what, remedy], facts);
  }
  if (!OF_DATASET.test(text)) {
    const what = `Google refused a call to the project ${project} (${wordOf(facts)}), and named no dataset or table.`;
    const remedy = `Look whether the project and its billing account are active (${CONSOLE}/home/dashboard?project=${project}), and whether ${whom} has the roles BigQuery Job User there and BigQuery Data Editor in ${dataset}.`;
    return denied([what, remedy], facts);
  }
  const what = `The account may not ${subject.writes ? 'change' : 'read'} the dataset ${where(subject)}.`;
  return denied([what, `Give ${whom} the role BigQuery Data Editor in ${dataset}.`], facts);
}

function absentError(facts: AnswerFacts, subject: CallSubject): BigQueryError | undefined {
  const { status, reason, text } = facts;
  if (status === 409 || reason === 'duplicate') {
    const texts = [`Something of that name is in ${where(subject)} already.`, ''] as const;
    return new BigQueryError('exists', 'TARGET_FAILED', texts, facts);
  }
  if (status === 412 || reason === 'conditionNotMet') {
    const texts = [`A table in ${where(subject)} was changed meanwhile.`, ''] as const;
    return new BigQueryError('changed', 'TARGET_FAILED', texts, facts);
  }
  if (status !== 404 && reason !== 'notFound') return undefined;
  if (/Not found: Job/i.test(text))
    return passing('lost', 'BigQuery no longer knows a job.', facts);
  if (/Not found: Project|project .*not (?:been )?found/i.test(text)) {
    return denied(
      [
        `There is no project ${subject.project}, or the account may not know of it.`,
        'Copy the ID of the project (not its name or number) from the Cloud console into the address.',
      ],
      facts,
    );
  }
  const texts = [
    `A dataset or table that was there is gone from ${where(subject)}, or lies in another location than the address says.`,
    'Compare ?location= with the location that the Cloud console shows for the dataset.',
  ] as const;
  return new BigQueryError('absent', 'TARGET_FAILED', texts, facts);
}

/** What people set, and every statement of ours meets. */
const FILTER_REQUIRED = /without a filter over column/i;
const TOO_LARGE = /payload size exceeds the limit|The query is too large/i;
const NAME_RESERVED = /recently deleted in the table|deleted column name is reserved/i;

/** What of Google's words may be shown. */
const wordOf = ({ reason, status }: AnswerFacts): string =>
  /^\w{1,40}$/.test(reason) ? reason : `status ${status}`;

function refused(facts: AnswerFacts, subject: CallSubject): BigQueryError {
  if (FILTER_REQUIRED.test(facts.text)) {
    const texts = [
      `A table in ${where(subject)} lets nobody read it without naming months (require_partition_filter), and the mirror looks for rows by ID, whatever their month.`,
      `Turn that off for the mirror's tables: ALTER TABLE ${subject.dataset}.<table> SET OPTIONS (require_partition_filter = FALSE).`,
    ] as const;
    return new BigQueryError('final', 'TARGET_FAILED', texts, facts);
  }
  if (TOO_LARGE.test(facts.text)) {
    const texts = [
      `What belongs to one form of ${where(subject)} is more than BigQuery takes in a request (10 MB, 1 MB of them for the statement): its labels go with each change, and so does the name of each column.`,
      'Pick fewer of its fields (TARGET_FIELDS), or shorten its labels at the source.',
    ] as const;
    return new BigQueryError('final', 'TARGET_FAILED', texts, facts);
  }
  if (NAME_RESERVED.test(facts.text)) {
    const texts = [
      `A column of the mirror was dropped from a table in ${where(subject)}, and BigQuery takes no new one of its name for as long as the dataset's time travel lasts.`,
      'Give the table another name (ALTER TABLE … RENAME TO …): the next pass makes it again and reads everything.',
    ] as const;
    return new BigQueryError('final', 'TARGET_FAILED', texts, facts);
  }
  return new BigQueryError(
    'refused',
    'TARGET_FAILED',
    [
      `BigQuery refused a ${subject.writes ? 'change of' : 'query to'} ${where(subject)} (${wordOf(facts)}).`,
      'The job history of the project shows the statement. Please report it.',
    ],
    facts,
  );
}

function networkError(facts: CallFacts, { writes }: CallSubject): BigQueryError {
  const late = facts.code === 'TimeoutError' || facts.code === 'ETIMEDOUT';
  const code = facts.code === '' ? '' : ` (${facts.code})`;
  const what = late ? 'BigQuery did not answer in time.' : `BigQuery could not be reached${code}.`;
  return new BigQueryError(
    writes && !UNTOUCHED.test(facts.code) ? 'unclear' : 'unreachable',
    'TARGET_UNREACHABLE',
    [what, 'Check the network; the next pass tries again.'],
    { reason: '', status: 0, text: facts.text, late: facts.code === 'TimeoutError' },
  );
}

/** The proxy opened no way to Google: nothing was sent. */
const proxyError = ({ message, remedy, transient }: ProxyFailure): BigQueryError =>
  new BigQueryError(transient ? 'unreachable' : 'final', 'TARGET_UNREACHABLE', [
    `BigQuery could not be reached: ${message}.`,
    remedy,
  ]);
