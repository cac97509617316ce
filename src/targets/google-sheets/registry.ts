import type { Clock } from '../../base/clock.ts';
import type { GoogleAccount } from '../google/credentials.ts';
import { GOOGLE_QUOTA, type QuotaLimits, RequestQuota } from './api/request-quota.ts';
import { SheetsApi } from './api/sheets-api.ts';
import { Spreadsheet } from './state/spreadsheet.ts';

/**
 * What all targets of one process share: the quota of each account and the state of each spreadsheet, so that two targets
 * on one spreadsheet write in turn and two on one account stay within its quota. Two hubs are as two processes.
 */
export class SpreadsheetRegistry {
  readonly #clock: Clock;
  readonly #limits: QuotaLimits | undefined;
  readonly #random: () => number;
  readonly #quotas = new Map<string, RequestQuota>();
  readonly #spreadsheets = new Map<string, Spreadsheet>();

  /** `limits`: by default Google's, and none for a stand-in, which counts no requests. It and `random` are for tests. */
  constructor(clock: Clock, limits?: QuotaLimits, random: () => number = Math.random) {
    this.#clock = clock;
    this.#limits = limits;
    this.#random = random;
  }

  /** The spreadsheet as this process works on it. `rootUrl`: of a stand-in; undefined: it is at Google. */
  spreadsheet(
    account: GoogleAccount,
    spreadsheetId: string,
    rootUrl: string | undefined,
  ): Spreadsheet {
    const key = [rootUrl ?? '', spreadsheetId, account.key].join(' ');
    const known = this.#spreadsheets.get(key);
    if (known !== undefined) return known;
    const limits = this.#limits ?? (rootUrl === undefined ? GOOGLE_QUOTA : undefined);
    const quota = limits && this.#quotaOf(account, limits);
    const [clock, random] = [this.#clock, this.#random];
    const api = new SheetsApi({ spreadsheetId, account, clock, quota, rootUrl, random });
    const spreadsheet = new Spreadsheet(api, clock, random);
    this.#spreadsheets.set(key, spreadsheet);
    return spreadsheet;
  }

  #quotaOf({ key }: GoogleAccount, limits: QuotaLimits): RequestQuota {
    const quota = this.#quotas.get(key) ?? new RequestQuota(this.#clock, limits);
    this.#quotas.set(key, quota);
    return quota;
  }
}

const shared = new WeakMap<Clock, SpreadsheetRegistry>();

/** The registry of this process, one for each clock. */
export function processRegistry(clock: Clock): SpreadsheetRegistry {
  const known = shared.get(clock) ?? new SpreadsheetRegistry(clock);
  shared.set(clock, known);
  return known;
}
