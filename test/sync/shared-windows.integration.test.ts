import { beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { Events } from '../../src/base/events.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { FormsClient } from '../../src/forms/client.ts';
import { parsePicks } from '../../src/mirror/picks.ts';
import type { Target, WindowWriter } from '../../src/mirror/target.ts';
import type { WindowRecord } from '../../src/mirror/window.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/forms-api/sandbox.ts';
import { FormsStore } from '../../src/sandbox/forms-api/store.ts';
import { assistPass, type AssistRequest } from '../../src/sync/assist.ts';
import type { SyncContext } from '../../src/sync/context.ts';
import type { PassProgress, PassReport, SyncEvents } from '../../src/sync/events.ts';
import { LabelCache } from '../../src/sync/label-cache.ts';
import { runPass } from '../../src/sync/run-pass.ts';
import { windowLockName } from '../../src/targets/sql/window-lock.ts';
import type { SqlPlace } from '../contract/sql-target.ts';
import { sorted } from '../contract/target-harness.ts';
import { lentPostgres } from '../support/lent-server.ts';
import { postgresPlace } from '../support/postgres-place.ts';
import { postgresMissing } from '../support/servers.ts';
import { WindowGate } from './window-gate.ts';

const [FORM, NAME, OLD_FIELD] = ['frm_1', 'field_1_a', 'field_0_old'];
const SUBMISSIONS = 400;
const HOUR_MS = 3_600_000;
const SOON = { timeout: 60_000 };
const REQUEST: AssistRequest = { formId: FORM, picks: parsePicks(['*']), hashKey: undefined };

/** One worker: it shares nothing with the others but source and target. */
interface Worker {
  readonly context: SyncContext;
  readonly target: Target;
}

describe.skipIf(postgresMissing())('windows that several workers share', () => {
  let server: { url: string };
  let place: SqlPlace;
  let store: FormsStore;
  let sandbox: Sandbox;
  let now = 0;
  let gate: WindowGate;
  beforeAll(async () => {
    server = await lentPostgres();
  });
  beforeEach(async () => {
    place = await postgresPlace(server);
    now = Date.UTC(2026, 2, 1);
    store = new FormsStore({ seed: 3, clock: { now: () => now } });
    store.addForm({ id: FORM, name: 'Contact form', fields: [{ id: NAME, label: 'Name' }] });
    for (let n = 0; n < SUBMISSIONS; n++) {
      now += 3 * HOUR_MS;
      // Its label is found by whoever meets it.
      const old = n % 50 === 7 ? { [OLD_FIELD]: 'old' } : {};
      store.insert({ formId: FORM, data: { [NAME]: `n ${n}`, ...old }, createdAt: now });
    }
    gate = new WindowGate();
    const { onRequest } = gate;
    sandbox = await startSandbox({ store, behaviour: { maxLimit: 10 }, onRequest });
    return async () => {
      await sandbox.stop();
      await place.dispose();
    };
  });

  async function openWorker(): Promise<Worker> {
    const client = new FormsClient({
      baseUrl: sandbox.url,
      apiKey: sandbox.apiKey,
      auth: 'bearer',
      concurrency: 2,
      clock: systemClock,
    });
    const target = await place.open();
    onTestFinished(async () => {
      await client[Symbol.asyncDispose]();
      await target[Symbol.asyncDispose]();
    });
    const context = {
      client,
      labels: new LabelCache(client, systemClock),
      clock: systemClock,
      logger: silentLogger,
      events: new Events<SyncEvents>(),
      maxDeleteFraction: 0.2,
      windowSizes: { aim: 40, most: 60 },
      hasHelpers: true,
      readAhead: 2,
    };
    return { context, target };
  }
  const full = ({ context, target }: Worker, signal = new AbortController().signal) =>
    runPass(context, target, { ...REQUEST, kind: 'full', waitMs: 0 }, signal);
  const assist = (
    { context, target }: Worker,
    request = REQUEST,
    signal = new AbortController().signal,
  ): Promise<number> => assistPass(context, target, request, signal);
  /**
   * Runs a full pass, and `help` as soon as it asks for some. By then the gate is closed, and stays so until `help` opens it or
   * is done.
   */
  async function helped<T>(
    worker: Worker,
    help: () => Promise<T>,
    { signal, letsFirst = false }: { signal?: AbortSignal; letsFirst?: boolean } = {},
  ): Promise<[PassReport, T]> {
    const asked = Promise.withResolvers<void>();
    // Told before the pass asks for the first of its windows.
    const forget = worker.context.events.on('windows.open', () => {
      forget();
      gate.close({ letsFirst });
      asked.resolve();
    });
    const helping = asked.promise.then(help).finally(() => gate.open());
    return Promise.all([full(worker, signal), helping]);
  }
  /** All of these help, and the source answers once each of them, and the pass itself, holds a window. */
  async function assistTogether(others: readonly Worker[], request = REQUEST): Promise<number[]> {
    const assisting = Promise.all(others.map((other) => assist(other, request)));
    await Promise.race([assisting, untilHeld(others[0]!, 1 + others.length)]);
    gate.open();
    return assisting;
  }
  const expectSame = async (): Promise<void> => {
    const reader = await (await openWorker()).target.reader(FORM);
    expect(await sorted(reader!.liveIds())).toEqual(store.ids(FORM).toSorted());
    expect(await reader!.losses()).toEqual([]);
    expect((await reader!.windows()).filter(({ open }) => open)).toEqual([]);
  };
  /** The pages of windows that were asked for, but for those of the shortest, which are read twice. */
  const pagesRead = (): string[] => {
    const pages = sandbox.requests
      .filter(({ path, query }) => path.endsWith('/submissions') && query['limit'] === '100')
      .filter(({ query }) => 'dateFrom' in query || 'dateTo' in query)
      .map(({ query }) => query);
    const windows = Map.groupBy(pages, (query) => `${query['dateFrom']} ${query['dateTo']}`);
    return [...windows.values()]
      .filter((read) => read.some(({ page }) => Number(page) > 2))
      .flat()
      .map((query) => JSON.stringify(query));
  };

  /** Waits until so many windows that are not proven are held: one by each worker, as long as the source keeps back its answers. */
  const untilHeld = ({ target }: Worker, count: number): Promise<void> =>
    vi.waitFor(async () => {
      const reader = await target.reader(FORM);
      const open = (await reader!.windows()).filter((window) => window.open);
      const locks = await place.query(`SELECT form_id FROM ${place.relation('mirror_locks')}`);
      const held = new Set(locks.map(({ form_id }) => form_id));
      expect(open.filter((window) => held.has(windowLockName(FORM, window)))).toHaveLength(count);
    }, SOON);

  it('become smaller towards the newest where others may come to help, and are as large as may be otherwise', async () => {
    const sizes: number[][] = [];
    for (const hasHelpers of [true, false]) {
      const { context, target } = await openWorker();
      await full({ context: { ...context, hasHelpers }, target });
      const windows = (await (await target.reader(FORM))!.windows()).map(({ total }) => total);
      sizes.push(windows);
      await place.dispose();
      place = await postgresPlace(server);
    }
    const [shared = [], own = []] = sizes;
    expect(own.length).toBeLessThan(shared.length);
    expect(Math.min(...own.slice(0, -1))).toBeGreaterThan(20);
    expect(shared.at(-1)).toBeLessThan(20);
  });

  it('L1, L13: are read once each, and the pass ends with what all have done', async () => {
    const worker = await openWorker();
    const progress: PassProgress[] = [];
    worker.context.events.on('pass.progress', (one) => progress.push(one));
    const others = [await openWorker(), await openWorker()];
    const [report, windows] = await helped(worker, () => assistTogether(others));
    expect(report).toMatchObject({
      outcome: 'ok',
      total: SUBMISSIONS,
      distinct: SUBMISSIONS,
      inserted: SUBMISSIONS,
    });
    for (const count of windows) expect(count).toBeGreaterThan(0);
    await expectSame();
    expect(pagesRead().length).toBeGreaterThan(30);
    // One page shows, before any is trusted, that the source reads the bounds.
    expect(pagesRead().length - new Set(pagesRead()).size).toBeLessThanOrEqual(1);
    expect(report.requests).toBeGreaterThan(60);
    expect(progress.at(-1)).toMatchObject({ total: SUBMISSIONS });
    expect(Math.max(...progress.map(({ seen }) => seen))).toBe(SUBMISSIONS);
    const columns = await (await worker.target.reader(FORM))!.fields();
    expect(columns.map(({ id }) => id)).toEqual([NAME, OLD_FIELD]);
    // Nothing is left to help with, and that costs no request.
    const before = sandbox.requests.length;
    expect(await assist(others[0]!)).toBe(0);
    expect(sandbox.requests.length).toBe(before);
    expect(await full(worker)).toMatchObject({ outcome: 'ok', unchanged: SUBMISSIONS, updated: 0 });
  });

  it('L5: are given back by a worker that stops, and read by another', async () => {
    const worker = await openWorker();
    const stopping = new AbortController();
    const leaving = await openWorker();
    const [report] = await helped(worker, async () => {
      const reading = assist(leaving, REQUEST, stopping.signal);
      await untilHeld(leaving, 2);
      stopping.abort();
      await expect(reading).rejects.toMatchObject({ code: 'CANCELLED' });
    });
    expect(report).toMatchObject({ outcome: 'ok', total: SUBMISSIONS });
    await expectSame();
  });

  it('L2, L17: are all proven before the newest is read, where bounds compare the time of the last change', async () => {
    sandbox.behave({ dateStamp: 'updated' });
    const worker = await openWorker();
    const helper = await openWorker();
    const [report] = await helped(worker, async () => {
      const reader = (await helper.target.reader(FORM))!;
      const signal = new AbortController().signal;
      const closed = (await reader.windows()).filter(({ to }) => to !== null);
      const held = closed.at(-1)!;
      const writer = await helper.target.openWindowWriter(FORM, held, { waitMs: 0, signal });
      gate.open();
      const openOnes = async (): Promise<number> =>
        (await reader.windows()).filter(({ open, to }) => open && to !== null).length;
      await vi.waitFor(async () => expect(await openOnes()).toBe(1), SOON);
      // The pass has nothing else to do, and asks for help again and again.
      for (let times = 0; times < 2; times++) {
        await new Promise<void>((resolve) =>
          worker.context.events.on('windows.open', () => resolve()),
        );
      }
      const from = Date.parse(held.from!);
      const moved = [...store.all(FORM)].find(({ createdAt }) => Date.parse(createdAt) > from)!;
      store.setStatus(moved.id, 'DONE');
      await writer[Symbol.asyncDispose]();
    });
    expect(report).toMatchObject({ outcome: 'ok', total: SUBMISSIONS });
    await expectSame();
  });

  it('L8: have deletions marked within what the whole form may lose', async () => {
    const worker = await openWorker();
    await full(worker);
    const ids = store.ids(FORM);
    for (const id of ids.filter((_, n) => n % 8 === 0)) store.delete(id);
    const others = [await openWorker()];
    const [report] = await helped(worker, () => assistTogether(others));
    expect(report).toMatchObject({ outcome: 'ok', deleted: 50, total: 350 });
    await expectSame();
  });

  it('L8: withhold what is too much, however many look', async () => {
    const worker = await openWorker();
    await full(worker);
    for (const id of store.ids(FORM).filter((_, n) => n % 3 === 0)) store.delete(id);
    const others = [await openWorker()];
    const [report] = await helped(worker, () => assistTogether(others));
    expect(report).toMatchObject({ outcome: 'withheld', deleted: 0 });
  });

  it('L1, L17: are read anew after the table was dropped while others held some', async () => {
    const worker = await openWorker();
    const helper = await openWorker();
    const claims = vi.spyOn(helper.target, 'openWindowWriter');
    const dropping = async (): Promise<unknown> => {
      const reading = assist(helper).catch((error: unknown) => error);
      const reader = (await helper.target.reader(FORM))!;
      const proven = async (): Promise<WindowRecord[]> =>
        (await reader.windows()).filter((window) => !window.open);
      await vi.waitFor(async () => expect(await proven()).toHaveLength(1), SOON);
      await untilHeld(helper, 2);
      await place.query(`DROP TABLE ${place.relation('contact_form')} CASCADE`);
      // Were the pass to end first, there would be nothing to help with any more.
      gate.open(claims.mock.lastCall![1]);
      return reading;
    };
    const [report, helping] = await helped(worker, dropping, { letsFirst: true });
    expect([report, helping]).toMatchObject([
      { outcome: 'failed', code: 'TARGET_FAILED' },
      { code: 'TARGET_FAILED' },
    ]);
    const [again, windows] = await helped(worker, () => assistTogether([helper]));
    expect(again).toMatchObject({ outcome: 'ok', inserted: SUBMISSIONS });
    expect(again.reason).toContain('was gone; everything is read again');
    expect(windows[0]).toBeGreaterThan(0);
    await expectSame();
  });

  it('L13: are no longer written by whom another pass has overtaken, which made the table anew', async () => {
    const [dead, worker, sleeper] = [await openWorker(), await openWorker(), await openWorker()];
    const dying = new AbortController();
    const claim = async (): Promise<WindowWriter> => {
      const reader = (await sleeper.target.reader(FORM))!;
      const last = (await reader.windows()).findLast(({ to }) => to !== null)!;
      const { signal } = new AbortController();
      const writer = await sleeper.target.openWindowWriter(FORM, last, { waitMs: 0, signal });
      dying.abort();
      return writer;
    };
    const [cut, held] = await helped(dead, claim, { signal: dying.signal });
    expect(cut).toMatchObject({ outcome: 'cancelled' });
    await place.query(`DROP TABLE ${place.relation('contact_form')} CASCADE`);
    const [report] = await helped(worker, async () => {
      const window = (await held.windows()).find(({ open, to }) => open && to !== null);
      const lost = { code: 'TARGET_LOST_LOCK' };
      await expect(held.saveWindow({ ...window!, open: false })).rejects.toMatchObject(lost);
      await expect(held.apply([], [])).rejects.toMatchObject(lost);
      await held[Symbol.asyncDispose]();
    });
    expect(report).toMatchObject({ outcome: 'ok', inserted: SUBMISSIONS });
    await expectSame();
  });

  it('are read one at a time by a worker that is wanted elsewhere', async () => {
    const worker = await openWorker();
    const others = [await openWorker()];
    const [report, windows] = await helped(worker, () =>
      assistTogether(others, { ...REQUEST, goesOn: () => false }),
    );
    expect(windows).toEqual([1]);
    expect(report).toMatchObject({ outcome: 'ok', total: SUBMISSIONS });
    await expectSame();
  });

  it('L11: are left alone by a worker of other settings', async () => {
    const worker = await openWorker();
    const other = { ...REQUEST, picks: parsePicks([NAME]) };
    const [report, windows] = await helped(worker, async () => assist(await openWorker(), other));
    expect(windows).toBe(0);
    expect(report).toMatchObject({ outcome: 'ok', distinct: SUBMISSIONS });
    await expectSame();
  });
});
