import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestSandbox, startSandbox } from '../support/sandbox.ts';
import { FormsStore } from '../../src/sandbox/store.ts';
import type { SandboxForm } from '../../src/sandbox/store.ts';

/** The parts of a body that tests read; which ones exist depends on the request. */
interface Body {
  readonly id: string;
  readonly total: number;
  readonly items: readonly Body[];
  readonly fields: readonly { readonly field: string }[];
  readonly schema: { readonly logic: readonly unknown[] };
}

/** Calls a sandbox with its own key over real HTTP, and reads the response as JSON. `body`: JSON, or what becomes JSON. */
async function call(
  { url, apiKey }: Pick<TestSandbox, 'url' | 'apiKey'>,
  method: string,
  path: string,
  { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<{ readonly status: number; readonly json: Body }> {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status: response.status, json: (await response.json()) as Body };
}

/** GET; returns the response's JSON. */
async function get(sandbox: TestSandbox, path: string): Promise<Body> {
  const { status, json } = await call(sandbox, 'GET', path);
  if (status !== 200) throw new Error(`GET ${path} answered ${status}`);
  return json;
}

/** The IDs on one page of a list. */
const idsOf = ({ items }: Pick<Body, 'items'>): string[] => items.map(({ id }) => id);

// Each test states a sentence of the specification of the Forms API, in its order.

const NOON = Date.UTC(2026, 4, 1, 12);
const MINUTE = 60_000;
const nowMs = NOON;
let sandbox: TestSandbox;
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
  other = store.addForm({ name: 'Draft' });
  for (let number = 0; number < 120; number++) {
    const data = { field_1_a: `Řehoř ${number}`, field_2_b: 'x@example.cz', field_3_c: number };
    store.insert({ formId: form.id, data, createdAt: NOON - number * MINUTE });
  }
  sandbox = await startSandbox({ store });
});

afterAll(() => sandbox.stop());

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

describe('POST /forms/:slug/submit', () => {
  const submit = (slug: string, body: unknown, headers = {}) =>
    call(sandbox, 'POST', `/forms/${slug}/submit`, { body, headers });

  it('answers 400 with one validation error for each missing required field, under `fields`', async () => {
    const before = store.all().length;
    const { status, json } = await submit(form.slug, { data: { field_2_b: ' ' } });
    expect(status).toBe(400);
    expect(json.fields.map((entry) => entry.field)).toEqual(['field_1_a', 'field_2_b']);
    const one = await submit(form.slug, { data: { field_1_a: 'a' } });
    expect([one.status, one.json.fields.map((entry) => entry.field)]).toEqual([400, ['field_2_b']]);
    expect(store.all().length).toBe(before);
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

  it('requires the header Content-Type: application/json', async () => {
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

  it('shows the newest first, unless sortOrder asks for the opposite', async () => {
    const ids = store.ids(form.id);
    expect(idsOf(await get(sandbox, '/submissions?limit=2'))).toEqual(ids.slice(0, 2));
    const oldest = await get(sandbox, '/submissions?sortBy=submittedAt&sortOrder=asc&limit=2');
    expect(idsOf(oldest)).toEqual([ids[119], ids[118]]);
  });

  it('accepts bounds, both included, and in UTC if they name no zone', async () => {
    const ids = store.ids(form.id);
    const query = 'dateFrom=2026-05-01T11:57&dateTo=2026-05-01T11:58:00Z';
    expect(idsOf(await get(sandbox, `/submissions?${query}`))).toEqual([ids[2], ids[3]]);
    expect((await get(sandbox, '/submissions?dateFrom=2026-05-01')).total).toBe(120);
  });

  it.each([
    'sortBy=label',
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
});

describe('PATCH /submissions/:id/status', () => {
  const patch = (id: string, body: unknown, headers = {}) =>
    call(sandbox, 'PATCH', `/submissions/${id}/status`, { body, headers });

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

  it('requires the header Content-Type: application/json', async () => {
    const id = store.ids(form.id)[3]!;
    expect((await patch(id, '{"status":"DONE"}', { 'content-type': 'text/plain' })).status).toBe(
      400,
    );
  });
});

it('the sandbox listens on loopback, on the requested port; a port in use is reported', async () => {
  const sandbox = await startSandbox();
  expect(sandbox.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/);
  const port = Number(new URL(sandbox.url).port);
  await expect(startSandbox({ port })).rejects.toThrow(`cannot listen on port ${port}`);
  await sandbox.stop();
  const again = await startSandbox({ port, apiKey: 'mine_1' });
  expect([again.url, again.apiKey]).toEqual([`http://127.0.0.1:${port}/v1`, 'mine_1']);
  expect((await get(again, '/forms')).total).toBe(0);
  await again.stop();
  await again.stop();
});
