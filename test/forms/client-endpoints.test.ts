import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { FormsClient, SubmissionPage } from '../../src/forms/client.ts';
import { ExactNumber, type Json } from '../../src/mirror/types.ts';
import { DEFAULT_BEHAVIOUR } from '../../src/sandbox/behaviour.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { errorOf, makeClient } from './make-client.ts';

let sandbox: Sandbox;
let client: FormsClient;

beforeAll(async () => {
  sandbox = await startSandbox();
  const { store } = sandbox;
  store.addForm({
    id: 'form_a',
    name: 'Přihláška',
    slug: 'prihlaska',
    fields: [
      { id: 'field_1', label: 'Jméno 🎉', required: true },
      { id: '__proto__', label: 'Proto' },
    ],
  });
  store.addForm({ id: 'form_b', name: 'B', sections: [{}, { fields: [] }] });
  store.addForm({ id: 'form_c', name: 'C' });
  for (let number = 0; number < 250; number++) {
    store.insert({
      formId: 'form_a',
      id: `sub_${String(number).padStart(3, '0')}`,
      createdAt: Date.UTC(2026, 0, 1) + number * 60_000,
      status: number % 2 === 0 ? 'NEW' : 'DONE',
      data: { field_1: `Žofie ${number}`, field_9: number },
    });
  }
});

beforeEach(() => {
  sandbox.behave(DEFAULT_BEHAVIOUR);
  client = makeClient(sandbox.url, { apiKey: sandbox.apiKey });
});

afterAll(() => sandbox.stop());

const ids = (page: SubmissionPage): string[] => page.items.map((item) => item.key);

describe('GET /forms', () => {
  const all = ['form_a', 'form_b', 'form_c'];
  const listed = async (): Promise<string[]> => (await client.listForms()).map((form) => form.id);

  it('gives every form with its fields; absent sections and fields are empty', async () => {
    expect(await client.listForms()).toEqual([
      {
        id: 'form_a',
        slug: 'prihlaska',
        name: 'Přihláška',
        fields: [
          { id: 'field_1', label: 'Jméno 🎉' },
          { id: '__proto__', label: 'Proto' },
        ],
      },
      expect.objectContaining({ id: 'form_b', fields: [] }),
      expect.objectContaining({ id: 'form_c', fields: [] }),
    ]);
  });

  it.each([1, 2, 3])('walks pages of %i', async (formsPageSize) => {
    sandbox.behave({ formsPageSize });
    expect(await listed()).toEqual(all);
  });

  it('L3: does not loop when page is ignored', async () => {
    sandbox.behave({ formsPage: 'ignored', formsPageSize: 2 });
    let requests = 0;
    const forms = await client.listForms({ onAttempt: () => requests++ });
    expect(forms.map((form) => form.id)).toEqual(['form_a', 'form_b']);
    expect(requests).toBe(4);
  });

  it.each([0, 1] as const)('takes an empty workspace with %i pages', async (emptyTotalPages) => {
    await using empty = await startSandbox({ behaviour: { emptyTotalPages } });
    expect(await makeClient(empty.url, { apiKey: empty.apiKey }).listForms()).toEqual([]);
  });

  it('finds the form that another one, removed between two pages, pushed out of sight', async () => {
    await using moving = await startSandbox({
      behaviour: { formsPageSize: 2 },
      onRequest: ({ number }) => {
        if (number === 2) moving.store.deleteForm('one');
      },
    });
    for (const id of ['one', 'two', 'three', 'four']) moving.store.addForm({ id, name: id });
    const forms = await makeClient(moving.url, { apiKey: moving.apiKey }).listForms();
    expect(forms.map((form) => form.id)).toEqual(['two', 'three', 'four']);
  });
});

describe('GET /forms/:id', () => {
  it.each(['json', 'html', 'empty', 'cut'] as const)(
    'knows a 404 by its status, with a body that is %s',
    async (errorBody) => {
      sandbox.behave({ errorBody });
      expect(await errorOf(client.getForm('nowhere'))).toMatchObject({
        name: 'FormsApiError',
        code: 'FORMS_NOT_FOUND',
        status: 404,
        request: 'GET /forms/nowhere',
        retryable: false,
      });
    },
  );

  it.each(['a/b', 'ü?x=1#y', '%2e', 'a b', '../submissions'])(
    'asks for the ID %j as it is',
    async (id) => {
      await using other = await startSandbox();
      other.store.addForm({ id, name: 'odd', slug: 'odd' });
      expect(await makeClient(other.url, { apiKey: other.apiKey }).getForm(id)).toMatchObject({
        id,
      });
    },
  );

  it.each(['', '.', '..', 'x\ud800'])(
    'L8: never asks for something else instead of %j',
    async (id) => {
      for (const call of [
        client.getForm(id),
        client.getSubmission(id),
        client.setStatus(id, 'DONE'),
      ]) {
        expect(await errorOf(call)).toMatchObject({ code: 'FORMS_REFUSED' });
      }
    },
  );
});

describe('GET /submissions', () => {
  it('gives a page with its envelope and the server time', async () => {
    const page = await client.listSubmissions({ formId: 'form_a', page: 3 });
    expect(page).toMatchObject({
      total: 250,
      page: 3,
      limit: 100,
      totalPages: 3,
      items: { length: 50 },
    });
    expect(Math.abs((page.serverTimeMs ?? 0) - sandbox.store.now())).toBeLessThan(60_000);
    const last = page.items.at(-1);
    expect(last).toEqual({
      key: 'sub_000',
      submission: {
        id: 'sub_000',
        formId: 'form_a',
        status: 'NEW',
        createdAt: '2026-01-01T00:00:00.000Z',
        data: expect.anything(),
      },
      defects: [],
    });
    expect([...(last?.submission?.data ?? [])]).toEqual([
      ['field_1', 'Žofie 0'],
      ['field_9', 0],
    ]);
  });

  it('sends every filter, encoded', async () => {
    const page = await client.listSubmissions({
      formId: 'form_a',
      page: 1,
      limit: 2,
      status: 'DONE',
      dateFrom: '2026-01-01T00:10:00+00:00',
      dateTo: '2026-01-01T00:20:00.000Z',
      sortBy: 'submittedAt',
      sortOrder: 'desc',
    });
    expect(ids(page)).toEqual(['sub_019', 'sub_017']);
    expect(page).toMatchObject({ total: 5, limit: 2, totalPages: 3 });
  });

  it('says what the server says of a capped limit', async () => {
    sandbox.behave({ maxLimit: 30 });
    const page = await client.listSubmissions({ formId: 'form_a', page: 9 });
    expect(page).toMatchObject({ limit: 30, totalPages: 9, items: { length: 10 } });
  });

  it('shows why it was refused', async () => {
    sandbox.behave({ sort: 'strict' });
    const error = await errorOf(
      client.listSubmissions({ formId: 'form_a', page: 1, sortBy: 'id' }),
    );
    expect(error).toMatchObject({ code: 'FORMS_REFUSED', status: 400 });
    expect(error.message).toMatch(/refused with 400 \(.*sortBy/);
  });
});

describe('GET /submissions/:id', () => {
  it.each([null, 'submission', 'data'] as const)('gives one, wrapped in %j', async (wrapper) => {
    sandbox.behave({ wrapper, extraFields: true });
    expect(await client.getSubmission('sub_007')).toMatchObject({
      key: 'sub_007',
      submission: { formId: 'form_a', status: 'DONE' },
      defects: [],
    });
  });

  it('L8: rejects with FORMS_NOT_FOUND and 404 when there is none', async () => {
    const error = await errorOf(client.getSubmission('sub_999'));
    expect(error).toMatchObject({ code: 'FORMS_NOT_FOUND', status: 404 });
    expect(error.message).toBe(
      'Forms API, GET /submissions/sub_999: not found (404). It does not exist, or it belongs to another workspace.',
    );
  });
});

describe('PATCH /submissions/:id/status', () => {
  it.each([
    { status: 200, body: 'submission' },
    { status: 201, body: 'success' },
    { status: 202, body: 'text' },
    { status: 204, body: 'none' },
  ] as const)('takes $status with $body for done', async (patchReply) => {
    sandbox.behave({ patchReply });
    await client.setStatus('sub_100', 'PAID');
    expect(sandbox.store.get('sub_100')?.status).toBe('PAID');
    await client.setStatus('sub_100', 'NEW');
  });

  it.each([400, 409] as const)('reports a refused transition (%i)', async (status) => {
    sandbox.behave({ refuseTransition: () => status });
    expect(await errorOf(client.setStatus('sub_100', 'PAID'))).toMatchObject({
      code: 'FORMS_REFUSED',
      status,
      request: 'PATCH /submissions/sub_100/status',
    });
  });
});

describe('POST /forms/:slug/submit', () => {
  const answers = new Map<string, Json>([
    ['field_1', '=1+1 ěščř 🎉\n00123'],
    ['__proto__', 'kept'],
    ['long', new ExactNumber('12345678901234567890')],
    ['list', [1, { a: null }, true]],
  ]);

  it.each([
    { status: 200, body: 'submission' },
    { status: 201, body: 'text' },
    { status: 204, body: 'none' },
  ] as const)('L10: brings every answer over unchanged ($status)', async (submitReply) => {
    sandbox.behave({ submitReply });
    const before = sandbox.store.count('form_a');
    await client.submit('prihlaska', answers);
    expect(sandbox.store.count('form_a')).toBe(before + 1);
    const page = await client.listSubmissions({ formId: 'form_a', page: 1, limit: 1 });
    expect(new Map(page.items[0]?.submission?.data)).toEqual(answers);
  });

  it('is refused without an answer that is required, and for a form that is unknown', async () => {
    const refused = await errorOf(client.submit('prihlaska', new Map([['field_1', ' ']])));
    expect(refused).toMatchObject({ code: 'FORMS_REFUSED', status: 400 });
    expect(await errorOf(client.submit('nowhere', answers))).toMatchObject({ status: 404 });
  });
});
