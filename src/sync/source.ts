import { MirrorError } from '../base/errors.ts';
import type { CallOptions, FormsClient, SubmissionItem } from '../forms/client.ts';
import { FormsApiError } from '../forms/errors.ts';

/** Which submissions to list; without a form: those of the whole workspace. */
export interface ListQuery {
  readonly formId?: string;
  readonly status?: string;
  /** ISO 8601. */
  readonly dateFrom?: string;
  readonly dateTo?: string;
}

/** The submissions created within [fromMs, toMs), of one status or of all. */
export interface Span {
  readonly status?: string;
  readonly fromMs: number | null;
  readonly toMs: number | null;
}

export const WHOLE: Span = { fromMs: null, toMs: null };

/** One page of a list. */
export interface Page {
  readonly items: readonly SubmissionItem[];
  /** How many the list has, as the source says. */
  readonly total: number;
  readonly isLast: boolean;
  /** The source's clock when it answered (milliseconds, whole seconds); null where it does not say. */
  readonly serverMs: number | null;
}

/** The source's response about one submission. `undecided`: neither the submission nor 404. */
export type ById =
  | { readonly kind: 'there'; readonly item: SubmissionItem }
  | { readonly kind: 'gone' }
  | { readonly kind: 'undecided'; readonly reason: string };

/** The largest page that the API gives. */
export const PAGE = 100;
/** Pages in a row that were shown before, by their first and last item, end a list: a source may answer each page with the same one. */
const MOST_IDLE = 3;
/** After so many submissions that did not answer, tries included, each other one is asked for once. */
const PATIENCE = 10;
/** So many other forms are asked at most. */
const MOST_OTHERS = 5;
const SORTED = { sortBy: 'submittedAt', sortOrder: 'desc' } as const;

/** The Forms API as one run reads it: counts the requests, and stops with its signal. */
export class Source {
  /** Sent so far, retries included. */
  requests = 0;
  /** Lists may be asked for newest first. */
  maySort = true;
  readonly concurrency: number;
  readonly #client: FormsClient;
  readonly #call: CallOptions;
  #unanswered = 0;

  constructor(client: FormsClient, concurrency: number, signal: AbortSignal) {
    this.#client = client;
    this.concurrency = concurrency;
    this.#call = { signal, onAttempt: () => void this.requests++ };
  }

  /** One page, newest first where the source can sort. `size`: how many the first page showed; 0: not known. */
  async page(query: ListQuery, page = 1, size = 0): Promise<Page> {
    const { items, total, totalPages, limit, serverTimeMs } = await this.#list(query, page);
    // A full page may count as the last because the total of the list is too low: the next page shows it.
    const isFull = items.length >= Math.min(PAGE, limit, size === 0 ? PAGE : size);
    const isLast = items.length === 0 || (page >= totalPages && !isFull);
    return { items, total, isLast, serverMs: serverTimeMs };
  }

  /**
   * The pages of a list in their order. What a response says ends a list early, never late. `first`: the first page, where it was just
   * read. `ahead`: so many are asked for before they are taken; with 1, none.
   */
  async *pages(
    query: ListQuery,
    first?: Page,
    ahead = 2 * this.concurrency,
  ): AsyncGenerator<Page, void, undefined> {
    const coming: Promise<Page>[] = [];
    const shown = new Set<string>();
    let [next, size, idle] = [1, 0, 0];
    const ask = (given?: Page): void => {
      const asked = given === undefined ? this.page(query, next, size) : Promise.resolve(given);
      asked.catch(() => {}); // It is waited for in its turn, or of no interest any more.
      next++;
      coming.push(asked);
    };
    ask(first);
    for (let asked = coming.shift(); asked !== undefined; asked = coming.shift()) {
      const page = await asked;
      const ends = [page.items.at(0), page.items.at(-1)].map((item) => item?.key).join('\n');
      idle = shown.has(ends) ? idle + 1 : 0;
      shown.add(ends);
      const isLast = page.isLast || idle >= MOST_IDLE;
      size ||= Math.max(1, page.items.length);
      const follow = (): void => {
        while (coming.length < ahead && (next - 1) * size < page.total) ask();
      };
      if (ahead > 1 && !isLast) follow();
      yield { ...page, isLast };
      if (isLast) return;
      follow();
      if (coming.length === 0) ask();
    }
  }

  /** How many match, with the source's clock; null where the source refuses the question. */
  async count(query: ListQuery): Promise<{ total: number; serverMs: number | null } | null> {
    const asked = this.#client.listSubmissions({ ...query, page: 1, limit: 1 }, this.#call);
    const answer = await unlessRefused(asked);
    return answer && { total: answer.total, serverMs: answer.serverTimeMs };
  }

  /**
   * Whether the list of a form is known to hold its own submissions only. A source that ignores `formId` shows all of them in each
   * list, so that two forms have more than the workspace. Null while nothing can be mixed up: there is one form, or no submission.
   */
  async areFormsApart(formId: string): Promise<boolean | null> {
    const workspace = await unlessRefused(this.page({}));
    // One that cannot be asked without a form, or shows nothing then, looks at it.
    if (workspace === null || workspace.items.length === 0) return true;
    const named = workspace.items.flatMap(({ submission }) => submission?.formId ?? []);
    // Of submissions that name their form, each is checked when it is stored.
    if (named.length > 0 && !named.includes('')) return true;
    const { forms } = await this.#client.listForms(this.#call);
    const others = forms.filter(({ id }) => id !== formId).slice(0, MOST_OTHERS);
    if (others.length === 0) return null;
    let other: number | null = null;
    for (const { id } of others) other ??= await this.#totalOf(id);
    const own = await this.count({ formId });
    const after = await this.count({});
    // Other forms that do not answer have at least one if this form does not have all.
    const sum = (own?.total ?? 0) + (other ?? 1);
    return sum === 0 ? null : sum <= Math.min(workspace.total, after?.total ?? 0);
  }

  /** The number of submissions of another form, asked once; null if that fails: only that form waits (L12). */
  async #totalOf(formId: string): Promise<number | null> {
    try {
      const query = { formId, page: 1, limit: 1 };
      return (await this.#client.listSubmissions(query, { ...this.#call, once: true })).total;
    } catch (error) {
      if (!(error instanceof FormsApiError) || error.code === 'FORMS_UNAUTHORIZED') throw error;
      return null;
    }
  }

  /** Throws what concerns all submissions: a refused key, a stop. */
  async byId(id: string): Promise<ById> {
    const once = this.#unanswered >= PATIENCE;
    try {
      return {
        kind: 'there',
        item: await this.#client.getSubmission(id, { ...this.#call, once }),
      };
    } catch (error) {
      if (isGone(error)) return { kind: 'gone' };
      const isOwn = error instanceof MirrorError && error.code.startsWith('FORMS_');
      if (!isOwn || error.code === 'FORMS_UNAUTHORIZED') throw error;
      if (error.retryable) this.#unanswered++;
      const reason = error instanceof FormsApiError ? error.reason : 'has no address';
      return { kind: 'undecided', reason };
    }
  }

  /** Asks for many by ID, as many at a time as the source takes. */
  async byIds(ids: readonly string[], take: (id: string, answer: ById) => void): Promise<void> {
    const next = ids.values();
    await Promise.all(
      Array.from({ length: Math.min(this.concurrency, ids.length) }, async () => {
        for (const id of next) take(id, await this.byId(id));
      }),
    );
  }

  /** Sends a status once; `beforeSend` may throw to stop it. Rejects as the client does. */
  setStatus(id: string, status: string, beforeSend: () => void): Promise<void> {
    const onAttempt = (): void => {
      beforeSend();
      this.requests++;
    };
    return this.#client.setStatus(id, status, { ...this.#call, once: true, onAttempt });
  }

  async #list(query: ListQuery, page: number): ReturnType<FormsClient['listSubmissions']> {
    const sort = this.maySort ? SORTED : {};
    try {
      return await this.#client.listSubmissions({ ...query, ...sort, page }, this.#call);
    } catch (error) {
      if (!(error instanceof FormsApiError)) throw error;
      const isRefused = error.status === 400 || error.status === 404;
      // The list shrank during a request, and this server refuses a page beyond the last.
      if (isRefused && page > 1)
        return { items: [], total: 0, totalPages: page - 1, limit: PAGE, serverTimeMs: null };
      if (error.status !== 400 || !this.maySort) throw error;
      this.maySort = false;
      return this.#list(query, page);
    }
  }
}

/** Null where the source refuses the question. */
async function unlessRefused<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    // A 404 or a redirect says that nothing is at this address.
    const status = error instanceof FormsApiError && error.code === 'FORMS_REFUSED' && error.status;
    if (typeof status === 'number' && status >= 400 && status !== 404) return null;
    throw error;
  }
}

/** 410 says what 404 says, and for ever (RFC 9110). */
const isGone = (error: unknown): boolean =>
  error instanceof FormsApiError && (error.status === 404 || error.status === 410);
