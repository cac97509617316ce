import { MirrorError } from '../base/errors.ts';
import type { CallOptions, FormsClient, SubmissionPage } from './client.ts';
import { FormsApiError } from './errors.ts';

/** Which page of which list; a list may be narrowed to see what a moving one hides. */
export interface PageQuery {
  readonly page: number;
  readonly status?: string;
  readonly dateFrom?: string;
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
}

/** The documented sort key and direction; an API may ignore them, or refuse them with a 400. */
const SORTED = { sortBy: 'submittedAt', sortOrder: 'desc' } as const;

/**
 * The pages of one form's list, newest first where the API honours it. Names an API that answers every page number with
 * the same page (FORMS_PAGE_IGNORED) instead of looping over it. Other errors are the client's.
 */
export class FormPages {
  readonly #client: Pick<FormsClient, 'listSubmissions'>;
  readonly #formId: string;
  readonly #call: CallOptions;
  #sorted = true;
  #firstKeys = '';
  #total = 0;

  constructor(client: Pick<FormsClient, 'listSubmissions'>, formId: string, call: CallOptions) {
    this.#client = client;
    this.#formId = formId;
    this.#call = call;
  }

  /** One page, of up to 100 items. */
  async read(query: PageQuery): Promise<SubmissionPage> {
    const page = await this.#request(query);
    if (query.status !== undefined || query.dateFrom !== undefined) return page;
    if (query.page === 1) this.#firstKeys = keysOf(page);
    else await this.#refuseRepeatedPage(query.page, page);
    return page;
  }

  /**
   * Pages `from` to the last one, in order, `readAhead` requests ahead. The last page is the one that the newest
   * response names, so that a list that grows meanwhile is read to its end; with `bounded` it stays as given.
   */
  async *readOn(span: PageSpan): AsyncGenerator<AskedPage> {
    const { from, readAhead, narrow = {} } = span;
    let last = span.to;
    const ahead: Promise<SubmissionPage>[] = [];
    try {
      for (let page = from; page <= last; page++) {
        while (ahead.length < readAhead && page + ahead.length <= last) {
          const promise = this.read({ ...narrow, page: page + ahead.length });
          // Awaited in its turn; a rejection before then must not count as unhandled.
          promise.catch(() => {});
          ahead.push(promise);
        }
        const response = await (ahead.shift() as Promise<SubmissionPage>);
        if (span.bounded !== true) last = response.totalPages;
        yield { ...response, asked: page };
      }
    } finally {
      await Promise.allSettled(ahead);
    }
  }

  async #request(query: PageQuery): Promise<SubmissionPage> {
    const plain = { formId: this.#formId, ...query };
    const sort = this.#sorted ? SORTED : {};
    try {
      const page = await this.#client.listSubmissions({ ...plain, ...sort }, this.#call);
      this.#total = page.total;
      return page;
    } catch (error) {
      if (!(error instanceof FormsApiError)) throw error;
      if (query.page > 1 && (error.status === 404 || error.status === 400))
        return this.#beyondLast(query);
      const narrowed = query.status !== undefined || query.dateFrom !== undefined;
      if (error.status !== 400 || !this.#sorted || narrowed) throw error;
      this.#sorted = false;
      return this.#request(query);
    }
  }

  /** The list shrank under a request that was on its way; some servers refuse a page beyond the last. */
  #beyondLast({ page }: PageQuery): SubmissionPage {
    const last = { total: this.#total, totalPages: page - 1, limit: 100, serverTimeMs: null };
    return { items: [], page, ...last };
  }

  /**
   * A later page that equals the first may be chance (exactly one page of newcomers pushed it down), so the first is
   * asked for anew: if that is still the same, `page` is ignored.
   */
  async #refuseRepeatedPage(asked: number, page: SubmissionPage): Promise<void> {
    if (page.items.length === 0 || page.total <= page.items.length) return;
    if (keysOf(page) !== this.#firstKeys) return;
    const again = await this.#request({ page: 1 });
    this.#firstKeys = keysOf(again);
    if (this.#firstKeys !== keysOf(page)) return;
    throw new MirrorError(
      'FORMS_PAGE_IGNORED',
      `The Forms API answers page ${asked} of form ${this.#formId} with the same submissions as page 1 ` +
        `(${page.items.length} of ${page.total}), so the form cannot be read whole. Ask the service why "page" is ignored.`,
    );
  }
}

function keysOf(page: SubmissionPage): string {
  return page.items.map((item) => item.key).join('\n');
}
