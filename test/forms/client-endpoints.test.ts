import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FormsClient } from '../../src/forms/client.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { errorOf, makeClient } from './make-client.ts';

let sandbox: Sandbox;
let client: FormsClient;

beforeAll(async () => {
  sandbox = await startSandbox();
  const { store } = sandbox;
  store.addForm({ id: 'form_a', name: 'A' });
  for (let number = 0; number < 30; number++) {
    store.insert({
      formId: 'form_a',
      id: `sub_${String(number).padStart(3, '0')}`,
      createdAt: Date.UTC(2026, 0, 1) + number * 60_000,
      status: number % 2 === 0 ? 'NEW' : 'DONE',
      data: {},
    });
  }
  client = makeClient(sandbox.url, { apiKey: sandbox.apiKey });
});

afterAll(() => sandbox.stop());

describe('GET /forms', () => {
  it('L3: does not loop when page is ignored', async () => {
    await using odd = await startSandbox({
      behaviour: { formsPage: 'ignored', formsPageSize: 2 },
    });
    for (const id of ['one', 'two', 'three']) odd.store.addForm({ id, name: id });
    let requests = 0;
    const asked = makeClient(odd.url, { apiKey: odd.apiKey });
    const forms = await asked.listForms({ onAttempt: () => requests++ });
    expect(forms.map((form) => form.id)).toEqual(['one', 'two']);
    expect(requests).toBe(4);
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

describe('an ID in an address', () => {
  it.each(['a/b', 'ü?x=1#y', '%2e', 'a b', '../submissions'])(
    'is asked for as it is: %j',
    async (id) => {
      await using other = await startSandbox();
      other.store.addForm({ id, name: 'odd', slug: 'odd' });
      expect(await makeClient(other.url, { apiKey: other.apiKey }).getForm(id)).toMatchObject({
        id,
      });
    },
  );

  it.each(['', '.', '..', 'x\ud800'])('L8: is never replaced by something else: %j', async (id) => {
    for (const call of [client.getForm(id), client.getSubmission(id), client.setStatus(id, 'DONE')])
      expect(await errorOf(call)).toMatchObject({ code: 'FORMS_REFUSED' });
  });
});

describe('GET /submissions', () => {
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
    expect(page.items.map(({ key }) => key)).toEqual(['sub_019', 'sub_017']);
    expect(page).toMatchObject({ total: 5, limit: 2, totalPages: 3 });
    expect(Math.abs((page.serverTimeMs ?? 0) - sandbox.store.now())).toBeLessThan(60_000);
  });

  it('shows why it was refused', async () => {
    await using strict = await startSandbox({ behaviour: { sort: 'strict' } });
    strict.store.addForm({ id: 'form_a', name: 'A' });
    const asked = makeClient(strict.url, { apiKey: strict.apiKey });
    const error = await errorOf(asked.listSubmissions({ formId: 'form_a', page: 1, sortBy: 'id' }));
    expect(error).toMatchObject({ code: 'FORMS_REFUSED', status: 400 });
    expect(error.message).toMatch(/refused with 400 \(.*sortBy/);
  });
});

it.each(['json', 'html', 'empty', 'cut'] as const)(
  'L8: a 404 is known by its status, with a body that is %s',
  async (errorBody) => {
    await using odd = await startSandbox({ behaviour: { errorBody } });
    const error = await errorOf(
      makeClient(odd.url, { apiKey: odd.apiKey }).getSubmission('sub_999'),
    );
    expect(error).toMatchObject({ code: 'FORMS_NOT_FOUND', status: 404, retryable: false });
    expect(error.message).toBe(
      'Forms API, GET /submissions/sub_999: not found (404). It does not exist, or it belongs to another workspace.',
    );
  },
);
