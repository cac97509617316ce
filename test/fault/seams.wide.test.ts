import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { App } from '../../src/app.ts';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { loadConfig } from '../../src/config.ts';
import type { SandboxOptions } from '../../src/sandbox/forms-api/sandbox.ts';
import { FormsStore } from '../../src/sandbox/forms-api/store.ts';
import type { PassReport } from '../../src/sync/events.ts';
import type { Finally } from '../support/child.ts';
import { ChildPlace, passesOf, sumOf } from '../support/child-place.ts';
import { lentMariadb, lentPostgres } from '../support/lent-server.ts';
import { MirrorView } from '../support/mirror-view.ts';
import {
  createDatabase,
  createMysqlDatabase,
  mariadbMissing,
  postgresMissing,
} from '../support/servers.ts';
import { breachesOf, breachesOfForm } from '../support/settled.ts';

const SEAM_PROCESS = join(import.meta.dirname, 'seam-process.ts');
const NAME = 'field_1_name';
const REFUSED = 'never mark this one';
const MARKING = { MARK_STATUS: 'DONE', MARK_FROM: 'NEW,IN_PROGRESS' };

/** What a first pass and its marking write, in this order: the kind of write, and which of its kind. */
const FIRST = [
  ['openWriter', 1],
  ['prepare', 1],
  ['apply', 1],
  ['apply', 3],
  ['finish', 1],
  ['openWriter', 2],
  ['setStatuses', 1],
  ['recordRefusals', 1],
] as const;
/** The same for a later one. */
const LATER = [
  ['prepare', 1],
  ['apply', 2],
  ['markDeleted', 1],
  ['finish', 1],
  ['openWriter', 2],
  ['setStatuses', 1],
  ['recordRefusals', 1],
] as const;
type Seam = (typeof FIRST | typeof LATER)[number];

/** A source whose every PATCH is watched, and a target. */
class SeamPlace {
  readonly children: ChildPlace;
  readonly view: MirrorView;
  /** Breaches of L7 seen at the source, and how often each submission was PATCHed. */
  readonly breaches: string[] = [];
  readonly patches = new Map<string, number>();
  #now = Date.UTC(2026, 2, 1);

  private constructor(children: ChildPlace) {
    this.children = children;
    this.view = new MirrorView(children.targetUrl);
  }

  static async open(onFinished: Finally, targetUrl: string | undefined): Promise<SeamPlace> {
    const store = new FormsStore({ seed: 'seams', clock: { now: () => place.#now } });
    const options: SandboxOptions = {
      store,
      behaviour: {
        refuseTransition: ({ data }) => (data.get(NAME) === REFUSED ? 409 : undefined),
      },
      onRequest: ({ method, path }) => {
        if (method === 'PATCH') place.#watch(path.split('/')[2] ?? '');
      },
    };
    const children = await ChildPlace.open(onFinished, options);
    children.env = {
      ...children.env,
      ...MARKING,
      ...(targetUrl === undefined ? {} : { TARGET_URL: targetUrl }),
    };
    const place = new SeamPlace(children);
    return place;
  }

  get store(): FormsStore {
    return this.children.store;
  }

  addForm(id: string, submissions: number): string {
    this.store.addForm({ id, name: `Form ${id}`, fields: [{ id: NAME, label: 'Name' }] });
    this.#submit(id, submissions);
    return id;
  }

  /** Something for every kind of write. */
  meddle(formId: string, round: number): void {
    const ids = this.store.ids(formId);
    this.store.delete(ids[100 + round]!);
    this.store.setAnswers(ids[130 + round]!, { [NAME]: `edited ${round}` });
    this.store.setStatus(ids[160 + round]!, 'ARCHIVED');
    this.store.relabelField(formId, NAME, `Name ${round}`);
    this.store.addField(formId, { id: `field_2_r${round}`, label: 'Added' });
    this.#submit(formId, 3);
  }

  /** Runs a pass and marking in a process of its own, and kills it before that write. */
  async killBefore([write, nth]: Seam, formId: string): Promise<void> {
    const child = this.children.startScript(SEAM_PROCESS, [formId, write, String(nth)]);
    await child.shows(/the seam is reached/);
    if (write !== 'openWriter') await this.#checkLock(formId, child.pid);
    await child.end('SIGKILL');
  }

  /** L13: while that process lives and writes to the form, nobody else does. */
  async #checkLock(formId: string, pid: number): Promise<void> {
    const { outcome, error } = await this.#pass(formId, 0);
    const isHeld = outcome === 'busy' && error?.includes(`process ${pid}`) === true;
    if (!isHeld) this.breaches.push(`L13: beside a writer a pass ended ${outcome}: ${error}`);
  }

  /** A pass with no memory of before, and marking where it succeeds. */
  async #pass(formId: string, waitMs: number): Promise<PassReport> {
    const config = loadConfig(this.children.env, () => '', { source: true });
    await using app = new App(config, { clock: systemClock, logger: silentLogger });
    const order = { formId, target: 'default', kind: 'full' as const };
    const { signal } = new AbortController();
    const report = await app.pass(order, signal, { waitMs });
    if (report.outcome === 'ok') await app.mark(formId, signal);
    return report;
  }

  /** What must hold at once, before anybody repairs anything: no PATCH of what is not stored (L7). */
  async checkAtOnce(): Promise<void> {
    const stored = new Set<string>();
    for (const { id } of this.store.forms()) {
      for (const row of (await this.view.rows(id)).values()) stored.add(row.id);
    }
    const early = [...this.patches.keys()].filter((id) => !stored.has(id));
    this.breaches.push(...early.map((id) => `L7: PATCH of ${id} before it was stored`));
  }

  /** A pass and marking with no memory of before; then all must be well. */
  async recover(formId: string): Promise<void> {
    const { outcome, error } = await this.#pass(formId, 10_000);
    if (outcome !== 'ok') this.breaches.push(`L5: the next pass ended ${outcome}: ${error}`);
    this.breaches.push(...(await breachesOfForm(this.store, this.view, formId)));
    for (const { id, status, data } of this.store.all(formId)) {
      if (status !== 'NEW' || data.get(NAME) === REFUSED) continue;
      this.breaches.push(`L7: ${id} was never marked`);
    }
    for (const [id, times] of this.patches) {
      // A crash between PATCH and note costs a repeat at most.
      if (times > 2) this.breaches.push(`L7: ${times} PATCHes of ${id}`);
    }
  }

  #submit(formId: string, count: number): void {
    for (let n = 0; n < count; n++) {
      const name = n === 2 ? REFUSED : `Žofie č. ${n}`;
      const status = n % 12 < 3 && n < 60 ? 'NEW' : 'PAID';
      this.#now += 1_000;
      this.store.insert({ formId, status, data: { [NAME]: name } });
    }
  }

  #watch(id: string): void {
    this.patches.set(id, (this.patches.get(id) ?? 0) + 1);
    const status = this.store.get(id)?.status ?? 'none';
    if (!['NEW', 'IN_PROGRESS'].includes(status)) this.breaches.push(`L7: PATCH of a ${status}`);
  }
}

/** Kills before each write of a first pass and of a later one, and has a fresh process go on after each; tells breaches. */
async function killAtEverySeam(place: SeamPlace): Promise<string[]> {
  for (const [index, seam] of FIRST.entries()) {
    const formId = place.addForm(`first-${index}`, 250);
    await place.killBefore(seam, formId);
    await place.checkAtOnce();
    await place.recover(formId);
  }
  for (const [index, seam] of LATER.entries()) {
    place.meddle('first-0', index);
    await place.killBefore(seam, 'first-0');
    await place.checkAtOnce();
    await place.recover('first-0');
  }
  return place.breaches;
}

/** By the program itself, afterwards: it finds nothing to do and nothing that differs. */
async function checkByHand(place: SeamPlace): Promise<void> {
  const passes = passesOf(await place.children.run(['sync', '--full', '--json']));
  expect(new Set(passes.map(({ outcome }) => outcome))).toEqual(new Set(['ok']));
  expect(['inserted', 'updated', 'deleted'].map((key) => sumOf(passes, key as 'inserted'))).toEqual(
    [0, 0, 0],
  );
  expect(await place.children.run(['verify'])).toMatchObject({ code: 0 });
  expect(await breachesOf(place.store, place.view)).toEqual([]);
}

describe.concurrent('L5, L7, L13: kill -9 before each write', { timeout: 600_000 }, () => {
  // The simulation kills processes at any write into SQLite.
  it.skipIf(postgresMissing())('into PostgreSQL', async ({ onTestFinished }) => {
    const place = await SeamPlace.open(onTestFinished, await createDatabase(await lentPostgres()));
    expect(await killAtEverySeam(place)).toEqual([]);
    await checkByHand(place);
  });

  it.skipIf(mariadbMissing())('into MariaDB', async ({ onTestFinished }) => {
    const database = await createMysqlDatabase(await lentMariadb());
    const place = await SeamPlace.open(onTestFinished, database);
    expect(await killAtEverySeam(place)).toEqual([]);
    await checkByHand(place);
  });
});
