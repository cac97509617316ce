import { MirrorError } from '../base/errors.ts';
import type { Form, Json, SubmissionItem } from '../mirror/types.ts';
import { FormsApiError, unusableError } from './errors.ts';
import type { CallOptions, FormsHttp } from './http.ts';
import { type FormsRequest, getRequest, type HttpResponse, pathSegment } from './request.ts';
import { singleSubmission, submissionItem } from './submission-item.ts';
import { envelopeSchema, isFailure, NO_TOTAL, parseForm } from './wire.ts';

/** Which submissions to list; without a form, those of the whole workspace. */
export interface ListQuery {
  readonly formId?: string;
  readonly status?: string;
  /** ISO 8601. The API does not document which time this is compared with, and how. */
  readonly dateFrom?: string;
  readonly dateTo?: string;
}

/** One page of a list of submissions. */
export interface Page {
  /** Each in its place, usable or not. */
  readonly items: readonly SubmissionItem[];
  /** How many the list has, according to the source; {@link NO_TOTAL} if it does not say. */
  readonly total: number;
  readonly isLast: boolean;
  /** The source's clock when it answered (milliseconds, whole seconds); null if it does not say. */
  readonly serverMs: number | null;
}

/** One page of the list of forms. */
export interface FormsPage {
  readonly list: readonly Form[];
  /** As the source says; {@link NO_TOTAL} if it does not. */
  readonly total: number;
  readonly totalPages: number;
}

/** The source's response about one submission. `undecided`: neither the submission nor 404 or 410. */
export type ById =
  | { readonly kind: 'there'; readonly item: SubmissionItem }
  | { readonly kind: 'gone' }
  | { readonly kind: 'undecided'; readonly reason: string };

/** The largest page that the API gives. */
export const PAGE = 100;
/** The most items of a page that are read. An API that ignores `limit` may return many at once, but not without end (L14). */
const MAX_ITEMS = 100_000;
/**
 * This many pages in a row that were shown before (judged by their first and last item) end a list: a source may return the same
 * page for every number.
 */
const MOST_IDLE = 3;
/** After this many submissions without a response, including retries, each further one is requested only once. */
const PATIENCE = 10;
/** The most other forms that are asked. */
const MOST_OTHERS = 5;
/** A form that is removed while the list is read can move another one out of sight; a second reading finds it. */
const FORM_ROUNDS = 2;

/**
 * The Forms API for one run. Counts the requests, and stops with the run's signal. Repeats each request on 5xx, 429, network
 * failures, timeouts and damaged responses. Rejects with FormsApiError, or with CANCELLED if its signal aborts.
 */
export class Source {
  /** Requests so far, including retries. */
  requests = 0;
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

  /** One page, newest first if the source can sort. `size`: how many items the first page showed; 0: not known. */
  async page(query: ListQuery, page = 1, size = 0, signal = this.signal): Promise<Page> {
    const listed = await this.#sorted(query, page, signal);
    const { items, total, totalPages, limit, serverMs } = listed;
    // A full page may look like the last one because the list's total is too low; the next page shows it.
    const isFull = items.length >= Math.min(PAGE, limit, size === 0 ? PAGE : size);
    const isLast = items.length === 0 || (page >= totalPages && !isFull);
    return { items, total, isLast, serverMs };
  }

  /**
   * The pages of a list in their order. A response can end the list early, but cannot prolong it. `first`: the first page, if it
   * was just read. `ahead`: how many pages are requested before they are needed; 1 means none. By default twice as many as can be in
   * flight, so that requests continue while a batch is stored. When the list ends, or its reader stops, pages that are still on
   * their way are given up.
   */
  async *pages(
    query: ListQuery,
    first?: Page,
    ahead = 2 * this.concurrency,
  ): AsyncGenerator<Page, void, undefined> {
    const unneeded = new AbortController();
    const signal = AbortSignal.any([this.signal, unneeded.signal]);
    const coming: Promise<Page>[] = [];
    const shown = new Set<string>();
    let [next, size, idle] = [1, 0, 0];
    const ask = (asked = this.page(query, next, size, signal)): void => {
      asked.catch(() => {}); // It is awaited in its turn, or no longer needed.
      next++;
      coming.push(asked);
    };
    ask(first && Promise.resolve(first));
    try {
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
    } finally {
      unneeded.abort(new MirrorError('CANCELLED', 'The list has ended.'));
    }
  }

  /** How many submissions match; null if the source refuses the request, or does not say. */
  async count(query: ListQuery): Promise<number | null> {
    const total = (await unlessRefused(this.#list(query, 1, { limit: 1 })))?.total ?? NO_TOTAL;
    return total === NO_TOTAL ? null : total;
  }

  /**
   * Whether the list of a form is known to contain only its own submissions. A source that ignores `formId` shows all submissions
   * in each list, so two forms have more than the workspace. Null while nothing can be mixed up, because there is only one form, or
   * no submission.
   */
  async areFormsApart(formId: string): Promise<boolean | null> {
    const workspace = await unlessRefused(this.page({}));
    // A source that cannot be asked without a form, or shows nothing then, uses `formId`. But everything may have just been deleted.
    if (workspace === null) return true;
    if (workspace.items.length === 0) return ((await this.count({ formId })) ?? 0) > 0;
    const named = workspace.items.flatMap(({ submission }) => submission?.formId ?? []);
    // Submissions that name their form are checked when they are stored.
    if (named.length > 0 && !named.includes('')) return true;
    const { forms } = await this.forms();
    const others = forms.filter(({ id }) => id !== formId).slice(0, MOST_OTHERS);
    if (others.length === 0) return null;
    let other: number | null = null;
    for (const { id } of others) other ??= await this.#totalOf(id);
    const own = await this.count({ formId });
    const after = await this.count({});
    // If other forms do not answer, they have at least one submission, unless this form has all.
    const sum = (own ?? 0) + (other ?? 1);
    // If everything was deleted in the meantime, nothing is known.
    if (sum === 0) return (after ?? 0) > 0 ? null : false;
    return sum <= Math.min(workspace.total, after ?? 0);
  }

  /** The number of submissions of another form, requested once; null if that fails, because only that form waits (L12). */
  async #totalOf(formId: string): Promise<number | null> {
    try {
      return (await this.#list({ formId }, 1, { limit: 1, once: true })).total;
    } catch (error) {
      if (!(error instanceof FormsApiError) || error.code === 'FORMS_UNAUTHORIZED') throw error;
      return null;
    }
  }

  /** One submission, wrapped by the API or not. FORMS_REFUSED, status 404 or 410, if it does not exist. */
  async submission(id: string, call: Pick<CallOptions, 'once'> = {}): Promise<SubmissionItem> {
    const request = getRequest(`/submissions/${pathSegment(id)}`);
    return this.#http.json(request, { ...this.#call, ...call }, (json) =>
      singleSubmission(json, id),
    );
  }

  /** The same; null if it does not exist. */
  submissionOrNull(id: string): Promise<SubmissionItem | null> {
    return orNull(this.submission(id));
  }

  /**
   * The same, as a verdict on a submission of this form. Throws errors that concern all submissions: a refused key, a stop.
   */
  async byId(formId: string, id: string): Promise<ById> {
    try {
      const once = this.#unanswered >= PATIENCE;
      const item = await this.submission(id, { once });
      const { submission } = item;
      const isHere = submission === null || ['', formId].includes(submission.formId);
      return isHere ? { kind: 'there', item } : { kind: 'undecided', reason: 'names another form' };
    } catch (error) {
      if (isGone(error)) return { kind: 'gone' };
      const isOwn = error instanceof MirrorError && error.code.startsWith('FORMS_');
      if (!isOwn || error.code === 'FORMS_UNAUTHORIZED') throw error;
      if (error.retryable) this.#unanswered++;
      const reason = error instanceof FormsApiError ? error.reason : 'has no address';
      return { kind: 'undecided', reason };
    }
  }

  /** Requests many of a form by ID, and gives each answer to `take`. */
  byIds(
    formId: string,
    ids: readonly string[],
    take: (id: string, answer: ById) => void,
  ): Promise<void> {
    return this.forEach(ids, async (id) => take(id, await this.byId(formId, id)));
  }

  /** Runs `work` for each ID: for as many at the same time as the source allows. Rejects with the first failure. */
  async forEach(ids: readonly string[], work: (id: string) => Promise<void>): Promise<void> {
    const next = ids.values();
    await Promise.all(
      Array.from({ length: Math.min(this.concurrency, ids.length) }, async () => {
        for (const id of next) await work(id);
      }),
    );
  }

  /**
   * Sends a status once; `beforeSend` may throw to stop it. Any 2xx with any body is a success. Only {@link byId} shows whether the
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

  /** One form with its fields. FORMS_REFUSED, status 404 or 410, if it does not exist. */
  async form(id: string): Promise<Form> {
    return this.#http.json(getRequest(`/forms/${pathSegment(id)}`), this.#call, parseForm);
  }

  /** The same; null if it does not exist. */
  formOrNull(id: string): Promise<Form | null> {
    return orNull(this.form(id));
  }

  /**
   * Every form of the workspace once, in the order of the list. If the list changes while it is read, it is read a second time. If
   * the API ignores `page`, the reading ends. `isWhole`: the list did not change, and showed as many forms as it says.
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

  /** Reads the pages of the list up to the last one, or to one without new forms. `isWhole`: nothing moved, and none is missing. */
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
    // The list's parameters are not documented, so the first page is requested without any.
    const request = getRequest('/forms', { page: page === 1 ? undefined : page });
    return this.#http.json(request, this.#call, (json, response) => {
      const wire = readList(json, request, response);
      const list = (wire?.items ?? []).map(parseForm);
      if (wire === undefined || !list.every((form) => form !== undefined)) return undefined;
      const { total } = wire;
      // If the number of pages is unknown, continue while pages contain new items.
      const isOne = total !== NO_TOTAL && list.length >= total;
      const totalPages = wire.totalPages ?? (isOne ? page : Infinity);
      return { list, total, totalPages };
    });
  }

  /** A page of a list, newest first if the source can sort; an empty page if the list has become shorter. */
  async #sorted(query: ListQuery, page: number, signal: AbortSignal): Promise<Listed> {
    try {
      return await this.#list(query, page, { isSorted: true, signal });
    } catch (error) {
      const isRefused = error instanceof FormsApiError && error.status === 400;
      // The list became shorter during a request, and this server refuses a page beyond the last one.
      if ((isRefused || isGone(error)) && page > 1)
        return { items: [], total: 0, totalPages: page - 1, limit: PAGE, serverMs: null };
      throw error;
    }
  }

  #list(
    { formId, status, dateFrom, dateTo }: ListQuery,
    page: number,
    { limit = PAGE, isSorted = false, once = false, signal = this.signal },
  ): Promise<Listed> {
    const request = getRequest('/submissions', {
      formId,
      page,
      limit,
      status,
      dateFrom,
      dateTo,
      sortBy: isSorted ? 'submittedAt' : undefined,
      sortOrder: isSorted ? 'desc' : undefined,
    });
    const call = { ...this.#call, signal, once };
    return this.#http.json(request, call, (json, response) => {
      const wire = readList(json, request, response);
      if (wire === undefined) return undefined;
      const items = wire.items.map((item) =>
        submissionItem(item, formId ?? '', this.#http.nameless),
      );
      const most = wire.limit ?? limit;
      // The number of items on the first page is the page size, in spite of the documented limit.
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

/** A page of a list in the source's response. */
interface Listed extends Pick<Page, 'items' | 'total' | 'serverMs'> {
  /** According to the source, absurd or not; otherwise computed from the total and the page size. */
  readonly totalPages: number;
  /** According to the source; otherwise as requested. */
  readonly limit: number;
}

/** A page of a list in a response; undefined for any other response. Throws FORMS_FAILED if the page reports a failure. */
function readList(json: Json, request: FormsRequest, response: HttpResponse) {
  const parsed = envelopeSchema.safeParse(json);
  if (!parsed.success) return undefined;
  if (isFailure(parsed.data))
    throw unusableError(request, response, 'an error beside an empty list');
  if (parsed.data.items.length > MAX_ITEMS)
    throw unusableError(request, response, 'a page without end');
  return parsed.data;
}

/** Null if the source refuses the request. */
async function unlessRefused<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    // A 404, a 410 or a redirect says that nothing is at this address.
    const status = error instanceof FormsApiError && error.code === 'FORMS_REFUSED' && error.status;
    if (typeof status === 'number' && status >= 400 && !isGone(error)) return null;
    throw error;
  }
}

/** Null if the source answers 404 or 410. */
async function orNull<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}

/** 410 means the same as 404, permanently (RFC 9110). */
const isGone = (error: unknown): boolean =>
  error instanceof FormsApiError && (error.status === 404 || error.status === 410);
