import { jsonReply, type Reply } from '../reply.ts';
import type { Answers } from './answers.ts';
import type { SandboxBehaviour, WriteReply } from './behaviour.ts';
import { fieldsOf, type SandboxForm } from './workspace-forms.ts';
import { decodeJson, encodeJson, isObject } from './json.ts';
import { parseFormsPage, parseListQuery } from './list-query.ts';
import { showForm, showSubmission, type WireObject } from './presentation.ts';
import { type FieldError, Problem } from './problem.ts';
import type { FormsStore, StoredSubmission } from './store.ts';
import { pagesOf, type SubmissionLists } from './submission-lists.ts';
import { answersOf } from './submission-table.ts';
import { type Json, STATUSES } from '../../mirror/types.ts';

/** A request that has a valid key, ready to be served. */
export interface ApiRequest {
  readonly method: string;
  /** Without the base prefix; percent-encoded as it came. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly contentType: string | undefined;
  readonly body: string;
  /** Counts the server's requests, from 1. */
  readonly number: number;
}

/** The workspace that a request is served from, and the behaviour to show. */
export interface ApiContext {
  readonly store: FormsStore;
  readonly lists: SubmissionLists;
  readonly behaviour: SandboxBehaviour;
}

type Endpoint = (request: ApiRequest, context: ApiContext, parameter: string) => Reply;

/** Every path of the specification; `([^/]+)` stands for its parameter. */
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
  const asked = parseFormsPage(query);
  const forms = store.forms();
  const { formsPage, formsPageSize } = behaviour;
  const first = formsPage === 'honoured' ? (asked - 1) * formsPageSize : 0;
  const items = forms.slice(first, first + formsPageSize);
  return showJson(200, {
    items: items.map((form) => showForm(form, store, behaviour)),
    total: forms.length,
    page: formsPage === 'ignored' ? 1 : asked,
    ...shownPages(pagesOf(forms.length, formsPageSize, behaviour), behaviour),
    ...(behaviour.extraFields && { links: { next: null } }),
  });
}

function getForm(_request: ApiRequest, { store, behaviour }: ApiContext, id: string): Reply {
  const form = store.form(id);
  if (!form) throw new Problem(404, 'There is no such form.');
  return showJson(200, showForm(form, store, behaviour));
}

function listSubmissions({ query, number }: ApiRequest, context: ApiContext): Reply {
  const { store, lists, behaviour } = context;
  const asked = parseListQuery(query, behaviour);
  const unknown = asked.formId !== undefined && !store.form(asked.formId);
  if (unknown && behaviour.unknownFormFilter === 'not-found') {
    throw new Problem(404, 'There is no such form.');
  }
  const page = lists.page(asked, behaviour, number);
  if (page.page > Math.max(1, page.totalPages)) refusePastLastPage(behaviour);
  return showJson(200, {
    items: page.items.map((submission) => showSubmission(submission, store, behaviour)),
    total: page.total,
    page: page.page,
    limit: asked.limit,
    ...shownPages(page.totalPages, behaviour),
    ...(behaviour.extraFields && { links: { next: null } }),
  });
}

function shownPages(
  totalPages: number,
  behaviour: SandboxBehaviour,
): { readonly totalPages?: number } {
  if (behaviour.totalPages === 'absent') return {};
  return { totalPages: behaviour.totalPages === 'absurd' ? 1_000_000_000 : totalPages };
}

function refusePastLastPage({ pastLastPage, submissionsPage }: SandboxBehaviour): void {
  if (pastLastPage === 'empty' || submissionsPage !== 'honoured') return;
  if (pastLastPage === 'not-found') throw new Problem(404, 'There is no such page.');
  throw new Problem(400, 'There is no such page.', [{ field: 'page', message: 'is too high' }]);
}

function getSubmission(_request: ApiRequest, context: ApiContext, id: string): Reply {
  return showJson(200, wrapped(existing(context.store, id), context));
}

function patchStatus(request: ApiRequest, context: ApiContext, id: string): Reply {
  const { store, behaviour } = context;
  const body = readBody(request);
  const submission = existing(store, id);
  const allowed: readonly string[] = [...STATUSES, ...behaviour.extraStatuses];
  const { status } = body;
  if (typeof status !== 'string' || !allowed.includes(status)) {
    const message = `must be one of ${allowed.join(', ')}`;
    throw new Problem(400, 'The status is not valid.', [{ field: 'status', message }]);
  }
  const refusal = behaviour.refuseTransition(submission, status);
  if (refusal !== undefined) {
    const message = `cannot follow ${submission.status}`;
    throw new Problem(refusal, 'The status cannot be changed so.', [{ field: 'status', message }]);
  }
  store.setStatus(id, status);
  return showWrite(behaviour.patchReply, existing(store, id), context);
}

function submit(request: ApiRequest, context: ApiContext, slug: string): Reply {
  const { store, behaviour } = context;
  const form = store.formBySlug(slug);
  if (!form) throw new Problem(404, 'There is no such form.');
  const body = readBody(request);
  if (!isObject(body['data'])) {
    throw new Problem(400, 'The submission is not valid.', [
      { field: 'data', message: 'must be an object of answers by field ID' },
    ]);
  }
  const data = new Map(answersOf(body['data']));
  const missing = missingFields(form, data);
  if (missing.length > 0) throw new Problem(400, 'Required fields are missing.', missing);
  const contractId = takeContractId(body, data, behaviour);
  if (contractId !== undefined && store.byContract(contractId)) {
    throw new Problem(409, 'A submission with this contract ID exists already.');
  }
  const made = store.insert({
    formId: form.id,
    data,
    ...(contractId !== undefined && { contractId }),
  });
  return showWrite(behaviour.submitReply, made, context);
}

function takeContractId(
  body: { readonly [key: string]: Json },
  data: Map<string, Json>,
  behaviour: SandboxBehaviour,
): string | undefined {
  const inBody = behaviour.contractIdIn === 'body';
  const contractId = inBody ? body['contractId'] : data.get('contractId');
  if (contractId === undefined || contractId === null) return undefined;
  if (typeof contractId !== 'string') {
    throw new Problem(400, 'The contract ID is not valid.', [
      { field: 'contractId', message: 'must be a string' },
    ]);
  }
  if (!inBody) data.delete('contractId');
  return contractId;
}

function missingFields(form: SandboxForm, data: Answers): FieldError[] {
  return fieldsOf(form)
    .filter((field) => field.required && isBlank(data.get(field.id)))
    .map((field) => ({ field: field.id, message: 'is required' }));
}

function isBlank(answer: Json | undefined): boolean {
  return (
    answer === undefined || answer === null || (typeof answer === 'string' && answer.trim() === '')
  );
}

function existing(store: FormsStore, id: string): StoredSubmission {
  const submission = store.get(id);
  if (!submission) throw new Problem(404, 'There is no such submission.');
  return submission;
}

function readBody({ body, contentType }: ApiRequest): { readonly [key: string]: Json } {
  if (contentType?.split(';')[0]?.trim().toLowerCase() !== 'application/json') {
    throw new Problem(400, 'The body must be sent as application/json.');
  }
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

function showWrite(reply: WriteReply, submission: StoredSubmission, context: ApiContext): Reply {
  const { status, body } = reply;
  if (status === 204 || body === 'none') return { status, headers: {}, body: '' };
  if (body === 'text') return { status, headers: { 'content-type': 'text/plain' }, body: 'OK' };
  return showJson(status, body === 'success' ? { success: true } : wrapped(submission, context));
}

const showJson = (status: number, value: WireObject): Reply => jsonReply(status, encodeJson(value));
