import { type ErrorCode, isAbort, MirrorError } from '../../base/errors.ts';
import { browserAddress } from './address.ts';

/**
 * What a failed call means for what to do next. `throttled` and `unreachable`: nothing happened, try again. `unclear`: a
 * write may or may not have been applied. `taken`: the number of this write is taken, see the commit log. `moved`: the
 * sheet is not as it was read (a tab renamed, rows gone): read again. `final`: trying again does not help.
 */
export type SheetsFault = 'throttled' | 'unreachable' | 'unclear' | 'taken' | 'moved' | 'final';

/**
 * A failed call of the Sheets API in our own words. Google's client puts the request, and so the answers in it, into its
 * errors, and Google may quote a value in a message: neither gets past this file (L11).
 */
export class SheetsError extends MirrorError {
  readonly fault: SheetsFault;

  constructor(fault: SheetsFault, code: ErrorCode, message: string) {
    super(code, message, { retryable: fault !== 'final' });
    this.fault = fault;
  }
}

/** What the messages need to know. */
export interface CallSubject {
  readonly spreadsheetId: string;
  /** The account's e-mail address, when it is known. */
  readonly email: string | undefined;
  /** True for a call that changes the spreadsheet. */
  readonly writes: boolean;
}

/** What of a thrown value can be trusted and shown. */
interface Facts {
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  /** Google's `error.status`. */
  readonly rpc: string;
  /** Google's message: to be searched, never to be shown. */
  readonly text: string;
  /** `details[].reason`. */
  readonly reason: string;
  /** `quota_limit` of a 429. */
  readonly quota: string;
  /** The system's or library's error code. */
  readonly code: string;
  /** OAuth's `error` from the token endpoint. */
  readonly oauth: string;
}

/** Translates whatever a call threw. Errors of ours pass through. */
export function toSheetsError(error: unknown, subject: CallSubject): MirrorError {
  if (error instanceof MirrorError) return error;
  if (isAbort(error)) return new MirrorError('CANCELLED', 'Stopped on request.');
  const facts = factsOf(error);
  return (
    credentialsError(facts) ??
    (facts.status === 0 ? networkError(facts, subject) : answerError(facts, subject))
  );
}

function answerError(facts: Facts, subject: CallSubject): SheetsError {
  const where = browserAddress(subject.spreadsheetId);
  const { status, reason } = facts;
  if (
    status === 429 ||
    /^(rateLimitExceeded|userRateLimitExceeded|RATE_LIMIT_EXCEEDED)$/.test(reason)
  ) {
    const quota = /^\w{1,60}$/.test(facts.quota) ? ` (${facts.quota})` : '';
    return new SheetsError(
      'throttled',
      'TARGET_UNREACHABLE',
      `Google's quota of requests is used up${quota}. It is refilled every minute; another program may be using the same account.`,
    );
  }
  if (status >= 500) {
    return new SheetsError(
      subject.writes ? 'unclear' : 'unreachable',
      'TARGET_UNREACHABLE',
      `Google Sheets answered ${status} for ${where}. This passes by itself as a rule.`,
    );
  }
  if (status === 401) {
    return new SheetsError(
      'final',
      'TARGET_DENIED',
      'Google did not accept the credentials. Check the key file or sign in again.',
    );
  }
  if (status === 403) return forbidden(facts, subject, where);
  if (status === 404) {
    return new SheetsError(
      'final',
      'TARGET_DENIED',
      `There is no spreadsheet with the ID ${subject.spreadsheetId}. Copy its address from the browser anew.`,
    );
  }
  return refused(facts, subject, where);
}

function forbidden(facts: Facts, subject: CallSubject, where: string): SheetsError {
  const final = (message: string): SheetsError =>
    new SheetsError('final', 'TARGET_DENIED', message);
  if (
    /SERVICE_DISABLED|accessNotConfigured/.test(facts.reason) ||
    /has not been used in project|it is disabled/.test(facts.text)
  ) {
    const link = /https:\/\/console\.(?:developers|cloud)\.google\.com\/[\w./?=&-]+/.exec(
      facts.text,
    )?.[0];
    return final(
      `The Google Sheets API is switched off in the Cloud project of these credentials. Enable it (${link ?? 'https://console.cloud.google.com/apis/library/sheets.googleapis.com'}), wait two minutes, and try again.`,
    );
  }
  if (
    /SCOPE_INSUFFICIENT/.test(facts.reason) ||
    /insufficient authentication scopes/.test(facts.text)
  ) {
    return final(
      'The credentials lack the scope https://www.googleapis.com/auth/spreadsheets. Use a service account key, or sign in again with that scope.',
    );
  }
  if (/valid API key/.test(facts.text)) {
    return final('No credentials were sent along. Set GOOGLE_APPLICATION_CREDENTIALS.');
  }
  if (/storage quota/i.test(facts.text)) {
    return final(
      `The account has no room in Google Drive. Let a person own the spreadsheet ${where} and share it with the account.`,
    );
  }
  return final(
    `${subject.writes ? 'This account may not edit' : 'This account may not open'} the spreadsheet ${where}. ${shareHint(subject)}`,
  );
}

/** "Share the spreadsheet … with … as Editor". */
export function shareHint(subject: Pick<CallSubject, 'spreadsheetId' | 'email'>): string {
  const whom = subject.email ?? 'the account of the credentials';
  return `Share the spreadsheet ${browserAddress(subject.spreadsheetId)} with ${whom} as Editor, then try again.`;
}

function refused(facts: Facts, subject: CallSubject, where: string): SheetsError {
  const { text } = facts;
  if (facts.rpc === 'FAILED_PRECONDITION' || /not supported for this document/.test(text)) {
    return new SheetsError(
      'final',
      'TARGET_DENIED',
      `${where} is an Excel file. Open it, choose File › Save as Google Sheets, and use the address of the new file.`,
    );
  }
  if (/protected cell or object/.test(text)) {
    return new SheetsError(
      'final',
      'TARGET_DENIED',
      `A protected range in ${where} keeps us out. Allow ${subject.email ?? 'the account'} to edit it (Data › Protect sheets and ranges), or only show a warning there.`,
    );
  }
  if (/above the limit of \d+ cells/.test(text)) {
    return new SheetsError('final', 'TARGET_FULL', fullMessage(where));
  }
  if (
    /createDeveloperMetadata/.test(text) &&
    /already exists|already in use|duplicate/i.test(text)
  ) {
    return new SheetsError('taken', 'TARGET_LOST_LOCK', overtakenMessage(where));
  }
  if (
    /exceeds grid limits|Unable to parse range|No (?:grid|sheet) with id|is after last|already exists|out of bounds|outside of/i.test(
      text,
    )
  ) {
    return movedError(where);
  }
  const request = /Invalid requests\[(\d+)\]\.(\w{1,40})/.exec(text);
  const part = request === null ? '' : ` (request ${request[1]}, ${request[2]})`;
  return new SheetsError(
    'final',
    'TARGET_FAILED',
    `Google refused a ${subject.writes ? 'write' : 'read'} of ${where} with status ${facts.status}${part}. Please report it.`,
  );
}

/** For a spreadsheet that is not as it was read a moment ago. */
export const movedError = (where: string): SheetsError =>
  new SheetsError(
    'moved',
    'TARGET_FAILED',
    `${where} was rearranged again and again while it was written to. The next pass takes it up.`,
  );

/** For a spreadsheet without room for what is to be written. */
export const fullMessage = (where: string, forecast = ''): string =>
  `The spreadsheet ${where} has no room: Google allows 10 million cells, empty ones included. Delete rows, columns or tabs that nobody needs, or mirror into another spreadsheet.${forecast}`;

/** For a writer that another process has passed by. */
export const overtakenMessage = (where: string): string =>
  `Another process writes to ${where} and has taken over. This pass wrote nothing more; the next one starts afresh.`;

function networkError(facts: Facts, subject: CallSubject): SheetsError {
  const untouched =
    /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|CERT_\w+|ERR_TLS\w+|UNABLE_TO_\w+|DEPTH_ZERO\w+|SELF_SIGNED\w+)$/;
  const late = facts.code === 'TimeoutError' || facts.code === 'ETIMEDOUT';
  const what = late
    ? 'did not answer in time'
    : `could not be reached${facts.code === '' ? '' : ` (${facts.code})`}`;
  return new SheetsError(
    subject.writes && !untouched.test(facts.code) ? 'unclear' : 'unreachable',
    'TARGET_UNREACHABLE',
    `Google Sheets ${what}. Check the network; the next pass tries again.`,
  );
}

/** What goes wrong before a request is even sent: getting a token. */
function credentialsError(facts: Facts): SheetsError | undefined {
  const denied = (message: string): SheetsError =>
    new SheetsError('final', 'TARGET_DENIED', message);
  if (facts.oauth === 'invalid_grant') {
    return denied(
      "Google refused the key: it was deleted or disabled, its account is gone, or this machine's clock is off by more than five minutes. Create a new key for the service account if in doubt.",
    );
  }
  if (facts.oauth !== '') {
    return denied(`Google refused the credentials (${facts.oauth}). Check the key file.`);
  }
  if (
    facts.code.startsWith('ERR_OSSL') ||
    /DECODER routines|PEM routines|asn1 encoding/i.test(facts.text)
  ) {
    return denied(
      'The private_key in the credentials is damaged: it is no PEM text. Download the key file again and use it unchanged.',
    );
  }
  if (/Could not load the default credentials/.test(facts.text)) {
    return denied(NO_CREDENTIALS);
  }
  return undefined;
}

/** For when there is no account to act for. */
export const NO_CREDENTIALS =
  'There are no Google credentials. Create a service account, download its key as JSON, and set GOOGLE_APPLICATION_CREDENTIALS to the file (or GOOGLE_CREDENTIALS_JSON to its content).';

function factsOf(error: unknown): Facts {
  const outer = asRecord(error);
  const response = asRecord(outer['response']);
  const body = asRecord(response['data']);
  const inner = asRecord(body['error']);
  const details = Array.isArray(inner['details']) ? inner['details'].map(asRecord) : [];
  const errors = Array.isArray(inner['errors']) ? inner['errors'].map(asRecord) : [];
  const reason = [...details, ...errors]
    .map((item) => textOf(item['reason']))
    .find((r) => r !== '');
  const quota = details.map((item) => textOf(asRecord(item['metadata'])['quota_limit']));
  const status = outer['status'] ?? response['status'];
  return {
    status: typeof status === 'number' ? status : 0,
    rpc: textOf(inner['status']),
    text: textOf(inner['message']) || textOf(outer['message']),
    reason: reason ?? '',
    quota: quota.find((name) => name !== '') ?? '',
    code: systemCode(outer),
    oauth: /^[\w-]{1,60}$/.exec(textOf(body['error']))?.[0] ?? '',
  };
}

/** The first code along the chain of causes that looks like one. */
function systemCode(error: Record<string, unknown>): string {
  let link: Record<string, unknown> = error;
  for (let depth = 0; depth < 5; depth++) {
    const code = textOf(link['code']) || textOf(link['name']);
    if (/^(E[A-Z_]{3,40}|ERR_\w{3,60}|UND_ERR_\w+|CERT_\w+|TimeoutError|[A-Z_]{8,60})$/.test(code))
      return code;
    link = asRecord(link['cause'] ?? link['error']);
  }
  return '';
}

const asRecord = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
