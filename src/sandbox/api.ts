import { z } from 'zod';
import { isJsonObject, parseJson } from '../mirror/json.ts';
import { answerOf, type Json, STATUSES } from '../mirror/types.ts';
import { jsonReply, type Reply } from './reply.ts';
import { fieldsOf, type FormsStore, type SandboxForm, type StoredSubmission } from './store.ts';

/** A request that has a valid key, ready to be served. */
export interface ApiRequest {
  readonly method: string;
  /** Without the base prefix, percent-encoded as received. A path outside of the prefix begins with `..`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly contentType: string | undefined;
  readonly body: string;
}

/** The error of one field or parameter of a request. */
interface FieldError {
  readonly field: string;
  readonly message: string;
}

/** A request that the API refuses. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: keyof typeof CODES;
  readonly fields: readonly FieldError[];

  constructor(status: Problem['status'], message: string, fields: readonly FieldError[] = []) {
    super(message);
    this.status = status;
    this.fields = fields;
  }
}

const CODES = {
  400: 'bad_request',
  401: 'unauthorized',
  404: 'not_found',
} as const;

/** The response to a refused request. */
export const problemReply = ({ status, message, fields }: Problem): Reply =>
  showJson(status, { error: CODES[status], message, ...(status === 400 && { fields }) });

const showJson = (status: number, value: object): Reply => jsonReply(status, JSON.stringify(value));

/** The largest page of forms. */
const FORMS_PAGE = 50;

type Endpoint = (request: ApiRequest, store: FormsStore, parameter: string) => Reply;

/** Every path of the specification; `([^/]+)` is its parameter. */
const ENDPOINTS: readonly (readonly [method: string, path: RegExp, serve: Endpoint])[] = [
  ['GET', /^\/forms$/, listForms],
  ['GET', /^\/forms\/([^/]+)$/, getForm],
  ['POST', /^\/forms\/([^/]+)\/submit$/, submit],
  ['GET', /^\/submissions$/, listSubmissions],
  ['GET', /^\/submissions\/([^/]+)$/, getSubmission],
  ['PATCH', /^\/submissions\/([^/]+)\/status$/, patchStatus],
];

/** Serves a request, including its effect on the store. Throws {@link Problem}. */
export function serveRequest(request: ApiRequest, store: FormsStore): Reply {
  for (const [method, pattern, serve] of ENDPOINTS) {
    const match = request.method === method ? pattern.exec(request.path) : null;
    if (match) return serve(request, store, decodeParameter(match[1] ?? ''));
  }
  throw new Problem(404, 'There is no such endpoint.');
}

function listForms({ query }: ApiRequest, store: FormsStore): Reply {
  const { page } = read(formsQuery, query);
  const forms = store.forms();
  const items = forms.slice((page - 1) * FORMS_PAGE, page * FORMS_PAGE);
  return showJson(200, {
    items: items.map((form) => showForm(form, store)),
    total: forms.length,
    page,
    totalPages: Math.ceil(forms.length / FORMS_PAGE),
  });
}

function getForm(_request: ApiRequest, store: FormsStore, id: string): Reply {
  const form = store.form(id);
  if (!form) throw new Problem(404, 'There is no such form.');
  return showJson(200, showForm(form, store));
}

/** The newest first, unless the query asks otherwise. */
function listSubmissions({ query }: ApiRequest, store: FormsStore): Reply {
  const { formId, status, dateFrom, dateTo, page, sortOrder, ...asked } = read(
    submissionsQuery,
    query,
  );
  const limit = Math.min(asked.limit, MAX_LIMIT);
  const matching = store
    .byTime(formId)
    .filter(
      (one) =>
        (status === undefined || one.status === status) &&
        (dateFrom === undefined || one.createdAtMs >= dateFrom) &&
        (dateTo === undefined || one.createdAtMs <= dateTo),
    );
  if (sortOrder !== 'asc') matching.reverse();
  const items = matching.slice((page - 1) * limit, page * limit);
  return showJson(200, {
    items: items.map((submission) => showSubmission(submission, store)),
    total: matching.length,
    page,
    limit,
    totalPages: Math.ceil(matching.length / limit),
  });
}

function getSubmission(_request: ApiRequest, store: FormsStore, id: string): Reply {
  return showJson(200, showSubmission(existing(store, id), store));
}

function patchStatus(request: ApiRequest, store: FormsStore, id: string): Reply {
  const { status } = readBody(request);
  const submission = existing(store, id);
  if (typeof status !== 'string' || !STATUSES.some((one) => one === status)) {
    const message = `must be one of ${STATUSES.join(', ')}`;
    throw new Problem(400, 'The status is not valid.', [{ field: 'status', message }]);
  }
  store.setStatus(id, status);
  return showJson(200, showSubmission(submission, store));
}

function submit(request: ApiRequest, store: FormsStore, slug: string): Reply {
  const form = store.formBySlug(slug);
  if (!form) throw new Problem(404, 'There is no such form.');
  const { data } = readBody(request);
  if (!isJsonObject(data)) {
    throw new Problem(400, 'The submission is not valid.', [
      { field: 'data', message: 'must be an object of answers by field ID' },
    ]);
  }
  const missing = fieldsOf(form)
    .filter(({ id, required }) => required && isBlank(answerOf(data, id)))
    .map(({ id }) => ({ field: id, message: 'is required' }));
  if (missing.length > 0) throw new Problem(400, 'Required fields are missing.', missing);
  return showJson(201, showSubmission(store.insert({ formId: form.id, data }), store));
}

const isBlank = (answer: Json | undefined): boolean =>
  answer === undefined || answer === null || (typeof answer === 'string' && answer.trim() === '');

function existing(store: FormsStore, id: string): StoredSubmission {
  const submission = store.get(id);
  if (!submission) throw new Problem(404, 'There is no such submission.');
  return submission;
}

function readBody({ body, contentType }: ApiRequest): { readonly [key: string]: Json } {
  if (contentType?.split(';')[0]?.trim().toLowerCase() !== 'application/json')
    throw new Problem(400, 'The body must be sent as application/json.');
  const value = parseJson(body);
  if (!isJsonObject(value)) throw new Problem(400, 'The body must be a JSON object.');
  return value;
}

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 100;

const bound = z
  .union([z.iso.datetime({ offset: true, local: true }), z.iso.date()], 'must be an ISO 8601 date')
  // Here, a date-time without a zone is UTC, as a date is in the standard.
  .transform((iso) => Date.parse(/T[^Z+-]*$/.test(iso) ? `${iso}Z` : iso))
  .optional();

const A_COUNT = 'must be a whole number from 1';
const count = z.coerce.number<string>(A_COUNT).int(A_COUNT).positive(A_COUNT);

const oneOf = <const T extends string>(words: readonly T[]) =>
  z.enum(words, `must be one of ${words.join(', ')}`).optional();

const formsQuery = z.object({ page: count.default(1) });

const submissionsQuery = formsQuery.extend({
  formId: z.string().optional(),
  status: oneOf(STATUSES),
  dateFrom: bound,
  dateTo: bound,
  limit: count.default(DEFAULT_LIMIT),
  sortBy: oneOf(['submittedAt']),
  sortOrder: oneOf(['desc', 'asc']),
});

/** Reads the query parameters; an empty one counts as absent. Throws a 400 that lists every wrong one. */
function read<T extends z.ZodType>(schema: T, query: URLSearchParams): z.output<T> {
  const given = Object.fromEntries([...query].filter(([, text]) => text !== ''));
  const { data, error } = schema.safeParse(given);
  if (data !== undefined) return data;
  const wrong = (error?.issues ?? []).map(({ path, message }) => {
    return { field: String(path[0]), message };
  });
  throw new Problem(400, 'The query is not valid.', wrong);
}

function decodeParameter(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Problem(400, 'The path is not valid.');
  }
}

/** A form in the API's shape. */
function showForm(
  { id, name, slug, createdAtMs, sections: all }: SandboxForm,
  store: FormsStore,
): object {
  const sections = all.map((fields) => ({
    fields: fields.map((field) => ({ id: field.id, label: field.label })),
  }));
  return {
    id,
    name,
    slug,
    isPublished: true,
    createdAt: new Date(createdAtMs).toISOString(),
    schema: { sections, logic: [] },
    ...store.distortionOf(id),
  };
}

/** A submission in the API's shape. */
function showSubmission(
  { id, formId, status, createdAt, data }: StoredSubmission,
  store: FormsStore,
): object {
  return { id, formId, status, createdAt, data, ...store.distortionOf(id) };
}
