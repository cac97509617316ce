import { hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MirrorError } from '../base/errors.ts';
import { boundsOf, type FormWindow, type QueryBounds, WHOLE_FORM } from '../mirror/target.ts';
import type { CallOptions, FormsClient, SubmissionPage } from './client.ts';
import { FormsApiError } from './errors.ts';

/** Which page of which list; a list may be narrowed to see what a moving one hides. */
export interface PageQuery {
  readonly page: number;
  readonly status?: string;
  readonly dateFrom?: string;
  readonly dateTo?: string;
}

/** A page with the number that was asked for. */
export type AskedPage = SubmissionPage & { readonly asked: number };

/** See {@link FormPages.readOn}. */
export interface PageSpan {
  readonly from: number;
  readonly to: number;
  readonly readAhead: number;
  readonly bounded?: boolean;
  readonly narrow?: Omit<PageQuery, 'page'>;
  /** Called, more than once perhaps, when few pages are left to be asked for: what comes after them can be prepared. */
  readonly onTail?: (() => void) | undefined;
}

/** The documented sort key and direction; an API may ignore them, or refuse them with a 400. */
const SORTED = { sortBy: 'submittedAt', sortOrder: 'desc' } as const;
const REVERSED = { ...SORTED, sortOrder: 'asc' } as const;

/** A page of a list that is cut or sorted otherwise than usual. */
type OtherQuery = PageQuery & { readonly limit?: number; readonly reversed?: boolean };

/**
 * The pages of one form's list, newest first where the API honours it. Names an API that answers every page number with
 * the same page (FORMS_FAILED) instead of looping over it. Other errors are the client's.
 */
export class FormPages {
  readonly #client: Pick<FormsClient, 'listSubmissions'>;
  readonly #formId: string;
  readonly #call: CallOptions;
  readonly #bounds: QueryBounds;
  #begun: { first: Promise<SubmissionPage>; ahead: Promise<PagesAhead> } | undefined;
  #sorted = true;
  #firstKeys = '';
  /** A later page had nothing of the first one: `page` is not ignored. */
  #pageCounts = false;
  #total = 0;
  /** The fewest items on a page that was not the last; 0: none seen yet. */
  #pageSize = 0;

  /** `window`: the list is that of one window of the form; a bound of a query takes its place. */
  constructor(
    client: Pick<FormsClient, 'listSubmissions'>,
    formId: string,
    call: CallOptions,
    window: FormWindow = WHOLE_FORM,
  ) {
    this.#client = client;
    this.#formId = formId;
    this.#call = call;
    this.#bounds = boundsOf(window);
  }

  /**
   * One page, of up to 100 items. Its `totalPages` is no more than what was seen justifies: the API may say anything there.
   */
  async read(query: PageQuery): Promise<SubmissionPage> {
    await this.drop();
    return this.#readPage(query);
  }

  async #readPage(query: PageQuery): Promise<SubmissionPage> {
    const page = await this.#request(query);
    if (isNarrowed(query)) return page;
    if (query.page === 1) this.#firstKeys = keysOf(page);
    else await this.#refuseRepeatedPage(query.page, page);
    return page;
  }

  /** A page after the one that the source calls the last. Some servers answer with another page: then it is no page of the list. */
  async readPastEnd(page: number): Promise<SubmissionPage> {
    const response = await this.#request({ page });
    return response.page === page ? response : { ...response, items: [] };
  }

  /** A page of a list that is cut into pages of another size, at most as large as usual; null where the API gives none. */
  async readSized(page: number, limit: number): Promise<SubmissionPage | null> {
    return this.#request({ page, limit }).catch(nullWhenNotGiven);
  }

  /** A page of the list from its other end; null where the API refuses that order, or any. */
  async readReversed(page: number, limit: number): Promise<SubmissionPage | null> {
    if (!this.#sorted) return null;
    return this.#request({ page, limit, reversed: true }).catch(nullWhenNotGiven);
  }

  /**
   * Begins to read the list before anybody takes it: the first page by itself, as a proof may count from it, then those after
   * it as {@link readOn} does. {@link first} and the first {@link readOn} take that over, unless something else is read before.
   */
  begin(readAhead: number): void {
    const first = this.#readPage({ page: 1 });
    const ahead = first.then(({ totalPages }) =>
      this.#ahead({ from: 2, to: totalPages, readAhead }).begun(),
    );
    // Rejections are thrown in their turn.
    first.catch(() => {});
    ahead.catch(() => {});
    this.#begun = { first, ahead };
  }

  /** The first page: that which was begun with, where nothing has been read since. */
  async first(): Promise<AskedPage> {
    const page = this.#begun === undefined ? this.read({ page: 1 }) : this.#begun.first;
    return { ...(await page), asked: 1 };
  }

  /** Drops what was begun. Resolves when nothing of it is on its way. */
  async drop(): Promise<void> {
    const begun = this.#begun;
    this.#begun = undefined;
    const ahead = await begun?.ahead.catch(() => undefined);
    await ahead?.end();
  }

  /**
   * Pages `from` to the last one, in order, `readAhead` requests in flight: the next one is sent when a response has come,
   * whether or not it is its turn, up to as many pages again. The last page is the one that the newest
   * response names, so that a list that grows meanwhile is read to its end; with `bounded` it stays as given.
   */
  async *readOn(span: PageSpan): AsyncGenerator<AskedPage> {
    const ahead = (await this.#takeOver(span)) ?? this.#ahead(span);
    try {
      yield* ahead.pages(span.onTail);
    } finally {
      await ahead.end();
    }
  }

  #ahead(span: PageSpan): PagesAhead {
    return new PagesAhead((page) => this.#readPage({ ...span.narrow, page }), span);
  }

  /** What was begun, where it is the very thing that is asked for. */
  async #takeOver({ from, bounded, narrow }: PageSpan): Promise<PagesAhead | undefined> {
    if (from !== 2 || bounded === true || narrow !== undefined) await this.drop();
    const begun = this.#begun;
    this.#begun = undefined;
    return begun?.ahead;
  }

  async #request({ reversed = false, ...query }: OtherQuery): Promise<SubmissionPage> {
    const plain = { formId: this.#formId, ...this.#bounds, ...query };
    const sort = this.#sorted ? (reversed ? REVERSED : SORTED) : {};
    try {
      const page = await this.#client.listSubmissions({ ...plain, ...sort }, this.#call);
      this.#total = page.total;
      if (query.limit !== undefined) return page;
      return { ...page, totalPages: this.#justifiedPages(query.page, page) };
    } catch (error) {
      if (!(error instanceof FormsApiError)) throw error;
      const isPastFirst = query.page > 1 && (error.status === 404 || error.status === 400);
      if (isPastFirst && !(await this.#isRefusedWithin(query.page, error)))
        return this.#beyondLast(query);
      if (isPastFirst || error.status !== 400 || !this.#sorted || isNarrowed(query) || reversed)
        throw error;
      this.#sorted = false;
      return this.#request(query);
    }
  }

  /**
   * As many pages as the API says, but not beyond an empty one, and no more than `total` fills, by the sizes of the pages
   * seen. A full page justifies the next one: `total` may be too low.
   */
  #justifiedPages(asked: number, { items, total, totalPages, limit }: SubmissionPage): number {
    const { length } = items;
    if (length === 0) return Math.min(totalPages, asked - 1);
    const isLast = asked >= Math.ceil(total / Math.max(length, this.#pageSize));
    const next = length >= (this.#pageSize || limit) ? asked + 1 : asked;
    if (!isLast) this.#pageSize = Math.min(this.#pageSize || length, length);
    return Math.min(totalPages, Math.max(Math.ceil(total / (this.#pageSize || length)), next));
  }

  /** A page of a window that there is, by what the window counts afterwards: then its bounds are what the API does not take. */
  async #isRefusedWithin(page: number, { status }: FormsApiError): Promise<boolean> {
    const isThere = (total: number): boolean => (page - 1) * this.#pageSize < total;
    if (status !== 400 || this.#pageSize === 0 || Object.keys(this.#bounds).length === 0)
      return false;
    return isThere(this.#total) && isThere((await this.#request({ page: 1 })).total);
  }

  /** The list shrank under a request that was on its way; some servers refuse a page beyond the last. */
  #beyondLast({ page }: PageQuery): SubmissionPage {
    const last = { total: this.#total, totalPages: page - 1, limit: 100, serverTimeMs: null };
    return { items: [], page, ...last };
  }

  /**
   * A later page that equals the first may be chance (exactly one page of newcomers pushed it down), so the first is
   * asked for again: if that is still the same, `page` is ignored. Unless another page had nothing of the first: then the
   * list shows the same submissions twice.
   */
  async #refuseRepeatedPage(asked: number, page: SubmissionPage): Promise<void> {
    if (this.#pageCounts || page.items.length === 0 || page.total <= page.items.length) return;
    // Items without an ID look alike: they tell nothing about pages.
    if (page.items.every(({ submission }) => submission === null)) return;
    if (keysOf(page) !== this.#firstKeys) {
      const first = new Set(this.#firstKeys.split('\n'));
      this.#pageCounts = page.items.every(({ key }) => !first.has(key));
      return;
    }
    const again = await this.#request({ page: 1 });
    this.#firstKeys = keysOf(again);
    if (this.#firstKeys !== keysOf(page)) return;
    throw new MirrorError(
      'FORMS_FAILED',
      `The Forms API answers page ${asked} of form ${this.#formId} with the same submissions as page 1 ` +
        `(${page.items.length} of ${page.total}), so the form cannot be read whole. Ask the service why "page" is ignored.`,
      { retryable: false },
    );
  }
}

/** So many times as many pages as requests may be in flight are kept until they are taken. */
const AHEAD = 2;
/** A server may show pages again after the last one, for as many as it says there are: so many in a row are the end of the list. */
const MOST_REPEATED = 3;
/** The tail of a list is as many pages as arrive while the source is waited for so often. */
const TAIL = 2;

/** See {@link FormPages.readOn}. */
class PagesAhead {
  readonly #read: (page: number) => Promise<SubmissionPage>;
  readonly #span: PageSpan;
  readonly #ahead: Promise<SubmissionPage>[] = [];
  #next: number;
  #last: number;
  /** How many more requests may be in flight. */
  #free: number;
  /** How many pages may be here, or on their way, before they are taken. */
  #most: number;
  #onTail: (() => void) | undefined;

  constructor(read: (page: number) => Promise<SubmissionPage>, span: PageSpan) {
    this.#read = read;
    this.#span = span;
    [this.#next, this.#last, this.#free] = [span.from, span.to, span.readAhead];
    this.#most = span.readAhead * AHEAD;
  }

  /** Asks for the first pages, twice as many as usual: whoever takes them has something to finish before. */
  begun(): this {
    this.#most = this.#span.readAhead * AHEAD * 2;
    this.#ask(this.#last);
    return this;
  }

  async *pages(onTail?: () => void): AsyncGenerator<AskedPage> {
    this.#onTail = onTail;
    this.#most = this.#span.readAhead * AHEAD;
    this.#ask(this.#last);
    const shown = new Set<string>();
    let repeated = 0;
    for (let asked = this.#span.from; asked <= this.#last; asked++) {
      this.#ask(this.#last);
      const response = await (this.#ahead.shift() as Promise<SubmissionPage>);
      if (this.#span.bounded !== true) this.#last = response.totalPages;
      const print = hash('sha1', keysOf(response), 'base64url');
      repeated = shown.has(print) ? repeated + 1 : 0;
      shown.add(print);
      if (repeated >= MOST_REPEATED) this.#last = asked;
      // Pages that have come already leave a turn to others: the target's answer, for one, is waited for meanwhile.
      await nextTurn();
      yield { ...response, asked };
    }
  }

  /** Asks for nothing more. Resolves when nothing is on its way. */
  async end(): Promise<void> {
    this.#stop();
    await Promise.allSettled(this.#ahead);
  }

  #ask(until: number): void {
    while (this.#free > 0 && this.#ahead.length < this.#most && this.#next <= until) {
      const promise = this.#read(this.#next++);
      this.#free--;
      // A rejection is thrown in its turn.
      promise.then(
        ({ totalPages }) => this.#answered(totalPages),
        () => this.#stop(),
      );
      this.#ahead.push(promise);
    }
    if (this.#next + this.#span.readAhead * TAIL > until) this.#onTail?.();
  }

  #answered(totalPages: number): void {
    this.#free++;
    this.#ask(this.#span.bounded === true ? this.#last : Math.min(this.#last, totalPages));
  }

  #stop(): void {
    this.#free = -Infinity;
  }
}

const isNarrowed = ({ status, dateFrom, dateTo }: PageQuery): boolean =>
  status !== undefined || dateFrom !== undefined || dateTo !== undefined;

/** For a question that the API need not understand, whatever status it says so with: then it is no evidence, and no failure. */
function nullWhenNotGiven(error: unknown): null {
  if (error instanceof FormsApiError && OWN_ANSWERS.has(error.code)) return null;
  throw error;
}

const OWN_ANSWERS: ReadonlySet<string> = new Set(['FORMS_REFUSED', 'FORMS_FAILED']);

function keysOf(page: SubmissionPage): string {
  return page.items.map((item) => item.key).join('\n');
}
