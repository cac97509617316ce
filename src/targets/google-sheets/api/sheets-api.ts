import { sheets, type sheets_v4 } from 'googleapis/build/src/apis/sheets/index.js';
import type { Clock } from '../../../base/clock.ts';
import {
  type RetryDecision,
  type RetryPolicy,
  parseRetryAfter,
  withRetry,
} from '../../../base/retry.ts';
import type { GoogleAccount } from '../../google/credentials.ts';
import { browserAddress } from './address.ts';
import { SheetsError, toSheetsError } from './sheets-error.ts';

/** Outlasts a quota that is refilled every minute. */
const RETRY: RetryPolicy = {
  attempts: 8,
  baseDelayMs: 1_000,
  maxDelayMs: 64_000,
};

/** Google gives up on a request after 180 s. A write that we gave up on may still be applied; the revision shows whether it was. */
const READ_TIMEOUT_MS = 90_000;
const WRITE_TIMEOUT_MS = 120_000;

/**
 * Keeps the requests to one spreadsheet, in their order, within Google's quota of 60 reads and 60 writes per minute: Google advises
 * one per second (Sheets API, "Usage limits" and "Troubleshoot API errors"). The function waits for the next turn, and takes it.
 */
export function requestTurns(clock: Clock): () => Promise<void> {
  let nextMs = 0;
  return async () => {
    const now = clock.now();
    const start = Math.max(now, nextMs);
    nextMs = start + 1_000;
    if (start > now) await clock.sleep(Math.ceil(start - now));
  };
}

/** Everything about the spreadsheet except its cells: tabs, sizes, and the metadata that binds them to the mirror. */
const METADATA_FIELDS = 'developerMetadata(metadataId,metadataKey,metadataValue)';
const STRUCTURE_FIELDS = [
  'properties(title,timeZone)',
  METADATA_FIELDS,
  'sheets(properties(sheetId,title,gridProperties(rowCount,columnCount)),merges,charts(chartId),' +
    `${METADATA_FIELDS},data(startColumn,columnMetadata(${METADATA_FIELDS})),` +
    'tables(range),basicFilter(range),filterViews(range),bandedRanges(range),' +
    'protectedRanges(description,range,warningOnly,requestingUserCanEdit))',
].join(',');

export interface SheetsApiOptions {
  readonly spreadsheetId: string;
  readonly account: GoogleAccount;
  readonly clock: Clock;
  /** The URL of a stand-in, with a trailing slash, whose requests are not limited; Google's own if absent. */
  readonly rootUrl?: string | undefined;
}

/**
 * The few calls of the Sheets API that the mirror makes, at Google's pace, with their own timeouts and retries, because Google's
 * client never retries a POST and ignores quotas. Throws SheetsError, which contains nothing of the request.
 */
export class SheetsApi {
  readonly spreadsheetId: string;
  readonly email: string | undefined;
  readonly #options: SheetsApiOptions;
  readonly #client: sheets_v4.Sheets;
  readonly #takeTurn: (() => Promise<void>) | undefined;

  constructor(options: SheetsApiOptions) {
    this.spreadsheetId = options.spreadsheetId;
    this.email = options.account.email;
    this.#options = options;
    if (options.rootUrl === undefined) this.#takeTurn = requestTurns(options.clock);
    // The class that googleapis was built with; its declared type names three of the subclasses.
    const auth = options.account.auth as NonNullable<sheets_v4.Options['auth']>;
    this.#client = sheets({
      version: 'v4',
      auth,
      ...(options.rootUrl !== undefined && { rootUrl: options.rootUrl }),
    });
  }

  /** The URL of a tab in a browser; a stand-in has a page of its own. */
  urlOf(sheetId: number): string {
    const { spreadsheetId, rootUrl } = this.#options;
    if (rootUrl === undefined) return browserAddress(spreadsheetId, sheetId);
    return `${rootUrl}view/${spreadsheetId}?gid=${sheetId}`;
  }

  /** Tabs, sizes, metadata, and people's filters, tables and protections. One read. */
  structure(): Promise<sheets_v4.Schema$Spreadsheet> {
    return this.#try('read', (call) =>
      this.#client.spreadsheets.get(
        { spreadsheetId: this.spreadsheetId, fields: STRUCTURE_FIELDS },
        call,
      ),
    );
  }

  /** Unformatted cells, dates as serial numbers. Cells that no filter selects are missing. One read. */
  async values(
    dataFilters: sheets_v4.Schema$DataFilter[],
    majorDimension: 'ROWS' | 'COLUMNS',
  ): Promise<sheets_v4.Schema$MatchedValueRange[]> {
    const answer = await this.#try('read', (call) =>
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
   * One atomic write, tried once: after a failure with the fault `unclear` it may have been applied. A write that was throttled or
   * never reached Google is tried again.
   */
  async update(requests: sheets_v4.Schema$Request[]): Promise<void> {
    await this.#try('write', (call) =>
      this.#client.spreadsheets.batchUpdate(
        { spreadsheetId: this.spreadsheetId, fields: 'spreadsheetId', requestBody: { requests } },
        call,
      ),
    );
  }

  #try<T>(
    kind: 'read' | 'write',
    call: (options: { retry: false; timeout: number }) => Promise<{ data: T }>,
  ): Promise<T> {
    const { clock } = this.#options;
    const timeout = kind === 'read' ? READ_TIMEOUT_MS : WRITE_TIMEOUT_MS;
    const { spreadsheetId, email } = this;
    return withRetry(
      async () => {
        await this.#takeTurn?.();
        try {
          return (await call({ retry: false, timeout })).data;
        } catch (error) {
          throw toSheetsError(error, { spreadsheetId, email, writes: kind === 'write' });
        }
      },
      {
        policy: RETRY,
        clock,
        decide: (error) => decideRetry(error, clock.now()),
      },
    );
  }
}

function decideRetry(error: unknown, nowMs: number): RetryDecision {
  if (!(error instanceof SheetsError)) return { retry: false };
  const retry = error.fault === 'unreachable';
  return { retry, serverDelayMs: parseRetryAfter(error.retryAfter, nowMs) };
}
