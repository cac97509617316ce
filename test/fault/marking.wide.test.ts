import { describe, expect, it } from 'vitest';
import { FormsStore } from '../../src/sandbox/forms-api/store.ts';
import type { Child, ChildEnv, Finally } from '../support/child.ts';
import { ChildPlace, type ChildResult } from '../support/child-place.ts';
import { lentPostgres } from '../support/lent-server.ts';
import { createDatabase, postgresMissing } from '../support/servers.ts';

const MARKING = { MARK_STATUS: 'DONE', FORMS_API_CONCURRENCY: '4' };
const SUBMISSIONS = 240;

interface MarkDocument {
  readonly outcome: string;
  readonly marked: number;
  readonly error: string | null;
}

const marksOf = ({ stdout }: Pick<ChildResult, 'stdout'>): MarkDocument[] =>
  (JSON.parse(stdout) as { marks: MarkDocument[] }).marks;

/** How it ended: how many are still to be marked, which statuses PATCHes met, and how often one was PATCHed at most. */
interface Summary {
  readonly unmarked: number;
  readonly met: readonly string[];
  readonly most: number;
}

const ALL_FROM_NEW = { unmarked: 0, met: ['NEW'] };
const ONCE: Summary = { ...ALL_FROM_NEW, most: 1 };

/** A source that counts every PATCH, and what has been mirrored of it before anyone marks. */
class MarkedPlace {
  readonly children: ChildPlace;
  /** How often each submission was PATCHed, and the statuses that PATCHes met. */
  readonly patches = new Map<string, number>();
  readonly metStatuses = new Set<string>();
  #onPatch: () => void = () => {};

  private constructor(children: ChildPlace) {
    this.children = children;
  }

  static async open(onFinished: Finally, env: ChildEnv = {}): Promise<MarkedPlace> {
    let now = Date.UTC(2026, 2, 1);
    const store = new FormsStore({ seed: 'marking', clock: { now: () => now } });
    store.addForm({ id: 'form-1', name: 'Contact', fields: [{ label: 'Name' }] });
    for (let n = 0; n < SUBMISSIONS; n++) {
      now += 1_000;
      store.insert({ formId: 'form-1', status: n % 8 === 0 ? 'PAID' : 'NEW', data: {} });
    }
    const children = await ChildPlace.open(onFinished, {
      store,
      // Slow enough to be caught in the middle of its first chunk.
      faults: [{ method: 'PATCH', delayMs: 40, times: Number.POSITIVE_INFINITY }],
      onRequest: ({ method, path }) => {
        if (method === 'PATCH') place.#watch(path.split('/')[2] ?? '');
      },
    });
    const place = new MarkedPlace(children);
    children.env = { ...children.env, ...env };
    const { code, stderr } = await children.run(['sync', '--full']);
    if (code !== 0) throw new Error(stderr);
    return place;
  }

  get unmarked(): number {
    return [...this.children.store.all('form-1')].filter(({ status }) => status === 'NEW').length;
  }

  get summary(): Summary {
    const { unmarked } = this;
    return { unmarked, met: [...this.metStatuses], most: Math.max(...this.patches.values()) };
  }

  start(env: ChildEnv = {}): Child {
    return this.children.start(['sync', '--json'], { ...MARKING, ...env });
  }

  /** Resolves when that many PATCHes have arrived. */
  async patched(count: number): Promise<void> {
    const reached = Promise.withResolvers<void>();
    this.#onPatch = () => {
      if (this.patches.size >= count) reached.resolve();
    };
    this.#onPatch();
    await reached.promise;
  }

  #watch(id: string): void {
    this.patches.set(id, (this.patches.get(id) ?? 0) + 1);
    this.metStatuses.add(this.children.store.get(id)?.status ?? 'none');
    this.#onPatch();
  }
}

/** One stands still in the middle of marking, and two come meanwhile: these leave the form to it. */
async function threeAtOnce(place: MarkedPlace): Promise<Summary> {
  const first = place.start();
  await place.patched(10);
  first.process.kill('SIGSTOP');
  const others = [place.start(), place.start()];
  for (const child of others) {
    expect(await child.ended).toMatchObject({ code: 0 });
    expect(marksOf(child)).toMatchObject([{ outcome: 'elsewhere', marked: 0, error: null }]);
  }
  expect(place.unmarked).toBeGreaterThan(0);
  first.process.kill('SIGCONT');
  expect(await first.ended).toMatchObject({ code: 0 });
  expect(marksOf(first)).toMatchObject([{ outcome: 'done', marked: place.patches.size }]);
  return place.summary;
}

/** All begin at the same moment, whichever is first. */
async function allAtTheSameMoment(place: MarkedPlace, envs: readonly ChildEnv[]): Promise<Summary> {
  const children = envs.map((env) => place.start(env));
  for (const child of children) expect(await child.ended).toMatchObject({ code: 0 });
  const outcomes = children.flatMap((child) => marksOf(child).map(({ outcome }) => outcome));
  expect(outcomes.every((outcome) => outcome === 'done' || outcome === 'elsewhere')).toBe(true);
  expect(outcomes).toContain('done');
  return place.summary;
}

/** A marker is killed; the next one takes over at once and has nothing to wait for. */
async function killed(place: MarkedPlace): Promise<Summary> {
  const first = place.start();
  await place.patched(40);
  await first.end('SIGKILL');
  expect(place.unmarked).toBeGreaterThan(0);
  const next = place.start();
  expect(await next.ended).toMatchObject({ code: 0 });
  expect(marksOf(next)).toMatchObject([{ outcome: 'done' }]);
  return place.summary;
}

const postgresUrl = async (): Promise<string> => createDatabase(await lentPostgres());

describe.concurrent('L7, L13: one marker a form', { timeout: 600_000 }, () => {
  it('of three processes over one SQLite file', async ({ onTestFinished }) => {
    expect(await threeAtOnce(await MarkedPlace.open(onTestFinished))).toEqual(ONCE);
  });

  it.skipIf(postgresMissing())(
    'of three processes over one PostgreSQL',
    async ({ onTestFinished }) => {
      const env = { TARGET_URL: await postgresUrl() };
      expect(await threeAtOnce(await MarkedPlace.open(onTestFinished, env))).toEqual(ONCE);
    },
  );

  it('that begin at the same moment over SQLite', async ({ onTestFinished }) => {
    const place = await MarkedPlace.open(onTestFinished);
    expect(await allAtTheSameMoment(place, [{}, {}, {}])).toEqual(ONCE);
  });

  it.skipIf(postgresMissing())(
    'over two targets of different kinds, named in either order',
    async ({ onTestFinished }) => {
      const postgres = await postgresUrl();
      const base = { TARGETS: 'a,b', TARGET_URL: undefined };
      const urls = (a: string, b: string): ChildEnv => ({
        ...base,
        TARGET_A_URL: a,
        TARGET_B_URL: b,
      });
      const place = await MarkedPlace.open(onTestFinished, {
        ...base,
        TARGET_A_URL: 'sqlite:both.sqlite',
        TARGET_B_URL: postgres,
      });
      const one = urls('sqlite:both.sqlite', postgres);
      const other = urls(postgres, 'sqlite:both.sqlite');
      expect(await allAtTheSameMoment(place, [one, other, one, other])).toEqual(ONCE);
    },
  );

  it('that is killed, over SQLite', async ({ onTestFinished }) => {
    // What was under way when it died may be sent again, if it had not arrived.
    expect(await killed(await MarkedPlace.open(onTestFinished))).toMatchObject(ALL_FROM_NEW);
  });

  it.skipIf(postgresMissing())('that is killed, over PostgreSQL', async ({ onTestFinished }) => {
    const env = { TARGET_URL: await postgresUrl() };
    expect(await killed(await MarkedPlace.open(onTestFinished, env))).toMatchObject(ALL_FROM_NEW);
  });
});
