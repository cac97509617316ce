import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { FormsStore } from '../../src/sandbox/store.ts';
import type { SandboxForm } from '../../src/sandbox/store.ts';
import { call, get, idsOf } from './caller.ts';

// Each test says a sentence of the specification of the Forms API, in the order in which that has them.

const NOON = Date.UTC(2026, 4, 1, 12);
const MINUTE = 60_000;
let nowMs = NOON;
let sandbox: Sandbox;
let store: FormsStore;
let form: SandboxForm;
let other: SandboxForm;

beforeAll(async () => {
  store = new FormsStore({ seed: 'specification', clock: { now: () => nowMs } });
  form = store.addForm({
    name: 'Přihláška 💬',
    fields: [
      { id: 'field_1_a', label: 'Jméno', required: true },
      { id: 'field_2_b', label: 'E-mail', required: true },
      { id: 'field_3_c', label: 'Poznámka' },
    ],
  });
  other = store.addForm({ name: 'Draft', isPublished: false });
  for (let number = 0; number < 120; number++) {
    const data = { field_1_a: `Řehoř ${number}`, field_2_b: 'x@example.cz', field_3_c: number };
    store.insert({ formId: form.id, data, createdAt: NOON - number * MINUTE });
  }
  sandbox = await startSandbox({ store });
});

afterAll(() => sandbox.stop());

describe('the rules of the service', () => {
  it('passes non-ASCII characters through unchanged, as UTF-8 JSON', async () => {
    const { headers, json } = await call(sandbox, 'GET', `/forms/${form.id}`);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(json.name).toBe('Přihláška 💬');
    const text = 'Ďábel 👩🏽‍🔧 שלום \u0000\n"\\';
    const body = { data: { field_1_a: text, field_2_b: 'b' } };
    const made = await call(sandbox, 'POST', `/forms/${form.slug}/submit`, { body });
    expect((await get(sandbox, `/submissions/${made.json.id}`)).data['field_1_a']).toBe(text);
    store.delete(made.json.id);
  });

  it('has its paths below a base address with the version prefix, and nowhere else', async () => {
    expect(sandbox.url).toMatch(/\/v1$/);
    const root = { ...sandbox, url: sandbox.url.replace('/v1', ''), apiKey: sandbox.apiKey };
    expect((await call(root, 'GET', '/forms')).status).toBe(404);
    expect((await call(root, 'GET', '/v2/forms')).status).toBe(404);
    expect((await call(root, 'GET', '/v1/forms')).status).toBe(200);
  });

  it('answers with a Date header', async () => {
    const { headers } = await call(sandbox, 'GET', '/forms');
    expect(headers.get('date')).toBe(new Date(nowMs).toUTCString());
  });
});

describe('a form', () => {
  it('has id, name, slug, isPublished, createdAt and a schema of sections, fields and logic', async () => {
    const shown = await get(sandbox, `/forms/${form.id}`);
    expect(shown).toEqual({
      id: form.id,
      name: 'Přihláška 💬',
      slug: 'prihlaska',
      isPublished: true,
      createdAt: '2026-05-01T12:00:00.000Z',
      schema: {
        sections: [
          {
            fields: [
              { id: 'field_1_a', label: 'Jméno' },
              { id: 'field_2_b', label: 'E-mail' },
              { id: 'field_3_c', label: 'Poznámka' },
            ],
          },
        ],
        logic: [],
      },
    });
  });

  it('may lack sections, and a section its fields', async () => {
    expect((await get(sandbox, `/forms/${other.id}`)).schema).toEqual({ logic: [] });
    const hollow = store.addForm({ name: 'Hollow', sections: [{}, { fields: [{ label: 'A' }] }] });
    const { sections } = (await get(sandbox, `/forms/${hollow.id}`)).schema;
    expect(sections[0]).toEqual({});
    expect(sections[1]?.fields[0]?.label).toBe('A');
    store.deleteForm(hollow.id);
  });

  it('has field IDs of the form field_<digits>_<suffix>, stable while labels are renamed', async () => {
    const made = store.addField(form.id, { label: 'Before' });
    expect(made.id).toMatch(/^field_\d+_[0-9a-z]+$/);
    store.relabelField(form.id, made.id, 'After');
    const fields = (await get(sandbox, `/forms/${form.id}`)).schema.sections[0]?.fields;
    expect(fields?.at(-1)).toEqual({ id: made.id, label: 'After' });
    store.deleteField(form.id, made.id);
  });
});

describe('a submission', () => {
  it('has id, formId, status, createdAt and data keyed by field ID', async () => {
    const id = store.ids(form.id)[5]!;
    expect(await get(sandbox, `/submissions/${id}`)).toEqual({
      id,
      formId: form.id,
      status: 'NEW',
      createdAt: '2026-05-01T11:55:00.000Z',
      data: { field_1_a: 'Řehoř 5', field_2_b: 'x@example.cz', field_3_c: 5 },
    });
  });

  it('keeps the answers of a field that was deleted from the form', async () => {
    const field = store.addField(form.id, { label: 'Short-lived' });
    const { id } = store.insert({ formId: form.id, data: { [field.id]: 'kept' } });
    store.deleteField(form.id, field.id);
    const { schema } = await get(sandbox, `/forms/${form.id}`);
    expect(JSON.stringify(schema)).not.toContain(field.id);
    expect((await get(sandbox, `/submissions/${id}`)).data).toEqual({ [field.id]: 'kept' });
    store.delete(id);
  });

  it('conflicts with a second one of the same contract ID', async () => {
    const path = `/forms/${form.slug}/submit`;
    const body = { data: { field_1_a: 'a', field_2_b: 'b', contractId: 'C-1' } };
    const first = await call(sandbox, 'POST', path, { body });
    const second = await call(sandbox, 'POST', path, { body });
    expect([first.status, second.status]).toEqual([201, 409]);
    expect(store.count(form.id)).toBe(121);
    store.delete(first.json.id);
    const third = await call(sandbox, 'POST', path, { body });
    expect(third.status).toBe(201);
    store.delete(third.json.id);
  });
});

describe('GET /forms', () => {
  it('answers items, total, page and totalPages, without limit; items with their schema', async () => {
    const page = await get(sandbox, '/forms');
    expect(Object.keys(page)).toEqual(['items', 'total', 'page', 'totalPages']);
    expect(page).toMatchObject({ total: 2, page: 1, totalPages: 1 });
    expect(page.items.map((item) => item.schema.logic)).toEqual([[], []]);
    expect(idsOf(page)).toEqual([form.id, other.id]);
  });
});

describe('GET /forms/:id', () => {
  it('answers 404 when the form does not exist', async () => {
    for (const id of ['nothing', '__proto__', form.slug, '%2e%2e']) {
      expect((await call(sandbox, 'GET', `/forms/${id}`)).status).toBe(404);
    }
    const { id } = store.addForm({ name: 'Gone' });
    expect((await call(sandbox, 'GET', `/forms/${id}`)).status).toBe(200);
    store.deleteForm(id);
    expect((await call(sandbox, 'GET', `/forms/${id}`)).status).toBe(404);
  });
});

describe('POST /forms/:slug/submit', () => {
  const submit = (slug: string, body: unknown, headers = {}) =>
    call(sandbox, 'POST', `/forms/${slug}/submit`, { body, headers });

  it('stores the data under its field IDs, as NEW, at the present instant', async () => {
    nowMs = NOON + MINUTE;
    const data = { field_1_a: 'Žofie', field_2_b: 'z@example.cz', field_3_c: 12.5 };
    const { status, json } = await submit(form.slug, { data });
    expect(status).toBe(201);
    const stored = store.get(json.id);
    expect(stored).toMatchObject({ formId: form.id, status: 'NEW' });
    expect(stored?.createdAt).toBe('2026-05-01T12:01:00.000Z');
    expect(Object.fromEntries(stored?.data ?? [])).toEqual(data);
    store.delete(json.id);
    nowMs = NOON;
  });

  it('answers 400 with one validation error for each missing required field, under `fields`', async () => {
    const before = store.count();
    const { status, json } = await submit(form.slug, { data: { field_2_b: ' ' } });
    expect(status).toBe(400);
    expect(json.fields.map((entry) => entry.field)).toEqual(['field_1_a', 'field_2_b']);
    const one = await submit(form.slug, { data: { field_1_a: 'a' } });
    expect([one.status, one.json.fields.map((entry) => entry.field)]).toEqual([400, ['field_2_b']]);
    expect(store.count()).toBe(before);
  });

  it('answers 404 when the form is not found; the slug is not the ID', async () => {
    expect((await submit('nothing', { data: {} })).status).toBe(404);
    expect((await submit(form.id, { data: {} })).status).toBe(404);
  });

  it.each([
    ['no JSON', '{"data":'],
    ['an array', '[]'],
    ['no data', '{}'],
    ['data that is no object', '{"data":[]}'],
  ])('answers 400 to %s', async (_name, body) => {
    const { status, json } = await submit(form.slug, body);
    expect(status).toBe(400);
    expect(json.fields).toBeInstanceOf(Array);
  });

  it('wants the header Content-Type: application/json', async () => {
    const body = { data: { field_1_a: 'a', field_2_b: 'b' } };
    const plain = await submit(form.slug, body, { 'content-type': 'text/plain' });
    expect(plain.status).toBe(400);
    const charset = { 'content-type': 'Application/JSON; charset=utf-8' };
    const made = await submit(form.slug, body, charset);
    expect(made.status).toBe(201);
    store.delete(made.json.id);
  });
});

describe('GET /submissions', () => {
  it('answers the envelope with limit: default 50, page 1', async () => {
    const page = await get(sandbox, '/submissions');
    expect(Object.keys(page)).toEqual(['items', 'total', 'page', 'limit', 'totalPages']);
    expect(page).toMatchObject({ total: 120, page: 1, limit: 50, totalPages: 3 });
    expect(page.items).toHaveLength(50);
  });

  it('caps a limit above 100 at 100', async () => {
    const page = await get(sandbox, '/submissions?limit=5000');
    expect(page).toMatchObject({ limit: 100, totalPages: 2 });
    expect(page.items).toHaveLength(100);
  });

  it('shows every submission once when pages are read until page >= totalPages', async () => {
    const seen: string[] = [];
    for (let page = 1, totalPages = 1; page <= totalPages; page++) {
      const answer = await get(sandbox, `/submissions?formId=${form.id}&limit=100&page=${page}`);
      seen.push(...idsOf(answer));
      totalPages = answer.totalPages;
    }
    expect(seen.toSorted()).toEqual(store.ids(form.id).toSorted());
    const beyond = await get(sandbox, '/submissions?limit=100&page=3');
    expect(beyond).toMatchObject({ items: [], total: 120, page: 3, totalPages: 2 });
  });

  it('filters by formId', async () => {
    const { id } = store.insert({ formId: other.id, data: {} });
    expect(idsOf(await get(sandbox, `/submissions?formId=${other.id}`))).toEqual([id]);
    expect(await get(sandbox, '/submissions?formId=nothing')).toMatchObject({
      items: [],
      total: 0,
      totalPages: 0,
    });
    store.delete(id);
  });

  it('filters by each of the six statuses, and refuses others', async () => {
    const id = store.ids(form.id)[7]!;
    for (const status of ['IN_PROGRESS', 'DONE', 'PAID', 'REJECTED', 'ARCHIVED']) {
      expect((await get(sandbox, `/submissions?status=${status}`)).total).toBe(0);
      store.setStatus(id, status);
      expect(idsOf(await get(sandbox, `/submissions?status=${status}`))).toEqual([id]);
    }
    store.setStatus(id, 'NEW');
    expect((await get(sandbox, '/submissions?status=NEW')).total).toBe(120);
    expect((await call(sandbox, 'GET', '/submissions?status=new')).status).toBe(400);
  });

  it('searches the answer values', async () => {
    const search = async (words: string) =>
      (await get(sandbox, `/submissions?search=${encodeURIComponent(words)}`)).total;
    expect(await search('řehoř 119')).toBe(1);
    expect(await search('EXAMPLE.cz')).toBe(120);
    expect(await search('field_1_a')).toBe(0);
    expect(await search('Řehoř nobody')).toBe(0);
  });

  it('filters by dateFrom and dateTo', async () => {
    const within = async (query: string) => (await get(sandbox, `/submissions?${query}`)).total;
    expect(await within('dateFrom=2026-05-01T11:50:00Z')).toBe(11);
    expect(await within('dateTo=2026-05-01T11:50:00.000Z')).toBe(110);
    expect(await within('dateFrom=2026-05-01T11:50:00Z&dateTo=2026-05-01T11:51:00Z')).toBe(2);
    expect(await within('dateFrom=2026-05-01')).toBe(120);
    expect(await within('dateTo=2026-05-01')).toBe(0);
    expect(await within('dateFrom=2026-05-01T13:50:00%2B02:00')).toBe(11);
  });

  it('sorts by submittedAt, desc', async () => {
    const newest = await get(sandbox, '/submissions?sortBy=submittedAt&sortOrder=desc&limit=3');
    expect(idsOf(newest)).toEqual(store.ids(form.id).slice(0, 3));
    const oldest = await get(sandbox, '/submissions?sortBy=submittedAt&sortOrder=asc&limit=3');
    expect(idsOf(oldest)).toEqual(store.ids(form.id).slice(-3).toReversed());
  });

  it.each([
    'page=0',
    'page=-1',
    'page=1.5',
    'page=x',
    'limit=0',
    'limit=ten',
    'dateFrom=yesterday',
  ])('answers 400 to %s, naming the parameter', async (query) => {
    const { status, json } = await call(sandbox, 'GET', `/submissions?${query}`);
    expect(status).toBe(400);
    expect(json.fields.map((entry) => entry.field)).toEqual([query.split('=')[0]]);
  });

  it('shows the present instant on each page', async () => {
    const path = '/submissions?limit=2&sortBy=submittedAt&sortOrder=desc&page=';
    const first = idsOf(await get(sandbox, `${path}1`));
    store.delete(first[0]!);
    const second = idsOf(await get(sandbox, `${path}2`));
    expect(second).toEqual(store.ids(form.id).slice(2, 4));
  });
});

describe('GET /submissions/:id', () => {
  it('answers 404 when it does not exist', async () => {
    const id = store.ids(form.id)[0]!;
    store.delete(id);
    for (const gone of [id, 'nothing', 'sub_zzzzzzzzzz', 'sub_0000000000']) {
      expect((await call(sandbox, 'GET', `/submissions/${gone}`)).status).toBe(404);
    }
  });
});

describe('PATCH /submissions/:id/status', () => {
  const patch = (id: string, body: unknown, headers = {}) =>
    call(sandbox, 'PATCH', `/submissions/${id}/status`, { body, headers });

  it('sets each of the six statuses', async () => {
    const id = store.ids(form.id)[3]!;
    for (const status of ['IN_PROGRESS', 'DONE', 'PAID', 'REJECTED', 'ARCHIVED', 'NEW']) {
      expect((await patch(id, { status })).status).toBe(200);
      expect(store.get(id)?.status).toBe(status);
    }
  });

  it.each([[{ status: 'OPEN' }], [{ status: 7 }], [{}], ['{'], ['null']])(
    'answers 400 to %j and changes nothing',
    async (body) => {
      const id = store.ids(form.id)[3]!;
      const { status, json } = await patch(id, body);
      expect(status).toBe(400);
      expect(json).toHaveProperty('fields');
      expect(store.get(id)?.status).toBe('NEW');
    },
  );

  it('answers 404 when the submission is not found', async () => {
    expect((await patch('nothing', { status: 'DONE' })).status).toBe(404);
  });

  it('wants the header Content-Type: application/json', async () => {
    const id = store.ids(form.id)[3]!;
    expect((await patch(id, '{"status":"DONE"}', { 'content-type': 'text/plain' })).status).toBe(
      400,
    );
  });
});
