import { type Json, STATUSES } from '../mirror/types.ts';
import { readFormsPage, submissionsPage } from './lists.ts';
import type { Reply } from './reply.ts';
import {
  type Answers,
  fieldsOf,
  type FormsStore,
  type SandboxForm,
  type StoredSubmission,
} from './store.ts';
import {
  decodeJson,
  type FieldError,
  isObject,
  Problem,
  showJson,
  type WireObject,
} from './wire.ts';

/** A request that has a valid key, ready to be served. */
export interface ApiRequest {
  readonly method: string;
  /** Without the base prefix, percent-encoded as it came; one that is outside of it begins with `..`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly contentType: string | undefined;
  readonly body: string;
}

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

/** Serves a request, its effect on the store included. Throws {@link Problem}. */
export function serveRequest(request: ApiRequest, store: FormsStore): Reply {
  for (const [method, pattern, serve] of ENDPOINTS) {
    const match = request.method === method ? pattern.exec(request.path) : null;
    if (match) return serve(request, store, decodeParameter(match[1] ?? ''));
  }
  throw new Problem(404, 'There is no such endpoint.');
}

function listForms({ query }: ApiRequest, store: FormsStore): Reply {
  const page = readFormsPage(query);
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

function listSubmissions({ query }: ApiRequest, store: FormsStore): Reply {
  const { items, total, page, limit } = submissionsPage(query, store);
  return showJson(200, {
    items: items.map((submission) => showSubmission(submission, store)),
    total,
    page,
    limit,
    totalPages: Math.ceil(total / limit),
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
  const { data: answers } = readBody(request);
  if (!isObject(answers)) {
    throw new Problem(400, 'The submission is not valid.', [
      { field: 'data', message: 'must be an object of answers by field ID' },
    ]);
  }
  const data = new Map(Object.entries(answers));
  const missing = missingFields(form, data);
  if (missing.length > 0) throw new Problem(400, 'Required fields are missing.', missing);
  return showJson(201, showSubmission(store.insert({ formId: form.id, data }), store));
}

const missingFields = (form: SandboxForm, data: Answers): FieldError[] =>
  fieldsOf(form)
    .filter(({ id, required }) => required && isBlank(data.get(id)))
    .map(({ id }) => ({ field: id, message: 'is required' }));

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
  let value: Json;
  try {
    value = decodeJson(body);
  } catch {
    throw new Problem(400, 'The body is not JSON.');
  }
  if (!isObject(value)) throw new Problem(400, 'The body must be a JSON object.');
  return value;
}

function decodeParameter(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Problem(400, 'The path is not valid.');
  }
}

/** A form as the API shows it. */
function showForm(form: SandboxForm, store: FormsStore): WireObject {
  const sections = form.sections?.map(({ fields }) => ({
    ...(fields && { fields: fields.map(({ id, label }) => ({ id, label })) }),
  }));
  return {
    id: form.id,
    name: form.name,
    slug: form.slug,
    isPublished: form.isPublished,
    createdAt: new Date(form.createdAtMs).toISOString(),
    schema: { ...(sections && { sections }), logic: [] },
    ...store.distortionOf(form.id),
  };
}

/** A submission as the API shows it. */
function showSubmission(
  { id, formId, status, createdAt, data }: StoredSubmission,
  store: FormsStore,
): WireObject {
  return { id, formId, status, createdAt, data: new Map(data), ...store.distortionOf(id) };
}
