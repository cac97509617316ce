import { MirrorView } from '../support/mirror-view.ts';
import type { LargeSource } from '../support/large-source/large-source.ts';
import { WIRE_STATUSES } from '../support/large-source/large-workspace.ts';

/** What happens at the source, and how often among a hundred changes. */
const KINDS = { submitted: 45, status: 35, deleted: 15, imported: 5 } as const;
type Kind = keyof typeof KINDS;

interface Change {
  readonly kind: Kind;
  readonly formId: string;
  /** The status that it had; null: it is new. */
  readonly before: string | null;
  /** The status that the row is to have, or `deleted`. */
  readonly wanted: string;
  readonly atMs: number;
  /** Since when the counts of its form show it; null: they do not, as another change undoes it. */
  toldAtMs: number | null;
}

type Made = Pick<Change, 'formId' | 'before' | 'wanted'> & { readonly id: string };

/** A target and the changes that it does not show yet, by submission. */
interface Watched {
  readonly view: MirrorView;
  readonly tables: ReadonlyMap<string, string>;
  readonly waiting: Map<string, Change>;
  /** The longest time that a change of each kind took while counts showed it, milliseconds. */
  readonly longestMs: Map<Kind, number>;
  arrived: number;
}

/** Changes of every kind, to submissions of any age, and when each is seen in each target, looked at from outside. */
export class Traffic {
  readonly #source: LargeSource;
  readonly #targets: ReadonlyMap<string, Watched>;
  readonly #random: () => number;
  #made = 0;

  private constructor(
    source: LargeSource,
    targets: ReadonlyMap<string, Watched>,
    random: () => number,
  ) {
    this.#source = source;
    this.#targets = targets;
    this.#random = random;
  }

  /** `urls`: the targets by name; every form has its table there. */
  static async open(
    source: LargeSource,
    urls: Readonly<Record<string, string>>,
    random: () => number,
  ): Promise<Traffic> {
    const targets = new Map<string, Watched>();
    for (const [name, url] of Object.entries(urls)) {
      const view = new MirrorView(url);
      const tables = new Map<string, string>();
      for (const formId of source.formIds) tables.set(formId, (await view.tableOf(formId)) ?? '');
      targets.set(name, { view, tables, waiting: new Map(), longestMs: new Map(), arrived: 0 });
    }
    return new Traffic(source, targets, random);
  }

  /** One change. */
  async change(): Promise<void> {
    const kind = this.#kind();
    const atMs = Date.now();
    const change =
      kind === 'submitted' || kind === 'imported'
        ? await this.#submit(kind === 'imported' ? atMs - this.#random() * 6e10 : atMs)
        : await this.#alter(kind);
    if (change === undefined) return;
    this.#made++;
    const { id, ...rest } = change;
    for (const { waiting } of this.#targets.values()) {
      waiting.set(id, { kind, atMs, toldAtMs: atMs, ...rest });
    }
  }

  /** Looks which changes have arrived by now. */
  async watch(): Promise<void> {
    await Promise.all([...this.#targets.values()].map((target) => look(target)));
  }

  /** Finished and open changes, in a few words. */
  summary(): string {
    const parts = [...this.#targets].map(([name, { arrived, waiting }]) => {
      const oldest = Math.min(...[...waiting.values()].map(({ atMs }) => atMs));
      const age = waiting.size === 0 ? '' : `, the oldest ${seconds(Date.now() - oldest)} old`;
      return `${name}: ${arrived} arrived, ${waiting.size} under way${age}`;
    });
    return `${this.#made} changes so far; ${parts.join('; ')}`;
  }

  /** The longest time from a change to each target, by kind; while no count shows a change, none passes. */
  longest(): string[] {
    return [...this.#targets].map(([name, { longestMs, arrived }]) => {
      const all = Math.max(0, ...longestMs.values());
      const kinds = [...longestMs].map(([kind, ms]) => `${kind} ${seconds(ms)}`);
      return `longest time to target ${name}: ${seconds(all)} of ${arrived} changes (${kinds.join(', ')})`;
    });
  }

  /** Changes that have not arrived though they move a count. */
  missing(): string[] {
    return this.#left((changes) => !cancelOut(changes));
  }

  /** What has not arrived as no count tells of it: it was undone, by status, by another change to the form within one look. */
  exchanged(): string[] {
    return this.#left(cancelOut);
  }

  #left(isSo: (changes: readonly Change[]) => boolean): string[] {
    return [...this.#targets].flatMap(([name, { waiting }]) =>
      [...Map.groupBy(waiting, ([, { formId }]) => formId).values()]
        .filter((entries) => isSo(entries.map(([, change]) => change)))
        .flat()
        .map(
          ([id, { kind, formId, before, wanted }]) =>
            `${name}: ${id} of ${formId}, ${kind}, from ${before ?? 'nothing'} to ${wanted}`,
        ),
    );
  }

  #kind(): Kind {
    let left = this.#random() * 100;
    for (const [kind, share] of Object.entries(KINDS)) {
      left -= share;
      if (left < 0) return kind as Kind;
    }
    return 'submitted';
  }

  #pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)]!;
  }

  async #submit(dateMs: number): Promise<Made | undefined> {
    const formId = this.#pick(this.#source.formIds);
    const [id] = await this.#source.insert(formId, [Math.floor(dateMs)]);
    return id === undefined ? undefined : { id, formId, before: null, wanted: 'NEW' };
  }

  /** Of any age; one that is under way already is not touched. */
  async #alter(kind: Kind): Promise<Made | undefined> {
    const skip = Math.floor(this.#random() * (await this.#source.count()));
    const [id = ''] = await this.#source.ids({}, skip, 1);
    const [submission] = await this.#source.get([id]);
    const isUnderWay = [...this.#targets.values()].some(({ waiting }) => waiting.has(id));
    if (!submission || isUnderWay) return undefined;
    const { formId, status: before } = submission;
    if (kind === 'deleted') {
      await this.#source.remove([id]);
      return { id, formId, before, wanted: 'deleted' };
    }
    const wanted = this.#pick(WIRE_STATUSES.filter((other) => other !== before));
    await this.#source.setStatus([id], wanted);
    return { id, formId, before, wanted };
  }
}

/** Whether the counts by status of a form are the same before and after these changes to it. */
function cancelOut(changes: readonly Change[]): boolean {
  const befores = changes.flatMap(({ before }) => before ?? []);
  const afters = changes.flatMap(({ wanted }) => (wanted === 'deleted' ? [] : wanted));
  return befores.toSorted().join() === afters.toSorted().join();
}

/** A change shows while the changes to its form that are under way move the count of one of its statuses. */
function noteTold(byForm: ReadonlyMap<string, readonly [string, Change][]>, nowMs: number): void {
  for (const entries of byForm.values()) {
    const moved = new Map<string, number>();
    const move = (status: string, by: number): void =>
      void moved.set(status, (moved.get(status) ?? 0) + by);
    for (const [, { before, wanted }] of entries) {
      if (before !== null) move(before, -1);
      if (wanted !== 'deleted') move(wanted, 1);
    }
    for (const [, change] of entries) {
      const isTold = [change.before, change.wanted].some(
        (status) => (moved.get(status ?? '') ?? 0) !== 0,
      );
      change.toldAtMs = isTold ? (change.toldAtMs ?? nowMs) : null;
    }
  }
}

async function look(target: Watched): Promise<void> {
  const { view, tables, waiting, longestMs } = target;
  if (waiting.size === 0) return;
  const byForm = Map.groupBy(waiting, ([, { formId }]) => formId);
  const parts = [...byForm].map(([formId, entries]) => {
    const ids = entries.map(([id]) => `'${id}'`).join(',');
    return `SELECT id, status, _deleted_at FROM "${tables.get(formId)}" WHERE id IN (${ids})`;
  });
  const rows = await view.ask(parts.join(' UNION ALL '));
  const nowMs = Date.now();
  noteTold(byForm, nowMs);
  for (const row of rows) {
    const id = String(row['id']);
    const change = waiting.get(id);
    const shown = row['_deleted_at'] === null ? row['status'] : 'deleted';
    if (change === undefined || shown !== change.wanted) continue;
    waiting.delete(id);
    target.arrived++;
    const tookMs = nowMs - (change.toldAtMs ?? nowMs);
    longestMs.set(change.kind, Math.max(longestMs.get(change.kind) ?? 0, tookMs));
  }
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
