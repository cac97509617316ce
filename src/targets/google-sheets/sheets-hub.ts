import type { Clock } from '../../base/clock.ts';
import type { SheetsAccount } from './credentials.ts';
import { GOOGLE_PACE, type PaceLimits, RequestPace } from './request-pace.ts';
import { SheetsApi } from './sheets-api.ts';
import { Spreadsheet } from './spreadsheet.ts';

/**
 * What all targets of one process share: the pace of each account and the state of each spreadsheet, so that two targets
 * on one spreadsheet write in turn and two on one account stay within its quota. Two hubs are as two processes.
 */
export class SheetsHub {
  readonly #clock: Clock;
  readonly #limits: PaceLimits;
  readonly #random: () => number;
  readonly #paces = new Map<string, RequestPace>();
  readonly #books = new Map<string, Spreadsheet>();

  /** `limits` other than Google's are for a stand-in that has none; `random` is for tests. */
  constructor(clock: Clock, limits: PaceLimits = GOOGLE_PACE, random: () => number = Math.random) {
    this.#clock = clock;
    this.#limits = limits;
    this.#random = random;
  }

  /** The spreadsheet as this process works on it. */
  book(account: SheetsAccount, spreadsheetId: string, rootUrl: string | undefined): Spreadsheet {
    const key = [rootUrl ?? '', spreadsheetId, account.key].join(' ');
    const known = this.#books.get(key);
    if (known !== undefined) return known;
    const pace = this.#paces.get(account.key) ?? new RequestPace(this.#clock, this.#limits);
    this.#paces.set(account.key, pace);
    const [clock, random] = [this.#clock, this.#random];
    const api = new SheetsApi({ spreadsheetId, account, clock, pace, rootUrl, random });
    const book = new Spreadsheet(api, clock, random);
    this.#books.set(key, book);
    return book;
  }
}

const shared = new WeakMap<Clock, SheetsHub>();

/** The hub of this process, one for each clock. */
export function sharedHub(clock: Clock): SheetsHub {
  const known = shared.get(clock) ?? new SheetsHub(clock);
  shared.set(clock, known);
  return known;
}
