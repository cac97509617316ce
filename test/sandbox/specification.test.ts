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
