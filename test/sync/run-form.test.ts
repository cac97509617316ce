import { expect, it } from 'vitest';
import type { App } from '../../src/app.ts';
import type { ProblemCode } from '../../src/base/catalogue.ts';
import { systemClock } from '../../src/base/clock.ts';
import { MirrorError } from '../../src/base/errors.ts';
import type { OpenForm, Store } from '../../src/mirror/port.ts';
import { noteWriteBack, WRITE_BACKS } from '../../src/sync/records.ts';
import type { SandboxOptions } from '../support/sandbox.ts';
import { type CliPlace, openPlace } from '../support/cli-sandbox.ts';
import { spreadStore } from '../support/request-costs.ts';
import { openParts } from '../support/mirrored-form.ts';

const { signal } = new AbortController();

/** A sample workspace, a program that mirrors it, and the store of its target. */
async function openApp(
  options: SandboxOptions = {},
): Promise<{ app: App; formId: string; store: Store; place: CliPlace }> {
  const place = await openPlace(options);
  const app = openParts(place.env);
  const { store } = await app.target('default');
  return { app, formId: place.sandbox.store.forms()[0]?.id ?? '', store, place };
}

/** The first commit fails. */
function failOnce(store: Store, error: MirrorError): void {
  const open = store.open.bind(store) as (...args: unknown[]) => Promise<OpenForm | null>;
  let hasFailed = false;
  store.open = (async (...args: unknown[]) => {
    const form = await open(...args);
    const commit = form?.commit.bind(form);
    if (form !== null && commit !== undefined)
      form.commit = async (change) => {
        if (hasFailed) return commit(change);
        hasFailed = true;
        throw error;
      };
    return form;
  }) as Store['open'];
}

it('L13: a run ends if another process takes its form over, however long it may wait', async () => {
  const { app, formId, store } = await openApp();
  // In a spreadsheet, because it has no lock.
  failOnce(store, new MirrorError('TARGET_BUSY', 'Another process has written the form.'));
  const report = await app.run({ formId, target: 'default' }, { waitMs: 60_000 }, signal);
  expect(report).toMatchObject({ outcome: 'busy', code: 'TARGET_BUSY' });
});

it.each(['PAID', 'UNDOCUMENTED'])(
  'L16: finds that an old submission is %s now although every page shows a newcomer',
  async (status) => {
    const source = spreadStore(1, 300);
    let isBusy = false;
    const { app, formId, place } = await openApp({
      store: source,
      onRequest: ({ query }) => {
        if (isBusy && query.get('limit') === '100')
          source.insert({ formId, status: 'NEW', data: {} });
      },
    });
    await app.run({ formId, target: 'default' }, {}, signal);
    const old = source.byTime(formId).find(({ status }) => status === 'NEW');
    source.setStatus(old?.id ?? '', status);
    isBusy = true;
    await app.run({ formId, target: 'default' }, {}, signal);
    expect(place.rows(`SELECT status FROM frm_1 WHERE id = '${old?.id}'`)).toEqual([{ status }]);
  },
);

it('L8: a submission that names another form now is not marked deleted', async () => {
  const source = spreadStore(2, 20);
  const { app, place } = await openApp({ store: source });
  const run = (formId: string) => app.run({ formId, target: 'default' }, {}, signal);
  for (const { id } of source.forms()) await run(id);
  const [moved] = source.byTime('frm-1');
  const { id = '', data = {} } = moved ?? {};
  source.delete(id);
  source.insert({ id, formId: 'frm-2', data });
  expect(await run('frm-1')).toMatchObject({ outcome: 'ok', deleted: 0 });
  expect(await run('frm-2')).toMatchObject({ outcome: 'ok', inserted: 1 });
  expect(place.rows(`SELECT _deleted_at FROM frm_1 WHERE id = '${id}'`)).toEqual([
    { _deleted_at: null },
  ]);
});

it('L17: claims nothing new about statuses while some have one that no count asks for', async () => {
  const source = spreadStore(1, 300);
  const { app, formId } = await openApp({ store: source });
  const statusesAsOf = async (): Promise<number | null | undefined> => {
    const report = await app.run({ formId, target: 'default' }, {}, signal);
    expect(report).toMatchObject({ outcome: 'ok' });
    return report.claim?.statusesAsOfMs;
  };
  await statusesAsOf();
  const [one] = source.byTime(formId);
  source.setStatus(one?.id ?? '', 'SPAM');
  const before = await statusesAsOf();
  // This changes no count.
  source.setStatus(one?.id ?? '', 'TRASH');
  expect(await statusesAsOf()).toBe(before);
});

it('L16: agrees in few requests with a form that gets a submission before each response', async () => {
  const source = spreadStore(1, 300);
  const arrive = () => source.insert({ formId, status: 'NEW', data: {} });
  let isBusy = false;
  const { app, formId } = await openApp({
    store: source,
    onRequest: () => {
      if (isBusy) arrive();
    },
  });
  await app.run({ formId, target: 'default' }, {}, signal);
  // More than one page of them, so that others arrive between pages.
  for (let arrived = 0; arrived < 250; arrived++) arrive();
  isBusy = true;
  const run = await app.run({ formId, target: 'default' }, {}, signal);
  expect(run).toMatchObject({ outcome: 'ok' });
  expect(run.inserted).toBeGreaterThan(250);
  expect(run.requests).toBeLessThan(20);
});

it('a row comparison asks for no counts by status, and a first copy does', async () => {
  const source = spreadStore(1, 300);
  const statuses: (string | null)[] = [];
  const { app, formId } = await openApp({
    store: source,
    onRequest: ({ path, query }) => {
      if (path.startsWith('/submissions')) statuses.push(query.get('status'));
    },
  });
  const compare = () => app.run({ formId, target: 'default' }, { isFull: true }, signal);
  const asked = async () => {
    statuses.length = 0;
    expect(await compare()).toMatchObject({ outcome: 'ok', isWhole: true });
    return statuses.filter((status) => status !== null).length;
  };
  expect(await asked()).toBe(6);
  expect(await asked()).toBe(0);
});

it('L17: a run that follows a run with a fast clock looks for changes', async () => {
  const source = spreadStore(1, 300);
  const { env, rows } = await openPlace({ store: source });
  const formId = source.forms()[0]?.id ?? '';
  const run = async (aheadMs: number) => {
    const clock = { ...systemClock, now: () => systemClock.now() + aheadMs };
    return openParts(env, clock).run({ formId, target: 'default' }, {}, signal);
  };
  await run(5 * 3_600_000);
  const old = source.byTime(formId).find(({ status }) => status === 'NEW');
  source.setStatus(old?.id ?? '', 'PAID');
  expect(await run(0)).toMatchObject({ outcome: 'ok', isWhole: false });
  expect(rows(`SELECT status FROM frm_1 WHERE id = '${old?.id}'`)).toEqual([{ status: 'PAID' }]);
});

it('L8: a run with accepted deletions looks for those that were held before', async () => {
  const source = spreadStore(1, 400);
  const { app, formId } = await openApp({ store: source });
  const place = { formId, target: 'default' };
  await app.run(place, {}, signal);
  for (const id of source.ids(formId).slice(0, 150)) source.delete(id);
  // Deletions that wait for a person are counted, and are no changes of the run.
  expect(await app.dryRun(place, {}, signal)).toMatchObject({ held: 150, foreseen: [] });
  const held = await app.run(place, { isFull: true }, signal);
  expect(held).toMatchObject({ outcome: 'held', held: 150, deleted: 0 });
  const accepted = await app.run(place, { isComparison: true, acceptDeletes: 150 }, signal);
  expect(accepted).toMatchObject({ outcome: 'ok', deleted: 150 });
});

it('L8: what is held after other deletions stays held until a person accepts it', async () => {
  const source = spreadStore(1, 120);
  let [asked, isDone] = [0, true];
  const { app, formId } = await openApp({
    store: source,
    onRequest({ path }) {
      if (/submissions\/./.test(path)) asked++;
      else if (asked >= 15 && !isDone) isDone = Boolean(remove());
    },
  });
  const remove = (): void[] =>
    source
      .ids(formId)
      .slice(0, 15)
      .map((id) => source.delete(id));
  const place = { formId, target: 'default' };
  await app.run(place, {}, signal);
  remove();
  isDone = false;
  const held = await app.run(place, {}, signal);
  expect(held).toMatchObject({ outcome: 'held', deleted: 15, held: 15 });
  expect(await app.dryRun(place, { isFull: true }, signal)).toMatchObject({ held: 15, deleted: 0 });
  const again = await app.run(place, { isFull: true }, signal);
  expect(again).toMatchObject({ outcome: 'held', deleted: 0, held: 15 });
  const accepted = await app.run(place, { acceptDeletes: 15 }, signal);
  expect(accepted).toMatchObject({ outcome: 'ok', deleted: 15, held: 0 });
});

it('L17: a problem of a write-back keeps its start time', async () => {
  const { store } = await openApp();
  const since = async (code: ProblemCode, day: number): Promise<string | undefined> => {
    const at = new Date(Date.UTC(2026, 2, day)).toISOString();
    await noteWriteBack(store, 'f', { since: at, code, error: `The ${day}th.` });
    return (await WRITE_BACKS.read(store))['f']?.since.slice(0, 10);
  };
  expect(await since('FORMS_FAILED', 1)).toBe('2026-03-01');
  expect(await since('FORMS_FAILED', 2)).toBe('2026-03-01');
  expect(await since('FORMS_REFUSED', 3)).toBe('2026-03-03');
  await noteWriteBack(store, 'f', null);
  expect(await WRITE_BACKS.read(store)).toEqual({});
});

it('L11: stores nothing of a form if another process has just recorded its slug for another form', async () => {
  const place = await openPlace();
  const [form] = place.sandbox.store.forms();
  const env = { ...place.env, TARGET_FORMS: form?.slug ?? '' };
  const app = openParts(env);
  const { store } = await app.target('default');
  const record = store.record.bind(store);
  let asked = 0;
  const bound = { value: { [env.TARGET_FORMS]: 'another' }, revision: 1 };
  store.record = async (key) => (key === 'slugs' ? (asked++ > 0 ? bound : null) : record(key));
  const run = await app.run({ formId: form?.id ?? '', target: 'default' }, {}, signal);
  expect(run).toMatchObject({ code: 'SLUG_REUSED' });
  expect(await store.forms()).toEqual([]);
});
