import type { Behaviour } from './behaviours.ts';
import type { Random } from './random.ts';
import { STATUSES, type Source, type SourceForm, type Submission } from './source.ts';

export interface ApiRequest {
  readonly method: string;
  /** Path and query below the base address. */
  readonly path: string;
  readonly body: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The connection breaks after this many characters of the body. */
  readonly cutAt?: number;
}

/** The knowledge and the actions of a process, for the judges. */
export interface ApiLog {
  /** The status that the process last read of a submission, and where. */
  readonly read: Map<string, { readonly status: string; readonly byId: boolean }>;
  /** When an ID was last answered with 404 or 410. */
  readonly gone: Map<string, number>;
}

export const newApiLog = (): ApiLog => ({ read: new Map(), gone: new Map() });

/** How often requests fail, and whether any request fails. */
export interface Faults {
  rate: number;
  /** Every request about this form fails. */
  brokenForm: string | null;
}

const JSON_TYPE = { 'content-type': 'application/json' };
export const API_KEY = 'frm_SiMuLaTeDkEy';

/** The Forms API of the source: answers one request by the state of the source at this instant. */
export class Api {
  readonly source: Source;
  readonly faults: Faults = { rate: 0, brokenForm: null };
  random: Random;
  readonly #pageSize: number;

  constructor(source: Source, pageSize: number, random: Random) {
    this.source = source;
    this.#pageSize = pageSize;
    this.random = random;
  }

  get #behaviour(): Behaviour {
    return this.source.behaviour;
  }

  /** Undefined: the connection breaks without an answer. */
  answer(request: ApiRequest, log: ApiLog): ApiResponse | undefined {
    const url = new URL(request.path, 'http://source');
    const fault = this.#fault(url);
    if (fault !== null) return fault;
    const authorized = request.headers['authorization'] === `Bearer ${API_KEY}`;
    if (!authorized) return this.#error(401, 'unauthorized');
    const parts = url.pathname
      .split('/')
      .filter((part) => part !== '')
      .map(decodeURIComponent);
    const [resource, id, action] = parts;
    if (resource === 'forms' && id === undefined) return this.#formList(url.searchParams);
    if (resource === 'forms' && id !== undefined) return this.#form(id);
    if (resource !== 'submissions') return this.#error(404, 'no such path');
    if (id === undefined) return this.#list(url.searchParams, log);
    if (action === 'status') return this.#patch(id, request);
    return this.#single(id, log);
  }

  #fault(url: URL): ApiResponse | undefined | null {
    const { rate, brokenForm } = this.faults;
    const text = decodeURIComponent(url.pathname + url.search);
    if (brokenForm !== null && text.includes(brokenForm)) return this.#error(500, 'broken');
    if (rate === 0 || !this.random.chance(rate)) return null;
    const kind = this.random.pick([
      '500',
      '503',
      '429',
      '429-later',
      'reset',
      'cut',
      'html',
    ] as const);
    switch (kind) {
      case 'reset':
        return undefined;
      case '500':
        return this.#error(500, 'failed');
      case '503':
        return this.#error(503, 'unavailable');
      case '429':
        return this.#error(429, 'slow down');
      case '429-later':
        return this.#error(429, 'slow down', { 'retry-after': '2' });
      case 'cut':
        return { status: 200, headers: JSON_TYPE, body: '{"items":[{"id":"s1', cutAt: 12 };
      case 'html':
        return {
          status: 200,
          headers: { 'content-type': 'text/html' },
          body: '<html>One moment</html>',
        };
    }
  }

  #error(status: number, text: string, headers: Record<string, string> = {}): ApiResponse {
    const kind = this.#behaviour.errorBody;
    const body = {
      json: JSON.stringify({ error: text }),
      html: `<h1>${text}</h1>`,
      empty: '',
      cut: '{"error":"',
    }[kind];
    return {
      status,
      headers: { ...headers, ...(kind === 'html' ? { 'content-type': 'text/html' } : JSON_TYPE) },
      body,
    };
  }

  #ok(body: unknown, status = 200): ApiResponse {
    const { dateHeader } = this.#behaviour;
    const ms = this.source.now + (dateHeader === 'future' ? 3_600_000 : 0);
    const date = dateHeader === 'missing' ? {} : { date: new Date(ms).toUTCString() };
    return { status, headers: { ...JSON_TYPE, ...date }, body: JSON.stringify(body) };
  }

  #formList(query: URLSearchParams): ApiResponse {
    const all = this.source.forms.filter(({ exists }) => exists);
    const size = this.#behaviour.formsPaging === 'honoured' ? 2 : 100;
    const page = Math.max(1, Number(query.get('page') ?? 1));
    const items = all.slice((page - 1) * size, page * size).map((form) => this.#formItem(form));
    const totalPages = Math.max(this.#behaviour.emptyPages, Math.ceil(all.length / size));
    return this.#ok({ items, total: all.length, page, totalPages });
  }

  #form(id: string): ApiResponse {
    const form = this.source.formOf(id);
    return form?.exists === true
      ? this.#ok(this.#formItem(form))
      : this.#error(404, 'no such form');
  }

  #formItem(form: SourceForm): Record<string, unknown> {
    const fields = form.fields
      .filter(({ exists }) => exists)
      .map(({ id, label }) => ({ id, label, type: 'text' }));
    const half = Math.ceil(fields.length / 2);
    const sections = [{ fields: fields.slice(0, half) }, { fields: fields.slice(half) }, {}];
    const schema = this.#behaviour.sections === 'absent' ? { logic: [] } : { sections, logic: [] };
    return {
      id: form.id,
      name: form.name,
      slug: form.slug,
      isPublished: true,
      createdAt: '2026-01-01T00:00:00Z',
      schema,
    };
  }

  /** Submissions of forms that exist. */
  #there(): Submission[] {
    return this.source
      .existing()
      .filter(({ formId }) => this.source.formOf(formId)?.exists === true);
  }

  #list(query: URLSearchParams, log: ApiLog): ApiResponse {
    const behaviour = this.#behaviour;
    const formId = query.get('formId');
    const status = query.get('status');
    // A source that ignores `formId` cannot miss it.
    const isWorkspace = formId === null && behaviour.formFilter === 'honoured';
    if (isWorkspace && behaviour.workspaceList === 'refused')
      return this.#error(400, 'formId is required');
    const isSilent =
      (behaviour.okWithError === 'sometimes' && this.random.chance(0.15)) ||
      (behaviour.okWithError === 'always-for-a-form' && formId === this.source.forms[0]?.id);
    if (isSilent)
      return this.#ok({ error: 'timeout', items: [], total: 0, page: 1, limit: 50, totalPages: 1 });
    const isUnknown = formId !== null && this.source.formOf(formId)?.exists !== true;
    if (isUnknown && behaviour.unknownForm === '404') return this.#error(404, 'no such form');
    if (behaviour.bounds === 'refused' && (query.has('dateFrom') || query.has('dateTo')))
      return this.#error(400, 'dateFrom is not supported');
    const isOtherSort =
      query.has('sortBy') &&
      (query.get('sortBy') !== 'submittedAt' || (query.get('sortOrder') ?? 'desc') !== 'desc');
    if (isOtherSort && behaviour.otherSorts === 'refused')
      return this.#error(400, 'sortBy is not supported');
    const ignoresStatus =
      behaviour.statusFilter === 'ignored' ||
      (behaviour.statusFilter === 'ignored-without-form' && formId === null);
    let found = isWorkspace && behaviour.workspaceList === 'empty' ? [] : this.#there();
    if (formId !== null && behaviour.formFilter === 'honoured')
      found = found.filter((each) => each.formId === formId);
    if (status !== null && !ignoresStatus)
      found = found.filter((each) => each.status === status && each.defect !== 'status');
    found = this.#bounded(found, query);
    const isAscending =
      isOtherSort && behaviour.otherSorts === 'honoured' && query.get('sortOrder') === 'asc';
    found = this.#ordered(found, isAscending);
    const entries = found.flatMap((each) => Array.from({ length: each.copies }, () => each));
    const counted = behaviour.doubles === 'counted-twice' ? entries.length : found.length;
    const limit = Math.min(Math.max(1, Number(query.get('limit') ?? 50)), this.#pageSize);
    const page = Math.max(1, Number(query.get('page') ?? 1));
    const shown = entries.slice((page - 1) * limit, page * limit);
    for (const each of shown) log.read.set(each.id, { status: each.status, byId: false });
    const pages = Math.max(behaviour.emptyPages, Math.ceil(counted / limit));
    return this.#ok({
      items: shown.map((each) => this.#item(each)),
      ...this.#total(counted),
      page,
      limit,
      ...(behaviour.totalPages === 'missing'
        ? {}
        : { totalPages: behaviour.totalPages === 'absurd' ? 1e15 : pages }),
    });
  }

  #total(count: number): Record<string, unknown> {
    switch (this.#behaviour.total) {
      case 'exact':
        return { total: count };
      case 'missing':
        return {};
      case 'text':
        return { total: String(count) };
      case 'high':
        return { total: count + 3 };
      case 'low':
        return { total: Math.max(0, count - 2) };
      case 'absurd':
        return { total: 1e15 };
    }
  }

  #bounded(found: Submission[], query: URLSearchParams): Submission[] {
    const { bounds } = this.#behaviour;
    const [fromText, toText] = [query.get('dateFrom'), query.get('dateTo')];
    if (bounds === 'ignored' || (fromText === null && toText === null)) return found;
    const from = fromText === null ? -Infinity : Date.parse(fromText);
    const to = toText === null ? Infinity : Date.parse(toText);
    const day = (ms: number): number => (bounds === 'days' ? Math.floor(ms / 86_400_000) : ms);
    return found.filter((each) => {
      const key = bounds === 'changed' ? each.changedMs : each.createdMs;
      if (each.defect === 'date') return false;
      if (bounds === 'exclusive') return key > from && key < to;
      return day(key) >= day(from) && day(key) <= day(to);
    });
  }

  #ordered(found: Submission[], isAscending: boolean): Submission[] {
    const { order, ties } = this.#behaviour;
    if (order === 'insertion') return found;
    if (order === 'by-id') return found.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const keys = new Map(
      found.map((each) => [
        each,
        order === 'shuffled' || ties === 'shuffled' ? this.random.next() : each.number,
      ]),
    );
    const tie = (a: Submission, b: Submission): number => (keys.get(b) ?? 0) - (keys.get(a) ?? 0);
    if (order === 'shuffled') return found.toSorted(tie);
    const sorted = found.toSorted((a, b) => b.createdMs - a.createdMs || tie(a, b));
    return isAscending ? sorted.toReversed() : sorted;
  }

  #item(submission: Submission): Record<string, unknown> {
    const { id, formId, status, createdMs, answers, defect } = submission;
    const item: Record<string, unknown> = {};
    if (defect !== 'id') item['id'] = id;
    if (this.#behaviour.itemForm === 'named') item['formId'] = formId;
    if (defect !== 'status') item['status'] = status;
    item['createdAt'] = defect === 'date' ? 'yesterday' : new Date(createdMs).toISOString();
    if (defect !== 'data') item['data'] = dataOf(answers);
    if (this.#behaviour.fields === 'unknown-too') item['contract'] = { id: 'c', more: [1] };
    return item;
  }

  #single(id: string, log: ApiLog): ApiResponse {
    const submission = this.source.submissions.get(id);
    const form = submission && this.source.formOf(submission.formId);
    const { sickId } = this.#behaviour;
    if (submission?.sick === true && (submission.exists || sickId !== '410'))
      return this.#sick(id, log);
    if (
      submission === undefined ||
      !submission.exists ||
      form?.exists !== true ||
      submission.defect === 'id'
    ) {
      log.gone.set(id, this.source.now);
      return this.#error(404, 'no such submission');
    }
    log.read.set(id, { status: submission.status, byId: true });
    const item = this.#item(submission);
    return this.#ok(this.#behaviour.wrapper === 'bare' ? item : { submission: item });
  }

  #sick(id: string, log: ApiLog): ApiResponse {
    const { sickId } = this.#behaviour;
    if (sickId === '410') log.gone.set(id, this.source.now);
    if (sickId === 'html')
      return { status: 200, headers: { 'content-type': 'text/html' }, body: '<p>Oops</p>' };
    return this.#error(sickId === '410' ? 410 : 500, 'sick');
  }

  #patch(id: string, request: ApiRequest): ApiResponse {
    const submission = this.source.submissions.get(id);
    if (submission?.exists !== true || this.source.formOf(submission.formId)?.exists !== true)
      return this.#error(404, 'no such submission');
    const { status } = JSON.parse(request.body ?? '{}') as { status?: string };
    if (status === undefined || !STATUSES.some((each) => each === status))
      return this.#error(400, 'status');
    const { transitions, patchAnswer } = this.#behaviour;
    if (transitions.startsWith('refused-'))
      return this.#error(Number(transitions.slice(8)), 'transition');
    if (transitions === 'some-refused' && submission.refuses) return this.#error(409, 'transition');
    if (transitions !== 'not-made' && submission.status !== status)
      this.source.setStatus(submission, status);
    switch (patchAnswer) {
      case 'submission':
        return this.#ok(this.#item(submission));
      case 'empty-object':
        return this.#ok({});
      case 'nothing':
        return { status: 204, headers: {}, body: '' };
      case 'text':
        return { status: 200, headers: { 'content-type': 'text/plain' }, body: 'OK' };
      case 'created':
        return this.#ok({ ok: true }, 201);
    }
  }
}

/** Answers as an object whose keys are its own, including `__proto__`. */
function dataOf(answers: Submission['answers']): object {
  const data = {};
  for (const [key, value] of answers) Object.defineProperty(data, key, { value, enumerable: true });
  return data;
}
