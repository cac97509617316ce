import { jsonText } from '../mirror/numbers.ts';
import { ExactNumber, type Form, type Json } from '../mirror/types.ts';
import { formFromWire } from './form-from-wire.ts';
import { type CallOptions, FormsHttp, type FormsClientOptions } from './forms-http.ts';
import { getRequest, patchRequest, pathSegment, postRequest } from './forms-request.ts';
import { type EnvelopeWire, envelopeSchema } from './schemas.ts';
import { singleSubmission, submissionItem, type SubmissionItem } from './submission-item.ts';

export type { CallOptions, FormsClientOptions, FormsRetryNotice } from './forms-http.ts';
export type { SubmissionItem } from './submission-item.ts';

/** Which submissions to list; everything but form and page is optional. */
export interface SubmissionQuery {
  readonly formId: string;
  /** From 1. */
  readonly page: number;
  /** Page size asked for; default 100, the most that the API gives. It may give fewer. */
  readonly limit?: number | undefined;
  readonly status?: string | undefined;
  /** ISO 8601. What they are compared with, and how, the API does not say. */
  readonly dateFrom?: string | undefined;
  readonly dateTo?: string | undefined;
  readonly search?: string | undefined;
  readonly sortBy?: string | undefined;
  readonly sortOrder?: string | undefined;
}

/** One page of the submissions list. */
export interface SubmissionPage {
  readonly items: readonly SubmissionItem[];
  /** How many match in all, as the server says. */
  readonly total: number;
  /** As the server says; as asked when it does not. */
  readonly page: number;
  /** As the server says; reckoned from total and limit when it does not. */
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
 * The six endpoints of the Forms API, typed. All calls of one client share its connections and its bound on requests in
 * flight. Safe to use from many places at once.
 *
 * Every call is retried on 5xx, 429, network faults, silence and damaged answers, as the retry policy says; {@link submit}
 * only when nothing can have come of it. Rejects with FormsApiError, or with CANCELLED when its signal aborts. After a
 * 401 every call, running or new, rejects with that one error and nothing more is sent for 45 seconds;
 * then the key is tried again.
 */
export class FormsClient implements AsyncDisposable {
  readonly #http: FormsHttp;

  /** Opens no connection yet. Throws SETTINGS for an address, key or concurrency that cannot work. */
  constructor(options: FormsClientOptions) {
    this.#http = new FormsHttp(options);
  }

  /**
   * Every form of the workspace once, in the order of the list. A list that moves while it is read is read once more; an
   * API that ignores `page` is not read for ever.
   */
  async listForms(call: CallOptions = {}): Promise<Form[]> {
    const seen = new Map<string, Form>();
    for (let round = 1; round <= LIST_ROUNDS; round++) {
      const { forms, whole } = await this.#walkForms(call);
      if (whole) return [...forms.values()];
      for (const [id, form] of forms) seen.set(id, form);
    }
    return [...seen.values()];
  }

  /** One form with its fields. FORMS_NOT_FOUND when it does not exist. */
  async getForm(id: string, call: CallOptions = {}): Promise<Form> {
    return this.#http.json(getRequest(`/forms/${pathSegment(id)}`), call, formFromWire);
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
      ['search', query.search],
      ['sortBy', query.sortBy],
      ['sortOrder', query.sortOrder],
    ]);
    return this.#http.json(request, call, (json, answer) => {
      const envelope = readEnvelope(json, query.page, limit);
      if (envelope === undefined) return undefined;
      const items = envelope.items.map((item) => submissionItem(item, query.formId));
      const serverTimeMs = Date.parse(answer.header('date') ?? '');
      return {
        ...envelope,
        items,
        serverTimeMs: Number.isNaN(serverTimeMs) ? null : serverTimeMs,
      };
    });
  }

  /** One submission, whether the API wraps it or not. FORMS_NOT_FOUND when it does not exist. */
  async getSubmission(id: string, call: CallOptions = {}): Promise<SubmissionItem> {
    const request = getRequest(`/submissions/${pathSegment(id)}`);
    return this.#http.json(request, call, (json) => singleSubmission(json, id));
  }

  /** Changes a submission's status. Any 2xx is a success. FORMS_REFUSED (status 400 or 409) when the API refuses the change. */
  async setStatus(id: string, status: string, call: CallOptions = {}): Promise<void> {
    const path = `/submissions/${pathSegment(id)}/status`;
    return this.#http.done(patchRequest(path, 'status', status), call);
  }

  /**
   * Submits answers, by field ID. Any 2xx is a success. Repeated only when nothing can have come of it: no connection,
   * 429, 503, or 500, which the API calls safe to retry. After another failure (its message says so) the submission may
   * be there. FORMS_REFUSED with `fields` when answers are missing or wrong; with status 409 on a known contract ID.
   */
  async submit(
    slug: string,
    data: ReadonlyMap<string, Json>,
    call: CallOptions = {},
  ): Promise<void> {
    // By hand, as an object would lose a field called __proto__.
    const answers = [...data].map(([id, answer]) => `${JSON.stringify(id)}:${jsonText(answer)}`);
    const path = `/forms/${pathSegment(slug)}/submit`;
    const secrets = [...data.values()].flatMap(textsOf);
    return this.#http.done(postRequest(path, `{"data":{${answers.join(',')}}}`, secrets), call);
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
      // The list's parameters are not documented: the first page is asked for without any.
      const request = getRequest('/forms', [['page', page === 1 ? undefined : page]]);
      const { list, total, totalPages } = await this.#http.json(request, call, (json) =>
        readForms(json, page),
      );
      totals.add(total);
      const before = forms.size;
      for (const form of list) if (!forms.has(form.id)) forms.set(form.id, form);
      if (page >= totalPages || forms.size === before) {
        return { forms, whole: totals.size === 1 && totals.has(forms.size) };
      }
    }
  }
}

interface Envelope {
  items: readonly unknown[];
  total: number;
  page: number;
  limit: number;
  totalPages: number;
}

/** An envelope with the gaps filled; undefined when it is none. */
function readEnvelope(json: Json, askedPage: number, askedLimit: number): Envelope | undefined {
  const parsed = envelopeSchema.safeParse(json);
  if (!parsed.success) return undefined;
  const wire: EnvelopeWire = parsed.data;
  const limit = wire.limit ?? askedLimit;
  return {
    items: wire.items,
    total: wire.total,
    page: wire.page ?? askedPage,
    limit,
    totalPages: wire.totalPages ?? Math.ceil(wire.total / limit),
  };
}

/** One page of the list of forms; undefined when it, or one of its forms, cannot be understood. */
function readForms(
  json: Json,
  page: number,
): { list: Form[]; total: number; totalPages: number } | undefined {
  const wire = envelopeSchema.safeParse(json);
  if (!wire.success) return undefined;
  const list = wire.data.items.map(formFromWire);
  if (!list.every((form) => form !== undefined)) return undefined;
  const { total } = wire.data;
  // Without a number of pages: go on while pages bring something new.
  const totalPages = wire.data.totalPages ?? (list.length < total ? Infinity : page);
  return { list, total, totalPages };
}

/** Every text and number in an answer, so that no error repeats one. */
function textsOf(answer: Json): string[] {
  if (typeof answer === 'string') return [answer];
  if (typeof answer === 'number') return [String(answer)];
  if (answer instanceof ExactNumber) return [answer.digits];
  if (typeof answer !== 'object' || answer === null) return [];
  return Object.values(answer).flatMap(textsOf);
}
