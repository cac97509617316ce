import type { PassReport } from '../../src/sync/events.ts';
import type { CrashPoint } from './crashing-target.ts';
import type { World } from './world.ts';

/** Why a pass may read everything though nobody harmed its rows. */
const OWN_REASONS =
  /new fields|fields that a pass before|fewer than are stored|does not show|counts by status differ|Counts by status were|not known by status/;

/** What a backfill says that went on with windows of a dead one. */
export const WENT_ON = /It went on with a pass that was cut off: .*$/;

/** What is to be true of a pass over one form and target when it claims success; made before it begins. */
export class PassWatch {
  readonly #world: World;
  readonly #formId: string;
  readonly #target: number;
  readonly #began: ReadonlySet<string>;
  readonly #before: { readonly restored: number; readonly deleted: number };
  /** Live rows whose submissions are at the source, those of them that lists hide, and how many deletions there had been. */
  readonly #live: readonly string[];
  readonly #hidden: ReadonlyMap<string, number>;
  readonly #deletions: number;

  constructor(world: World, formId: string, target: number) {
    [this.#world, this.#formId, this.#target] = [world, formId, target];
    this.#began = new Set(world.store.ids(formId));
    this.#before = this.#meddled();
    const rows = world.views[target]!.rows(formId);
    const isThere = (id: string): boolean => world.store.get(id) !== undefined;
    this.#live = [...rows.values()].flatMap(({ id, _deleted_at }) =>
      _deleted_at === null && isThere(id) ? [id] : [],
    );
    this.#hidden = new Map([...world.store.hidden(formId)].filter(([id]) => rows.has(id)));
    this.#deletions = world.store.deletions.length;
  }

  /** Notes each breach in the world. True when the pass claimed success. */
  judge(
    report: PassReport | undefined,
    { crash, kind }: { crash: CrashPoint | undefined; kind: PassReport['kind'] },
  ): boolean {
    const [world, formId] = [this.#world, this.#formId];
    const view = world.views[this.#target]!;
    world.breaches.push(...this.#wronglyDeleted());
    if (report === undefined || (report.outcome !== 'ok' && report.outcome !== 'withheld')) {
      if (crash?.applied === true) view.unheard.add(formId);
      return false;
    }
    // L17: an incremental pass over rows that are not there would claim them.
    const isHarmed = world.harmed.delete(`${formId} ${this.#target}`);
    if (isHarmed && report.kind !== 'full' && !view.unheard.has(formId)) {
      world.breaches.push('L17: a loss was not noticed');
    }
    view.unheard.delete(formId);
    const why = report.reason?.replace(WENT_ON, '') ?? '';
    if (!isHarmed && why !== '' && !OWN_REASONS.test(why)) {
      world.breaches.push(`L4: read again for nothing: ${why}`);
    }
    world.breaches.push(...this.#missing(report, kind), ...this.#trusted(report));
    return true;
  }

  /** L8: a row is marked deleted only where its submission is gone. */
  #wronglyDeleted(): string[] {
    const { store, views } = this.#world;
    const rows = views[this.#target]!.rows(this.#formId);
    const deleted = new Set(store.deletions.slice(this.#deletions));
    return this.#live
      .filter((id) => rows.get(id)?._deleted_at && store.get(id) !== undefined && !deleted.has(id))
      .map((id) => `L8: ${id} was marked deleted, and was there throughout`);
  }

  /** L17: a list that hides what is stored proves nothing. */
  #trusted({ kind, outcome, reason }: PassReport): string[] {
    if (kind !== 'full' || outcome !== 'ok' || WENT_ON.test(reason ?? '')) return [];
    const now = this.#world.store.hidden(this.#formId);
    const { forgotten, store } = this.#world;
    return [...this.#hidden]
      .filter(([id, since]) => now.get(id) === since && !forgotten.has(id))
      .filter(([id]) => store.distortionOf(id) === undefined && this.#live.includes(id))
      .map(([id]) => `L17: a full pass claims a list that hides ${id}`);
  }

  /** L2: what existed when a proven pass began, and still does, is in the target. */
  #missing(report: PassReport, kind: PassReport['kind']): string[] {
    // SPEC.md, "What no client can see": an old date that appears and a deletion that cancel out in the count. A first
    // pass is open to it while it runs, an incremental one since the last full pass; full passes with a history are not.
    const { restored, deleted } = this.#meddled();
    // A comparison of some windows says nothing of the others.
    if (report.kind === 'compare') return [];
    const blurred =
      kind === 'incremental'
        ? restored * deleted > 0
        : restored > this.#before.restored && deleted > this.#before.deleted;
    if (blurred) return [];
    const { store, views } = this.#world;
    const view = views[this.#target]!;
    const rows = view.rows(this.#formId);
    // What bounds leave out between two windows is missing from their sum, unless a deletion and an arrival make up for it.
    const ends =
      deleted > this.#before.deleted ? view.windows(this.#formId).map(({ to }) => to) : [];
    const isBetween = (id: string): boolean => {
      const ms = store.get(id)!.createdAtMs;
      return ends.some((to) => to !== null && [0, 1].includes(Date.parse(to) - ms));
    };
    return store
      .ids(this.#formId)
      .filter((id) => this.#began.has(id) && !('id' in (store.distortionOf(id) ?? {})))
      .filter((id) => !rows.has(id) && !this.#world.forgotten.has(id) && !isBetween(id))
      .map((id) => `L2: a proven ${report.kind} pass missed ${id}`);
  }

  #meddled(): { restored: number; deleted: number } {
    const { imports, deletions } = this.#world.meddler;
    const [restored, deleted] = [imports, deletions].map((of) => of.get(this.#formId) ?? 0);
    return { restored: restored!, deleted: deleted! };
  }
}
