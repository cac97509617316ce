import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, vi } from 'vitest';
import type { RequestInfo } from '../../src/sandbox/forms-api/sandbox.ts';
import { FormsStore } from '../../src/sandbox/forms-api/store.ts';
import type { Child, ChildEnv, Finally } from '../support/child.ts';
import { ChildPlace } from '../support/child-place.ts';
import { MirrorView } from '../support/mirror-view.ts';
import { redisMissing, startRedis } from '../support/servers.ts';
import { breachesOf } from '../support/settled.ts';

/** No promise of speed: a machine may be busy with other things. */
const SOON = { timeout: 180_000, interval: 100 };
const FORMS = Array.from({ length: 4 }, (_, index) => `form-${index}`);
const NAME = 'field_1_name';
const RECONCILE_MS = 2_000;
/** So often a pass meets a form that is held, before whoever holds it goes on. */
const ENCOUNTERS = 4;

/** Processes over one SQLite file, each of which can be stopped in the very middle of a full pass of its own. */
class Workshop {
  readonly children: ChildPlace;
  readonly view: MirrorView;
  readonly #file: string;
  /** Who is to be struck when it is seen in the middle of a full pass, and how. */
  readonly #victims = new Map<number, { signal: NodeJS.Signals; struck: (form: string) => void }>();

  private constructor(children: ChildPlace) {
    this.children = children;
    this.view = new MirrorView(children.targetUrl);
    this.#file = children.targetUrl.slice('sqlite:'.length);
  }

  static async open(onFinished: Finally, env: ChildEnv): Promise<Workshop> {
    const opened: { shop?: Workshop } = {};
    const store = new FormsStore({ seed: 'rhythm' });
    for (const id of FORMS) {
      store.addForm({ id, slug: id, name: id, fields: [{ id: NAME, label: 'Name' }] });
      for (let n = 0; n < 150; n++) {
        store.insert({ formId: id, data: { [NAME]: `Žofie ${n}` }, createdAt: n * 1_000 });
      }
    }
    const children = await ChildPlace.open(onFinished, {
      store,
      onRequest: (request) => opened.shop?.look(request),
    });
    children.env = {
      ...children.env,
      ...env,
      SYNC_EVERY: '1s',
      RECONCILE_EVERY: `${RECONCILE_MS / 1_000}s`,
      LOG_LEVEL: 'debug',
    };
    const shop = new Workshop(children);
    opened.shop = shop;
    // Only full passes come so far; while one is asked for it, all others have their turn.
    const times = Number.POSITIVE_INFINITY;
    const slow = { path: '/submissions', query: { page: '2' }, delayMs: 500, times };
    children.sandbox.faults.add(slow);
    return shop;
  }

  /** Strikes whoever holds the form whose second page is asked for. */
  look({ path, query }: RequestInfo): void {
    if (this.#victims.size === 0 || path !== '/submissions' || query.get('page') !== '2') return;
    const formId = query.get('formId') ?? '';
    using database = new DatabaseSync(this.#file, { readOnly: true, timeout: 5_000 });
    const row = database.prepare('SELECT holder FROM mirror_locks WHERE form_id = ?').get(formId);
    const pid = Number(/process (\d+)/.exec(String(row?.['holder']))?.[1]);
    const victim = this.#victims.get(pid);
    if (victim === undefined) return;
    this.#victims.delete(pid);
    process.kill(pid, victim.signal);
    victim.struck(formId);
  }

  /** Sends a process a signal in the middle of its next full pass; resolves with the form. */
  strike({ pid }: Child, signal: NodeJS.Signals): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>();
    this.#victims.set(pid, { signal, struck: resolve });
    return promise;
  }

  /** Resolves when passes over the form have been put off so often, by any process that lives. */
  async postponed(formId: string, often: number): Promise<void> {
    const before = this.waits(formId).length;
    await vi.waitUntil(() => this.waits(formId).length - before >= often, SOON);
  }

  /** How long full passes over the form were put off, ms, as the processes logged it. */
  waits(formId?: string): number[] {
    return this.children.children.flatMap(({ stderr }) =>
      stderr.split('\n').flatMap((line) => {
        if (!line.startsWith('{') || !line.includes('"delayMs"')) return [];
        const said = JSON.parse(line) as Record<string, unknown>;
        const isIt = said['kind'] === 'full' && (formId ?? said['formId']) === said['formId'];
        return isIt && typeof said['delayMs'] === 'number' ? [said['delayMs']] : [];
      }),
    );
  }

  /** Resolves when each form has had so many proven full passes that began from now on. */
  async comparesAll(often: number): Promise<void> {
    const since = new Date().toISOString();
    await vi.waitUntil(async () => {
      const sql = `SELECT form_id, count(*) AS n FROM mirror_passes
        WHERE kind = 'full' AND outcome = 'ok' AND started_at > '${since}' GROUP BY form_id`;
      const rows = await this.view.ask(sql);
      const done = rows.filter((row) => Number(row['n']) >= often);
      const ready = new Set(done.map((row) => row['form_id']));
      return FORMS.every((id) => ready.has(id));
    }, SOON);
  }
}

/** What holds in the end: the copy is right, and no full pass was ever put off for longer than its interval. */
async function expectRhythm(shop: Workshop): Promise<void> {
  const all = shop.waits();
  expect(all.length).toBeGreaterThanOrEqual(ENCOUNTERS);
  expect(Math.max(...all)).toBeLessThanOrEqual(RECONCILE_MS);
  expect(await breachesOf(shop.children.store, shop.view)).toEqual([]);
}

describe('the rhythm of full passes, after kill -9 and SIGSTOP', { timeout: 900_000 }, () => {
  it.skipIf(redisMissing())(
    'L5, L16: of several workers over Redis',
    async ({ onTestFinished }) => {
      const redis = await startRedis();
      onTestFinished(() => redis.stop());
      const shop = await Workshop.open(onTestFinished, { QUEUE_URL: redis.url });
      const { children } = shop;
      const start = children.start(['start']);
      const [killed, stopped] = [children.start(['worker']), children.start(['worker'])];
      await shop.comparesAll(1);
      await shop.strike(killed, 'SIGKILL');
      const held = await shop.strike(stopped, 'SIGSTOP');
      await shop.postponed(held, ENCOUNTERS);
      stopped.process.kill('SIGCONT');
      await shop.comparesAll(2);
      await expectRhythm(shop);
      for (const child of [start, stopped]) {
        expect(await child.end('SIGTERM')).toEqual({ code: 0, signal: null });
      }
    },
  );
});
