import { MirrorError } from '../base/errors.ts';
import type { Form, Json } from '../mirror/types.ts';
import { FormsApiError, unusableError } from './errors.ts';
import type { CallOptions, FormsHttp } from './http.ts';
import { type FormsRequest, getRequest, type HttpResponse, pathSegment } from './request.ts';
import { singleSubmission, submissionItem, type SubmissionItem } from './submission-item.ts';
import { envelopeSchema, listFailure, parseForm } from './wire.ts';

/** Which submissions to list; without a form: those of the whole workspace. */
export interface ListQuery {
  readonly formId?: string;
  readonly status?: string;
  /** ISO 8601. The API does not document which time they are compared with, and how. */
  readonly dateFrom?: string;
  readonly dateTo?: string;
}

/** One page of a list of submissions. */
export interface Page {
  /** Each in its place, usable or not. */
  readonly items: readonly SubmissionItem[];
  /** How many the list has, as the source says. */
  readonly total: number;
  readonly isLast: boolean;
  /** The source's clock when it answered (milliseconds, whole seconds); null where it does not say. */
  readonly serverMs: number | null;
}

/** One page of the list of forms. */
export interface FormsPage {
  readonly list: readonly Form[];
  /** As the source says. */
  readonly total: number;
  readonly totalPages: number;
}

/** The source's response about one submission. `undecided`: neither the submission nor 404. */
export type ById =
  | { readonly kind: 'there'; readonly item: SubmissionItem }
  | { readonly kind: 'gone' }
  | { readonly kind: 'undecided'; readonly reason: string };

/** The largest page that the API gives. */
export const PAGE = 100;
/** Most items of a page that are looked at: an API that ignores `limit` may give many at once, but not without end (L14). */
const MAX_ITEMS = 100_000;
/** Pages in a row that were shown before, by their first and last item, end a list: a source may answer each page with the same one. */
const MOST_IDLE = 3;
/** After so many submissions that did not answer, tries included, each other one is asked for once. */
const PATIENCE = 10;
/** So many other forms are asked at most. */
const MOST_OTHERS = 5;
/** A form that is removed while the list is read can pull another out of sight; a second look finds it. */
const FORM_ROUNDS = 2;

/**
 * The Forms API as one run reads it: counts the requests, and stops with its signal. Each request is repeated on 5xx, 429, network
 * failures, timeouts and damaged responses. Rejects with FormsApiError, or with CANCELLED when its signal aborts.
 */
export class Source {
  /** Sent so far, retries included. */
  requests = 0;
  /** Lists may be asked for newest first. */
  maySort = true;
  readonly concurrency: number;
  readonly signal: AbortSignal;
  readonly #http: FormsHttp;
  readonly #call: CallOptions;
  #unanswered = 0;

  constructor(http: FormsHttp, signal: AbortSignal) {
    this.#http = http;
    [this.concurrency, this.signal] = [http.concurrency, signal];
    this.#call = { signal, onAttempt: () => void this.requests++ };
  }

  /** One page, newest first where the source can sort. `size`: how many the first page showed; 0: not known. */
  async page(query: ListQuery, page = 1, size = 0): Promise<Page> {
    const { items, total, totalPages, limit, serverMs } = await this.#sorted(query, page);
    // A full page may count as the last because the total of the list is too low: the next page shows it.
    const isFull = items.length >= Math.min(PAGE, limit, size === 0 ? PAGE : size);
    const isLast = items.length === 0 || (page >= totalPages && !isFull);
    return { items, total, isLast, serverMs };
  }

  /**
   * The pages of a list in their order. What a response says ends a list early, never late. `first`: the first page, where it was just
   * read. `ahead`: so many are asked for before they are taken; with 1, none.
   */
  async *pages(
    query: ListQuery,
    first?: Page,
    ahead = this.concurrency,
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
  async count(query: ListQuery): Promise<Pick<Page, 'total' | 'serverMs'> | null> {
    return unlessRefused(this.#list(query, 1, { limit: 1 }));
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
    const { forms } = await this.forms();
    const others = forms.filter(({ id }) => id !== formId).slice(0, MOST_OTHERS);
    if (others.length === 0) return null;
    let other: number | null = null;
    for (const { id } of others) other ??= await this.#totalOf(id);
    const own = await this.count({ formId });
    const after = await this.count({});
    // Other forms that do not answer have at least one if this form does not have all.
    const sum = (own?.total ?? 0) + (other ?? 1);
    // Where everything has gone meanwhile, nothing is known.
    if (sum === 0) return (after?.total ?? 0) > 0 ? null : false;
    return sum <= Math.min(workspace.total, after?.total ?? 0);
  }

  /** The number of submissions of another form, asked once; null if that fails: only that form waits (L12). */
  async #totalOf(formId: string): Promise<number | null> {
    try {
      return (await this.#list({ formId }, 1, { limit: 1, once: true })).total;
    } catch (error) {
      if (!(error instanceof FormsApiError) || error.code === 'FORMS_UNAUTHORIZED') throw error;
      return null;
    }
  }

  /** One submission, whether the API wraps it or not. FORMS_REFUSED, status 404, when it does not exist. */
  async submission(id: string, call: Pick<CallOptions, 'once'> = {}): Promise<SubmissionItem> {
    const request = getRequest(`/submissions/${pathSegment(id)}`);
    return this.#http.json(request, { ...this.#call, ...call }, (json) =>
      singleSubmission(json, id),
    );
  }

  /** The same; null where it does not exist. */
  submissionOrNull(id: string): Promise<SubmissionItem | null> {
    return orNull(this.submission(id));
  }

  /** The same, as a verdict on the submission. Throws what concerns all submissions: a refused key, a stop. */
  async byId(id: string): Promise<ById> {
    try {
      const once = this.#unanswered >= PATIENCE;
      return { kind: 'there', item: await this.submission(id, { once }) };
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

  /**
   * Sends a status once; `beforeSend` may throw to stop it. Any 2xx is a success with any body: only {@link byId} shows whether the
   * status has changed.
   */
  async setStatus(id: string, status: string, beforeSend = (): void => {}): Promise<void> {
    const path = `/submissions/${pathSegment(id)}/status`;
    const body = JSON.stringify({ status });
    const onAttempt = (): void => {
      beforeSend();
      this.requests++;
    };
    const call = { ...this.#call, once: true, onAttempt };
    await this.#http.done({ method: 'PATCH', path, name: `PATCH ${path}`, body }, call);
  }

  /** One form with its fields. FORMS_REFUSED, status 404, when it does not exist. */
  async form(id: string): Promise<Form> {
    return this.#http.json(getRequest(`/forms/${pathSegment(id)}`), this.#call, parseForm);
  }

  /** The same; null where it does not exist. */
  formOrNull(id: string): Promise<Form | null> {
    return orNull(this.form(id));
  }

  /**
   * Every form of the workspace once, in the order of the list. If the list changes while it is read, it is read a
   * second time. If the API ignores `page`, the reading ends. `isWhole`: the list held still, and as many forms as it says.
   */
  async forms(): Promise<{ readonly forms: readonly Form[]; readonly isWhole: boolean }> {
    const seen = new Map<string, Form>();
    for (let round = 1; round <= FORM_ROUNDS; round++) {
      const { forms, isWhole } = await this.#walkForms();
      if (isWhole) return { forms: [...forms.values()], isWhole };
      for (const [id, form] of forms) seen.set(id, form);
    }
    return { forms: [...seen.values()], isWhole: false };
  }

  /** Reads the pages of the list until the last one, or one that brings nothing new. `isWhole`: nothing moved, none is missing. */
  async #walkForms(): Promise<{ forms: Map<string, Form>; isWhole: boolean }> {
    const forms = new Map<string, Form>();
    const totals = new Set<number>();
    for (let page = 1; ; page++) {
      const { list, total, totalPages } = await this.formsPage(page);
      totals.add(total);
      const before = forms.size;
      for (const form of list) if (!forms.has(form.id)) forms.set(form.id, form);
      // Either number may be wrong: while forms are missing, a further page costs one request.
      if (forms.size === before || (page >= totalPages && forms.size >= total))
        return { forms, isWhole: totals.size === 1 && totals.has(forms.size) };
    }
  }

  /** One page of the list of forms. */
  formsPage(page: number): Promise<FormsPage> {
    // The list's parameters are not documented: the first page is asked for without any.
    const request = getRequest('/forms', [['page', page === 1 ? undefined : page]]);
    return this.#http.json(request, this.#call, (json, response) => {
      const wire = readList(json, request, response);
      const list = (wire?.items ?? []).map(parseForm);
      if (wire === undefined || !list.every((form) => form !== undefined)) return undefined;
      const { total } = wire;
      // If the number of pages is unknown, continue while pages contain new items.
      const totalPages = wire.totalPages ?? (list.length < total ? Infinity : page);
      return { list, total, totalPages };
    });
  }

  /** A page of a list, newest first where the source can sort; an empty one where the list has shrunk to less. */
  async #sorted(query: ListQuery, page: number): Promise<Listed> {
    try {
      return await this.#list(query, page, { isSorted: this.maySort });
    } catch (error) {
      if (!(error instanceof FormsApiError)) throw error;
      const isRefused = error.status === 400 || error.status === 404;
      // The list shrank during a request, and this server refuses a page beyond the last.
      if (isRefused && page > 1)
        return { items: [], total: 0, totalPages: page - 1, limit: PAGE, serverMs: null };
      if (error.status !== 400 || !this.maySort) throw error;
      this.maySort = false;
      return this.#sorted(query, page);
    }
  }

  #list(
    { formId, status, dateFrom, dateTo }: ListQuery,
    page: number,
    { limit = PAGE, isSorted = false, once = false },
  ): Promise<Listed> {
    const request = getRequest('/submissions', [
      ['formId', formId],
      ['page', page],
      ['limit', limit],
      ['status', status],
      ['dateFrom', dateFrom],
      ['dateTo', dateTo],
      ['sortBy', isSorted ? 'submittedAt' : undefined],
      ['sortOrder', isSorted ? 'desc' : undefined],
    ]);
    return this.#http.json(request, { ...this.#call, once }, (json, response) => {
      const wire = readList(json, request, response);
      if (wire === undefined) return undefined;
      const items = wire.items.map((item) =>
        submissionItem(item, formId ?? '', this.#http.nameless),
      );
      const most = wire.limit ?? limit;
      // The number of items on the first page is the page size, regardless of the documented limit.
      const size = page === 1 && items.length > 0 ? Math.min(most, items.length) : most;
      const serverMs = Date.parse(response.header('date') ?? '');
      return {
        items,
        total: wire.total,
        totalPages: wire.totalPages ?? Math.ceil(wire.total / size),
        limit: most,
        serverMs: Number.isNaN(serverMs) ? null : serverMs,
      };
    });
  }
}

/** A page of a list as the source shows it. */
interface Listed extends Pick<Page, 'items' | 'total' | 'serverMs'> {
  /** As the source says, absurd or not; reckoned from total and the size of a page when it does not. */
  readonly totalPages: number;
  /** As the source says; as asked when it does not. */
  readonly limit: number;
}

/** A page of a list as received; undefined for any other response. Throws FORMS_FAILED if the page reports a failure. */
function readList(json: Json, request: FormsRequest, response: HttpResponse) {
  const parsed = envelopeSchema.safeParse(json);
  if (!parsed.success) return undefined;
  const failure = listFailure(json);
  if (failure !== undefined) throw unusableError(request, response, failure);
  if (parsed.data.items.length > MAX_ITEMS)
    throw unusableError(request, response, 'a page without end');
  return parsed.data;
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

/** Null where the source answers 404. */
async function orNull<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof FormsApiError && error.status === 404) return null;
    throw error;
  }
}

/** 410 says what 404 says, and for ever (RFC 9110). */
const isGone = (error: unknown): boolean =>
  error instanceof FormsApiError && (error.status === 404 || error.status === 410);
