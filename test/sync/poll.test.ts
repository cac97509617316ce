import { expect, it } from 'vitest';
import type { App } from '../../src/app.ts';
import type { SandboxOptions } from '../support/sandbox.ts';
import type { FormsStore, SubmissionDraft } from '../../src/sandbox/store.ts';
import type { PollReport } from '../../src/sync/poll.ts';
import { agreementOn } from '../../src/mirror/form-state.ts';
import { AGREEMENTS } from '../../src/sync/records.ts';
import type { Environment } from '../../src/settings/settings-reader.ts';
import { openPlace } from '../support/cli-sandbox.ts';
import { spreadStore } from '../support/request-costs.ts';
import { openParts } from '../support/mirrored-form.ts';
import { LateClock } from '../support/test-clock.ts';

const { signal } = new AbortController();
const FORMS = 10;

/**
 * A workspace of {@link FORMS} forms, mirrored with the settings `more`, up to a first poll that finds nothing to do.
 */
async function openMirror(
  more: (env: Environment) => Environment = () => ({}),
  options: SandboxOptions = {},
): Promise<{
  source: FormsStore;
  app: App;
  clock: LateClock;
  poll: () => Promise<PollReport>;
  insert: (place: number, draft?: Partial<SubmissionDraft>) => string;
}> {
  const source = spreadStore(FORMS, 300);
  const { env } = await openPlace({ ...options, store: source });
  const clock = new LateClock();
  const app = openParts({ ...env, ...more(env) }, clock);
  const poll = async (): Promise<PollReport> => app.poll((await app.plan(signal)).places, signal);
  await runAll(app, await poll());
  expect((await poll()).syncs).toEqual([]);
  const insert = (place: number, draft: Partial<SubmissionDraft> = {}): string =>
    source.insert({ formId: `frm-${place}`, status: 'NEW', data: {}, ...draft }).id;
  return { source, app, clock, poll, insert };
}

/** Does what a poll asked for. */
async function runAll(app: App, { syncs }: PollReport): Promise<void> {
  for (const { isComparison, ...place } of syncs) await app.run(place, { isComparison }, signal);
}

it('L16: newcomers of a form that is not selected cost a poll no further requests', async () => {
  const selected = Array.from({ length: FORMS - 1 }, (_, nth) => `frm-${nth + 1}`);
  const { source, poll, insert } = await openMirror(() => ({ TARGET_FORMS: selected.join() }));
  expect(await poll()).toMatchObject({ syncs: [], requests: 7 });
  for (let round = 0; round < 2; round++) {
    insert(FORMS);
    const { syncs, unchanged, requests } = await poll();
    expect({ syncs, unchanged: unchanged.length, requests }).toEqual({
      syncs: [],
      unchanged: selected.length,
      requests: 7,
    });
  }
  // Together they leave every count unchanged.
  insert(FORMS);
  deleteOne(source);
  expect((await poll()).syncs.map(({ formId }) => formId)).toEqual(['frm-1']);
});

it('L17: keeps the last agreement on a form that it finds changed until another agrees', async () => {
  const { app, poll, insert } = await openMirror();
  const { store } = await app.target('default');
  const [agreed] = await AGREEMENTS.read(store);
  insert(1);
  const found = await poll();
  // The form still waits for its run.
  await poll();
  const [newest, ...earlier] = await AGREEMENTS.read(store);
  expect(newest?.formIds).toEqual(agreed?.formIds.filter((id) => id !== 'frm-1'));
  expect(earlier).toEqual([{ ...agreed, formIds: ['frm-1'] }]);
  await runAll(app, found);
  await poll();
  expect(await AGREEMENTS.read(store)).toMatchObject([{ formIds: agreed?.formIds }]);
});

it('L16: reads as many of the newest pages as newcomers fill, so that their forms need no counts', async () => {
  const { source, app, poll, insert } = await openMirror();
  const places = Array.from({ length: FORMS }, (_, nth) => nth + 1);
  for (const place of places) for (let nth = 0; nth < 25; nth++) insert(place);
  const { syncs, requests } = await poll();
  // Six counts, and three pages of 100 that show 250 newcomers.
  expect(requests).toBe(9);
  expect(new Set(syncs.map(({ formId }) => formId)).size).toBe(FORMS);
  for (const { isComparison, ...place } of syncs) {
    const run = await app.run(place, { isComparison, polled: place.polled }, signal);
    expect(run).toMatchObject({ outcome: 'ok', inserted: 25, requests: 2 });
  }
  // Deletions make up for newcomers on every page.
  for (const place of places) for (let nth = 0; nth < 15; nth++) insert(place);
  const gone = source.byTime().filter(({ status }) => status === 'NEW');
  for (const { id } of gone.slice(0, 10 * FORMS)) source.delete(id);
  const found = await poll();
  expect(new Set(found.syncs.map(({ formId }) => formId)).size).toBe(FORMS);
  expect(found.syncs.every(({ polled }) => polled === undefined)).toBe(true);
});

it('L17: finds a newcomer that a deletion between two of the newest pages moved out of sight', async () => {
  let onNextPage = (): void => {};
  const { source, poll, insert } = await openMirror(undefined, {
    onRequest: ({ query }) => {
      if (!query.has('formId') && query.get('page') === '2') onNextPage();
    },
  });
  insert(FORMS);
  const others = Array.from({ length: 100 }, (_, nth) => insert(1 + (nth % (FORMS - 1))));
  // It makes up for the newcomer in every count.
  deleteOne(source);
  onNextPage = () => {
    onNextPage = () => {};
    source.delete(others.at(-1) ?? '');
  };
  expect((await poll()).syncs.map(({ formId }) => formId)).toContain(`frm-${FORMS}`);
});

/** Stores a row, as the unfinished run of another process does. */
async function store(app: App, target: string, id: string, place: number): Promise<void> {
  const { store: into } = await app.target(target);
  const form = { id: `frm-${place}`, slug: `frm-${place}`, name: `Form ${place}` };
  await using open = await into.open(form);
  const createdAt = new Date().toISOString();
  await open.commit({ rows: [{ id, status: 'NEW', createdAt, cells: new Map() }] });
}

/** Deletes a submission of frm-1 that is NEW, so that with a new one the counts are unchanged. */
function deleteOne(source: FormsStore): void {
  const first = source.byTime('frm-1').find(({ status }) => status === 'NEW');
  source.delete(first?.id ?? '');
}

it.each([1, 2])(
  'L17: finds a deletion although another process stores a newcomer of form %i during the poll',
  async (place) => {
    let onPage = async (): Promise<void> => {};
    const { source, app, poll, insert } = await openMirror(undefined, {
      onRequest: ({ query }) =>
        !query.has('formId') && query.get('limit') === '100' ? onPage() : undefined,
    });
    const id = insert(place);
    deleteOne(source);
    onPage = async () => {
      onPage = async () => {};
      await store(app, 'default', id, place);
    };
    const { syncs, unchanged } = await poll();
    expect(syncs.map(({ formId }) => formId)).toContain('frm-1');
    expect(unchanged).toEqual([]);
  },
);

it('L17: finds an import although another process stores a newcomer of it in the second target', async () => {
  const { app, poll, insert } = await openMirror(({ TARGET_URL: file }) => ({
    TARGETS: 'a,b',
    TARGET_URL: undefined,
    TARGET_A_URL: `${file}-a`,
    TARGET_B_URL: file,
  }));
  // L16: a quiet poll asks as little for two targets as for one.
  expect(await poll()).toMatchObject({ syncs: [], requests: 7 });
  const second = (await app.target('b')).store;
  const forms = second.forms.bind(second);
  insert(1, { createdAt: Date.now() - 300 * 86_400_000 });
  second.forms = async () => {
    second.forms = forms;
    await store(app, 'b', insert(2), 2);
    return forms();
  };
  const { syncs } = await poll();
  expect(syncs.map(({ formId, target }) => `${formId} ${target}`)).toContain('frm-1 b');
});

it('L17: a poll agrees on no statuses while a form has some that no count asks for', async () => {
  const { source, app, poll } = await openMirror();
  const statusesAtMs = async (): Promise<number | null | undefined> => {
    expect((await poll()).syncs).toEqual([]);
    const agreements = await AGREEMENTS.read((await app.target('default')).store);
    return agreementOn(agreements, 'frm-1')?.statusesAtMs;
  };
  expect(await statusesAtMs()).toBeGreaterThan(0);
  const id = source.byTime('frm-2')[0]?.id ?? '';
  source.setStatus(id, 'SPAM');
  await runAll(app, await poll());
  source.setStatus(id, 'TRASH');
  expect(await statusesAtMs()).toBeNull();
});

it('L12: visits each form of a target that does not answer, and delays no other', async () => {
  const { app, clock, poll, insert } = await openMirror(({ TARGET_URL: file }) => ({
    TARGETS: 'a,b',
    TARGET_URL: undefined,
    TARGET_A_URL: `${file}-a`,
    TARGET_B_URL: file,
  }));
  insert(2);
  (await app.target('a')).store.forms = () => new Promise(() => {});
  const sleep = clock.sleep.bind(clock);
  const waits: number[] = [];
  const answered = Promise.withResolvers<void>();
  clock.sleep = async (ms, stop) => {
    if (ms < 10_000) return sleep(ms, stop);
    waits.push(ms);
    // The wait for a target ends with its answer.
    stop?.addEventListener('abort', () => answered.resolve());
    await answered.promise;
  };
  const { syncs } = await poll();
  const { a = [], b } = Object.groupBy(syncs, ({ target }) => target);
  expect(a).toHaveLength(FORMS);
  expect(b?.map(({ formId }) => formId)).toEqual(['frm-2']);
  expect(waits).toEqual([20_000, 20_000]);
});

it('L16: finds a changed status although only forms can be counted by status', async () => {
  let isBroken = false;
  const { source, app, poll } = await openMirror(undefined, {
    onRequest({ query }) {
      if (isBroken && !query.has('formId')) query.delete('status');
    },
  });
  isBroken = true;
  const id = source.byTime('frm-2')[0]?.id ?? '';
  source.setStatus(id, 'ARCHIVED');
  await runAll(app, await poll());
  const { store } = await app.target('default');
  const copy = (await store.states()).find(({ state }) => state.formId === 'frm-2');
  const archived = source.all('frm-2').filter(({ status }) => status === 'ARCHIVED');
  expect(copy?.state.tally.rows['ARCHIVED']).toBe(archived.length);
});

it('L16: learns within a day that a source sorts and filters by date again', async () => {
  let isBroken = false;
  const { app, clock, poll, insert } = await openMirror(undefined, {
    onRequest({ query }) {
      if (!isBroken) return;
      for (const name of ['dateFrom', 'dateTo', 'sortOrder']) query.delete(name);
      query.set('sortOrder', 'asc');
    },
  });
  // A form that one page shows is read whole, in any order.
  for (let day = 1; day <= 100; day++)
    insert(1, { createdAt: Date.now() - (800 + day) * 86_400_000 });
  await runAll(app, await poll());
  isBroken = true;
  insert(1);
  await runAll(app, await poll());
  expect((await poll()).syncs).toHaveLength(FORMS);
  isBroken = false;
  clock.goOn(25 * 3_600_000);
  for (let round = 0; round < 2; round++) await runAll(app, await poll());
  expect(await poll()).toMatchObject({ syncs: [], requests: 7 });
});
