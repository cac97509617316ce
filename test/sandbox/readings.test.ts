import { afterEach, describe, expect, it, vi } from 'vitest';
import { READINGS, DEFAULT_BEHAVIOUR, type SandboxBehaviour } from '../../src/sandbox/behaviour.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { FormsStore } from '../../src/sandbox/store.ts';
import { call, get, idsOf } from './caller.ts';

// L3: each reading of what the specification leaves open can be had, and differs from the others.

const NOON = Date.UTC(2026, 4, 1, 12);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let nowMs = NOON;
let sandbox: Sandbox;

/** A sandbox whose one form has a submission for each time, in this order. */
async function serve(
  behaviour: Partial<SandboxBehaviour>,
  createdAt: readonly number[] = [],
): Promise<{ store: FormsStore; formId: string; ids: string[] }> {
  nowMs = NOON;
  const store = new FormsStore({ seed: 'readings', clock: { now: () => nowMs } });
  const form = store.addForm({ name: 'Form', fields: [{ id: 'field_1_a', label: 'A' }] });
  for (const time of createdAt) {
    store.insert({ formId: form.id, data: { field_1_a: 'answer' }, createdAt: time });
  }
  sandbox = await startSandbox({ store, behaviour });
  return { store, formId: form.id, ids: store.ids() };
}

afterEach(() => sandbox.stop());

const picked = (ids: readonly string[], ...places: number[]): string[] =>
  places.map((place) => ids[place] ?? '');

describe('the order of a list', () => {
  const times = [NOON - 2 * HOUR, NOON, NOON - HOUR];
  const list = async (query = '') => idsOf(await get(sandbox, `/submissions?${query}`));

  it('honours sortBy and sortOrder', async () => {
    const { ids } = await serve({}, times);
    expect(await list('sortBy=submittedAt&sortOrder=asc')).toEqual(picked(ids, 0, 2, 1));
    expect(await list('sortOrder=asc')).toEqual(picked(ids, 0, 2, 1));
    expect((await call(sandbox, 'GET', '/submissions?sortBy=label')).status).toBe(400);
  });

  it.each([
    ['newest', [1, 2, 0]],
    ['oldest', [0, 2, 1]],
    ['insertion', [0, 1, 2]],
  ] as const)('ignores them, in base order %s', async (baseOrder, places) => {
    const { ids } = await serve({ sort: 'ignored', baseOrder }, times);
    expect(await list('sortBy=submittedAt&sortOrder=asc')).toEqual(picked(ids, ...places));
    expect(await list('sortBy=nonsense&sortOrder=desc')).toEqual(picked(ids, ...places));
  });

  it('is strict: 400 for anything but submittedAt and desc', async () => {
    const { ids } = await serve({ sort: 'strict' }, times);
    expect(await list('sortBy=submittedAt&sortOrder=desc')).toEqual(picked(ids, 1, 2, 0));
    const wrong = await call(sandbox, 'GET', '/submissions?sortBy=createdAt&sortOrder=asc');
    expect(wrong.status).toBe(400);
    expect(wrong.json.fields.map((entry) => entry.field)).toEqual(['sortBy', 'sortOrder']);
  });

  it('shuffles ties for each request, and only ties', async () => {
    const ties = Array.from({ length: 30 }, (_, place) => NOON - Math.floor(place / 10) * HOUR);
    const { ids } = await serve({ ties: 'shuffled' }, ties);
    const orders = new Set<string>();
    for (let request = 0; request < 5; request++) {
      const order = await list('sortBy=submittedAt&sortOrder=desc');
      orders.add(order.join());
      for (const hour of [0, 1, 2]) {
        const run = order.slice(hour * 10, hour * 10 + 10);
        expect(run.toSorted()).toEqual(ids.slice(hour * 10, hour * 10 + 10).toSorted());
      }
    }
    expect(orders.size).toBe(5);
  });

  it('shuffles ties across page boundaries: pages of one list may overlap', async () => {
    const { ids } = await serve({ ties: 'shuffled' }, Array<number>(40).fill(NOON));
    const seen = new Set<string>();
    for (let page = 1; page <= 4; page++) {
      for (const id of await list(`limit=10&page=${page}`)) seen.add(id);
    }
    expect(seen.size).toBeLessThan(ids.length);
    expect(seen.size).toBeGreaterThan(10);
    for (let request = 0; request < 20; request++) {
      for (const id of await list('limit=10&page=4')) seen.add(id);
    }
    expect(seen.size).toBe(ids.length);
  });

  it('keeps ties in one order when they are stable', async () => {
    await serve({}, Array<number>(20).fill(NOON));
    const first = await list('sortBy=submittedAt&sortOrder=desc');
    expect(await list('sortBy=submittedAt&sortOrder=desc')).toEqual(first);
  });
});

describe('dateFrom and dateTo', () => {
  const times = [NOON - DAY, NOON - HOUR, NOON, NOON + HOUR];
  const within = async (query: string) =>
    idsOf(await get(sandbox, `/submissions?sortOrder=asc&${query}`));
  const from = new Date(NOON - HOUR).toISOString();
  const to = new Date(NOON).toISOString();

  it('are inclusive or exclusive, each by itself', async () => {
    const { ids } = await serve({}, times);
    expect(await within(`dateFrom=${from}&dateTo=${to}`)).toEqual(picked(ids, 1, 2));
    sandbox.behave({ dateFrom: 'exclusive' });
    expect(await within(`dateFrom=${from}&dateTo=${to}`)).toEqual(picked(ids, 2));
    sandbox.behave({ dateFrom: 'inclusive', dateTo: 'exclusive' });
    expect(await within(`dateFrom=${from}&dateTo=${to}`)).toEqual(picked(ids, 1));
  });

  it('compare to the day', async () => {
    const { ids } = await serve({ dateGrain: 'day' }, times);
    expect(await within(`dateFrom=${to}`)).toEqual(picked(ids, 1, 2, 3));
    expect(await within(`dateTo=${from}`)).toEqual(ids);
    sandbox.behave({ dateFrom: 'exclusive' });
    expect(await within(`dateFrom=${from}`)).toEqual([]);
    expect(await within('dateFrom=2026-04-30')).toEqual(picked(ids, 1, 2, 3));
  });

  it('compare with the last change instead of createdAt', async () => {
    const { store, ids } = await serve({ dateStamp: 'updated' }, times);
    const later = new Date(NOON + DAY).toISOString();
    expect(await within(`dateFrom=${later}`)).toEqual([]);
    nowMs = NOON + DAY;
    store.setStatus(ids[0]!, 'DONE');
    store.setAnswers(ids[2]!, { field_1_a: 'edited' });
    expect(await within(`dateFrom=${later}`)).toEqual(picked(ids, 0, 2));
    const imported = store.insert({ formId: store.forms()[0]!.id, data: {}, createdAt: 0 });
    expect(await within(`dateFrom=${later}`)).toContain(imported.id);
    sandbox.behave({ dateStamp: 'created' });
    expect(await within(`dateFrom=${later}`)).toEqual([]);
  });

  it('are UTC when they name no zone, wherever the sandbox runs', async () => {
    const { ids } = await serve({}, times);
    vi.stubEnv('TZ', 'America/New_York');
    expect(new Date(NOON).getHours()).toBe(8);
    expect(await within('dateFrom=2026-05-01T12:00:00')).toEqual(picked(ids, 2, 3));
    expect(await within('dateFrom=2026-05-01T12:00')).toEqual(picked(ids, 2, 3));
    expect(await within('dateFrom=2026-05-01')).toEqual(picked(ids, 1, 2, 3));
    vi.unstubAllEnvs();
  });

  it('are ignored, even nonsense', async () => {
    const { ids } = await serve({ dateFilter: 'ignored' }, times);
    expect(await within(`dateFrom=${to}&dateTo=nonsense`)).toEqual(ids);
  });

  it('are refused', async () => {
    await serve({ dateFilter: 'refused' }, times);
    const { status, json } = await call(sandbox, 'GET', `/submissions?dateFrom=${from}`);
    expect([status, json.fields[0]?.field]).toEqual([400, 'dateFrom']);
  });
});

describe('pages', () => {
  const five = [1, 2, 3, 4, 5].map((hour) => NOON - hour * HOUR);

  it('name no number of pages, or an absurd one', async () => {
    await serve({ totalPages: 'absent' }, five);
    expect(await get(sandbox, '/submissions')).not.toHaveProperty('totalPages');
    sandbox.behave({ totalPages: 'absurd' });
    expect((await get(sandbox, '/forms')).totalPages).toBe(1_000_000_000);
  });
});

describe('the list of the whole workspace', () => {
  it('is refused without formId', async () => {
    const { formId } = await serve({ workspaceList: 'refused' }, [NOON]);
    const { status, json } = await call(sandbox, 'GET', '/submissions');
    expect([status, json.fields[0]?.field]).toEqual([400, 'formId']);
    expect((await get(sandbox, `/submissions?formId=${formId}`)).total).toBe(1);
  });

  it('shows every status whatever is asked for', async () => {
    const { store, formId, ids } = await serve({ workspaceStatus: 'ignored' }, [NOON, NOON]);
    store.setStatus(ids[0]!, 'DONE');
    expect((await get(sandbox, '/submissions?status=DONE')).total).toBe(2);
    expect((await get(sandbox, `/submissions?formId=${formId}&status=DONE`)).total).toBe(1);
  });

  it('is shown for each form where formId is ignored, whether or not items name their form', async () => {
    const { store, formId } = await serve({ formFilter: 'ignored', shownFormId: 'absent' }, [NOON]);
    store.insert({ formId: store.addForm({ name: 'B' }).id, data: {} });
    const { total, items } = await get(sandbox, `/submissions?formId=${formId}`);
    expect(total).toBe(2);
    expect(items[0]).not.toHaveProperty('formId');
  });
});

describe('the table of readings', () => {
  it('can be served, reading by reading', async () => {
    const { formId, ids } = await serve({}, [NOON]);
    for (const [point, readings] of Object.entries(READINGS)) {
      for (const reading of readings) {
        sandbox.behave({ ...DEFAULT_BEHAVIOUR, [point]: reading });
        const [list, one] = [
          await call(sandbox, 'GET', `/submissions?formId=${formId}&limit=100&page=1`),
          await call(sandbox, 'GET', `/submissions/${ids[0]}`),
        ];
        expect([point, list.status, one.status]).toEqual([point, 200, 200]);
        expect(idsOf(list.json)).toEqual(ids);
      }
    }
  });
});
