import type { Form, Json } from '../mirror/types.ts';
import { unusableError } from './errors.ts';
import { type CallOptions, type FormsClientOptions, FormsHttp } from './http.ts';
import { type FormsRequest, getRequest, type HttpResponse, pathSegment } from './request.ts';
import {
  type NamelessKey,
  namelessKeys,
  singleSubmission,
  submissionItem,
  type SubmissionItem,
} from './submission-item.ts';
import { envelopeSchema, listFailure, parseForm, type WireList } from './wire.ts';

export type { CallOptions, FormsClientOptions, FormsEvents, SentRequest } from './http.ts';
export type { SubmissionItem } from './submission-item.ts';

/** Which submissions to list; everything but the page is optional. */
export interface SubmissionQuery {
  /** Without it: those of every form of the workspace, each item with the `formId` that it carries, or an empty one. */
  readonly formId?: string | undefined;
  /** From 1. */
  readonly page: number;
  /** Page size asked for; default 100, the most that the API gives. It may give fewer. */
  readonly limit?: number | undefined;
  readonly status?: string | undefined;
  /** ISO 8601. The API does not document which time they are compared with, and how. */
  readonly dateFrom?: string | undefined;
  readonly dateTo?: string | undefined;
  readonly sortBy?: string | undefined;
  readonly sortOrder?: string | undefined;
}

/** One page of the submissions list. */
export interface SubmissionPage {
  readonly items: readonly SubmissionItem[];
  /** How many match in all, as the server says. */
  readonly total: number;
  /** As the server says, absurd or not; reckoned from total and the size of a page when it does not. */
  readonly totalPages: number;
  /** As the server says; as asked when it does not. */
  readonly limit: number;
  /** The server's clock (its `Date` header), milliseconds since the epoch; null when it did not say. */
  readonly serverTimeMs: number | null;
}

/** The largest page that the API gives. */
const PAGE_LIMIT = 100;
/** A form that is removed while the list is read can pull another out of sight; a second look finds it. */
const LIST_ROUNDS = 2;

/**
 * The endpoints of the Forms API that a mirror needs, typed. All calls of one client share its connections and its bound on requests
 * in flight. Safe to use from many places at once.
 *
 * Every call is retried on 5xx, 429, network failures, timeouts and damaged responses, as the retry policy says. Rejects with
 * FormsApiError, or with CANCELLED when its signal aborts.
 */
export class FormsClient implements AsyncDisposable {
  readonly #http: FormsHttp;
  readonly #nameless: NamelessKey;

  /** Opens no connection yet. */
  constructor(options: FormsClientOptions) {
    this.#http = new FormsHttp(options);
    this.#nameless = namelessKeys(options.apiKey);
  }

  /**
   * Every form of the workspace once, in the order of the list. If the list changes while it is read, it is read a
   * second time. If the API ignores `page`, the reading ends. `isWhole`: the list held still, and as many forms as it says.
   */
  async listForms(call: CallOptions = {}): Promise<{ forms: Form[]; isWhole: boolean }> {
    const seen = new Map<string, Form>();
    for (let round = 1; round <= LIST_ROUNDS; round++) {
      const { forms, whole } = await this.#walkForms(call);
      if (whole) return { forms: [...forms.values()], isWhole: true };
      for (const [id, form] of forms) seen.set(id, form);
    }
    return { forms: [...seen.values()], isWhole: false };
  }

  /** One page of the list of forms. */
  async formsPage(page: number, call: CallOptions = {}): Promise<FormsPage> {
    // The list's parameters are not documented: the first page is asked for without any.
    const request = getRequest('/forms', [['page', page === 1 ? undefined : page]]);
    return this.#http.json(request, call, (json, response) => {
      const wire = readList(json, request, response);
      return wire && formList(wire, page);
    });
  }

  /** One form with its fields. FORMS_REFUSED, status 404, when it does not exist. */
  async getForm(id: string, call: CallOptions = {}): Promise<Form> {
    return this.#http.json(getRequest(`/forms/${pathSegment(id)}`), call, parseForm);
  }

  /** One page of submissions, each item in its place, usable or not. */
  async listSubmissions(query: SubmissionQuery, call: CallOptions = {}): Promise<SubmissionPage> {
    const limit = query.limit ?? PAGE_LIMIT;
    const request = getRequest('/submissions', [
      ['formId', query.formId],
      ['page', query.page],
      ['limit', limit],
      ['status', query.status],
      ['dateFrom', query.dateFrom],
      ['dateTo', query.dateTo],
      ['sortBy', query.sortBy],
      ['sortOrder', query.sortOrder],
    ]);
    return this.#http.json(request, call, (json, response) => {
      const wire = readList(json, request, response);
      if (wire === undefined) return undefined;
      const items = wire.items.map((item) =>
        submissionItem(item, query.formId ?? '', this.#nameless),
      );
      const most = wire.limit ?? limit;
      // The number of items on the first page is the page size, regardless of the documented limit.
      const size = query.page === 1 && items.length > 0 ? Math.min(most, items.length) : most;
      const serverTimeMs = Date.parse(response.header('date') ?? '');
      return {
        items,
        total: wire.total,
        totalPages: wire.totalPages ?? Math.ceil(wire.total / size),
        limit: most,
        serverTimeMs: Number.isNaN(serverTimeMs) ? null : serverTimeMs,
      };
    });
  }

  /** One submission, whether the API wraps it or not. FORMS_REFUSED, status 404, when it does not exist. */
  async getSubmission(id: string, call: CallOptions = {}): Promise<SubmissionItem> {
    const request = getRequest(`/submissions/${pathSegment(id)}`);
    return this.#http.json(request, call, (json) => singleSubmission(json, id));
  }

  /**
   * Changes a submission's status. Any 2xx is a success with any body: only {@link getSubmission} shows whether the
   * status has changed. FORMS_REFUSED (status 400 or 409) if the API refuses it.
   */
  async setStatus(id: string, status: string, call: CallOptions = {}): Promise<void> {
    const path = `/submissions/${pathSegment(id)}/status`;
    const body = JSON.stringify({ status });
    const name = `PATCH ${path}`;
    await this.#http.done({ method: 'PATCH', path, name, body }, call);
  }

  /** Stops every running call with CANCELLED and closes the connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#http[Symbol.asyncDispose]();
  }

  /** Reads the pages of the list until the last one, or one that brings nothing new. `whole`: nothing moved, none is missing. */
  async #walkForms(call: CallOptions): Promise<{ forms: Map<string, Form>; whole: boolean }> {
    const forms = new Map<string, Form>();
    const totals = new Set<number>();
    for (let page = 1; ; page++) {
      const { list, total, totalPages } = await this.formsPage(page, call);
      totals.add(total);
      const before = forms.size;
      for (const form of list) if (!forms.has(form.id)) forms.set(form.id, form);
      // Either number may be wrong: while forms are missing, a further page costs one request.
      if (forms.size === before || (page >= totalPages && forms.size >= total)) {
        return { forms, whole: totals.size === 1 && totals.has(forms.size) };
      }
    }
  }
}

/** A page of a list as received; undefined for any other response. Throws FORMS_FAILED if the page reports a failure. */
function readList(json: Json, request: FormsRequest, response: HttpResponse): WireList | undefined {
  const parsed = envelopeSchema.safeParse(json);
  if (!parsed.success) return undefined;
  const failure = listFailure(json);
  if (failure !== undefined) throw unusableError(request, response, failure);
  return parsed.data;
}

/** One page of the list of forms. */
export interface FormsPage {
  readonly list: Form[];
  /** As the server says. */
  readonly total: number;
  readonly totalPages: number;
}

/** One page of the list of forms; undefined when one of its forms cannot be understood. */
function formList(wire: WireList, page: number): FormsPage | undefined {
  const list = wire.items.map(parseForm);
  if (!list.every((form) => form !== undefined)) return undefined;
  const { total } = wire;
  // If the number of pages is unknown, continue while pages contain new items.
  const totalPages = wire.totalPages ?? (list.length < total ? Infinity : page);
  return { list, total, totalPages };
}

/**
 * The forms of a workspace, as one process reads their list again and again. {@link all} reads it whole. {@link inTurn} reads
 * one page, in turn, and the whole list where that page shows that forms came or went: it says another number of them, or
 * has one that was not known. So a form that came or went is seen at once unless another one made up for it; that, and a
 * form that was changed, after as many reads as the list has pages.
 */
export class ListedForms {
  readonly #client: Pick<FormsClient, 'listForms' | 'formsPage'>;
  /** As last read; undefined where the list is to be read whole: it was not yet, or does not show as many as it says. */
  #known: Map<string, Form> | undefined;
  /** The page whose turn it is, and how many forms those before it have shown. */
  #turn = { page: 1, before: 0 };

  constructor(client: Pick<FormsClient, 'listForms' | 'formsPage'>) {
    this.#client = client;
  }

  /** Every form, in the order of the list. Rejects as the client does. */
  async all(call: CallOptions): Promise<Form[]> {
    this.#known = undefined;
    const { forms, isWhole } = await this.#client.listForms(call);
    if (isWhole && forms.length > 0) this.#known = new Map(forms.map((form) => [form.id, form]));
    this.#turn = { page: 1, before: 0 };
    return forms;
  }

  /** The same, by one request where nothing has changed. */
  async inTurn(call: CallOptions): Promise<Form[]> {
    const known = this.#known;
    if (known === undefined) return this.all(call);
    const { page, before } = this.#turn;
    const { list, total } = await this.#client.formsPage(page, call);
    const isAsKnown = list.length > 0 && list.every(({ id }) => known.has(id));
    if (total !== known.size || !isAsKnown) return this.all(call);
    for (const form of list) known.set(form.id, form);
    const shown = before + list.length;
    this.#turn = shown < total ? { page: page + 1, before: shown } : { page: 1, before: 0 };
    return [...known.values()];
  }
}
