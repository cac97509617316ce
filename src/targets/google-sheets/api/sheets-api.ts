import { sheets, type sheets_v4 } from 'googleapis/build/src/apis/sheets/index.js';
import { type Clock, throwIfAborted } from '../../../base/clock.ts';
import { isAbort } from '../../../base/errors.ts';
import {
  type RetryDecision,
  type RetryPolicy,
  parseRetryAfter,
  withRetry,
} from '../../../base/retry.ts';
import { quotedTitle } from './a1.ts';
import type { GoogleAccount } from '../../google/credentials.ts';
import type { RequestQuota } from './request-quota.ts';
import { SheetsError, toSheetsError } from './sheets-error.ts';

/** Outlasts a quota that is refilled every minute. */
const RETRY: RetryPolicy = {
  attempts: 8,
  baseDelayMs: 1_000,
  maxDelayMs: 64_000,
  maxServerDelayMs: 120_000,
};

/** Google gives up on a request after 180 s. A write that we gave up on may still be applied; the commit log shows it. */
const READ_TIMEOUT_MS = 90_000;
const WRITE_TIMEOUT_MS = 120_000;

/** Everything about the spreadsheet but its cells: tabs, sizes, and the metadata that binds them to the mirror. */
const STRUCTURE_FIELDS = [
  'properties(title,locale,timeZone,autoRecalc)',
  'developerMetadata(metadataId,metadataKey,metadataValue)',
  'sheets(properties(sheetId,title,hidden,gridProperties(rowCount,columnCount,frozenRowCount)),merges,charts(chartId),' +
    'developerMetadata(metadataId,metadataKey,metadataValue),' +
    'data(startColumn,columnMetadata(developerMetadata(metadataId,metadataKey,metadataValue))),' +
    'tables(tableId,name,range),basicFilter(range),filterViews(range),bandedRanges(range),' +
    'protectedRanges(description,range,unprotectedRanges,warningOnly,requestingUserCanEdit))',
].join(',');

/** Whatever people can put into a tab, or onto it. */
const TAB_FIELDS = [
  'namedRanges(range(sheetId))',
  'sheets(properties(sheetId,tabColorStyle,rightToLeft,gridProperties),' +
    'developerMetadata(metadataId,metadataKey,metadataValue),' +
    'data(rowData(values(userEnteredValue,userEnteredFormat,note,dataValidation,pivotTable))),' +
    'merges,conditionalFormats,filterViews(filterViewId),protectedRanges(protectedRangeId),basicFilter(range),' +
    'charts(chartId),slicers(slicerId),bandedRanges(bandedRangeId),tables(tableId),rowGroups(depth),columnGroups(depth))',
].join(',');

/** What a write is answered with: where the columns are now, and what the requested cells hold. */
const VERIFICATION_FIELDS =
  'replies(addSheet(properties(sheetId))),updatedSpreadsheet(sheets(properties(sheetId,title,gridProperties(rowCount,columnCount)),' +
  'data(startRow,startColumn,columnMetadata(developerMetadata(metadataId)),rowData(values(userEnteredValue)))))';

export interface SheetsApiOptions {
  readonly spreadsheetId: string;
  readonly account: GoogleAccount;
  readonly clock: Clock;
  /** Undefined: nobody counts the requests. */
  readonly quota: RequestQuota | undefined;
  /** With a trailing slash; Google's own when absent. */
  readonly rootUrl?: string | undefined;
  readonly random?: (() => number) | undefined;
}

/**
 * The few calls of the Sheets API that the mirror makes, at Google's pace, with timeouts and retries of our own: Google's
 * client never retries a POST and ignores quotas. Throws SheetsError (and CANCELLED); nothing of a request is in it.
 */
export class SheetsApi {
  readonly spreadsheetId: string;
  readonly email: string | undefined;
  readonly #options: SheetsApiOptions;
  readonly #client: sheets_v4.Sheets;

  constructor(options: SheetsApiOptions) {
    this.spreadsheetId = options.spreadsheetId;
    this.email = options.account.email;
    this.#options = options;
    // Of one class with what googleapis was built with; its declared type names three of the subclasses.
    const auth = options.account.auth as NonNullable<sheets_v4.Options['auth']>;
    this.#client = sheets({
      version: 'v4',
      auth,
      ...(options.rootUrl !== undefined && { rootUrl: options.rootUrl }),
    });
  }

  /** Tabs, sizes and metadata. One read. */
  structure(signal?: AbortSignal): Promise<sheets_v4.Schema$Spreadsheet> {
    return this.#read(signal, (call) =>
      this.#client.spreadsheets.get(
        { spreadsheetId: this.spreadsheetId, fields: STRUCTURE_FIELDS },
        call,
      ),
    );
  }

  /** The spreadsheet's own metadata: the commit log. One small read. */
  ownMetadata(): Promise<sheets_v4.Schema$Spreadsheet> {
    const fields = 'developerMetadata(metadataId,metadataKey,metadataValue)';
    return this.#read(undefined, (call) =>
      this.#client.spreadsheets.get({ spreadsheetId: this.spreadsheetId, fields }, call),
    );
  }

  /** Protected ranges, with whether we may edit them. One small read. */
  protections(): Promise<sheets_v4.Schema$Spreadsheet> {
    const fields =
      'sheets(properties(sheetId,title),protectedRanges(description,range,unprotectedRanges,warningOnly,requestingUserCanEdit))';
    return this.#read(undefined, (call) =>
      this.#client.spreadsheets.get({ spreadsheetId: this.spreadsheetId, fields }, call),
    );
  }

  /** Texts and notes of some cells. One read. */
  notes(range: string): Promise<sheets_v4.Schema$Spreadsheet> {
    const fields = 'sheets(data(startRow,rowData(values(note,userEnteredValue(stringValue)))))';
    const query = { spreadsheetId: this.spreadsheetId, ranges: [range], fields };
    return this.#read(undefined, (call) => this.#client.spreadsheets.get(query, call));
  }

  /** One tab with all that is in it and on it, for tabs that are all but empty. One read. */
  wholeTab(title: string): Promise<sheets_v4.Schema$Spreadsheet> {
    const ranges = [quotedTitle(title)];
    return this.#read(undefined, (call) =>
      this.#client.spreadsheets.get(
        { spreadsheetId: this.spreadsheetId, ranges, fields: TAB_FIELDS },
        call,
      ),
    );
  }

  /** Cells as they are, dates as serial numbers. What no filter selects is simply missing. One read. */
  async values(
    dataFilters: sheets_v4.Schema$DataFilter[],
    majorDimension: 'ROWS' | 'COLUMNS',
    signal?: AbortSignal,
  ): Promise<sheets_v4.Schema$MatchedValueRange[]> {
    const answer = await this.#read(signal, (call) =>
      this.#client.spreadsheets.values.batchGetByDataFilter(
        {
          spreadsheetId: this.spreadsheetId,
          requestBody: {
            dataFilters,
            majorDimension,
            valueRenderOption: 'UNFORMATTED_VALUE',
            dateTimeRenderOption: 'SERIAL_NUMBER',
          },
        },
        call,
      ),
    );
    return answer.valueRanges ?? [];
  }

  /**
   * One atomic write, tried once: a failure with the fault `unclear` may have been applied. What was throttled or never
   * reached Google is tried again.
   */
  update(
    requests: sheets_v4.Schema$Request[],
    responseRanges: string[],
  ): Promise<sheets_v4.Schema$BatchUpdateSpreadsheetResponse> {
    const verify = responseRanges.length > 0;
    return this.#try('write', undefined, (call) =>
      this.#client.spreadsheets.batchUpdate(
        {
          spreadsheetId: this.spreadsheetId,
          fields: verify ? VERIFICATION_FIELDS : 'replies(addSheet(properties(sheetId)))',
          requestBody: {
            requests,
            ...(verify && { includeSpreadsheetInResponse: true, responseRanges }),
          },
        },
        call,
      ),
    );
  }

  #read<T>(
    signal: AbortSignal | undefined,
    call: (options: CallOptions) => Promise<{ data: T }>,
  ): Promise<T> {
    return this.#try('read', signal, call);
  }

  #try<T>(
    kind: 'read' | 'write',
    signal: AbortSignal | undefined,
    call: (options: CallOptions) => Promise<{ data: T }>,
  ): Promise<T> {
    const { clock, quota, random } = this.#options;
    const options: CallOptions = {
      retry: false,
      timeout: kind === 'read' ? READ_TIMEOUT_MS : WRITE_TIMEOUT_MS,
      ...(signal !== undefined && { signal }),
    };
    const subject = {
      spreadsheetId: this.spreadsheetId,
      email: this.email,
      writes: kind === 'write',
    };
    return withRetry(
      async () => {
        await quota?.take(kind, this.spreadsheetId, signal);
        try {
          return (await call(options)).data;
        } catch (error) {
          // The reason of the stop, which what it threw may not say.
          if (isAbort(error)) throwIfAborted(signal);
          throw toSheetsError(error, subject);
        }
      },
      {
        policy: RETRY,
        clock,
        signal,
        ...(random !== undefined && { random }),
        decide: (error) => decideRetry(error, clock.now()),
      },
    );
  }
}

interface CallOptions {
  retry: false;
  timeout: number;
  signal?: AbortSignal;
}

function decideRetry(error: unknown, nowMs: number): RetryDecision {
  if (!(error instanceof SheetsError)) return { retry: false };
  const retry = error.fault === 'throttled' || error.fault === 'unreachable';
  return { retry, serverDelayMs: parseRetryAfter(error.retryAfter, nowMs) };
}
