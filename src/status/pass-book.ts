import type { Clock } from '../base/clock.ts';
import type { Events } from '../base/events.ts';
import type { FormOverview } from '../mirror/target.ts';
import type { FormIdentity, PassKind, PassRecord } from '../mirror/types.ts';
import type { PassReport, SyncEvents } from '../sync/events.ts';
import {
  NO_PASSES,
  type NotedPass,
  type PairMemory,
  codeOf,
  completeWith,
  notedFromRecord,
  remember,
} from './pass-memory.ts';

/** One form in one target. */
export interface Pair {
  readonly form: FormIdentity;
  readonly target: string;
}

/** A pass of this process that has not ended. */
export interface RunningPass {
  readonly kind: PassKind;
  readonly startedAtMs: number;
  /** Last sign of life. */
  readonly heardAtMs: number;
  readonly seen: number;
  readonly total: number;
}

/** A pass told for the first time. */
export interface TellsPass {
  readonly pair: Pair;
  readonly pass: NotedPass;
}

/** A name for a form in a target, for maps. */
export const pairKey = (target: string, formId: string): string => `${target}\n${formId}`;

/** Two readings of one pass may differ by what a target's times are rounded to. */
const SAME_PASS_MS = 1_000;

/**
 * Every pass of the mirror, each told once: those of this process by its events, those of other workers by what the
 * targets remember. Failures that no target could record (a target that is down) are known from events alone.
 */
export class PassBook {
  readonly #clock: Clock;
  readonly #memories = new Map<string, PairMemory>();
  /** Targets whose own memory has been read. */
  readonly #begun = new Set<string>();
  readonly #running = new Map<string, RunningPass>();
  readonly #unsubscribe: readonly (() => void)[];
  readonly #onPass: (told: TellsPass) => void;
  readonly #onChange: () => void;

  /** `onPass` hears of each pass once, but for those that had ended before this process looked; `onChange` of every event. */
  constructor(
    events: Events<SyncEvents>,
    clock: Clock,
    listeners: { onPass: (told: TellsPass) => void; onChange: () => void },
  ) {
    this.#clock = clock;
    this.#onPass = listeners.onPass;
    this.#onChange = listeners.onChange;
    this.#unsubscribe = [
      events.on('pass.started', (subject) => this.#started(subject)),
      events.on('pass.progress', (progress) => this.#progress(progress)),
      events.on('pass.ended', (report) => this.#ended(report)),
    ];
  }

  memory(target: string, formId: string): PairMemory {
    return this.#memories.get(pairKey(target, formId)) ?? NO_PASSES;
  }

  running(target: string, formId: string): RunningPass | null {
    return this.#running.get(pairKey(target, formId)) ?? null;
  }

  /** Of these forms those of which the target remembers passes that are not noted yet: their history is wanted. */
  behind(target: string, forms: readonly FormOverview[]): FormOverview[] {
    if (!this.#begun.has(target)) return [];
    return forms.filter(
      ({ formId, lastPass }) => lastPass !== null && this.#isNew(target, formId, lastPass),
    );
  }

  /**
   * Takes what a target remembers of its forms: the notable passes, and the history (any order) of those that were
   * {@link behind}. What a target remembers when first asked is where this process came in, and is told to nobody.
   */
  noteRemembered(
    target: string,
    forms: readonly FormOverview[],
    histories: ReadonlyMap<string, readonly PassRecord[]> = new Map(),
  ): void {
    const begun = this.#begun.has(target);
    this.#begun.add(target);
    for (const form of forms) {
      const { formId: id, slug, name, lastPass, lastOk, lastFull } = form;
      const known = [...(histories.get(id) ?? []), lastOk, lastFull, lastPass];
      const passes = inOrder(known.filter((pass) => pass !== null));
      if (begun) this.#noteNew({ form: { id, slug, name }, target }, passes);
      else this.#begin(pairKey(target, id), passes);
    }
  }

  /** Ends the subscriptions. */
  stop(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
  }

  #isNew(target: string, formId: string, record: PassRecord): boolean {
    const { notedUntilMs } = this.memory(target, formId);
    return Date.parse(record.endedAt) > notedUntilMs + SAME_PASS_MS;
  }

  #begin(key: string, passes: readonly PassRecord[]): void {
    const remembered = passes.map(notedFromRecord).reduce(remember, NO_PASSES);
    this.#memories.set(key, completeWith(this.#memories.get(key) ?? NO_PASSES, remembered));
  }

  #noteNew(pair: Pair, passes: readonly PassRecord[]): void {
    for (const record of passes) {
      if (this.#isNew(pair.target, pair.form.id, record)) this.#note(pair, notedFromRecord(record));
    }
  }

  #started(subject: Pair & { kind: PassKind }): void {
    // A second one over the same form will find it held, and the first one's progress is worth more.
    if (this.running(subject.target, subject.form.id) !== null) return;
    this.#progress({ ...subject, seen: 0, total: 0 });
  }

  #progress(event: Pair & { kind: PassKind; seen: number; total: number }): void {
    const key = pairKey(event.target, event.form.id);
    const { kind, seen, total } = event;
    const now = this.#clock.now();
    const startedAtMs = this.#running.get(key)?.startedAtMs ?? now;
    this.#running.set(key, { kind, seen, total, startedAtMs, heardAtMs: now });
    this.#onChange();
  }

  #ended(report: PassReport): void {
    const { form, target, failure } = report;
    const running = this.running(target, form.id);
    const isOther = report.outcome === 'busy' && running !== null && running.seen > 0;
    if (!isOther) this.#running.delete(pairKey(target, form.id));
    const pass: NotedPass = { ...recordOf(report), code: failure?.code ?? codeOf(report) };
    this.#note({ form, target }, pass);
    this.#onChange();
  }

  #note(pair: Pair, pass: NotedPass): void {
    const key = pairKey(pair.target, pair.form.id);
    this.#memories.set(key, remember(this.#memories.get(key) ?? NO_PASSES, pass));
    this.#onPass({ pair, pass });
  }
}

/** Only what a record has: a report carries an error object besides. */
function recordOf(report: PassReport): PassRecord {
  const { kind, startedAt, endedAt, outcome, requests, total, distinct } = report;
  const { inserted, updated, unchanged, deleted, rejected, withheld, error } = report;
  const counts = { inserted, updated, unchanged, deleted, rejected, withheld };
  return { kind, startedAt, endedAt, outcome, requests, total, distinct, ...counts, error };
}

function inOrder(passes: readonly PassRecord[]): PassRecord[] {
  return passes.toSorted((a, b) => Date.parse(a.endedAt) - Date.parse(b.endedAt));
}
