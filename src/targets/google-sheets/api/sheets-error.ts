import type { ProblemCode } from '../../../base/catalogue.ts';
import { MirrorError } from '../../../base/errors.ts';
import {
  accessFailure,
  type CallFacts,
  credentialsFailure,
  EXPIRED_CREDENTIALS,
  factsOf,
  type FailureTexts,
  UNTOUCHED,
} from '../../google/call-failure.ts';
import { browserAddress } from './address.ts';

/** The only right that the mirror requests from Google. */
export const SHEETS_SCOPE = 'https://www.googleapis.com/auth/spreadsheets';
const API = { product: 'Google Sheets', host: 'sheets.googleapis.com', scope: SHEETS_SCOPE };

/**
 * What to do after a failed call. `unreachable`: nothing happened, try again. `unclear`: a write may or may not
 * have been applied. `taken`: a requirement of this write is not met. `refused`: a request of a write is impossible, mostly because
 * the sheet has changed since it was read (a tab renamed, rows gone): read again. `protected`: it touched a cell that the account
 * may not edit. `final`: trying again does not help.
 */
export type SheetsFault = 'unreachable' | 'unclear' | 'taken' | 'refused' | 'protected' | 'final';

/** The faults after which a later try of the job is useless. */
const IN_VAIN: ReadonlySet<SheetsFault> = new Set(['refused', 'protected', 'final']);

/**
 * A failed call of the Sheets API in our own words. Google's client puts the request, and so its answers, into its errors, and
 * Google may quote a value in a message. Neither gets past {@link toSheetsError} (L11).
 */
export class SheetsError extends MirrorError {
  readonly fault: SheetsFault;
  /** `Retry-After` as Google sent it. */
  readonly retryAfter: string | undefined;

  constructor(fault: SheetsFault, code: ProblemCode, message: string, retryAfter?: string) {
    super(code, message, { retryable: !IN_VAIN.has(fault) });
    this.fault = fault;
    this.retryAfter = retryAfter;
  }
}

/** The call that failed, for messages. */
export interface CallSubject {
  readonly spreadsheetId: string;
  /** The account's e-mail address, if known. */
  readonly email: string | undefined;
  /** Whether the call changes the spreadsheet. */
  readonly writes: boolean;
}

/** Translates any error of a call. Our own errors stay unchanged. */
export function toSheetsError(error: unknown, subject: CallSubject): MirrorError {
  if (error instanceof MirrorError) return error;
  const facts = factsOf(error);
  const credentials = credentialsFailure(facts);
  if (credentials !== undefined) return denied(...credentials);
  return facts.status === 0 ? networkError(facts, subject) : answerError(facts, subject);
}

/** What to do about a protection. */
export const allowRemedy = (email: string | undefined): string =>
  `Allow ${email ?? 'the account'} to edit it (Data › Protect sheets and ranges), or let it only show a warning.`;

const MOST_NAMED = 5;

/** A write that a person's protection refused. `names`: the protections that it may be, because Google names none. */
export function protectedError(
  { spreadsheetId, email }: Pick<CallSubject, 'spreadsheetId' | 'email'>,
  names: readonly string[],
): SheetsError {
  const where = browserAddress(spreadsheetId);
  const named = names.length === 0 ? '' : `: ${names.slice(0, MOST_NAMED).join(', ')}`;
  const message = `A protected range in ${where} does not let forms-mirror write${named}. ${allowRemedy(email)}`;
  return new SheetsError('protected', 'TARGET_DENIED', message);
}

const denied = (...texts: FailureTexts): SheetsError =>
  new SheetsError('final', 'TARGET_DENIED', texts.join(' '));

function answerError(facts: CallFacts, subject: CallSubject): SheetsError {
  const where = browserAddress(subject.spreadsheetId);
  const { status, reason } = facts;
  if (status === 429 || /^(user)?rateLimitExceeded$|^RATE_LIMIT_EXCEEDED$/i.test(reason)) {
    return new SheetsError(
      'unreachable',
      'TARGET_UNREACHABLE',
      "Google's quota of requests is used up. It is refilled every minute; another program may be using the same account.",
      facts.retryAfter,
    );
  }
  if (status >= 500 || status === 408) {
    const fault = subject.writes ? 'unclear' : 'unreachable';
    const message = `Google Sheets answered ${status} for ${where}. This usually passes by itself.`;
    return new SheetsError(fault, 'TARGET_UNREACHABLE', message, facts.retryAfter);
  }
  if (status === 401) return denied(...EXPIRED_CREDENTIALS);
  if (status === 403) return forbidden(facts, subject, where);
  if (status === 404) {
    return denied(
      `There is no spreadsheet with the ID ${subject.spreadsheetId}: it was deleted, or the address is wrong.`,
      'Restore it from the trash of Google Drive, or open it in the browser and copy its address again.',
    );
  }
  return refused(facts, subject, where);
}

function forbidden(facts: CallFacts, subject: CallSubject, where: string): SheetsError {
  const access = accessFailure(facts, API);
  if (access !== undefined) return denied(...access);
  const whom = subject.email ?? 'the account of the credentials';
  return denied(
    `${subject.writes ? 'The account may view the spreadsheet but not edit it' : 'The account may not open the spreadsheet'}: ${where}.`,
    `Share the spreadsheet ${where} with ${whom} as Editor, then try again.`,
  );
}

function refused(facts: CallFacts, subject: CallSubject, where: string): SheetsError {
  const { text } = facts;
  if (facts.rpc === 'FAILED_PRECONDITION' || /not supported for this document/.test(text)) {
    return denied(
      `${where} is an Excel file.`,
      'Open it, choose File › Save as Google Sheets, and use the address of the new file.',
    );
  }
  if (/protected cell or object/.test(text)) return protectedError(subject, []);
  if (/above the limit of \d+ cells/.test(text))
    return new SheetsError(
      'final',
      'TARGET_FULL',
      `The spreadsheet ${where} has no room: Google allows 10 million cells, empty ones included. ` +
        'Delete rows, columns or tabs that are no longer needed, or mirror into another spreadsheet.',
    );
  if (/createDeveloperMetadata/.test(text) && /already exists|in use|duplicate/i.test(text)) {
    const what = `Another process wrote to ${where} each time that this one was about to, or people moved its columns.`;
    return new SheetsError('taken', 'TARGET_BUSY', `${what} The next run tries again.`);
  }
  const request = /Invalid requests\[(\d+)\]\.(\w{1,40})/.exec(text);
  const part = request === null ? '' : ` (request ${request[1]}, ${request[2]})`;
  const what = `Google refused a ${subject.writes ? 'write' : 'read'} of ${where} with status ${facts.status}${part}.`;
  const remedy = 'The next run tries again. If this lasts, please report it.';
  return new SheetsError(
    subject.writes ? 'refused' : 'final',
    'TARGET_FAILED',
    `${what} ${remedy}`,
  );
}

function networkError(facts: CallFacts, subject: CallSubject): SheetsError {
  const late = facts.code === 'TimeoutError' || facts.code === 'ETIMEDOUT';
  const code = facts.code === '' ? '' : ` (${facts.code})`;
  const what = late
    ? 'Google Sheets did not answer in time.'
    : `Google Sheets could not be reached${code}.`;
  return new SheetsError(
    subject.writes && !UNTOUCHED.test(facts.code) ? 'unclear' : 'unreachable',
    'TARGET_UNREACHABLE',
    `${what} Check the network; the next run tries again.`,
  );
}
