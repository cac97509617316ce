import { type Json, STATUSES } from '../mirror/types.ts';
import type { SandboxBehaviour, WriteReply } from './behaviour.ts';
import type { Reply } from './faults.ts';
import { readFormsPage, submissionsPage } from './lists.ts';
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
  /** Counts the server's requests, from 1. */
  readonly number: number;
}

/** The workspace that a request is served from, and the behavior to show. */
export interface ApiContext {
  readonly store: FormsStore;
  readonly behaviour: SandboxBehaviour;
}

type Endpoint = (request: ApiRequest, context: ApiContext, parameter: string) => Reply;

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
export function serveRequest(request: ApiRequest, context: ApiContext): Reply {
  for (const [method, pattern, serve] of ENDPOINTS) {
    const match = request.method === method ? pattern.exec(request.path) : null;
    if (match) return serve(request, context, decodeParameter(match[1] ?? ''));
  }
  throw new Problem(404, 'There is no such endpoint.');
}

function listForms({ query }: ApiRequest, { store, behaviour }: ApiContext): Reply {
  const { formsPage, formsPageSize: limit, extraFields } = behaviour;
  const page = formsPage === 'honoured' ? readFormsPage(query) : 1;
  const forms = store.forms();
  const items = forms.slice((page - 1) * limit, page * limit);
  return showJson(200, {
    items: items.map((form) => showForm(form, store, behaviour)),
    total: forms.length,
    page,
    ...shownPages(forms.length, limit, behaviour),
    ...(extraFields && { links: { next: null } }),
  });
}

function getForm(_request: ApiRequest, { store, behaviour }: ApiContext, id: string): Reply {
  const form = store.form(id);
  if (!form) throw new Problem(404, 'There is no such form.');
  return showJson(200, showForm(form, store, behaviour));
}

function listSubmissions({ query, number }: ApiRequest, { store, behaviour }: ApiContext): Reply {
  const { items, total, page, limit } = submissionsPage(query, store, behaviour, number);
  return showJson(200, {
    items: items.map((submission) => showSubmission(submission, store, behaviour)),
    total,
    page,
    limit,
    ...shownPages(total, limit, behaviour),
    ...(behaviour.extraFields && { links: { next: null } }),
  });
}

function shownPages(
  total: number,
  limit: number,
  { totalPages, emptyTotalPages }: SandboxBehaviour,
): { readonly totalPages?: number } {
  if (totalPages === 'absent') return {};
  if (totalPages === 'absurd') return { totalPages: 1_000_000_000 };
  return { totalPages: total === 0 ? emptyTotalPages : Math.ceil(total / limit) };
}

function getSubmission(_request: ApiRequest, context: ApiContext, id: string): Reply {
  return showJson(200, wrapped(existing(context.store, id), context));
}

function patchStatus(request: ApiRequest, context: ApiContext, id: string): Reply {
  const { store, behaviour } = context;
  const { status } = readBody(request);
  const submission = existing(store, id);
  if (typeof status !== 'string' || !STATUSES.some((one) => one === status)) {
    const message = `must be one of ${STATUSES.join(', ')}`;
    throw new Problem(400, 'The status is not valid.', [{ field: 'status', message }]);
  }
  const refusal = behaviour.refuseTransition(submission, status);
  if (refusal !== undefined) {
    const message = `cannot follow ${submission.status}`;
    throw new Problem(refusal, 'The status cannot be changed so.', [{ field: 'status', message }]);
  }
  store.setStatus(id, status);
  return showWrite(behaviour.patchReply, submission, context);
}

function submit(request: ApiRequest, context: ApiContext, slug: string): Reply {
  const { store, behaviour } = context;
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
  return showWrite(behaviour.submitReply, store.insert({ formId: form.id, data }), context);
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

function wrapped(submission: StoredSubmission, { store, behaviour }: ApiContext): WireObject {
  const shown = showSubmission(submission, store, behaviour);
  return behaviour.wrapper === null ? shown : { [behaviour.wrapper]: shown };
}

function showWrite(
  { status, body }: WriteReply,
  submission: StoredSubmission,
  context: ApiContext,
): Reply {
  if (status === 204 || body === 'none') return { status, headers: {}, body: '' };
  if (body === 'text') return { status, headers: { 'content-type': 'text/plain' }, body: 'OK' };
  return showJson(status, body === 'success' ? { success: true } : wrapped(submission, context));
}

/** A form as the API shows it. */
function showForm(form: SandboxForm, store: FormsStore, behaviour: SandboxBehaviour): WireObject {
  const extra = behaviour.extraFields;
  const sections = form.sections?.map(({ fields }, place) => ({
    ...(fields && {
      fields: fields.map(({ id, label, kind, required }) => ({
        id,
        label,
        ...(extra && { type: kind, required, options: [] }),
      })),
    }),
    ...(extra && { id: `section_${place}`, title: '' }),
  }));
  return {
    id: form.id,
    name: form.name,
    slug: form.slug,
    isPublished: form.isPublished,
    createdAt: new Date(form.createdAtMs).toISOString(),
    schema: { ...(sections && { sections }), logic: [], ...(extra && { version: 3 }) },
    ...(extra && { theme: { color: '#3366ff' }, responsesCount: null }),
    ...store.distortionOf(form.id),
  };
}

/** A submission as the API shows it. */
function showSubmission(
  { id, formId, status, createdAt, data, updatedAtMs }: StoredSubmission,
  store: FormsStore,
  { shownFormId, extraFields }: SandboxBehaviour,
): WireObject {
  return {
    id,
    ...(shownFormId === 'shown' && { formId }),
    status,
    createdAt,
    data: new Map(data),
    ...(extraFields && {
      updatedAt: new Date(updatedAtMs).toISOString(),
      source: { kind: 'web', tags: [] },
      score: null,
    }),
    ...store.distortionOf(id),
  };
}
