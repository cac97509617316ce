import { Events } from '../../src/base/events.ts';
import { MirrorError } from '../../src/base/errors.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { FormsClient } from '../../src/forms/client.ts';
import { parsePicks } from '../../src/mirror/picks.ts';
import type { Target } from '../../src/mirror/target.ts';
import type { FormIdentity, PassKind } from '../../src/mirror/types.ts';
import type { SandboxBehaviour } from '../../src/sandbox/forms-api/behaviour.ts';
import {
  type RequestInfo,
  type Sandbox,
  startSandbox,
} from '../../src/sandbox/forms-api/sandbox.ts';
import type { ComparisonSizes } from '../../src/sync/comparison-sizes.ts';
import type { SyncContext } from '../../src/sync/context.ts';
import type { PassReport } from '../../src/sync/events.ts';
import { LabelCache } from '../../src/sync/label-cache.ts';
import { type ErasureReport, forget, remember } from '../../src/sync/erase.ts';
import { markForm } from '../../src/sync/mark.ts';
import { purgeDeleted } from '../../src/sync/purge.ts';
import { runPass } from '../../src/sync/run-pass.ts';
import type { FormWindow } from '../../src/mirror/window.ts';
import type { WindowSizes } from '../../src/sync/window-sizes.ts';
import { verifyForm, type VerifyReport } from '../../src/sync/verify.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { TestClock } from '../support/test-clock.ts';
import { type Change, Meddler } from './changes.ts';
import { type CrashPoint, Life, mortal } from './crashing-target.ts';
import { type LawPlace, sqliteLawPlace } from './law-places.ts';
import { lookedFor, STORING } from './tick.ts';
import { TableView } from './table-view.ts';
import { WatchedStore } from './watched-store.ts';

export const MARK_FROM = ['NEW', 'IN_PROGRESS'];
const TARGETS = ['a', 'b'];
const ERASING = { waitMs: 0, signal: new AbortController().signal };

/** More than the time between two ticks by default. */
export const TICK_MS = 61_000;

/** What a tick did: the passes of each target, and whether the process came to its end. */
export interface Ticked {
  readonly passes: { readonly target: number; readonly report: PassReport }[];
  readonly isDone: boolean;
  /** Its look knew in the end what the workspace has besides the mirrored forms. */
  readonly knowsOthers: boolean;
}

/** How a world begins, and how it changes. */
export interface WorldOptions {
  readonly seed: number;
  readonly behaviour: Partial<SandboxBehaviour>;
  readonly forms: number;
  readonly submissions: number;
  /** Forms of the workspace that no target mirrors. */
  readonly elsewhere: number;
  /** How far apart the first submissions are dated. */
  readonly spacingMs: number;
  readonly readAhead?: number | undefined;
  /** What may happen between two requests, and how likely it is. */
  readonly changes: readonly Change[];
  readonly busy: number;
  /** How large windows are; left out: as in the program, so that there are none. */
  readonly windowSizes?: WindowSizes | undefined;
  readonly comparisonSizes?: ComparisonSizes | undefined;
  /** Makes the database of a target; left out: a SQLite file. */
  readonly makePlace?: (() => Promise<LawPlace>) | undefined;
}

/**
 * A source that changes between any two requests, the real client, passes and marking over real HTTP, and two
 * targets whose process may die at any write. It inspects every PATCH as it arrives (L7).
 */
export class World {
  readonly store: WatchedStore;
  readonly meddler: Meddler;
  /** IDs of the forms that are mirrored. */
  readonly forms: readonly string[];
  readonly views: readonly TableView[];
  readonly random: () => number;
  /** `form target`: rows that people removed, until a pass reads them again. */
  readonly harmed = new Set<string>();
  /** What was forgotten in both targets, and not remembered since. */
  readonly forgotten = new Set<string>();
  /** Breaches of a law seen while it ran. */
  readonly breaches: string[] = [];
  faults = 0;
  crashes = 0;
  quiet = true;
  sandbox!: Sandbox;
  #left = 0;
  /** The targets that marking asks. */
  #markedInto: readonly number[] = [];
  /** The time of source and mirror. */
  readonly #clock: TestClock;
  readonly #places: readonly LawPlace[];
  readonly #options: WorldOptions;
  /** The status that a submission had when the mirror last requested it. */
  readonly #lastAsked = new Map<string, string>();

  constructor(options: WorldOptions, places: readonly LawPlace[]) {
    this.#options = options;
    this.random = seededRandom(options.seed);
    this.#places = places;
    this.#clock = new TestClock(Date.UTC(2026, 1, 1) - options.submissions * options.spacingMs);
    this.store = new WatchedStore({ seed: options.seed, clock: this.#clock });
    this.forms = Array.from({ length: options.forms }, (_, n) => `form-${n}`);
    const elsewhere = new Set(Array.from({ length: options.elsewhere }, (_, n) => `other-${n}`));
    const tick = (ms: number): void => void this.#clock.sleep(ms);
    this.meddler = new Meddler({ store: this.store, random: this.random, tick, elsewhere });
    for (const id of [...this.forms, ...elsewhere]) {
      this.store.addForm({ id, name: `Form ${id}`, fields: [{ label: 'Name' }] });
    }
    this.views = places.map(({ asker }) => new TableView(asker));
  }

  static async start(options: WorldOptions): Promise<World> {
    const places = await Promise.all(TARGETS.map(() => (options.makePlace ?? sqliteLawPlace)()));
    const world = new World(options, places);
    const { store, meddler } = world;
    for (let n = 0; n < options.submissions; n++) {
      const forms = store.forms();
      const form = forms[meddler.pick(forms.length)]!;
      if (meddler.pick(8) === 0) meddler.do('midnight');
      else meddler.submit(form.id, options.spacingMs);
    }
    const onRequest = (request: RequestInfo): void => world.#onRequest(request);
    world.sandbox = await startSandbox({ store, behaviour: options.behaviour, onRequest });
    return world;
  }

  async stop(): Promise<void> {
    await this.sandbox.stop();
    for (const place of this.#places) await place.dispose();
  }

  /** Runs `work` while the source changes; at most 25 times, so that it ends. */
  async meddled<T>(work: () => Promise<T>): Promise<T> {
    [this.quiet, this.#left] = [false, 25];
    try {
      return await work();
    } finally {
      this.quiet = true;
    }
  }

  /** One pass in a process of its own, which dies at `crash`; undefined when it did. */
  async pass(
    formId: string,
    target: number,
    kind: PassKind,
    options: {
      crash?: CrashPoint | undefined;
      acceptDeletes?: boolean;
      windows?: readonly FormWindow[];
    } = {},
  ): Promise<PassReport | undefined> {
    return this.#process(options.crash, async (context, targets) => {
      const request = { formId, kind, picks: parsePicks(['*']), hashKey: undefined, waitMs: 0 };
      const { acceptDeletes = false, windows = [] } = options;
      const signal = new AbortController().signal;
      return runPass(context, targets[target]!, { ...request, acceptDeletes, windows }, signal);
    });
  }

  /** Something happens. */
  change(): void {
    const { changes } = this.#options;
    this.meddler.do(changes[this.meddler.pick(changes.length)] ?? 'submit');
  }

  /** A submission is erased from both targets (L18); again, where that fails or dies. */
  async forget(id: string, crash?: CrashPoint): Promise<void> {
    await this.#erase(crash, (targets, at) => forget(targets, this.#ofForm(id), at, ERASING));
    this.forgotten.add(id);
  }

  /** What was forgotten comes back with the next full pass. */
  async remember(id: string, crash?: CrashPoint): Promise<void> {
    await this.#erase(crash, (targets) => remember(targets, this.#ofForm(id), ERASING));
    this.forgotten.delete(id);
  }

  /** Rows that are marked deleted are removed. */
  async purge(crash?: CrashPoint): Promise<void> {
    await this.wait(1);
    await this.#erase(crash, (targets, at) => {
      const scope = { storing: STORING, isChosen: () => true, includes: () => true };
      const scopes = targets.map(({ target }) => ({ ...scope, target }));
      return purgeDeleted(scopes, at, { ...ERASING, dryRun: false });
    });
  }

  async #erase(
    crash: CrashPoint | undefined,
    work: (
      targets: readonly { target: Target; mirrors: () => boolean }[],
      at: string,
    ) => Promise<ErasureReport[]>,
  ): Promise<void> {
    const erase = (point?: CrashPoint): Promise<ErasureReport[] | undefined> =>
      this.#process(point, (context, targets) => {
        const at = new Date(context.clock.now()).toISOString();
        const both = targets.map((target) => ({ target, mirrors: () => true }));
        return work(both, at);
      });
    const first = await erase(crash);
    if (first !== undefined && first.every(({ failure }) => failure === null)) return;
    const again = (await erase()) ?? [];
    const failed = again.flatMap(({ failure }) => failure?.message ?? []);
    this.breaches.push(...failed.map((message) => `L18: an erasure failed: ${message}`));
  }

  #ofForm(id: string): { form: FormIdentity; ids: string[] }[] {
    const formId = this.store.moves.find((move) => move.id === id)?.formId ?? '';
    const { slug, name } = this.store.form(formId)!;
    return [{ form: { id: formId, slug, name }, ids: [id] }];
  }

  /** Whether a look can compare the counts of the whole workspace. */
  get asksWorkspace(): boolean {
    const { workspaceList, workspaceStatus } = this.sandbox.behaviour;
    return workspaceList === 'honoured' && workspaceStatus === 'honoured';
  }

  /** One tick as a worker does it, in a process of its own. `chosen`: the forms that each target mirrors. */
  async tick({
    chosen,
    crash,
  }: {
    chosen: readonly (readonly string[])[];
    crash?: CrashPoint | undefined;
  }): Promise<Ticked> {
    const passes: Ticked['passes'] = [];
    let knowsOthers = false;
    const isDone = await this.#process(crash, async (context, targets) => {
      const found = await lookedFor(context, targets, chosen).catch((error: unknown) => {
        if (error instanceof MirrorError) return undefined;
        throw error;
      });
      if (found === undefined) return undefined;
      ({ knowsOthers } = found);
      for (const { formId, at, compareCounts } of found.visits) {
        const request = {
          formId,
          ...STORING,
          waitMs: 0,
          kind: 'incremental' as const,
          compareCounts,
        };
        const { signal } = new AbortController();
        const report = await runPass(context, targets[at]!, request, signal);
        passes.push({ target: at, report });
      }
      return true;
    });
    return { passes, isDone: isDone ?? false, knowsOthers };
  }

  /** One marking in a process of its own, for the targets `into`. False when it died or failed. */
  async mark(formId: string, crash?: CrashPoint, into = [0, 1]): Promise<boolean> {
    this.#markedInto = into;
    const done = await this.#process(crash, async (context, all) => {
      const targets = into.map((target) => all[target]!);
      const request = { formId, markStatus: 'DONE', markFrom: MARK_FROM };
      await markForm(context, targets, request, new AbortController().signal).catch(() => {});
      return true;
    });
    return done ?? false;
  }

  /** Time goes by, for the source as for the mirror. */
  async wait(ms: number): Promise<void> {
    await this.#clock.sleep(ms);
  }

  async verify(formId: string, target: number): Promise<VerifyReport> {
    const report = await this.#process(undefined, (context, targets) => {
      const request = { formId, picks: parsePicks(['*']), hashKey: undefined };
      return verifyForm(context, targets[target]!, request, new AbortController().signal);
    });
    return report!;
  }

  async #process<T>(
    crash: CrashPoint | undefined,
    work: (context: SyncContext, targets: Target[]) => Promise<T>,
  ): Promise<T | undefined> {
    const life = new Life(crash);
    const targets = TARGETS.map((name, at) => this.#places[at]!.open(name, this.#clock));
    await using client = new FormsClient({
      baseUrl: this.sandbox.url,
      apiKey: this.sandbox.apiKey,
      auth: 'bearer',
      concurrency: 4,
      clock: this.#clock,
    });
    const { windowSizes, comparisonSizes } = this.#options;
    const context: SyncContext = {
      client,
      labels: new LabelCache(client, this.#clock),
      clock: this.#clock,
      logger: silentLogger,
      events: new Events(),
      maxDeleteFraction: 0.2,
      hasHelpers: true,
      readAhead: this.#options.readAhead ?? 3,
      ...(windowSizes !== undefined && { windowSizes }),
      ...(comparisonSizes !== undefined && { comparisonSizes }),
    };
    try {
      const result = await work(
        context,
        targets.map((target) => mortal(target, life)),
      );
      return life.dead ? undefined : result;
    } finally {
      if (life.dead) this.crashes++;
      await Promise.all(targets.map((target) => target[Symbol.asyncDispose]()));
    }
  }

  #onRequest({ method, path }: RequestInfo): void {
    if (method === 'PATCH') this.#watch(path.split('/')[2] ?? '');
    if (!this.quiet && this.random() < this.#options.busy && this.#left-- > 0) this.change();
    const asked = /^\/submissions\/([^/]+)$/.exec(path)?.[1];
    if (method === 'GET' && asked !== undefined) {
      this.#lastAsked.set(asked, this.store.get(asked)?.status ?? 'none');
    }
  }

  /** L7, L6: the status as last requested was allowed; every target holds the row, none lists it as rejected. */
  #watch(id: string): void {
    const formId = this.store.get(id)?.formId;
    const asked = this.#lastAsked.get(id) ?? 'never asked';
    if (!MARK_FROM.includes(asked)) this.breaches.push(`L7: PATCH of ${id}, which was ${asked}`);
    for (const target of this.#markedInto) {
      const view = this.views[target]!;
      if (formId === undefined) continue;
      const row = view.rows(formId).get(id);
      if (row === undefined) this.breaches.push(`L7: PATCH of ${id} before it was stored`);
      if (view.rejected(formId).has(id)) this.breaches.push(`L6: PATCH of rejected ${id}`);
    }
  }
}
